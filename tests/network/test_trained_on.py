"""What networks were trained on: read from provenance, refused where it is not understood."""

from __future__ import annotations

from pathlib import Path

import pytest

from tengen.game.geometry import Size
from tengen.game.position import Position
from tengen.game.rules import NAMED, parse_rules
from tengen.network.files.bundled import BUNDLED, FILES, bundled_for, choose_network
from tengen.network.files.errors import NetworkFileError
from tengen.network.files.loading import find_network, load_network
from tengen.network.files.tengen_format import load_network_file, read_trained_on, save_network
from tengen.network.trained_on import TrainedOn, facts_of_training, trained_on, unfamiliar
from tengen.selfplay.params import SelfPlayParams
from tests.bundled import NINE, needs_bundled_network, stand_ins
from tests.network.test_tengen_format import random_network

AREA = ("tromp-taylor", "chinese", "chinese-ogs", "aga", "new-zealand", "ing")


def test_what_a_run_writes_is_read_again() -> None:
    odd = '{"ko": "SIMPLE", "scoring": "AREA", "tax": "SEKI"}'
    rules = map(parse_rules, ("tromp-taylor", odd, "jp"))
    known = trained_on(facts_of_training((9, "9x13", 19), rules))
    assert known == TrainedOn(
        boards=frozenset({Size(9, 9), Size(9, 13), Size(19, 19)}),
        rules=frozenset(parse_rules(each) for each in ("tromp-taylor", odd, "japanese")),
    )


@pytest.mark.parametrize("rules", NAMED)
def test_rules_are_known_if_they_count_like_those_of_training(rules: str) -> None:
    known = trained_on({"board_sizes": "9", "rules": "tromp-taylor"})
    assert known.knows_rules(parse_rules(rules)) == (rules in (*AREA, "bga", "chinese-kgs"))


def test_a_board_is_known_if_it_is_one_of_training() -> None:
    known = trained_on({"board_sizes": "9, 13", "rules": "chinese"})
    assert [known.knows_board(Size(side, side)) for side in (7, 9, 11, 13)] == [0, 1, 0, 1]
    assert not known.knows_board(Size(9, 13))


def test_katagos_networks_know_all_boards_from_7_on_and_all_rules_since_version_8() -> None:
    known = trained_on({"origin": "KataGo", "katago_version": "8"})
    assert unfamiliar("net", known, Position(7, "japanese")) is None
    assert unfamiliar("net", known, Position((19, 8), "stone-scoring")) is None
    assert unfamiliar("net", known, Position(9, "aga-button")) is None
    found = unfamiliar("net", known, Position(6))
    assert found is not None
    assert (found.board, found.rules) == (Size(6, 6), None)
    assert trained_on({"origin": "KataGo", "katago_version": "7"}) == TrainedOn(None, None)


def test_a_network_for_one_size_knows_that_size() -> None:
    known = trained_on({}, only_side=7)
    assert known == TrainedOn(frozenset({Size(7, 7)}), None)


def test_what_is_not_known_is_said_in_one_sentence() -> None:
    found = unfamiliar("mine", trained_on({}), Position(13, "japanese"))
    assert str(found) == (
        "mine was not trained for 13x13 boards and japanese rules (boards not known; rules not "
        "known): do not rely on its play and its estimates"
    )
    known = trained_on({"board_sizes": "9, 13, 19", "rules": "tromp-taylor"})
    assert "(rules tromp-taylor)" in str(unfamiliar("mine", known, Position(13, "japanese")))
    assert "13x13 boards (boards 9x9)" in str(unfamiliar("mine", NINE, Position(13)))


@pytest.mark.parametrize(
    ("key", "value", "named"),
    [
        ("board_sizes", "9, nine", "'nine'"),
        ("board_sizes", "9, 99", "99"),
        ("board_sizes", "", "''"),
        ("rules", "tromp-taylor, bavarian", "'bavarian'"),
        ("rules", '{"ko": "NEVER"}', "NEVER"),
        ("rules", "", "''"),
    ],
)
def test_a_file_that_says_what_is_not_understood_is_refused_by_name(
    key: str, value: str, named: str, tmp_path: Path
) -> None:
    path = tmp_path / "net.safetensors"
    save_network(random_network("b1c32", provenance={key: value}), path)
    for read in (load_network_file, read_trained_on):
        with pytest.raises(NetworkFileError, match=rf"net\.safetensors: .*{named}"):
            read(path)


def test_the_first_network_that_was_trained_for_a_game_plays_it() -> None:
    nine, every = NINE, trained_on({"board_sizes": "9, 13, 19", "rules": "chinese, japanese"})
    assert choose_network([nine, every], Position(9, "chinese")) == 0
    assert choose_network([nine, every], Position(9, "japanese")) == 1
    assert choose_network([nine, every], Position(13)) == 1
    assert choose_network([nine, nine], Position(9, "japanese")) == 0
    assert choose_network([nine, every], Position(7)) == 1
    assert choose_network([nine], Position(19)) == 0


def test_the_bundled_network_is_that_of_the_game(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stand_ins(tmp_path, monkeypatch)
    assert bundled_for(Position(9)).name == FILES[0]
    assert find_network(BUNDLED, Position(19)).name == FILES[1]
    assert load_network(BUNDLED, Position(13)).name == "tengen-all"
    assert find_network(BUNDLED).name == FILES[0]


@needs_bundled_network
def test_the_bundled_network_for_9x9_says_what_it_was_trained_on() -> None:
    assert load_network("tengen-9x9").trained_on == NINE


def test_a_run_by_random_rules_knows_all_of_them() -> None:
    drawn = SelfPlayParams(board_sizes=(9,), rules=("random",)).drawn_rules
    facts = facts_of_training((9,), drawn)
    assert facts == {"board_sizes": "9", "rules": "all"}
    known = trained_on(facts)
    assert known.rules_text == "all"
    assert all(known.knows_rules(rules) for rules in drawn)
    few = facts_of_training((9,), SelfPlayParams(rules=("japanese", "jp")).drawn_rules)
    assert few["rules"] == "japanese"
    assert not trained_on(few).knows_rules(parse_rules("chinese"))


def test_rules_without_a_name_are_told_by_how_they_count() -> None:
    notations = ("tt", "koSIMPLEtaxNONEsui0", "koSIMPLEtaxALLsui0", "koPOSITIONALbutton1taxSEKI")
    known = trained_on(facts_of_training((9,), map(parse_rules, notations)))
    kinds = "area scoring with tax ALL, area scoring with tax SEKI and button"
    assert known.rules_text == f"tromp-taylor, {kinds}"
