"""The fleet: thousands of games that a network plays against itself, in lockstep.

There are two halves. While the network looks at the positions of one, the games of the other are
stepped, so neither waits for the other longer than it must.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, TypeAlias

import numba
import numpy as np
from numpy.typing import NDArray

from tengen.network.station import Station
from tengen.search.forest import MAX_DEPTH, ROW, ladder_words, new_forest, plant
from tengen.search.leaves import Rows
from tengen.search.params import SearchParams, settings_array
from tengen.search.walker import new_walkers
from tengen.selfplay.params import SelfPlayParams
from tengen.selfplay.record import Games, joined
from tengen.selfplay.seats import new_menu, new_seats, new_tray, take_from
from tengen.selfplay.tick import COUNTS, ENDED, EVALUATED, MOVED, tick

SHARDS_PER_THREAD = 8  # so that no thread waits long for another
GAMES_ON_A_TRAY = 64  # of each shard, between two visits of whoever takes them away
_SPARE_NODES = 16

Arrays: TypeAlias = Mapping[str, NDArray[Any]]


class Counts(NamedTuple):
    """What a fleet has done since it began."""

    ticks: int = 0
    rows: int = 0  # positions that the network was asked about
    moves: int = 0
    games: int = 0


class _Half:
    """Half of the games, with their trees and the network's buffers."""

    def __init__(
        self,
        station: Station,
        params: SelfPlayParams,
        search: SearchParams,
        seats: int,
        first: int,
        seed: int,
    ) -> None:
        games, side = len(station.planes), params.largest_side
        features = station.features
        node_room = max(params.visits, params.fast_visits) + _SPARE_NODES
        threads = numba.get_num_threads()
        shards = min(games, SHARDS_PER_THREAD * threads)
        self.station = station
        self._kind = features.kind
        self.forest = new_forest(
            games,
            side * side,
            node_room=node_room,
            candidate_room=node_room * (side * side + 2),
            moves=params.most_turns + MAX_DEPTH,
            ladders=features.sees_ladders,
            ownership=False,
        )
        self.menu = new_menu(params, seats, first)
        self.seats = new_seats(params, games, first, seed)
        for g in range(games):
            self.forest.trees["rng"][g] = self.seats.seats["rng"][g] ^ np.uint64(2**40)
        self.tray = new_tray(params, shards, GAMES_ON_A_TRAY)
        self._rows = Rows(
            np.zeros(games, ROW),
            np.zeros((games, ladder_words(side * side) if features.sees_ladders else 0), np.uint64),
            station.planes,
            station.globals,
        )
        self._settings = settings_array(search)
        self._walkers = new_walkers(shards)
        self._working = np.zeros((shards, 2, node_room), np.int32)
        self.tally = np.zeros((shards, COUNTS), np.int64)

    def step(self) -> None:
        tick(
            self.forest,
            self.seats,
            self.menu,
            self.tray,
            self._rows,
            self.station.evaluation,
            self._settings,
            self._walkers,
            self._working,
            self.tally,
            self._kind,
        )

    def replant(self) -> None:
        """Forget all trees, and what is with the network."""
        self.seats.seats["waiting"] = 0
        for g in range(len(self.forest.trees)):
            plant(self.forest, g)


class Fleet:
    """Games of a network against itself, half by half.

    Each game has random numbers of its own, so what is played does not depend on the number of
    threads, nor on when the games are taken away.
    """

    def __init__(
        self,
        stations: Sequence[Station],
        params: SelfPlayParams,
        search: SearchParams,
        seed: int,
    ) -> None:
        """As many games as the stations have rows."""
        sizes = [len(station.planes) for station in stations]
        firsts = np.cumsum([0, *sizes[:-1]]).tolist()
        self._halves = [
            _Half(station, params, search, sum(sizes), first, seed)
            for station, first in zip(stations, firsts, strict=True)
        ]
        self._next = 0
        self._ticks = 0
        self._launched = [False] * len(stations)

    def tick(self) -> None:
        """Step one half, while the network is busy with the other."""
        k, half = self._next, self._halves[self._next]
        if self._launched[k]:
            half.station.wait()
        half.step()
        half.station.launch()
        self._launched[k] = True
        self._next = (k + 1) % len(self._halves)
        self._ticks += 1

    def take_games(self) -> Games:
        """The games that ended since the last time."""
        return joined([games for half in self._halves for games in take_from(half.tray)])

    def set_step(self, step: int) -> None:
        """Say how long the network has been trained that plays from now on."""
        for half in self._halves:
            half.menu.numbers["step"] = step

    @property
    def counts(self) -> Counts:
        """What was done so far."""
        tally = sum(half.tally.sum(0) for half in self._halves)
        assert isinstance(tally, np.ndarray)
        return Counts(self._ticks, int(tally[EVALUATED]), int(tally[MOVED]), int(tally[ENDED]))

    def save(self) -> dict[str, NDArray[Any]]:
        """All games as they stand. Their trees are forgotten, here as by who loads them, so that
        both go on alike.
        """
        self._settle()
        return {
            f"{name}{k}": array.copy()
            for k, half in enumerate(self._halves)
            for name, array in _kept(half).items()
        }

    def load(self, arrays: Arrays) -> None:
        """Go on with the games that were saved; raises ValueError if they are of another fleet."""
        self._settle()
        for k, half in enumerate(self._halves):
            for name, array in _kept(half).items():
                saved = arrays[f"{name}{k}"]
                if saved.shape != array.shape or saved.dtype != array.dtype:
                    raise ValueError(f"{name} was saved by a fleet of another kind or size")
                array[...] = saved
            half.replant()

    def _settle(self) -> None:
        for k, half in enumerate(self._halves):
            if self._launched[k]:
                half.station.wait()
                self._launched[k] = False
            half.replant()
        self._next = 0


def _kept(half: _Half) -> dict[str, NDArray[Any]]:
    """What there is to be known of the games of a half."""
    return {
        "seats": half.seats.seats,
        "turns": half.seats.turns,
        "targets": half.seats.targets,
        "boards": half.forest.boards,
        "histories": half.forest.histories,
        "trees": half.forest.trees,
        "caught_before": half.forest.caught_before,
    }
