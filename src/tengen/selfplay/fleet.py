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

from tengen.game.moves import PASS
from tengen.game.places import words_for
from tengen.network.station import Station
from tengen.search.forest import MAX_DEPTH, ROW, new_forest, plant
from tengen.search.leaves import Rows
from tengen.search.params import SearchParams, settings_array
from tengen.search.walker import new_walkers
from tengen.selfplay.params import SelfPlayParams
from tengen.selfplay.record import Games, joined
from tengen.selfplay.seats import new_menu, new_seats, new_tray, take_from
from tengen.selfplay.tick import COUNTS, ENDED, EVALUATED, MOVED, tick

# Games of a shard are stepped by one thread. Few, so that no thread waits long for another; not
# fewer, for a thread fetches ahead the memory of the games of its next shard, and no further. Small
# fleets have some shards for each thread all the same.
GAMES_OF_A_SHARD = 8
SHARDS_PER_THREAD = 2
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
        threads = station.threads
        shards = max(games // GAMES_OF_A_SHARD, min(games, SHARDS_PER_THREAD * threads))
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
            np.zeros((games, words_for(side * side) if features.sees_ladders else 0), np.uint64),
            station.planes,
            station.globals,
        )
        self._settings = settings_array(search)
        self._walkers = new_walkers(threads)
        self._working = np.zeros((threads, 2, node_room), np.int32)
        self._tickets = np.zeros(1, np.int64)
        self.tally = np.zeros((shards, COUNTS), np.int64)

    def step(self) -> None:
        before = numba.get_num_threads()
        numba.set_num_threads(len(self._working))
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
            self._tickets,
            self.tally,
            self._kind,
        )
        numba.set_num_threads(before)

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
        return joined([take_from(half.tray) for half in self._halves])

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
        saved = {"counts": np.array(self.counts, np.int64)}
        for k, half in enumerate(self._halves):
            saved |= {f"{name}{k}": array.copy() for name, array in _whole(half).items()}
            for name, (rows, lengths) in _ragged(half).items():
                saved[f"{name}{k}"] = rows[_used(rows, lengths)]
        return saved

    def load(self, arrays: Arrays) -> None:
        """Go on with the games that were saved; raises ValueError if they are of another fleet."""
        self._settle()
        for k, half in enumerate(self._halves):
            for name, array in _whole(half).items():
                saved = _records(arrays[f"{name}{k}"], array.dtype)
                if saved.shape != array.shape:
                    raise ValueError(f"{name} was saved by a fleet of another kind or size")
                array[...] = saved
            for name, (rows, lengths) in _ragged(half).items():
                rows[_used(rows, lengths)] = _records(arrays[f"{name}{k}"], rows.dtype)
            half.replant()
        counts = arrays["counts"].tolist()
        self._ticks = counts[0]
        for half in self._halves:
            half.tally[:] = 0
        self._halves[0].tally[0, [EVALUATED, MOVED, ENDED]] = counts[1:]

    def _settle(self) -> None:
        for k, half in enumerate(self._halves):
            if self._launched[k]:
                half.station.wait()
                self._launched[k] = False
            half.replant()
        self._next = 0


def _whole(half: _Half) -> dict[str, NDArray[Any]]:
    """What there is to be known of the games of a half, all of it."""
    return {
        "seats": half.seats.seats,
        "boards": half.forest.boards,
        "trees": half.forest.trees,
        "caught_before": half.forest.caught_before,
        "avoided_passes": half.forest.avoid[:, :, PASS],
    }


def _ragged(half: _Half) -> dict[str, tuple[NDArray[Any], NDArray[Any]]]:
    """What there is of the games of a half in rows that are used up to some length."""
    seats = half.seats
    return {
        "turns": (seats.turns, seats.seats["n_turns"]),
        "targets": (seats.targets, seats.seats["n_targets"]),
        "histories": (half.forest.histories, half.forest.boards["ply"] + 1),
    }


def _records(saved: NDArray[Any], dtype: np.dtype[Any]) -> NDArray[Any]:
    """Records again, if they were kept as the bytes they are; raises ValueError for others."""
    if dtype.names is None or saved.dtype == dtype:
        return saved
    if saved.dtype != np.uint8 or saved.shape[-1:] != (dtype.itemsize,):
        raise ValueError("records were saved by another version")
    return np.ascontiguousarray(saved).view(dtype)[..., 0]


def _used(rows: NDArray[Any], lengths: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]]:
    """The indices of the entries in use."""
    longest = int(lengths.max(initial=0))
    row, entry = np.nonzero(np.arange(min(longest, rows.shape[1])) < lengths[:, None])
    return row, entry
