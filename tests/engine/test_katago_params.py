"""KataGo's names of parameters: every one sets a field that exists, in a range that it has."""

from __future__ import annotations

from dataclasses import fields

import pytest

from tengen.engine.katago_params import (
    ANALYSIS,
    GTP,
    KATAGO_PARAMS,
    KataGoParam,
    parse_value,
)
from tengen.frontends.analysis.query import ANALYSIS_PARAMS, QuerySettings
from tengen.frontends.command_options import GtpOptions
from tengen.search.human_style import HumanStyle
from tengen.search.params import SearchParams

ALL = pytest.mark.parametrize("param", KATAGO_PARAMS.values(), ids=list(KATAGO_PARAMS))


@ALL
def test_every_parameter_sets_a_field_of_its_front_ends(param: KataGoParam) -> None:
    assert GTP in param.takers or ANALYSIS in param.takers
    kinds: list[type] = [GtpOptions] if GTP in param.takers else []
    kinds += [QuerySettings] if ANALYSIS in param.takers else []
    if not param.field:  # it has no effect here; clients read what they set
        assert parse_value(param, param.usual) == param.usual
        return
    if param.of_search or param.of_human:
        kinds = [SearchParams if param.of_search else HumanStyle]
    for kind in kinds:
        assert param.field in {each.name for each in fields(kind)}


@ALL
def test_usual_values_and_ranges_of_the_search_are_accepted(param: KataGoParam) -> None:
    if not param.of_search:
        return
    usual = getattr(ANALYSIS_PARAMS, param.field)
    if param.kind is bool:
        assert parse_value(param, "true") is True
        return
    assert parse_value(param, usual) == parse_value(param, str(usual)) == usual
    for value in (param.low, param.high):
        SearchParams(**{param.field: parse_value(param, value)})
    for wrong in (param.low - 1, 2 * param.high + 1, "nan", "inf", "much", True, None, [1]):
        with pytest.raises(ValueError, match=r"a number from .* to .* is needed"):
            parse_value(param, wrong)


@ALL
def test_ranges_of_parameters_about_people_are_those_of_a_style(param: KataGoParam) -> None:
    if not param.of_human or param.kind is not float:
        return
    usual = getattr(HumanStyle(), param.field)
    assert parse_value(param, usual) == usual
    for value in (param.low, param.high):
        HumanStyle(**{param.field: parse_value(param, value)})
    with pytest.raises(ValueError, match="is needed"):
        parse_value(param, 2 * param.high)
