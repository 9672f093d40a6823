"""The tutorial's recipe as data: the simplest that learns, to compare with and to learn from."""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from typing import Any

from tengen.network.tutorial import TutorialArchitecture
from tengen.selfplay.params import SelfPlayParams, SelfPlaySearch
from tengen.training.tutorial import TutorialParams

_SUDDENLY = 1e-3  # a half-life so short that a temperature is gone with the next move


@dataclass(frozen=True)
class TutorialRecipe:
    """What is played and for how long. Raises ValueError for what cannot be."""

    device: str = "auto"  # auto, cpu or cuda
    seed: int = 1
    iterations: int = 100  # a model is saved after each
    games: int = 50  # played in an iteration, all by the network of its beginning

    side: int = 9  # of the board, to which the network is tied
    rules: str = "chinese"  # counted by area, dead stones must be captured
    komi: float = 5.5
    most_moves: int = 200  # then the board is counted as it stands
    blocks: int = 4
    channels: int = 64

    visits: int = 100  # of each search, which begins with an empty tree
    exploration: float = 1.0  # the prior's weight, times √visits
    noise_alpha: float = 0.3  # Dirichlet's, on the root's priors
    noise_share: float = 0.25
    sampled_moves: int = 30  # drawn by their visits; after them the most visited move is played

    def __post_init__(self) -> None:
        if self.device not in ("auto", "cpu", "cuda"):
            raise ValueError(f"device must be auto, cpu or cuda, not {self.device!r}")
        for each in fields(self):
            value, least = getattr(self, each.name), 0 if each.name in _MAY_BE_0 else 1
            if isinstance(value, int) and not least <= value < 1e9:
                raise ValueError(f"{each.name} must be {least} or more, not {value!r}")
        self.selfplay()  # which knows what else cannot be
        self.search()

    def architecture(self) -> TutorialArchitecture:
        """The network's size."""
        return TutorialArchitecture(self.side, self.blocks, self.channels)

    def selfplay(self) -> SelfPlayParams:
        """Games from the empty board, every turn searched in full and learned from."""
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
            played_out_share=1.0,  # however clear the outcome is
            surprise_share=0.0,
            move_limit=(self.most_moves + 0.5) / self.side**2,  # rounded down
            pass_from=0.0,
            stagger=False,
        )

    def search(self) -> SelfPlaySearch:
        """PUCT, noise at the root, and nothing else."""
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
            temperature_halflife=_SUDDENLY,
            lcb_stdevs=0.0,
        )


_MAY_BE_0 = {"seed", "sampled_moves"}


@dataclass(frozen=True)
class TutorialConfig:
    """All settings of a tutorial run, by the sections of its file."""

    tutorial: TutorialRecipe = field(default_factory=TutorialRecipe)
    training: TutorialParams = field(default_factory=TutorialParams)

    def sections(self) -> dict[str, Any]:
        """The parameters by the names of their sections."""
        return {each.name: getattr(self, each.name) for each in fields(self)}


TUTORIAL_SECTIONS: dict[str, type[Any]] = {"tutorial": TutorialRecipe, "training": TutorialParams}
# What may change when a run goes on.
TUTORIAL_CHANGEABLE = {"tutorial.device", "tutorial.iterations", "training.rate"}
