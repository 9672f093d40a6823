"""Rules of Go as data: options, named rule sets, and how both are spelled."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any, NamedTuple

MAX_KOMI = 400.0  # as in KataGo

SPIGHT = "SPIGHT"


class RulesError(ValueError):
    """Invalid rules or komi; the message says which part is wrong."""


class KomiError(RulesError):
    """Invalid komi."""


class KoRule(StrEnum):
    """Forbidden repetition: the last position, any position, or any with the same side to move."""

    SIMPLE = "SIMPLE"
    POSITIONAL = "POSITIONAL"
    SITUATIONAL = "SITUATIONAL"


class Scoring(StrEnum):
    """What counts: stones and territory, or territory and prisoners."""

    AREA = "AREA"
    TERRITORY = "TERRITORY"


class Tax(StrEnum):
    """Territory that does not count: none, points in seki, or also two points for each group."""

    NONE = "NONE"
    SEKI = "SEKI"
    ALL = "ALL"


class HandicapBonus(StrEnum):
    """White's bonus points for N handicap stones."""

    ZERO = "0"
    N_MINUS_ONE = "N-1"
    N = "N"

    def points(self, stones: int) -> int:
        """White's bonus for this many handicap stones."""
        if self is HandicapBonus.ZERO or stones < 2:
            return 0
        return stones if self is HandicapBonus.N else stones - 1


@dataclass(frozen=True)
class Rules:
    """A rule set. Komi belongs to the game, not to the rules."""

    ko: KoRule = KoRule.POSITIONAL
    scoring: Scoring = Scoring.AREA
    tax: Tax = Tax.NONE
    suicide: bool = True  # of two or more stones; a single stone never
    button: bool = False  # the first pass gets half a point
    white_handicap_bonus: HandicapBonus = HandicapBonus.ZERO
    friendly_pass: bool = False  # dead stones need not be captured before passing
    # Under area scoring, stones in the opponent's pass-alive area count as captured, as KataGo and
    # its networks have it. False for servers that count every stone left on the board.
    settled: bool = True
    # Under territory scoring, dead stones are captured in two more phases after two passes, as
    # KataGo has it in searches and self-play. Otherwise two passes end the game, and players agree.
    played_out: bool = False

    @property
    def name(self) -> str | None:
        """The first name of these rules, or None."""
        plain = replace(self, settled=True, played_out=False)
        return next((name for name, (rules, _) in NAMED.items() if rules == plain), None)

    @property
    def default_komi(self) -> float:
        """The usual komi under these rules on 19x19."""
        name = self.name
        if name is not None:
            return NAMED[name][1]
        if self.scoring is Scoring.TERRITORY:
            return 6.5
        return 7.0 if self.button else 7.5

    def as_json(self) -> dict[str, str | bool]:
        """The rules as a JSON object with KataGo's keys and values."""
        return {
            "friendlyPassOk": self.friendly_pass,
            "hasButton": self.button,
            "ko": self.ko.value,
            "scoring": self.scoring.value,
            "suicide": self.suicide,
            "tax": self.tax.value,
            "whiteHandicapBonus": self.white_handicap_bonus.value,
        }

    def __str__(self) -> str:
        return self.name or json.dumps(self.as_json())


_JAPANESE = Rules(KoRule.SIMPLE, Scoring.TERRITORY, Tax.SEKI, suicide=False)
_CHINESE_SERVER = Rules(suicide=False, white_handicap_bonus=HandicapBonus.N, friendly_pass=True)
_AGA = replace(
    _CHINESE_SERVER, ko=KoRule.SITUATIONAL, white_handicap_bonus=HandicapBonus.N_MINUS_ONE
)
_STONE_SCORING = Rules(KoRule.SIMPLE, tax=Tax.ALL, suicide=False, friendly_pass=True)

# By name: rules and usual komi. Equal rules are shown by their first name.
NAMED: dict[str, tuple[Rules, float]] = {
    "tromp-taylor": (Rules(), 7.5),
    "chinese": (replace(_CHINESE_SERVER, ko=KoRule.SIMPLE), 7.5),
    "chinese-ogs": (_CHINESE_SERVER, 7.5),
    "chinese-kgs": (_CHINESE_SERVER, 7.5),
    "japanese": (_JAPANESE, 6.5),
    "korean": (_JAPANESE, 6.5),
    "stone-scoring": (_STONE_SCORING, 7.5),
    "aga": (_AGA, 7.5),
    "bga": (_AGA, 7.5),
    "new-zealand": (Rules(KoRule.SITUATIONAL, friendly_pass=True), 7.0),
    "aga-button": (replace(_AGA, button=True), 7.0),
    "ing": (Rules(friendly_pass=True), 7.5),
    "ancient-territory": (replace(_JAPANESE, tax=Tax.ALL), 6.5),
}

# Other spellings, in lower case without spaces, hyphens and underscores.
_ALIASES = {
    "tromp-taylor": ("tt", "trompandtaylor", "logical"),
    "chinese": ("cn", "中国", "中国规则", "中國規則"),
    "japanese": ("jp", "日本", "日本ルール"),
    "korean": ("kr", "한국"),
    "stone-scoring": ("stone", "ancientarea"),
    "aga": ("american",),
    "bga": ("british", "french"),
    "new-zealand": ("nz",),
    "ing": ("goe", "inggoe"),
}


def _folded(text: str) -> str:
    return re.sub(r"[\s_\-]+", "", text).casefold()


_BY_SPELLING = {_folded(name): rules for name, (rules, _) in NAMED.items()} | {
    spelling: NAMED[name][0] for name, spellings in _ALIASES.items() for spelling in spellings
}


def parse_rules(value: Rules | str | Mapping[str, Any]) -> Rules:
    """Parse a name, KataGo's compact notation, or JSON as an object or text; raises RulesError."""
    if isinstance(value, Rules):
        return value
    if isinstance(value, Mapping):
        return _parse_json(value)
    if not isinstance(value, str):
        raise RulesError(f"rules are a name or a JSON object, not {value!r}")
    if value.lstrip().startswith("{"):
        try:
            decoded = json.loads(value)
        except (ValueError, RecursionError) as error:
            raise RulesError(f"rules are not valid JSON: {error}") from None
        return _parse_json(decoded)
    folded = _folded(value).removesuffix("rules")
    if folded in _BY_SPELLING:
        return _BY_SPELLING[folded]
    compact = _parse_compact(value)
    if compact is None:
        raise RulesError(f"unknown rules {value[:80]!r}; known are {', '.join(NAMED)}")
    return compact


class _Setting(NamedTuple):
    """The spellings of one field of the rules."""

    field: str
    json_keys: tuple[str, ...]
    compact_keys: tuple[str, ...]
    values: Mapping[str, StrEnum | bool]  # by their text in upper case


def _choices(kind: type[StrEnum]) -> dict[str, StrEnum | bool]:
    return {choice.value: choice for choice in kind}


_SWITCH: dict[str, StrEnum | bool] = {"TRUE": True, "FALSE": False, "1": True, "0": False}
_SETTINGS = (
    # Spight's ko rule becomes the one nearest to it, as in KataGo.
    _Setting("ko", ("ko",), ("ko",), {**_choices(KoRule), SPIGHT: KoRule.SITUATIONAL}),
    _Setting("scoring", ("scoring", "score"), ("scoring", "score"), _choices(Scoring)),
    _Setting("tax", ("tax",), ("tax",), _choices(Tax)),
    _Setting("suicide", ("suicide",), ("sui",), _SWITCH),
    _Setting("button", ("hasButton",), ("button",), _SWITCH),
    _Setting("white_handicap_bonus", ("whiteHandicapBonus",), ("whb",), _choices(HandicapBonus)),
    _Setting("friendly_pass", ("friendlyPassOk",), ("fpok",), _SWITCH),
)
_BY_JSON_KEY = {key: setting for setting in _SETTINGS for key in setting.json_keys}


def _parse_json(value: object) -> Rules:
    if not isinstance(value, Mapping):
        raise RulesError(f"rules are a JSON object, not {value!r}")
    chosen = {}
    for key, given in value.items():
        setting = _BY_JSON_KEY.get(key)
        if setting is None:
            raise RulesError(f"unknown key {key!r} in rules; known are {', '.join(_BY_JSON_KEY)}")
        text = str(given).upper()
        if text not in setting.values:
            known = ", ".join(str(choice) for choice in dict.fromkeys(setting.values.values()))
            raise RulesError(f"{key!r} in rules is one of {known}, not {given!r}")
        chosen[setting.field] = setting.values[text]
    return _rules_with(chosen)


# KataGo's compact notation, such as koSIMPLEscoreTERRITORYtaxSEKIsui0whbN-1fpok1.
_COMPACT = re.compile(
    "|".join(
        f"(?P<{setting.field}>(?:{'|'.join(setting.compact_keys)})"
        f"(?:{'|'.join(sorted(setting.values, key=len, reverse=True))}))"
        for setting in _SETTINGS
    ),
    re.IGNORECASE | re.ASCII,
)


def _parse_compact(text: str) -> Rules | None:
    rest = re.sub(r"\s+", "", text)
    chosen = {}
    while match := _COMPACT.match(rest):
        rest = rest[match.end() :]
        for setting in _SETTINGS:
            if written := match[setting.field]:
                key = next(k for k in setting.compact_keys if written.lower().startswith(k))
                chosen[setting.field] = setting.values[written[len(key) :].upper()]
    return _rules_with(chosen) if chosen and not rest else None


def _rules_with(chosen: dict[str, Any]) -> Rules:
    """Tromp-Taylor rules with these fields; territory scoring implies tax in seki unless given."""
    if chosen.get("scoring") is Scoring.TERRITORY:
        chosen = {"tax": Tax.SEKI} | chosen
    return Rules(**chosen)


def nearest_known(rules: Rules) -> Rules:
    """The nearest rules that networks know: a button goes with area scoring alone."""
    territory = rules.scoring is Scoring.TERRITORY
    return replace(rules, button=False) if rules.button and territory else rules


def check_komi(komi: float) -> float:
    """Check a komi: a multiple of half a point from -400 to 400; raises KomiError."""
    try:
        value = float(komi)
    except (TypeError, ValueError):
        raise KomiError(f"komi is a number, not {komi!r}") from None
    if not math.isfinite(value) or abs(value) > MAX_KOMI:
        raise KomiError(f"komi runs from {-MAX_KOMI:g} to {MAX_KOMI:g}, not {komi}")
    if not (2 * value).is_integer():
        raise KomiError(f"komi is in half points, not {komi}")
    return value + 0.0  # turns -0.0 into 0.0
