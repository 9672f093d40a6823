"""How a search follows people: whom, where it explores their moves, and whose move it plays.

Imports little: options of commands have a style.
"""

from __future__ import annotations

from dataclasses import dataclass, fields

_MOST_EXPLORATION = 1000.0
LARGEST_LAMBDA = 1e9


@dataclass(frozen=True)
class HumanStyle:
    """How a search uses a network that imitates people, where there is one.

    The chances are those of a visit to follow their policy. Names in KataGo: humanSL... Raises
    ValueError for what cannot be.
    """

    # Whom to imitate, such as rank_5k, preaz_5k, rank_5k_3d or proyear_1980.
    profile: str = ""
    exploration: float = 1.0  # weight of their policy in such a visit, times the root of visits
    permanent_exploration: float = 0.0  # the same, times the visits: it never fades
    # At the root: visits that count for the position's value, and those that only judge the move.
    root_weightful: float = 0.0
    root_weightless: float = 0.0
    # Below the root, in turns of the side that is to play there.
    own_weightful: float = 0.0
    own_weightless: float = 0.0
    # Below the root, in turns of its opponent.
    other_weightful: float = 0.0
    other_weightless: float = 0.0
    move_share: float = 0.0  # how far the choice of the move goes from the search's to people's
    ignore_pass: bool = False  # leave it to the search when to pass
    # A move that loses this much utility is e times less likely to be chosen.
    move_lambda: float = LARGEST_LAMBDA

    def __post_init__(self) -> None:
        if self.profile:
            from tengen.features.human_profile import parse_profile

            parse_profile(self.profile)
        most = {"exploration": _MOST_EXPLORATION, "permanent_exploration": _MOST_EXPLORATION}
        most["move_lambda"] = LARGEST_LAMBDA
        for field in fields(self)[1:]:
            value, high = getattr(self, field.name), most.get(field.name, 1.0)
            if not 0 <= value <= high:
                raise ValueError(f"{field.name} must be a number from 0 to {high:g}, not {value!r}")

    @property
    def explores_below_root(self) -> bool:
        """Is their policy needed at every node?"""
        own, other = self.own_weightful + self.own_weightless, self.other_weightful
        return own + other + self.other_weightless > 0

    @property
    def explores(self) -> bool:
        """Do visits follow their policy?"""
        return self.root_weightful + self.root_weightless > 0 or self.explores_below_root


NO_STYLE = HumanStyle()
