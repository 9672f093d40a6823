"""How games are made to learn from: the parameters of self-play, with their reasons."""

from __future__ import annotations

from dataclasses import dataclass, fields

from tengen.game.geometry import MAX_SIDE
from tengen.game.rules import Rules, Scoring, parse_rules
from tengen.search.params import SearchParams

# With these komis an even game is a close one; perfect play is known up to 7x7.
_FAIR_KOMI = {2: 1.0, 3: 9.0, 4: 2.0, 5: 25.0, 6: 4.0, 7: 9.0, 8: 10.0}
_USUAL_KOMI = 7.0


def fair_komi(side: int) -> float:
    """The komi around which games on a square board are even, by area."""
    return _FAIR_KOMI.get(side, _USUAL_KOMI)


@dataclass(frozen=True)
class SelfPlaySearch(SearchParams):
    """How games to learn from are searched: as KataGo does on small boards, where it says."""

    exploration: float = 1.1
    exploration_log: float = 0.0
    stdev_scale: float = 0.0
    root_fpu_reduction: float = 0.0  # moves not tried are as good as the rest
    static_score: float = 0.0
    dynamic_score: float = 0.4
    centre_to_zero: float = 0.25
    score_scale: float = 0.5
    value_weight: float = 0.5
    uncertainty: float = 0.0  # at first a network does not know what it does not know
    least_prior: float = 0.0  # noise must be able to find every move
    temperature: float = 0.15
    temperature_early: float = 0.75


@dataclass(frozen=True)
class SelfPlayParams:
    """How to play. Raises ValueError for what cannot be."""

    games: int = 0  # at a time; 0: what suits the device

    # Most turns are searched briefly, to see many games end; only the others are learned from.
    visits: int = 96
    fast_visits: int = 20
    full_share: float = 0.25  # of the turns that get all visits
    gumbel: int = 0  # moves that a Gumbel root considers in full searches; 0: noise and playouts
    keep_tree: bool = True  # what the last search found of the position counts

    board_sizes: tuple[int, ...] = (9,)
    size_weights: tuple[float, ...] = ()  # how often each is played; empty: all alike
    rules: tuple[str, ...] = ("tromp-taylor",)  # each as often; counted by area
    komi: tuple[float, ...] = ()  # for each size; empty: what makes it fair
    # So that the score matters at every komi: mostly about fair, now and then far from it.
    komi_spread: float = 1.0
    wide_komi_share: float = 0.06
    wide_komi_spread: float = 6.0

    # Games begin in many ways, so that they differ, and so that odd positions are known.
    opening_share: float = 0.7  # of games that begin with moves drawn from the policy
    opening_moves: float = 0.04  # their mean number, as a share of the board's area
    handicap_share: float = 0.05  # of games in which Black has stones before White begins
    handicap_stones: int = 3  # at most
    fair_share: float = 0.5  # of those and of openings that then get a komi to make them even

    # A decided game is played on with few visits, for its score, and rarely learned from; some are
    # played as if they were open, so that the value stays calibrated.
    decided_value: float = 0.95
    decided_turns: int = 3  # in a row
    decided_visits: int = 8
    decided_full_share: float = 0.05
    played_out_share: float = 0.1

    surprise_share: float = (
        0.5  # of the weight that goes to turns where the search changed its mind
    )
    move_limit: float = 1.75  # in board areas
    # The first games of a run, which are random anyway, are cut at different lengths, so that not
    # all games at a time are at the same stage, and the first rows come soon.
    stagger: bool = True
    # Before so many moves, in board areas, nobody passes. Without it a beginner learns first that
    # whoever is ahead by komi may pass at once.
    pass_from: float = 0.5

    def __post_init__(self) -> None:
        for field in fields(self):
            value = getattr(self, field.name)
            numbers = value if isinstance(value, tuple) else (value,)
            for number in numbers:
                if isinstance(number, int | float) and not 0 <= number < 1e9:
                    raise ValueError(f"{field.name} must be 0 or more, not {number!r}")
            if field.name.endswith("_share") and value > 1:
                raise ValueError(f"{field.name} must be at most 1, not {value!r}")
        for name in ("visits", "fast_visits", "decided_visits", "decided_turns", "move_limit"):
            if getattr(self, name) == 0:
                raise ValueError(f"{name} must be over 0")
        if not self.board_sizes or not all(2 <= side <= MAX_SIDE for side in self.board_sizes):
            raise ValueError(f"board_sizes must be from 2 to {MAX_SIDE}, not {self.board_sizes!r}")
        for name in ("size_weights", "komi"):
            values = getattr(self, name)
            if values and len(values) != len(self.board_sizes):
                counts = f"{len(values)} for {len(self.board_sizes)} sizes"
                raise ValueError(f"{name} must have one value for each of board_sizes: {counts}")
        if self.size_weights and sum(self.size_weights) == 0:
            raise ValueError("size_weights must not all be 0")
        if not self.rules:
            raise ValueError("rules must name at least one set of rules")
        for name in self.rules:
            if parse_rules(name).scoring is not Scoring.AREA:
                raise ValueError(f"rules: {name} counts territory, but games are counted by area")

    @property
    def largest_side(self) -> int:
        """Of all boards played on."""
        return max(self.board_sizes)

    @property
    def most_turns(self) -> int:
        """A game has at most so many, its start included."""
        area = self.largest_side**2
        first_stones = self.handicap_stones + 1 if self.handicap_stones else 0
        return max(8, int(self.move_limit * area)) + first_stones

    def parsed_rules(self) -> list[Rules]:
        """The sets of rules."""
        return [parse_rules(name) for name in self.rules]
