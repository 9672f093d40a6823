"""Lets a fleet begin all games anew, in a run that has made games before."""

from __future__ import annotations

import numpy as np

from tengen.selfplay.fleet import Fleet


def begin_games_after(fleet: Fleet, last: int, seed: int) -> None:
    """Number the games of a new fleet from above `last`, with random numbers of their own.

    Nor are the first of them cut short (`selfplay.stagger`): that is for a network's first games.
    """
    arrays = fleet.save()
    slots = sum(len(array) for array in arrays.values() if "begun" in (array.dtype.names or ()))
    generator = np.random.default_rng([seed, last])
    for array in arrays.values():
        names = array.dtype.names or ()
        if "begun" in names:
            array["begun"] = last // slots + 1
        if "rng" in names:
            array["rng"] = generator.integers(1, 2**63, array["rng"].shape, np.uint64)
    fleet.load(arrays)
