"""All settings of a run: one dataclass for each section of its config.toml."""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any, get_type_hints

from tengen.evaluation.match import parse_engine
from tengen.features.feature_set import (
    FEATURE_SETS,
    KATAGO,
    KATAGO_WITHOUT_LADDERS,
    FeatureSet,
)
from tengen.game.geometry import parse_size
from tengen.game.rules import parse_rules
from tengen.network.architecture_names import named_architecture
from tengen.network.backends.registry import AUTO, check_training_device
from tengen.runs.observer import RunObserver
from tengen.selfplay.params import SelfPlayParams, SelfPlaySearch
from tengen.training.params import TrainingParams, WindowParams

MOST_SEEDS = 2**31  # the trainer's 64-bit keys leave each seed room for 2 ** 32 batches


@dataclass(frozen=True)
class RunParams:
    """What is trained, where, and for how long. Raises ValueError for impossible values."""

    model: str = "b6c96"  # architecture; ignored if `start` names a network
    start: str = ""  # a network to start from; empty: random weights
    features: str = KATAGO.name  # feature set of the network: katago, rich or basic
    # Only for katago: whether the network is shown ladders. It learns more from the same games, but
    # reading ladders takes up to as long as the rest of self-play: a fast GPU waits for it, a
    # network on the CPU does not.
    ladders: bool = True
    device: str = AUTO  # that plays and learns; auto: a GPU if there is one
    seed: int = 1  # of weights and games

    # The run ends at the first of these limits that is reached, and the learning rate falls towards
    # it. 0: no limit.
    minutes: float = 0.0
    games: int = 0
    iterations: int = 0

    iteration_rows: int = 0  # training rows played in an iteration; 0: as suits the device
    first_rows: int = 0  # rows played before training begins; 0: as suits the device
    most_rows: int = 0  # capacity of the replay buffer; 0: as suits the device
    checkpoint_seconds: float = 60.0  # least time between checkpoints
    sample_games: int = 4  # games written as SGF with each checkpoint

    def __post_init__(self) -> None:
        for each in fields(self):
            value = getattr(self, each.name)
            if isinstance(value, int | float) and not 0 <= value < 1e15:
                raise ValueError(f"{each.name} must be 0 or more, not {value!r}")
        if self.seed >= MOST_SEEDS:
            raise ValueError(f"seed must be below {MOST_SEEDS:,}, not {self.seed:,}")
        named_architecture(self.model)  # raises for an unknown name
        check_training_device(self.device)
        if self.features not in FEATURE_SETS:
            known = ", ".join(FEATURE_SETS)
            raise ValueError(f"features must be one of {known}, not {self.features!r}")

    @property
    def feature_set(self) -> FeatureSet:
        """The feature set of the network, which depends on `ladders`, too."""
        if self.features == KATAGO.name and not self.ladders:
            return KATAGO_WITHOUT_LADDERS
        return FEATURE_SETS[self.features]

    def share_done(self, seconds: float, games: int, iterations: int) -> float:
        """How much of the run is over; 0 if it has no end."""
        done = (
            (seconds / 60, self.minutes),
            (games, self.games),
            (iterations, self.iterations),
        )
        return max([0.0, *(count / limit for count, limit in done if limit)])


@dataclass(frozen=True)
class DataParams:
    """Sources to learn from besides the network's own games and their results.

    Raises ValueError for impossible values.
    """

    # Game records in place of self-play: SGF files, shards of games, rows that KataGo wrote (.npz),
    # and folders of such. They are read once, into the folder of the run.
    records: tuple[str, ...] = ()
    epochs: float = 10.0  # a run ends after it has gone so often through all records; 0: no limit
    record_rules: str = "japanese"  # rules of records that name none
    # Sides of boards, or "9x13": records of others are left out; empty: those that are common.
    record_sizes: tuple[int | str, ...] = ()
    # A network whose evaluation of each position is learned, in place of the moves that were chosen
    # there and the result of the game.
    teacher: str = ""
    # With records or a teacher this share of the games is not learned from; how well the network
    # knows some of their positions is one of the metrics.
    held_out: float = 0.02

    def __post_init__(self) -> None:
        if not 0 <= self.held_out <= 0.5:
            raise ValueError(f"held_out must be from 0 to 0.5, not {self.held_out}")
        if not 0 <= self.epochs < 1e9:
            raise ValueError(f"epochs must be 0 or more, not {self.epochs}")
        parse_rules(self.record_rules)
        for size in self.record_sizes:
            parse_size(size)

    @property
    def holds_out(self) -> float:
        """The share of the games that is held out, 0 without records and teacher."""
        return self.held_out if self.records or self.teacher else 0.0


@dataclass(frozen=True)
class RatingParams:
    """How a run's networks are rated. Raises ValueError for impossible values."""

    every: int = 10  # iterations between ratings; 0: never
    games: int = 128  # games against each opponent
    visits: int = 32  # visits of the run's networks for each move
    opponents: int = 2  # how many of the latest rated networks are played
    opening_moves: int = 6  # first moves drawn from the policy, so that games differ
    # A new network makes the games only after scoring at least this share of the points against the
    # one that makes them now. 0: new weights play at once, which is faster and rarely worse.
    gate: float = 0.0
    # Opponents from outside the run, such as "b6c96.bin.gz@8" or "gtp:gnugo --mode gtp".
    outside: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        for name in ("every", "opponents", "opening_moves"):
            if getattr(self, name) < 0:
                raise ValueError(f"{name} must be 0 or more, not {getattr(self, name)}")
        if not 0 <= self.gate < 1:
            raise ValueError(f"gate must be from 0 to below 1, not {self.gate}")
        if self.gate and not self.every:
            raise ValueError("gate needs ratings: set every to 1 or more")
        for name in ("games", "visits"):
            if getattr(self, name) < 2:
                raise ValueError(f"{name} must be 2 or more, not {getattr(self, name)}")
        for text in self.outside:
            parse_engine(text)


@dataclass(frozen=True)
class RunConfig:
    """All settings of a run, by section."""

    run: RunParams = field(default_factory=RunParams)
    selfplay: SelfPlayParams = field(default_factory=SelfPlayParams)
    search: SelfPlaySearch = field(default_factory=SelfPlaySearch)
    training: TrainingParams = field(default_factory=TrainingParams)
    window: WindowParams = field(default_factory=WindowParams)
    rating: RatingParams = field(default_factory=RatingParams)
    data: DataParams = field(default_factory=DataParams)

    def __post_init__(self) -> None:
        if self.selfplay.visits < 2 and not self.data.records:
            raise ValueError(
                "selfplay.visits must be 2 or more: a search of one visit has no moves to learn"
            )


@dataclass(frozen=True)
class Session:
    """Options of one session of a run, besides the settings of the run."""

    minutes: float | None = None  # it ends after so many, though the run has not
    pack: Path | None = None  # kept fresh, see `tengen.runs.pack`
    origin: Path | None = None  # a pack that a new run goes on from
    observers: tuple[RunObserver, ...] = ()  # receive all metrics


SECTIONS: dict[str, type[Any]] = get_type_hints(RunConfig)
# Settings that may change when a run is resumed; any other would make it another run.
CHANGEABLE = {
    "run.device",
    "run.minutes",
    "run.games",
    "run.iterations",
    "run.checkpoint_seconds",
    "run.sample_games",
    "rating.every",
    "rating.games",
    "rating.visits",
    "rating.opponents",
    "rating.outside",
    "training.rate",
    "training.schedule",
    "training.search_share",
    "training.clip",
    "data.epochs",
}
# Settings that may not change when a run goes on from a pack: they make the network, or how many
# steps its rows allow. The window, self-play and the rest may, for the next phase of a run.
FIXED_IN_PACKS = {
    "run.model",
    "run.start",
    "run.features",
    "run.ladders",
    "run.seed",
    "training.batch",
    "training.samples_per_row",
    "training.optimizer",
}
