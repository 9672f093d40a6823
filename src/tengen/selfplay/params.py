"""The settings of self-play: how games are played that a network learns from."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from itertools import product
from math import lcm

from tengen.game.geometry import Size, parse_size
from tengen.game.rules import KoRule, Rules, Scoring, Tax, nearest_known, parse_rules
from tengen.network.inference_buffers import BufferShape
from tengen.search.params import SearchParams

_RANDOM = "random"
# What KataGo's self-play draws each of independently; more often what is named twice.
_TAXES = (Tax.NONE, Tax.NONE, Tax.SEKI, Tax.SEKI, Tax.ALL)
_BUTTONS = (False, False, True)  # under area scoring alone

# Komi by the side of a square board that makes games close; up to 7x7 from perfect play.
_FAIR_KOMI = {2: 1.0, 3: 9.0, 4: 2.0, 5: 25.0, 6: 4.0, 7: 9.0, 8: 10.0}
_USUAL_KOMI = 7.0
_ROWS_AT_A_TIME = 8  # large halves have a multiple of this many games, which suits GPUs


def fair_komi(size: Size, rules: Rules) -> float:
    """The komi with which games on a board are about even, as far as is known.

    Where all points are owned, area and territory differ by as many points as one side has played
    more stones: by the first one, Black's, on boards with an odd number of points.
    """
    komi = _FAIR_KOMI.get(size.width, _USUAL_KOMI)
    if size.width != size.height:
        komi = min(_USUAL_KOMI, float(size.area))
    return komi - (rules.scoring is Scoring.TERRITORY and size.area % 2)


def _rules_named(name: str) -> list[Rules]:
    """The rules that a name stands for, all equally often; raises ValueError."""
    if name.strip().lower() == _RANDOM:
        parts = product(KoRule, Scoring, _TAXES, (False, True), _BUTTONS)
        found = [
            Rules(ko, scoring, tax, suicide=suicide, button=button)
            for ko, scoring, tax, suicide, button in parts
        ]
    else:
        found = [parse_rules(name)]
    return [nearest_known(rules) for rules in found]


@dataclass(frozen=True)
class SelfPlaySearch(SearchParams):
    """How self-play searches: KataGo's values for small boards, where it has any."""

    exploration: float = 1.1
    exploration_log: float = 0.0
    stdev_scale: float = 0.0
    # Untried moves at the root count as much as their parent.
    root_fpu_reduction: float = 0.0
    static_score: float = 0.0
    dynamic_score: float = 0.4
    centre_to_zero: float = 0.25
    score_scale: float = 0.5
    value_weight: float = 0.5
    # Evaluations count alike: a new network does not know how uncertain it is.
    uncertainty: float = 0.0
    noise_pruning: bool = False
    value_bias: float = 0.0
    optimism: float = 0.0
    root_optimism: float = 0.0
    # No move is left out, so that noise can choose any.
    least_prior: float = 0.0
    temperature: float = 0.15
    temperature_early: float = 0.75


@dataclass(frozen=True)
class SelfPlayParams:
    """How to play. Raises ValueError for impossible values."""

    games: int = 0  # games played at a time; 0: as suits the device

    # Most turns get a fast search, so that more games finish; only full searches are learned from.
    visits: int = 96  # visits of a full search
    fast_visits: int = 20  # visits of a fast search
    full_share: float = 0.25  # share of turns that get a full search
    # Moves that a Gumbel root considers in full searches; 0: Dirichlet noise and forced playouts.
    gumbel: int = 0
    keep_tree: bool = True  # start a search from the subtree of the move played

    # Sides of the boards, or "9x13" (width x height) for rectangles. Games of a size keep to their
    # share of the games played at a time, and are evaluated together, without padding.
    board_sizes: tuple[int | str, ...] = (9,)
    # How often each size is played; empty: equally often. Games are as long as boards are large,
    # so most of the games played at a time are on large boards.
    size_weights: tuple[float, ...] = ()
    # Drawn for each game: names such as "japanese", KataGo's notation, or "random", by which ko,
    # scoring, tax, suicide and button are drawn independently.
    rules: tuple[str, ...] = ("tromp-taylor",)
    komi: tuple[float, ...] = ()  # mean komi for each board size; empty: an even one by the rules
    # Standard deviation of the komi in points. Now and then it is far from fair, so that the
    # network learns to play for points at any komi.
    komi_spread: float = 1.0
    wide_komi_share: float = 0.06  # share of games with the wide spread
    wide_komi_spread: float = 6.0  # in points

    # Games begin in many ways, so that they differ and unusual positions are learned, too.
    opening_share: float = 0.7  # share of games that begin with moves drawn from the policy
    opening_moves: float = 0.04  # mean number of such moves, as a share of the board's area
    handicap_share: float = 0.05  # share of games with handicap stones
    handicap_stones: int = 3  # most handicap stones
    fair_share: float = 0.5  # share of handicap games and openings that then get an even komi

    # A decided game is played on with few visits, for its score, and seldom learned from. Some are
    # searched as usual, so that the value of decided positions stays calibrated.
    decided_value: float = 0.95  # win minus loss from which on a turn counts as decided
    decided_turns: int = 3  # such turns in a row make a decided game
    decided_visits: int = 8  # visits of a fast search in a decided game
    decided_full_share: float = 0.05  # share of its turns that get a full search
    played_out_share: float = 0.1  # share of games that are searched as usual to the end

    # Share of the rows that goes to turns in proportion to how much the search disagreed with the
    # policy; the rest goes to all full searches equally.
    surprise_share: float = 0.5
    move_limit: float = 1.75  # games end after this many moves, in board areas
    clean_up_limit: float = 1.0  # so many moves more, in board areas, where territory is scored
    # End the first games of a run at different lengths, so that games do not stay in step and the
    # first rows come soon.
    stagger: bool = True
    # No passes before this many moves, in board areas. Otherwise a beginner first learns that
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
        try:
            sizes = self.sizes
        except ValueError as error:
            raise ValueError(f"board_sizes: {error}") from None
        if not sizes:
            raise ValueError("board_sizes must name at least one board size")
        if twice := {str(size) for size in sizes if sizes.count(size) > 1}:
            raise ValueError(f"board_sizes must name each size once, not {min(twice)} twice")
        for name in ("size_weights", "komi"):
            values = getattr(self, name)
            if values and len(values) != len(self.board_sizes):
                counts = f"{len(values)} for {len(self.board_sizes)} sizes"
                raise ValueError(f"{name} must have one value for each of board_sizes: {counts}")
        if self.size_weights and sum(self.size_weights) == 0:
            raise ValueError("size_weights must not all be 0")
        if not self.rules:
            raise ValueError("rules must name at least one set of rules")
        try:
            self.drawn_rules  # noqa: B018 (are all of them known?)
        except ValueError as error:
            raise ValueError(f"rules: {error}") from None

    @property
    def sizes(self) -> tuple[Size, ...]:
        """The board sizes, in their order."""
        return tuple(map(parse_size, self.board_sizes))

    @property
    def played_sizes(self) -> dict[Size, float]:
        """The board sizes that are played at all, and how often."""
        weights = self.size_weights or (1.0,) * len(self.sizes)
        return {size: w for size, w in zip(self.sizes, weights, strict=True) if w > 0}

    @property
    def expected_rows(self) -> dict[Size, float]:
        """How many rows each size that is played makes, in any unit: large boards, long games."""
        return {size: weight * size.area for size, weight in self.played_sizes.items()}

    @property
    def largest_size(self) -> Size:
        """The board with the most points."""
        return max(self.sizes, key=lambda size: size.area)

    @property
    def largest_side(self) -> int:
        """The longest side of all boards."""
        return max(max(size) for size in self.sizes)

    @property
    def drawn_rules(self) -> list[Rules]:
        """All rules that are drawn from; those drawn more often appear more often.

        Under territory scoring dead stones are captured; under area scoring those left on the board
        are alive, and friendly passing is off.
        """
        named = [_rules_named(name) for name in self.rules]
        each = lcm(*map(len, named))
        drawn = [rules for found in named for rules in found * (each // len(found))]
        return [replace(rules, friendly_pass=False, played_out=True) for rules in drawn]

    @property
    def first_rules(self) -> Rules:
        """The rules by which networks are rated and shown: of several the first, as named."""
        return _rules_named(self.rules[0])[0]

    @property
    def plays_territory(self) -> bool:
        """Whether there are games by territory scoring, which are longer."""
        return any(rules.scoring is Scoring.TERRITORY for rules in self.drawn_rules)

    def mean_komi(self, size: Size, rules: Rules) -> float:
        """The komi around which games on such a board by such rules have theirs."""
        return self.komi[self.sizes.index(size)] if self.komi else fair_komi(size, rules)

    def most_turns(self, size: Size) -> int:
        """The most turns of a game on such a board, handicap stones included."""
        first_stones = self.handicap_stones + 1 if self.handicap_stones else 0
        areas = self.move_limit + (self.clean_up_limit if self.plays_territory else 0)
        return max(8, int(areas * size.area)) + first_stones

    def halves(self, games: int) -> list[BufferShape]:
        """How so many games at a time are divided: the two halves of every size, sizes in turn.

        Sizes share them by weight and area. Every size that is played has a game in each half, so
        there may be more games than asked for. The sum of all halves is divided in the same way.
        """
        turns = self.expected_rows
        rows = _divided(games // 2, list(turns.values()))
        half = [BufferShape(size, count) for size, count in zip(turns, rows, strict=True)]
        return [*half, *half]


def _divided(total: int, weights: Sequence[float]) -> list[int]:
    """Divide a number by weights, by largest remainders, each share at least 1."""
    total = max(total, len(weights))
    unit = _ROWS_AT_A_TIME if total >= 8 * _ROWS_AT_A_TIME * len(weights) else 1
    units = total // unit - len(weights)  # beside one for each
    wanted = [max(0.0, weight / sum(weights) * (total // unit) - 1) for weight in weights]
    shares = [units * each / (sum(wanted) or 1) for each in wanted]
    given = [int(share) for share in shares]
    by_remainder = sorted(range(len(shares)), key=lambda k: given[k] - shares[k])
    for k in by_remainder[: units - sum(given)]:
        given[k] += 1
    divided = [unit * (1 + each) for each in given]
    divided[weights.index(max(weights))] += total % unit
    return divided
