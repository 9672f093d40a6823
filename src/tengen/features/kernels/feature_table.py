"""The table of feature sets, and the kernel that calls the encoder of a set by its number."""

from __future__ import annotations

from typing import NamedTuple

from tengen.features.kernels import basic, katago, rich
from tengen.jit import Kernel, kernel


class Inputs(NamedTuple):
    """A feature set: the names of its inputs, from which all counts derive, and its encoder."""

    kind: int  # the number by which kernels know the set
    name: str
    planes: tuple[str, ...]
    globals: tuple[str, ...]
    # encode(board, history, scratch, planes, globals) writes either planes[planes, height, width]
    # or bits[height, width], where bit k of a point is plane k, and globals. A board smaller than
    # these arrays lies in their upper left corner.
    encode: Kernel
    mask_planes: int = 3  # the sum of this many first planes is 1 on the board and 0 off it
    uniform: tuple[str, ...] = ()  # planes with one number, not only 0 or 1, all over the board
    sees_ladders: bool = False
    empty: tuple[str, ...] = ()  # planes that are never filled
    version: int = 1  # raised when the meaning of the inputs changes


BASIC, RICH, KATAGO, KATAGO_WITHOUT_LADDERS, KATAGO_WITH_SUICIDE_AREAS, KATAGO_OLDER = range(6)

SETS = (
    Inputs(BASIC, "basic", basic.PLANES, (), basic.encode),
    Inputs(RICH, "rich", rich.PLANES, (), rich.encode, uniform=("own komi",)),
    Inputs(
        KATAGO,
        "katago",
        katago.PLANES,
        katago.GLOBALS,
        katago.encode,
        mask_planes=1,
        sees_ladders=True,
        version=7,  # KataGo's own count
    ),
    # Ladders take about as long to read as everything else; on small boards a network can see them
    # without help.
    Inputs(
        KATAGO_WITHOUT_LADDERS,
        "katago without ladders",
        katago.PLANES,
        katago.GLOBALS,
        katago.encode_without_ladders,
        mask_planes=1,
        empty=tuple(plane for plane in katago.PLANES if "ladder" in plane),
        version=7,
    ),
    Inputs(
        KATAGO_WITH_SUICIDE_AREAS,
        "katago with suicide areas",
        katago.PLANES,
        katago.GLOBALS,
        katago.encode_with_suicide_areas,
        mask_planes=1,
        sees_ladders=True,
        version=7,
    ),
    Inputs(
        KATAGO_OLDER,
        "katago before version 8",
        katago.PLANES,
        katago.GLOBALS,
        katago.encode_for_older,
        mask_planes=1,
        sees_ladders=True,
        version=7,
    ),
)
SEES_LADDERS = tuple(inputs.sees_ladders for inputs in SETS)  # by kind
KNOWS_ADVANTAGE = tuple(katago.ADVANTAGE in inputs.globals for inputs in SETS)  # by kind


@kernel
def encode_by_kind(kind, board, history, scratch, planes, globals_):
    """Call the encoder of the set with this number."""
    if kind == BASIC:
        basic.encode(board, history, scratch, planes, globals_)
    elif kind == RICH:
        rich.encode(board, history, scratch, planes, globals_)
    elif kind == KATAGO:
        katago.encode(board, history, scratch, planes, globals_)
    elif kind == KATAGO_WITHOUT_LADDERS:
        katago.encode_without_ladders(board, history, scratch, planes, globals_)
    elif kind == KATAGO_WITH_SUICIDE_AREAS:
        katago.encode_with_suicide_areas(board, history, scratch, planes, globals_)
    elif kind == KATAGO_OLDER:
        katago.encode_for_older(board, history, scratch, planes, globals_)
