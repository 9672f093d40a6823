"""The networks that come with the package, where they are there, and stand-ins for them."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from tengen.features.feature_set import FEATURE_SETS
from tengen.network.architecture_names import named_architecture
from tengen.network.files.bundled import FILES, bundled_networks
from tengen.network.files.errors import NetworkFileError
from tengen.network.files.tengen_format import save_network
from tengen.network.trained_on import trained_on
from tests.network.test_tengen_format import random_network

ABOUT = (
    {"board_sizes": "9", "rules": "tromp-taylor"},
    {"board_sizes": "9, 13, 19", "rules": "tromp-taylor"},
)
INPUTS = "katago without ladders", "katago"
NINE = trained_on(ABOUT[0])


def stand_ins(folder: Path, monkeypatch: pytest.MonkeyPatch, count: int = 2) -> None:
    """Bundle small networks that know nothing in the place of the real ones."""
    for seed in range(count):
        name, about, inputs = FILES[seed], ABOUT[seed], INPUTS[seed]
        architecture = named_architecture("b1c32").seeing(FEATURE_SETS[inputs])
        data = random_network(architecture, seed, provenance=about)
        save_network(replace(data, name=Path(name).stem), folder / name)
    monkeypatch.setattr("tengen.network.files.bundled.FOLDER", folder)


def _missing() -> str:
    try:
        bundled_networks()
    except NetworkFileError as error:
        return str(error)
    return ""


MISSING = _missing()
needs_bundled_network = pytest.mark.skipif(bool(MISSING), reason=MISSING or "it is there")
