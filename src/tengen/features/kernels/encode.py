"""Kernels: encode by the kind of a set."""

from __future__ import annotations

from tengen.features.kernels import basic, katago, rich
from tengen.jit import kernel

BASIC, RICH, KATAGO, KATAGO_WITHOUT_LADDERS = 0, 1, 2, 3


@kernel
def encode_by_kind(kind, board, history, scratch, planes, globals_):
    """Call the encoder of a set of inputs; only those of 0 and 1 alone can be written as bits."""
    if kind == KATAGO:
        katago.encode(board, history, scratch, planes, globals_)
    elif kind == KATAGO_WITHOUT_LADDERS:
        katago.encode_without_ladders(board, history, scratch, planes, globals_)
    elif planes.ndim == 3:
        _encode_plainly(kind, board, history, scratch, planes, globals_)


@kernel
def _encode_plainly(kind, board, history, scratch, planes, globals_):
    if kind == BASIC:
        basic.encode(board, history, scratch, planes, globals_)
    else:
        rich.encode(board, history, scratch, planes, globals_)
