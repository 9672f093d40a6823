"""The parameters of a run as a whole, and all its settings by their sections."""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from typing import Any

from tengen.evaluation.engine_spec import parse_engine
from tengen.features.feature_set import (
    FEATURE_SETS,
    KATAGO,
    KATAGO_WITHOUT_LADDERS,
    FeatureSet,
)
from tengen.network.architecture import named_architecture
from tengen.replay.window import WindowParams
from tengen.selfplay.params import SelfPlayParams, SelfPlaySearch
from tengen.training.params import TrainingParams

MOST_SEEDS = 2**31  # each has room for as many batches, drawn by 64 bits


@dataclass(frozen=True)
class RunParams:
    """What is trained, where, and for how long. Raises ValueError for what cannot be."""

    model: str = "b6c96"  # the architecture, unless `start` has one
    start: str = ""  # a network to start from; none: from nothing
    features: str = KATAGO.name  # what the network sees: katago, rich or basic
    # For katago: ladders, from which it learns more per game. They take longer to read than all
    # else: no matter next to a network on the processor, but a GPU may have to wait for them.
    ladders: bool = True
    device: str = "auto"  # auto, cpu or cuda
    seed: int = 1

    # The end of the run, at the first of these that is reached; the learning rate falls towards it.
    minutes: float = 0.0  # 0: without an end
    games: int = 0
    iterations: int = 0

    iteration_rows: int = 0  # rows played in an iteration; 0: what suits the device
    first_rows: int = 0  # rows played before training begins; 0: what suits the device
    most_rows: int = 0  # kept ready to be drawn; 0: what suits the device
    checkpoint_seconds: float = 60.0  # between two checkpoints, at the ends of iterations
    sample_games: int = 4  # kept as SGF, at each checkpoint

    def __post_init__(self) -> None:
        for each in fields(self):
            value = getattr(self, each.name)
            if isinstance(value, int | float) and not 0 <= value < 1e15:
                raise ValueError(f"{each.name} must be 0 or more, not {value!r}")
        if self.seed >= MOST_SEEDS:
            raise ValueError(f"seed must be below {MOST_SEEDS:,}, not {self.seed:,}")
        named_architecture(self.model)  # raises for a name that stands for none
        if self.device not in ("auto", "cpu", "cuda"):
            raise ValueError(f"device must be auto, cpu or cuda, not {self.device!r}")
        if self.features not in FEATURE_SETS:
            known = ", ".join(FEATURE_SETS)
            raise ValueError(f"features must be one of {known}, not {self.features!r}")

    @property
    def feature_set(self) -> FeatureSet:
        """What the network sees."""
        if self.features == KATAGO.name and not self.ladders:
            return KATAGO_WITHOUT_LADDERS
        return FEATURE_SETS[self.features]


@dataclass(frozen=True)
class RatingParams:
    """How the networks of a run are compared while it goes on."""

    every: int = 10  # iterations; 0: never
    games: int = 128  # against each opponent
    visits: int = 32
    opponents: int = 2  # earlier networks: the last ones
    opening_moves: int = 6  # drawn from the policy, so that games differ
    # A network plays the games to learn from only if it made this share of the points against the
    # one that plays them now; 0: what was learned plays at once, which is faster and rarely worse.
    gate: float = 0.0
    # Opponents that are no networks of the run, such as "b6c96.bin.gz@8" or "gtp:gnugo --mode gtp".
    outside: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        for name in ("every", "opponents", "opening_moves"):
            if getattr(self, name) < 0:
                raise ValueError(f"{name} must be 0 or more, not {getattr(self, name)}")
        if not 0 <= self.gate < 1:
            raise ValueError(f"gate must be from 0 to below 1, not {self.gate}")
        if self.gate and not self.every:
            raise ValueError("gate needs ratings: let every be more than 0")
        for name in ("games", "visits"):
            if getattr(self, name) < 2:
                raise ValueError(f"{name} must be 2 or more, not {getattr(self, name)}")
        for text in self.outside:
            parse_engine(text)


@dataclass(frozen=True)
class RunConfig:
    """All settings of a run, by the sections of its file."""

    run: RunParams = field(default_factory=RunParams)
    selfplay: SelfPlayParams = field(default_factory=SelfPlayParams)
    search: SelfPlaySearch = field(default_factory=SelfPlaySearch)
    training: TrainingParams = field(default_factory=TrainingParams)
    window: WindowParams = field(default_factory=WindowParams)
    rating: RatingParams = field(default_factory=RatingParams)

    def sections(self) -> dict[str, Any]:
        """The parameters by the names of their sections."""
        return {each.name: getattr(self, each.name) for each in fields(self)}


SECTIONS: dict[str, type[Any]] = {
    "run": RunParams,
    "selfplay": SelfPlayParams,
    "search": SelfPlaySearch,
    "training": TrainingParams,
    "window": WindowParams,
    "rating": RatingParams,
}
# What may change when a run goes on; all else would make it another run.
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
}
