"""Training rows: their fields, declared once, and the encoding of recorded games into rows.

Arrays on the host, the replay buffer on the device and batches all have these fields: `Rows` of
NumPy arrays, `Rows` of tensors. To add a target, declare it here, fill it in `kernels/encode.py`,
and give it a loss in `tengen.training.heads_and_losses`.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from enum import Enum, auto
from typing import Annotated, Any, Generic, NamedTuple, TypeAlias, TypeVar, get_type_hints

import numpy as np
from numpy.typing import DTypeLike, NDArray

from tengen.features.feature_set import FeatureSet
from tengen.features.scratch import new_feature_scratch
from tengen.game.geometry import Size
from tengen.game.kernels.board import TERMS, new_boards
from tengen.game.kernels.moves import new_history
from tengen.replay.kernels.encode import HORIZON_SCALES, EncodeScratch, GameIndex, encode_span
from tengen.selfplay.record import Games, check_games, offsets

HORIZONS = len(HORIZON_SCALES)

Array = TypeVar("Array")


class Layout(Enum):
    """Shapes that depend on the board or on the feature set."""

    POINTS = auto()  # [H, W] turned with the board
    MOVES = auto()  # [H * W + 1] turned with the board; y * W + x, the pass last
    GLOBALS = auto()  # [packed globals of the feature set]; in batches [globals]


class Field(NamedTuple):
    """What one field holds."""

    dtype: DTypeLike
    shape: Layout | tuple[int, ...]  # of one row; a tuple is the same for all boards

    def shape_on(self, size: Size, features: FeatureSet) -> tuple[int, ...]:
        """The shape of one row on boards of this size."""
        match self.shape:
            case Layout.POINTS:
                return size.height, size.width
            case Layout.MOVES:
                return (size.area + 1,)
            case Layout.GLOBALS:
                return (features.packed_globals,)
        return self.shape


class Rows(NamedTuple, Generic[Array]):
    """Training rows of boards of one size, all from the view of the side to play."""

    # Bit k of a point is plane k of the inputs; in batches [planes, H, W].
    planes: Annotated[Array, Field(np.uint32, Layout.POINTS)]
    globals: Annotated[Array, Field(np.float32, Layout.GLOBALS)]
    policy: Annotated[Array, Field(np.float16, Layout.MOVES)]  # sums to 1
    reply: Annotated[Array, Field(np.float16, Layout.MOVES)]  # the next turn's policy, or all 0
    value: Annotated[Array, Field(np.float32, (3,))]  # win, loss, no result; a draw is half a win
    score: Annotated[Array, Field(np.float32, ())]  # final points; 0 where nothing was counted
    # Exponential averages of the values and scores that the searches found from this turn on, the
    # final result last. A search has 1 / (1 + area * scale) of the weight not yet given.
    short_values: Annotated[Array, Field(np.float32, (HORIZONS, 3))]
    short_scores: Annotated[Array, Field(np.float32, (HORIZONS,))]
    search_value: Annotated[Array, Field(np.float32, (3,))]  # of this turn's search
    lead: Annotated[Array, Field(np.float32, ())]  # final points that the search expects
    ownership: Annotated[Array, Field(np.int8, Layout.POINTS)]  # SURE own, -SURE the other's
    # How far value, score, lead and ownership are known, from 0 to 1: what they say holds if the
    # game has a result, and records from elsewhere do not tell all of it.
    known: Annotated[Array, Field(np.float32, (4,))]
    # The spread of the score, and the squares of the errors of value and score at the shortest
    # horizon, from a teacher; all 0 where they are learned from results.
    uncertainty: Annotated[Array, Field(np.float32, (3,))]


TrainingRows: TypeAlias = Rows[NDArray[Any]]

FIELDS: dict[str, Field] = {
    name: hint.__metadata__[0] for name, hint in get_type_hints(Rows, include_extras=True).items()
}


class OrderedRows(NamedTuple):
    """The rows of one board size, and where they stood among the rows of all sizes."""

    rows: TrainingRows
    order: NDArray[np.int64]  # [rows] growing; the games' order, whatever their sizes


def new_rows(count: int, features: FeatureSet, size: Size) -> TrainingRows:
    """Rows of zeros for boards of this size."""
    return Rows(
        *(
            np.zeros((count, *field.shape_on(size, features)), field.dtype)
            for field in FIELDS.values()
        )
    )


def encode_games(
    games: Games, features: FeatureSet, seed: int, *, threads: int = 1
) -> dict[Size, OrderedRows]:
    """The rows of these games by board size, for sizes that have games, the smallest first.

    The seed decides how often each turn appears, see `copies_of_turns`. Raises ValueError for
    records that are broken.
    """
    check_games(games)
    played = games.games
    copies = copies_of_turns(games, seed)
    of_game = np.diff(game_index(games, copies).rows)  # [games] rows
    found = {}
    for size in _sizes(games):
        chosen = (played["width"] == size.width) & (played["height"] == size.height)
        order = np.flatnonzero(np.repeat(chosen, of_game))
        some, turns = (games, copies) if chosen.all() else _selected(games, copies, chosen)
        found[size] = OrderedRows(_encoded(some, turns, features, size, threads), order)
    return found


def encode_padded(games: Games, features: FeatureSet, size: Size, seed: int) -> TrainingRows:
    """The rows of these games in their order, smaller boards in the upper left corner.

    For trainers that want all sizes in one array; else as `encode_games`. Also raises ValueError
    for boards that are larger.
    """
    check_games(games)
    for own in _sizes(games):
        if own.width > size.width or own.height > size.height:
            raise ValueError(f"a game on a {own} board does not fit rows of {size}")
    return _encoded(games, copies_of_turns(games, seed), features, size, threads=1)


def _sizes(games: Games) -> list[Size]:
    """The board sizes of these games, the smallest first."""
    sides = np.unique(np.stack([games.games["width"], games.games["height"]], 1), axis=0)
    return sorted((Size(int(x), int(y)) for x, y in sides), key=lambda size: (size.area, size))


def _selected(
    games: Games, copies: NDArray[np.int32], chosen: NDArray[np.bool_]
) -> tuple[Games, NDArray[np.int32]]:
    """The chosen games [games], without values of moves, and the copies of their turns."""
    played = games.games
    of_turns = np.repeat(chosen, played["n_turns"])
    some = Games(
        played[chosen],
        games.turns[of_turns],
        games.targets[np.repeat(chosen, played["n_targets"])],
        games.ownership[np.repeat(chosen, played["width"] * played["height"])],
    )
    return some, copies[of_turns]


def _encoded(
    games: Games,
    copies: NDArray[np.int32],  # [turns]
    features: FeatureSet,
    size: Size,
    threads: int,
) -> TrainingRows:
    """The rows of games whose records were checked, on boards of up to this size."""
    index = game_index(games, copies)
    rows = new_rows(int(index.rows[-1]), features, size)
    kernel_rows = Rows(
        *(array.view(np.uint16) if array.dtype == np.float16 else array for array in rows)
    )
    most_turns = int(games.games["n_turns"].max(initial=0))

    def encode(begin: int, end: int) -> int:
        scratch = EncodeScratch(
            new_boards(1),
            new_history(most_turns),
            new_feature_scratch(),
            np.zeros((HORIZONS, 4)),
        )
        kind = features.kind
        return int(encode_span(games, index, copies, begin, end, kind, scratch, kernel_rows))

    bounds = [len(games.games) * k // threads for k in range(threads + 1)]
    if threads == 1:
        reached = [encode(*bounds)]
    else:
        with ThreadPoolExecutor(threads) as pool:  # kernels release the GIL
            reached = list(pool.map(encode, bounds[:-1], bounds[1:]))
    for game, end in zip(reached, bounds[1:], strict=True):
        if game < end:
            number = games.games["number"][game]
            raise ValueError(f"game {number} plays onto a stone: its record is broken")
    return rows


def game_index(games: Games, copies: NDArray[np.int32]) -> GameIndex:
    """Where the parts of each game begin, for kernels; copies [turns] are the rows of each turn."""
    played = games.games
    turns = offsets(played["n_turns"])
    return GameIndex(
        terms=played["terms"].astype(TERMS),
        turns=turns,
        targets=offsets(played["n_targets"]),
        points=offsets(played["width"] * played["height"]),
        rows=offsets(copies)[turns],
    )


def copies_of_turns(games: Games, seed: int) -> NDArray[np.int32]:
    """[turns] how many rows each turn becomes: 1.7 is one row, or two with probability 0.7.

    Depends only on the seed, the game's number and the turn, not on what else is encoded.
    """
    played, weights = games.games, games.turns["weight"]
    numbers = np.repeat(played["number"], played["n_turns"])
    starts = offsets(played["n_turns"])[:-1]
    turns = np.arange(len(weights)) - np.repeat(starts, played["n_turns"])
    whole = np.floor(weights)
    more = _uniform(seed, numbers, turns.astype(np.uint64)) < weights - whole
    return np.asarray(whole + more, np.int32)


def _uniform(
    seed: int, numbers: NDArray[np.uint64], turns: NDArray[np.uint64]
) -> NDArray[np.float64]:
    """Pseudo-random numbers from 0 to 1, hashed from the arguments (splitmix64's finaliser)."""
    first = np.random.SeedSequence(seed).generate_state(1, np.uint64)
    x = first + numbers * np.uint64(0x9E3779B97F4A7C15) + turns * np.uint64(0xD1342543DE82EF95)
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return np.asarray((x ^ (x >> np.uint64(31))) >> np.uint64(11), np.float64) * 2.0**-53
