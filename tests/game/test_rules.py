"""Rule sets: names, spellings, JSON, komi."""

from __future__ import annotations

import json
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tengen.game.rules import (
    NAMED,
    HandicapBonus,
    KoRule,
    Rules,
    RulesError,
    Scoring,
    Tax,
    check_komi,
    parse_rules,
)

# KataGo's own description of its named sets.
KATAGO = {
    "tromp-taylor": "koPOSITIONALscoreAREAtaxNONEsui1",
    "chinese": "koSIMPLEscoreAREAtaxNONEsui0whbNfpok1",
    "chinese-ogs": "koPOSITIONALscoreAREAtaxNONEsui0whbNfpok1",
    "chinese-kgs": "koPOSITIONALscoreAREAtaxNONEsui0whbNfpok1",
    "japanese": "koSIMPLEscoreTERRITORYtaxSEKIsui0",
    "korean": "koSIMPLEscoreTERRITORYtaxSEKIsui0",
    "stone-scoring": "koSIMPLEscoreAREAtaxALLsui0fpok1",
    "aga": "koSITUATIONALscoreAREAtaxNONEsui0whbN-1fpok1",
    "bga": "koSITUATIONALscoreAREAtaxNONEsui0whbN-1fpok1",
    "new-zealand": "koSITUATIONALscoreAREAtaxNONEsui1fpok1",
    "aga-button": "koSITUATIONALscoreAREAtaxNONEsui0button1whbN-1fpok1",
}

every_rules = st.builds(
    Rules,
    st.sampled_from(KoRule),
    st.sampled_from(Scoring),
    st.sampled_from(Tax),
    st.booleans(),
    st.booleans(),
    st.sampled_from(HandicapBonus),
    st.booleans(),
)


@pytest.mark.parametrize("name", KATAGO)
def test_named_sets_are_katago_s(name: str) -> None:
    assert NAMED[name][0] == parse_rules(name) == parse_rules(KATAGO[name])


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("Chinese", "chinese"),
        (" JAPANESE ", "japanese"),
        ("new zealand", "new-zealand"),
        ("NewZealand", "new-zealand"),
        ("NZ", "new-zealand"),
        ("stone_scoring", "stone-scoring"),
        ("Tromp-Taylor", "tromp-taylor"),
        ("tromp taylor rules", "tromp-taylor"),
        ("aga_button", "aga-button"),
        ("chinese_ogs", "chinese-ogs"),
        ("GOE", "ing"),
        ("日本", "japanese"),
    ],
)
def test_common_spellings(text: str, name: str) -> None:
    assert parse_rules(text) == NAMED[name][0]


@given(every_rules)
def test_json_and_its_text_give_the_rules_back(rules: Rules) -> None:
    assert parse_rules(rules.as_json()) == rules
    assert parse_rules(json.dumps(rules.as_json())) == rules
    assert parse_rules(str(rules)) == rules
    assert parse_rules(rules) is rules


def test_json_is_spelled_as_katago_answers_kata_get_rules() -> None:
    assert json.dumps(parse_rules("tromp-taylor").as_json(), separators=(",", ":")) == (
        '{"friendlyPassOk":false,"hasButton":false,"ko":"POSITIONAL","scoring":"AREA",'
        '"suicide":true,"tax":"NONE","whiteHandicapBonus":"0"}'
    )


def test_territory_scoring_without_a_tax_is_taxed_in_seki() -> None:
    assert parse_rules({"scoring": "TERRITORY"}).tax is Tax.SEKI
    assert parse_rules("scoreTERRITORY").tax is Tax.SEKI
    assert parse_rules({"scoring": "TERRITORY", "tax": "NONE"}).tax is Tax.NONE


@pytest.mark.parametrize(
    ("value", "complaint"),
    [
        ("", "unknown rules ''"),
        ("calvinball", "calvinball"),
        ("koSIMPLEscoreNOTHING", "koSIMPLEscoreNOTHING"),
        ({"ko": "ETERNAL"}, "'ko'"),
        ({"suicide": "perhaps"}, "'suicide'"),
        ({"komi": 7}, "'komi'"),
        ("{", "JSON"),
        ("{" * 100_000, "JSON"),
        (7, "7"),
    ],
)
def test_what_names_no_rules_is_refused_with_the_wrong_part(value: str, complaint: str) -> None:
    with pytest.raises(RulesError, match=complaint.replace("'", ".")):
        parse_rules(value)


@given(st.text() | st.dictionaries(st.text(max_size=8), st.integers() | st.text() | st.none()))
def test_nothing_else_is_ever_raised(value: str) -> None:
    with suppress(RulesError):
        assert isinstance(parse_rules(value), Rules)


@pytest.mark.parametrize("komi", [-400, -0.5, 0, 7, 7.5, "6.5", 400])
def test_komi_in_half_points(komi: float) -> None:
    assert check_komi(komi) == float(komi)


@pytest.mark.parametrize("komi", [400.5, -401, 6.3, float("nan"), float("inf"), "x", None])
def test_other_komi_is_refused(komi: float) -> None:
    with pytest.raises(RulesError, match="komi"):
        check_komi(komi)


@pytest.mark.parametrize(
    ("bonus", "points"), [("0", [0, 0, 0, 0]), ("N-1", [0, 0, 1, 8]), ("N", [0, 0, 2, 9])]
)
def test_white_s_bonus_for_0_1_2_and_9_stones(bonus: str, points: list[int]) -> None:
    assert [HandicapBonus(bonus).points(stones) for stones in (0, 1, 2, 9)] == points
