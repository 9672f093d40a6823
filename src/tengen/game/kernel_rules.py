"""Conversion between Rules and the TERMS record that kernels read."""

from __future__ import annotations

from typing import Any

import numpy as np

from tengen.game.kernels.board import (
    AGREED,
    NO_TAX,
    NO_TERRITORY,
    PLAYED_OUT,
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
_TAXES = {Tax.NONE: NO_TAX, Tax.SEKI: TAX_IN_SEKI, Tax.ALL: TAX_ON_GROUPS}


def terms_of(rules: Rules, komi: float) -> Any:
    """The TERMS record of a game; `komi` must include White's handicap bonus."""
    terms = np.zeros(1, TERMS)[0]
    terms["komi"] = komi
    terms["ko_rule"] = _KO_RULES[rules.ko]
    terms["suicide_allowed"] = rules.suicide
    terms["territory"] = NO_TERRITORY
    if rules.scoring is Scoring.TERRITORY:
        terms["territory"] = PLAYED_OUT if rules.played_out else AGREED
    terms["tax"] = _TAXES[rules.tax]
    terms["friendly_pass"] = rules.friendly_pass
    terms["button"] = rules.button
    return terms


def rules_of(terms: Any) -> Rules:
    """The rules of a TERMS record, without a handicap bonus, which the komi includes."""
    return Rules(
        {number: rule for rule, number in _KO_RULES.items()}[int(terms["ko_rule"])],
        Scoring.TERRITORY if terms["territory"] else Scoring.AREA,
        {number: tax for tax, number in _TAXES.items()}[int(terms["tax"])],
        suicide=bool(terms["suicide_allowed"]),
        button=bool(terms["button"]),
        friendly_pass=bool(terms["friendly_pass"]),
        played_out=bool(terms["territory"] == PLAYED_OUT),
    )
