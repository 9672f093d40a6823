"""The name of Tengen for pip, and how to install what a part of it needs.

The name `tengen` belongs to somebody else's package on PyPI: nothing may tell people to install it.
"""

from __future__ import annotations

DISTRIBUTION = "tengen-go"
# The extra of the distribution that brings a module which not everybody needs.
EXTRAS = {
    "onnx": "onnxruntime",
    "onnxruntime": "onnxruntime",
    "ray": "cluster",
    "tensorboard": "train",
    "torch": "train",
}


def install_command(extra: str) -> str:
    """The command that installs Tengen with an extra."""
    return f"pip install '{DISTRIBUTION}[{extra}]'"
