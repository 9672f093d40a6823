"""The network that comes with the package, where it is there."""

from __future__ import annotations

import pytest

from tengen.network.files.bundled import bundled_networks
from tengen.network.files.errors import NetworkFileError


def _missing() -> str:
    try:
        bundled_networks()
    except NetworkFileError as error:
        return str(error)
    return ""


MISSING = _missing()
needs_bundled_network = pytest.mark.skipif(bool(MISSING), reason=MISSING or "it is there")
