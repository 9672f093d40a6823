"""The network that comes with the package."""

from __future__ import annotations

from pathlib import Path

from tengen.network.files.errors import NetworkFileError

BUNDLED = "bundled"  # its name wherever a network can be named
_FILE = Path(__file__).with_name("tengen-9x9.safetensors")


def bundled_network() -> Path:
    """The bundled network's file; raises NetworkFileError if it is missing."""
    if not _FILE.is_file():
        what = "the network that comes with Tengen is missing"
        raise NetworkFileError(f"{_FILE}: {what}; install Tengen again, or name a network file")
    return _FILE
