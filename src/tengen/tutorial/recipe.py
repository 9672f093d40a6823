"""The recipe: every number of the method."""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from typing import Any

from tengen.network.backends.registry import AUTO, check_training_device
from tengen.selfplay.params import SelfPlayParams, SelfPlaySearch

_AT_ONCE = 1e-3  # a half-life so short that a temperature is gone with the next move
_MAY_BE_0 = {"seed", "sampled_moves"}


@dataclass(frozen=True)
class Recipe:
    """What is played, by which network, for how long; raises ValueError for impossible values."""

    device: str = AUTO  # that plays and learns; auto: a GPU if there is one
    seed: int = 1
    iterations: int = 100  # a network is saved after each
    games: int = 50  # per iteration, all played by the network of its beginning

    side: int = 9  # of the board; the network plays on no other
    rules: str = "chinese"  # area scoring; dead stones must be captured
    komi: float = 5.5
    most_moves: int = 200  # then the board is counted as it stands
    blocks: int = 4
    channels: int = 64

    visits: int = 100  # of each search, which begins with an empty tree
    exploration: float = 1.0  # weight of the prior, times √visits
    noise_alpha: float = 0.3  # of the Dirichlet noise on the root's priors
    noise_share: float = 0.25
    sampled_moves: int = 30  # drawn by their visits; later the most visited move is played

    def __post_init__(self) -> None:
        check_training_device(self.device)
        for each in fields(self):
            value, least = getattr(self, each.name), 0 if each.name in _MAY_BE_0 else 1
            if isinstance(value, int) and not least <= value < 1e9:
                raise ValueError(f"{each.name} must be {least} or more, not {value!r}")
        if self.selfplay().plays_territory:  # and checks the rest
            raise ValueError(f"rules: {self.rules} counts territory, which its inputs do not show")
        self.search()

    def selfplay(self) -> SelfPlayParams:
        """Games from the empty board in which every turn is searched in full and learned from."""
        return SelfPlayParams(
            visits=self.visits,
            fast_visits=self.visits,
            full_share=1.0,
            keep_tree=False,
            board_sizes=(self.side,),
            rules=(self.rules,),
            komi=(self.komi,),
            komi_spread=0.0,
            wide_komi_share=0.0,
            opening_share=0.0,
            handicap_share=0.0,
            handicap_stones=0,
            played_out_share=1.0,  # even if the outcome is clear
            surprise_share=0.0,
            move_limit=(self.most_moves + 0.5) / self.side**2,  # rounded down
            pass_from=0.0,
            stagger=False,
        )

    def search(self) -> SelfPlaySearch:
        """The search of `mcts`, with noise at the root: everything else is switched off."""
        return SelfPlaySearch(
            exploration=self.exploration,
            fpu_reduction=0.0,
            fpu_trusts_tried=False,
            static_score=0.0,
            dynamic_score=0.0,
            value_weight=0.0,
            noise_alpha=self.noise_alpha,
            noise_share=self.noise_share,
            root_temperature=1.0,
            root_temperature_early=1.0,
            forced_playouts=0.0,
            temperature=0.0,
            temperature_early=1.0 if self.sampled_moves else 0.0,
            temperature_moves=max(0, self.sampled_moves - 1),  # moves before the last of them
            temperature_halflife=_AT_ONCE,
            lcb_stdevs=0.0,
        )


@dataclass(frozen=True)
class LearningParams:
    """How the network learns; raises ValueError for impossible values."""

    rate: float = 1e-3
    batch: int = 32
    epochs: int = 10  # over the examples of an iteration

    def __post_init__(self) -> None:
        for name in ("rate", "batch", "epochs"):
            if not getattr(self, name) > 0:
                raise ValueError(f"{name} must be more than 0, not {getattr(self, name)}")


@dataclass(frozen=True)
class Config:
    """All settings of a run, by the sections of its file."""

    tutorial: Recipe = field(default_factory=Recipe)
    training: LearningParams = field(default_factory=LearningParams)


SECTIONS: dict[str, type[Any]] = {"tutorial": Recipe, "training": LearningParams}
# What may change when a run goes on.
CHANGEABLE = {"tutorial.device", "tutorial.iterations", "training.rate"}
