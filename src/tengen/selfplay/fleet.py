"""The fleet: thousands of games that a network plays against itself, in lockstep.

It has two halves: while the network evaluates the leaves of one, the CPU steps the games of the
other.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import fields
from typing import Any, NamedTuple

import numba
import numpy as np
from numpy.typing import NDArray

from tengen.game.kernel_rules import terms_of
from tengen.game.kernels.board import TERMS
from tengen.game.kernels.moves import PASS
from tengen.game.kernels.point_sets import words_for
from tengen.game.rules import parse_rules
from tengen.network.inference_buffers import InferenceBuffers
from tengen.search.kernels.descent_scratch import new_descent_scratches
from tengen.search.kernels.forest import MAX_DEPTH, PATH, new_forest, reset_tree
from tengen.search.leaf_batch import LeafBatch
from tengen.search.params import SearchParams, settings_array
from tengen.selfplay.kernels.step import COUNTS, ENDED, EVALUATED, MOVED, step_games
from tengen.selfplay.params import SelfPlayParams, fair_komi
from tengen.selfplay.record import GAME, MOVE_VALUE, TARGET, TURN, Games, Records, joined

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
    """Half of the games, their trees, and the buffers between them and the network."""

    def __init__(
        self,
        buffers: InferenceBuffers,
        params: SelfPlayParams,
        search: SearchParams,
        slots: int,
        first: int,
        seed: int,
        move_values: bool,
    ) -> None:
        games, side = len(buffers.planes), params.largest_side
        features = buffers.features
        node_room = max(params.visits, params.fast_visits) + _SPARE_NODES
        threads = buffers.threads
        chunks = max(games // GAMES_PER_CHUNK, min(games, CHUNKS_PER_THREAD * threads))
        self.buffers = buffers
        self.forest = new_forest(
            games,
            side * side,
            node_room=node_room,
            candidate_room=node_room * (side * side + 2),
            moves=params.most_turns + MAX_DEPTH,
            ladders=features.sees_ladders,
            ownership=False,
            biases=search.value_bias > 0,
        )
        self.game_params = new_game_params(params, slots, first)
        self.slots = new_game_slots(params, games, first, seed, move_values)
        self.forest.trees["rng"] = self.slots.slots["rng"] ^ np.uint64(2**40)
        self.finished = new_finished_games(params, chunks, FINISHED_GAMES_ROOM, move_values)
        self.tally = np.zeros((chunks, COUNTS), np.int64)
        caught_words = words_for(side * side) if features.sees_ladders else 0
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

    def drop_trees(self) -> None:
        """Forget all trees and evaluations under way."""
        self.slots.slots["waiting"] = 0
        for g in range(len(self.forest.trees)):
            reset_tree(self.forest, g)


class Fleet:
    """Games of a network against itself, in two halves.

    Each game has a random generator of its own, so games depend neither on the number of threads
    nor on when `take_games` is called.
    """

    def __init__(
        self,
        buffers: Sequence[InferenceBuffers],
        params: SelfPlayParams,
        search: SearchParams,
        seed: int,
        *,
        move_values: bool = False,
    ) -> None:
        """As many games as the buffers have rows, a half for each buffer.

        With `move_values` the records hold what full searches found after each move they tried.
        """
        sizes = [len(buffers.planes) for buffers in buffers]
        firsts = np.cumsum([0, *sizes[:-1]]).tolist()
        self._halves = [
            _Half(buffers, params, search, sum(sizes), first, seed, move_values)
            for buffers, first in zip(buffers, firsts, strict=True)
        ]
        self._next = 0
        self._ticks = 0
        self._launched = [False] * len(buffers)

    def tick(self) -> None:
        """Step one half while the network evaluates the other."""
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
        for k, half in enumerate(self._halves):
            for name, array in _whole(half).items():
                saved = _records(arrays[f"{name}{k}"], array.dtype)
                if saved.shape != array.shape:
                    raise ValueError(f"{name} was saved by a fleet of another kind or size")
                array[...] = saved
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
        raise ValueError("records were saved by another version of Tengen")
    return np.ascontiguousarray(saved).view(dtype)[..., 0]


def _used(rows: NDArray[Any], lengths: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]]:
    """The indices of the entries within the lengths."""
    longest = int(lengths.max(initial=0))
    row, entry = np.nonzero(np.arange(min(longest, rows.shape[1])) < lengths[:, None])
    return row, entry


# The arrays that kernels work on

_SLOT_FIELDS = [
    ("number", "u8"),  # of the game
    ("begun", "i8"),  # games begun in this slot
    ("step", "i8"),  # of the network when the game began
    ("button", "i4"),  # was there one at the start?
    ("kind", "i4"),  # of the turn being searched: FAST or FULL
    ("n_turns", "i4"),
    ("n_targets", "i4"),
    ("opening", "i4"),  # opening moves still to be drawn from the policy
    ("fair", "i4"),  # 1: the komi is to be made fair after the opening
    ("decided", "i4"),  # turns in a row whose outcome was clear
    ("played_out", "i4"),  # 1: searched as if it were never decided
    ("waiting", "i4"),  # 1: its leaf is with the network
    ("over", "i4"),  # 1: the game has ended and is not recorded yet
    ("rng", "u8", (1,)),
]
SLOT = np.dtype((np.record, np.dtype(_SLOT_FIELDS, align=True)))

# The settings that are numbers, as kernels read them.
_NUMBERS = [each.name for each in fields(SelfPlayParams) if isinstance(each.default, int | float)]


class GameParams(NamedTuple):
    """The settings of self-play, for kernels."""

    numbers: Records  # [1] _NUMBERS; slots in all, number of the first one, training step
    sizes: NDArray[np.int32]  # [sizes]
    komi: NDArray[np.float32]  # [sizes]
    size_chances: NDArray[np.float64]  # [sizes] cumulative
    terms: Records  # [rules] of TERMS


class GameSlots(NamedTuple):
    """The games under way."""

    slots: Records  # [games] of SLOT
    turns: NDArray[np.void]  # [games, most turns] of TURN
    targets: NDArray[np.void]  # [games, room] of TARGET
    move_values: NDArray[np.void]  # [games, room] of MOVE_VALUE, or [games, 0]


class FinishedGames(NamedTuple):
    """Finished games by the chunk that played them, until they are taken away."""

    counts: NDArray[np.int64]  # [chunks, 3] games, turns, targets
    games: NDArray[np.void]  # [chunks, games] of GAME
    turns: NDArray[np.void]  # [chunks, turns] of TURN
    targets: NDArray[np.void]  # [chunks, targets] of TARGET
    ownership: NDArray[np.int8]  # [chunks, games, area]
    move_values: NDArray[np.void]  # [chunks, targets] of MOVE_VALUE, or [chunks, 0]


def new_game_params(params: SelfPlayParams, slots: int, first: int) -> GameParams:
    """The settings for slots first, first + 1, ... of so many in all."""
    kinds = [(name, "f8") for name in _NUMBERS]
    extra = [("slots", "u8"), ("first", "u8"), ("step", "i8")]
    numbers = np.zeros(1, np.dtype((np.record, np.dtype([*kinds, *extra], align=True))))
    for name in _NUMBERS:
        numbers[name] = getattr(params, name)
    numbers["slots"], numbers["first"] = slots, first
    sides = params.board_sizes
    weights = np.array(params.size_weights or [1.0] * len(sides))
    komi = params.komi or [fair_komi(side) for side in sides]
    terms = np.zeros(len(params.rules), TERMS)
    for k, name in enumerate(params.rules):
        terms[k] = terms_of(parse_rules(name), 0.0)
    terms["friendly_pass"] = 0  # stones left on the board count as alive
    return GameParams(
        numbers,
        np.array(sides, np.int32),
        np.array(komi, np.float32),
        np.cumsum(weights / weights.sum()),
        terms,
    )


def new_game_slots(
    params: SelfPlayParams, games: int, first: int, seed: int, move_values: bool
) -> GameSlots:
    """Empty slots, each with a random generator of its own."""
    turns = params.most_turns
    slots = np.zeros(games, SLOT)
    for k in range(games):
        slots["rng"][k] = np.random.SeedSequence([seed, first + k]).generate_state(1, np.uint64) | 1
    room = turns * (params.largest_side**2 + 1)
    return GameSlots(
        slots,
        np.zeros((games, turns), TURN),
        np.zeros((games, room), TARGET),
        np.zeros((games, room if move_values else 0), MOVE_VALUE),
    )


def new_finished_games(
    params: SelfPlayParams, chunks: int, games: int, move_values: bool
) -> FinishedGames:
    """Room for this many games of each chunk, even if all are as long as possible."""
    turns, area = params.most_turns, params.largest_side**2
    room = games * turns * (area + 1)
    return FinishedGames(
        np.zeros((chunks, 3), np.int64),
        np.zeros((chunks, games), GAME),
        np.zeros((chunks, games * turns), TURN),
        np.zeros((chunks, room), TARGET),
        np.zeros((chunks, games, area), np.int8),
        np.zeros((chunks, room if move_values else 0), MOVE_VALUE),
    )


def take_from(finished: FinishedGames) -> Games:
    """Take all finished games, chunk by chunk."""
    n_games, n_turns, n_targets = finished.counts.T.copy()
    finished.counts[:] = 0
    games = _first_of_each(finished.games, n_games)
    ownership = _first_of_each(finished.ownership, n_games)  # [games, area of the largest board]
    on_board = np.arange(ownership.shape[1]) < (games["width"] * games["height"])[:, None]
    return Games(
        games,
        _first_of_each(finished.turns, n_turns),
        _first_of_each(finished.targets, n_targets),
        ownership[on_board],
        _first_of_each(finished.move_values, np.minimum(n_targets, finished.move_values.shape[1])),
    )


def _first_of_each(rows: NDArray[Any], counts: NDArray[np.int64]) -> NDArray[Any]:
    """The first counts[k] entries of each row k, concatenated."""
    starts = np.arange(len(counts)) * rows.shape[1]
    before = np.cumsum(counts) - counts
    entries = np.arange(counts.sum()) + np.repeat(starts - before, counts)
    taken: NDArray[Any] = rows.reshape(-1, *rows.shape[2:])[entries]
    return taken
