"""The board sizes and rules that a network was trained on. Elsewhere its evaluations are guesses.

Tengen's files state them in their provenance, in the words of a run's settings. For KataGo's files,
which do not, they follow from the version of the format.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import replace
from functools import cache
from itertools import product
from typing import TYPE_CHECKING, NamedTuple

from tengen.game.geometry import Size, parse_size
from tengen.game.rules import Rules, Scoring, Tax, parse_rules

if TYPE_CHECKING:
    from tengen.game.position import Position

BOARD_SIZES, RULES = "board_sizes", "rules"  # keys of a provenance
ALL = "all"  # rules of every kind that networks can be told of
KATAGO_VERSION = "katago_version"  # another key: the version of KataGo's format it came in
KATAGO_SINCE = 8  # from this version on, networks know all rules and boards of these sides
KATAGO_SIDES = range(7, 20)
_LISTED = 4  # board sizes that are listed one by one
_BETWEEN_RULES = re.compile(r",(?![^{]*\})")  # commas, but not within JSON


class TrainedOn(NamedTuple):
    """The boards and rules that a network was trained on; None: not known."""

    boards: frozenset[Size] | None = None
    rules: frozenset[Rules] | None = None

    def knows_board(self, size: Size) -> bool:
        """Was it trained on boards of this size?"""
        return self.boards is not None and size in self.boards

    def knows_rules(self, rules: Rules) -> bool:
        """Was it trained under rules that count a game like these?

        Ko, suicide, friendly passes and White's bonus do not matter: they decide few games, and do
        not change how a board is counted.
        """
        return self.rules is not None and _count(rules) in map(_count, self.rules)

    @property
    def boards_text(self) -> str:
        """The boards, for people."""
        if self.boards is None:
            return "not known"
        sizes = sorted(self.boards, key=lambda size: (size.area, size))
        if len(sizes) > _LISTED:
            return f"{sizes[0]} to {sizes[-1]}"
        return ", ".join(map(str, sizes))

    @property
    def rules_text(self) -> str:
        """The rules, for people."""
        if self.rules is None:
            return "not known"
        if _knows_all(self.rules):
            return ALL
        named = {rules for rules in self.rules if rules.name}
        counted = {_count(rules) for rules in self.rules} - {_count(rules) for rules in named}
        return ", ".join([*sorted(map(str, named)), *sorted(map(_counting_text, counted))])


class Unfamiliar(NamedTuple):
    """What a network was not trained on, as far as is known, of the terms of a game."""

    network: str
    trained_on: TrainedOn
    board: Size | None  # None: it knows the board
    rules: Rules | None  # None: it knows the rules

    def __str__(self) -> str:
        lacks, knows = [], []
        if self.board is not None:
            lacks.append(f"{self.board} boards")
            knows.append(f"boards {self.trained_on.boards_text}")
        if self.rules is not None:
            lacks.append(f"{self.rules} rules")
            knows.append(f"rules {self.trained_on.rules_text}")
        return (
            f"{self.network} was not trained for {' and '.join(lacks)} "
            f"({'; '.join(knows)}): do not rely on its play and its estimates"
        )


def trained_on(provenance: Mapping[str, str], only_side: int = 0) -> TrainedOn:
    """What a network's provenance says; raises ValueError that names what it does not understand.

    `only_side` is the side of the only boards that the network can play on; 0: any.
    """
    version = provenance.get(KATAGO_VERSION, "")
    if version.isdecimal() and int(version) >= KATAGO_SINCE:
        sides = product(KATAGO_SIDES, repeat=2)
        return TrainedOn(frozenset(Size(*each) for each in sides), all_rules())
    boards = frozenset({Size(only_side, only_side)}) if only_side else None
    if BOARD_SIZES in provenance:
        sizes = provenance[BOARD_SIZES].split(",")
        boards = frozenset(parse_size(size.strip()) for size in sizes)
    rules = None
    if RULES in provenance:
        named = _BETWEEN_RULES.split(provenance[RULES])
        rules = frozenset(parse_rules(name.strip()) for name in named if name != ALL)
        rules |= all_rules() if ALL in named else frozenset()
    return TrainedOn(boards, rules)


def facts_of_training(board_sizes: Iterable[int | str], rules: Iterable[Rules]) -> dict[str, str]:
    """The part of a provenance that `trained_on` reads, for a run with these boards and rules."""
    known = frozenset(replace(each, played_out=False) for each in rules)
    texts = [ALL] if _knows_all(known) else sorted(map(str, known))
    return {BOARD_SIZES: ", ".join(map(str, board_sizes)), RULES: ", ".join(texts)}


def unfamiliar(network: str, known: TrainedOn, position: Position) -> Unfamiliar | None:
    """What a network was not trained on of a position's board and rules; None if nothing."""
    board = None if known.knows_board(position.size) else position.size
    rules = None if known.knows_rules(position.rules) else position.rules
    if board is None and rules is None:
        return None
    return Unfamiliar(network, known, board, rules)


def _counting_text(counted: tuple[Scoring, Tax, bool]) -> str:
    """How a board is counted, for people: area scoring with tax SEKI and button."""
    scoring, tax, button = counted
    more = [f"tax {tax}"] * (tax is not Tax.NONE) + ["button"] * button
    return f"{scoring.lower()} scoring" + (f" with {' and '.join(more)}" if more else "")


def _knows_all(rules: frozenset[Rules]) -> bool:
    return set(map(_count, rules)) >= set(map(_count, all_rules()))


def _count(rules: Rules) -> tuple[Scoring, Tax, bool]:
    """The rules that decide how a board is counted."""
    return rules.scoring, rules.tax, rules.button


@cache
def all_rules() -> frozenset[Rules]:
    """Rules of each kind that networks can be told of; a button goes with area scoring alone."""
    return frozenset(
        Rules(scoring=scoring, tax=tax, button=button)
        for scoring, tax, button in product(Scoring, Tax, (False, True))
        if scoring is Scoring.AREA or not button
    )
