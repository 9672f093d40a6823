"""The fleet of a run that has made games elsewhere, and now begins all of them anew."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from tengen.network.inference_buffers import InferenceBuffers
from tengen.search.params import SearchParams
from tengen.selfplay.fleet import Fleet
from tengen.selfplay.params import SelfPlayParams


class LaterFleet(Fleet):
    """A fleet whose games have numbers from `first` on, and random numbers of their own.

    None of them is cut short (`selfplay.stagger`): that is for a network's first games.
    """

    def __init__(
        self,
        buffers: Sequence[InferenceBuffers],
        params: SelfPlayParams,
        search: SearchParams,
        seed: int,
        first: int,
    ) -> None:
        another = int(np.random.SeedSequence([seed, first]).generate_state(1)[0])
        super().__init__(buffers, replace(params, stagger=False), search, another)
        for half in self._halves:
            half.game_params.numbers["first"] += np.uint64(first)
