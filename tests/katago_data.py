"""KataGo's own words on fixed positions, where they are at hand."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

FOLDER = Path(__file__).parents[2] / "shared" / "katago"

needs_katago_data = pytest.mark.skipif(
    not FOLDER.is_dir(), reason="KataGo's outputs are not at hand (../shared/katago)"
)


def answers(network: str) -> list[dict[str, Any]]:
    """KataGo's answers for a network, one for each position; empty where there are none."""
    path = FOLDER / f"{network}.raw-nn.json"
    return json.loads(path.read_text()) if path.exists() else []
