"""The terms of a game, rules and komi, as kernels know them."""

from __future__ import annotations

from typing import Any

import numpy as np

from tengen.game.kernels.board import (
    NO_TAX,
    POSITIONAL_SUPERKO,
    SIMPLE_KO,
    SITUATIONAL_SUPERKO,
    TAX_IN_SEKI,
    TAX_ON_GROUPS,
    TERMS,
)
from tengen.game.rules import KoRule, Rules, Scoring, Tax

_KO_RULES = {
    KoRule.SIMPLE: SIMPLE_KO,
    KoRule.POSITIONAL: POSITIONAL_SUPERKO,
    KoRule.SITUATIONAL: SITUATIONAL_SUPERKO,
}
_TAXES = {
    Tax.NONE: NO_TAX,
    Tax.SEKI: TAX_IN_SEKI,
    Tax.ALL: TAX_ON_GROUPS,
}


def terms_of(rules: Rules, komi: float) -> Any:
    """The terms of a game as kernels know them; the komi includes White's handicap bonus."""
    terms = np.zeros(1, TERMS)[0]
    terms["komi"] = komi
    terms["ko_rule"] = _KO_RULES[rules.ko]
    terms["suicide_allowed"] = rules.suicide
    terms["territory"] = rules.scoring is Scoring.TERRITORY
    terms["tax"] = _TAXES[rules.tax]
    terms["friendly_pass"] = rules.friendly_pass
    terms["button"] = rules.button
    return terms


def rules_of(terms: Any) -> Rules:
    """The rules of a game's terms, without a handicap bonus, which the komi includes."""
    return Rules(
        {code: ko for ko, code in _KO_RULES.items()}[int(terms["ko_rule"])],
        Scoring.TERRITORY if terms["territory"] else Scoring.AREA,
        {code: tax for tax, code in _TAXES.items()}[int(terms["tax"])],
        suicide=bool(terms["suicide_allowed"]),
        button=bool(terms["button"]),
        friendly_pass=bool(terms["friendly_pass"]),
    )
