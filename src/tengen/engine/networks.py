"""The networks of an engine: the one it was given, or the bundled ones, chosen by the game.

A bundled network is opened when a game first needs it: most engines never need the second one.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path
from typing import TypeAlias

from tengen.game.position import Position
from tengen.network.cache import CachingEvaluator, EvaluationCache
from tengen.network.evaluator import Evaluator
from tengen.network.files.bundled import BUNDLED, bundled_networks, choose_network
from tengen.network.files.tengen_format import read_trained_on
from tengen.network.loaded_network import LoadedNetwork
from tengen.network.network_data import NetworkData
from tengen.network.trained_on import TrainedOn, Unfamiliar, unfamiliar
from tengen.search.warmup import compile_kernels_behind

Model: TypeAlias = str | Path | NetworkData | LoadedNetwork | Evaluator
OpenModel: TypeAlias = Callable[[str | Path | NetworkData], LoadedNetwork]


def opened(model: Model, open_model: OpenModel) -> LoadedNetwork:
    """A network that is opened unless it is open already; raises what opening it raises."""
    if isinstance(model, str | Path | NetworkData):
        return open_model(model)
    return model if isinstance(model, LoadedNetwork) else LoadedNetwork(model)


class EngineNetworks:
    """One network or several, and which of them plays a game. Thread-safe."""

    def __init__(
        self,
        model: Model,
        first_game: Position,
        open_model: OpenModel,
        cache: EvaluationCache | None,
        human: Evaluator | None,
    ) -> None:
        """Opens the network for the first game; raises what opening it raises.

        Evaluations are remembered in the cache. `human` is a network that imitates people.
        """
        self._open_model, self._cache, self._human = open_model, cache, human
        self._lock = threading.Lock()
        self._open: dict[int, LoadedNetwork] = {}  # by their number
        self._files = bundled_networks() if model == BUNDLED else ()
        if self._files:
            self._trained_on: list[TrainedOn] = [read_trained_on(file) for file in self._files]
            self.first = self.for_game(first_game)
        else:
            self.first = self._add(0, opened(model, open_model))

    @property
    def opened(self) -> tuple[LoadedNetwork, ...]:
        """Those that are open, the first one first."""
        with self._lock:
            return tuple(self._open.values())

    def for_game(self, position: Position) -> LoadedNetwork:
        """The network that plays a game; opens it if need be, and raises what that raises."""
        number = self._number(position)
        with self._lock:
            if number not in self._open:
                self._add(number, self._open_model(self._files[number]))
            return self._open[number]

    def unfamiliar(self, position: Position) -> Unfamiliar | None:
        """The board or rules of a game that its network was not trained on; opens nothing."""
        known = self.first.trained_on
        if self._files:
            known = self._trained_on[self._number(position)]
        return None if known is None else unfamiliar(self.name_for(position), known, position)

    def name_for(self, position: Position) -> str:
        """The name of the network that plays a game; opens nothing."""
        if self._files:
            return self._files[self._number(position)].stem
        return self.first.evaluator.name

    def _number(self, position: Position) -> int:
        return choose_network(self._trained_on, position) if self._files else 0

    def _add(self, number: int, network: LoadedNetwork) -> LoadedNetwork:
        evaluator = network.evaluator
        compile_kernels_behind()
        if self._cache is not None:
            network = network._replace(evaluator=CachingEvaluator(evaluator, self._cache))
        self._open[number] = network
        return network
