"""Boards as text for the pages."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


def board_text(colors: NDArray[np.int8]) -> str:
    """[height, width] colours as one character each, from the top: `.`, `X` Black, `O` White."""
    return "".join(".XO"[color] for color in colors.ravel())
