"""The fleet: thousands of games that a network plays against itself, in lockstep.

The games of each board size are two halves: while the network evaluates the leaves of all others,
the CPU steps the games of one. A slot never changes its size, so that a batch has no padding.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numba
import numpy as np
from numpy.typing import NDArray

from tengen.game.geometry import Size
from tengen.game.kernels.moves import PASS
from tengen.game.kernels.point_sets import words_for
from tengen.network.inference_buffers import InferenceBuffers
from tengen.search.kernels.descent_scratch import new_descent_scratches
from tengen.search.kernels.forest import MAX_DEPTH, PATH, new_forest, reset_tree
from tengen.search.leaf_batch import LeafBatch
from tengen.search.params import SearchParams, settings_array
from tengen.selfplay.game_arrays import (
    Numbering,
    new_finished_games,
    new_game_params,
    new_game_slots,
    take_from,
)
from tengen.selfplay.kernels.step import COUNTS, ENDED, EVALUATED, MOVED, step_games
from tengen.selfplay.params import SelfPlayParams
from tengen.selfplay.record import Games, joined

# Threads step games in chunks. Small chunks, so that no thread waits long for another; not smaller,
# since a thread prefetches no further than its next chunk. Small fleets still have some chunks for
# each thread.
GAMES_PER_CHUNK = 8
CHUNKS_PER_THREAD = 2
FINISHED_GAMES_ROOM = 64  # finished games of a chunk that are kept until `take_games`
_SPARE_NODES = 16


class Counts(NamedTuple):
    """What a fleet has done so far."""

    ticks: int = 0
    rows: int = 0  # leaves evaluated
    moves: int = 0
    games: int = 0


class _Half:
    """Half of a size's games, their trees, and the buffers between them and the network."""

    def __init__(
        self,
        buffers: InferenceBuffers,
        params: SelfPlayParams,
        search: SearchParams,
        numbering: Numbering,
        seed: int,
        move_values: bool,
    ) -> None:
        games, self.size = len(buffers.planes), board_size_of(buffers)
        area, most_turns = self.size.area, params.most_turns(self.size)
        features = buffers.features
        node_room = max(params.visits, params.fast_visits) + _SPARE_NODES
        threads = buffers.threads
        chunks = max(games // GAMES_PER_CHUNK, min(games, CHUNKS_PER_THREAD * threads))
        self.buffers = buffers
        self.forest = new_forest(
            games,
            area,
            node_room=node_room,
            candidate_room=node_room * (area + 2),
            moves=most_turns + MAX_DEPTH,
            ladders=features.sees_ladders,
            ownership=False,
            biases=search.value_bias > 0,
        )
        self.game_params = new_game_params(params, self.size, numbering)
        self.slots = new_game_slots(games, area, most_turns, move_values)
        for k in range(games):
            key = [seed, *self.size, numbering.first_of_size + k]
            state = np.random.SeedSequence(key).generate_state(1, np.uint64)
            self.slots.slots["rng"][k] = state | 1
        self.forest.trees["rng"] = self.slots.slots["rng"] ^ np.uint64(2**40)
        self.finished = new_finished_games(
            chunks, FINISHED_GAMES_ROOM, area, most_turns, move_values
        )
        self.tally = np.zeros((chunks, COUNTS), np.int64)
        caught_words = words_for(area) if features.sees_ladders else 0
        caught = np.zeros((games, caught_words), np.uint64)
        self._arguments = (
            self.forest,
            self.slots,
            self.game_params,
            self.finished,
            LeafBatch(
                np.zeros(games, PATH),
                caught,
                buffers.planes,
                buffers.globals,
                np.zeros(games, np.float32),
                human_planes=np.zeros((0, 1, 1, 1), np.float32),
                human_globals=np.zeros((0, 1), np.float32),
            ),
            buffers.evaluation,
            settings_array(search),
            new_descent_scratches(threads),
            np.zeros((threads, 2, node_room), np.int32),  # working
            np.zeros(1, np.int64),  # next_chunk
            self.tally,
            features.kind,
        )

    def step(self) -> None:
        before = numba.get_num_threads()
        numba.set_num_threads(self.buffers.threads)
        step_games(*self._arguments)
        numba.set_num_threads(before)

    def check_boards(self) -> None:
        """Raise ValueError if a game is on a board of another size, for which there is no room."""
        boards = self.forest.boards[self.slots.slots["begun"] > 0]
        for width, height in zip(boards["width"].tolist(), boards["height"].tolist(), strict=True):
            if (width, height) != self.size:
                found = f"{width}x{height} board in place of {self.size}"
                raise ValueError(f"a {found} was saved by a fleet of another kind or size")

    def drop_trees(self) -> None:
        """Forget all trees and evaluations under way."""
        self.slots.slots["waiting"] = 0
        for g in range(len(self.forest.trees)):
            reset_tree(self.forest, g)


class Fleet:
    """Games of a network against itself, in two halves for each board size.

    Each game has a random generator of its own, so games depend neither on the number of threads
    nor on when `take_games` is called, nor on games of other sizes.
    """

    def __init__(
        self,
        buffers: Sequence[InferenceBuffers],
        params: SelfPlayParams,
        search: SearchParams,
        seed: int,
        *,
        first_game: int = 0,
        move_values: bool = False,
    ) -> None:
        """As many games as the buffers have rows, on boards of the buffers' sizes.

        Games are numbered from `first_game`, which decides their random numbers, too.

        Buffers are stepped in turn; `SelfPlayParams.halves` says which ones are needed. With
        `move_values` the records hold what full searches found after each move they tried. Raises
        ValueError for buffers of a size that is not among those of the settings.
        """
        if first_game:
            seed = int(np.random.SeedSequence([seed, first_game]).generate_state(1)[0])
        self._halves = [
            _Half(each, params, search, numbering, seed, move_values)
            for each, numbering in zip(buffers, _numberings(buffers, first_game), strict=True)
        ]
        self._next = 0
        self._ticks = 0
        self._launched = [False] * len(buffers)

    def tick(self) -> None:
        """Step one half while the network evaluates the others."""
        k, half = self._next, self._halves[self._next]
        if self._launched[k]:
            half.buffers.wait()
        half.step()
        half.buffers.launch()
        self._launched[k] = True
        self._next = (k + 1) % len(self._halves)
        self._ticks += 1

    def take_games(self) -> Games:
        """The games that ended since the last call."""
        return joined([take_from(half.finished) for half in self._halves])

    def set_step(self, step: int) -> None:
        """Note in new games how many steps their network has been trained."""
        for half in self._halves:
            half.game_params.numbers["step"] = step

    @property
    def counts(self) -> Counts:
        """What the fleet has done so far."""
        tally = np.sum([half.tally.sum(0) for half in self._halves], axis=0)
        return Counts(self._ticks, int(tally[EVALUATED]), int(tally[MOVED]), int(tally[ENDED]))

    def save(self) -> dict[str, NDArray[Any]]:
        """All games under way. Trees are dropped on save and on load, so resuming is exact."""
        self._settle()
        saved = {"counts": np.array(self.counts, np.int64)}
        for k, half in enumerate(self._halves):
            saved |= {f"{name}{k}": array.copy() for name, array in _whole(half).items()}
            for name, (rows, lengths) in _ragged(half).items():
                saved[f"{name}{k}"] = rows[_used(rows, lengths)]
        return saved

    def load(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        """Resume the games that were saved; raises ValueError if they are of another fleet."""
        self._settle()
        if f"slots{len(self._halves)}" in arrays:
            raise ValueError("games were saved by a fleet with more board sizes")
        for k, half in enumerate(self._halves):
            for name, array in _whole(half).items():
                saved = _records(arrays[f"{name}{k}"], array.dtype)
                if saved.shape != array.shape:
                    raise ValueError(f"{name} was saved by a fleet of another kind or size")
                array[...] = saved
            half.check_boards()
            for name, (rows, lengths) in _ragged(half).items():
                rows[_used(rows, lengths)] = _records(arrays[f"{name}{k}"], rows.dtype)
            half.drop_trees()
        counts = arrays["counts"].tolist()
        self._ticks = counts[0]
        for half in self._halves:
            half.tally[:] = 0
        self._halves[0].tally[0, [EVALUATED, MOVED, ENDED]] = counts[1:]

    def _settle(self) -> None:
        """Wait for the network and drop all trees."""
        for k, half in enumerate(self._halves):
            if self._launched[k]:
                half.buffers.wait()
                self._launched[k] = False
            half.drop_trees()
        self._next = 0


def _numberings(halves: Sequence[InferenceBuffers], first: int) -> list[Numbering]:
    counts = [len(half.planes) for half in halves]
    sizes = [board_size_of(half) for half in halves]
    return [
        Numbering(
            sum(counts),
            first + sum(counts[:k]),
            sum(count for count, each in zip(counts[:k], sizes[:k], strict=True) if each == size),
        )
        for k, size in enumerate(sizes)
    ]


def board_size_of(buffers: InferenceBuffers) -> Size:
    """The size of the boards in these buffers."""
    height, width = buffers.planes.shape[-2:]
    return Size(width, height)


def games_saved(arrays: Mapping[str, NDArray[Any]]) -> int:
    """How many games at a time the fleet played that saved these arrays."""
    return sum(len(array) for name, array in arrays.items() if name.startswith("slots"))


def _whole(half: _Half) -> dict[str, NDArray[Any]]:
    """The arrays of a half that are saved whole."""
    return {
        "slots": half.slots.slots,
        "boards": half.forest.boards,
        "trees": half.forest.trees,
        "caught_before": half.forest.caught_before,
        "avoided_passes": half.forest.avoid[:, :, PASS],
    }


def _ragged(half: _Half) -> dict[str, tuple[NDArray[Any], NDArray[Any]]]:
    """The arrays of a half of which each row is saved up to a length: (array, lengths)."""
    slots = half.slots
    ragged = {
        "turns": (slots.turns, slots.slots["n_turns"]),
        "targets": (slots.targets, slots.slots["n_targets"]),
        "histories": (half.forest.histories, half.forest.boards["ply"] + 1),
    }
    if slots.move_values.shape[1]:
        ragged["move_values"] = (slots.move_values, slots.slots["n_targets"])
    return ragged


def _records(saved: NDArray[Any], dtype: np.dtype[Any]) -> NDArray[Any]:
    """Bytes as records of this type again; raises ValueError for other sizes."""
    if dtype.names is None or saved.dtype == dtype:
        return saved
    if saved.dtype != np.uint8 or saved.shape[-1:] != (dtype.itemsize,):
        raise ValueError("another version saved these games; a pack that it makes can be read")
    return np.ascontiguousarray(saved).view(dtype)[..., 0]


def _used(rows: NDArray[Any], lengths: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]]:
    """The indices of the entries within the lengths."""
    longest = int(lengths.max(initial=0))
    row, entry = np.nonzero(np.arange(min(longest, rows.shape[1])) < lengths[:, None])
    return row, entry
