"""Ratings of a run's networks."""

from __future__ import annotations

import sys
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest

from tengen.network.evaluator import Evaluator
from tengen.network.files.tengen_format import save_network
from tengen.network.network_data import NetworkData
from tengen.runs.folder import RunFolder, append_line, read_lines
from tengen.runs.params import RatingParams
from tengen.runs.rating import network_file, network_name, rate_network, ratings_of
from tengen.runs.selfplay_network import evaluator_on
from tengen.selfplay.params import SelfPlayParams
from tests.network.test_tengen_format import random_network


def folder_with_two_networks(path: Path) -> RunFolder:
    """A run's folder with the networks of iterations 0 and 1."""
    folder = RunFolder(path)
    folder.networks.mkdir()
    for iteration in (0, 1):
        name = network_name(iteration)
        data = replace(random_network("b2c32", iteration), name=name)
        save_network(data, network_file(folder, name), half=True)
    return folder


def test_without_opponents_nothing_is_opened_and_nobody_rated(tmp_path: Path) -> None:
    folder = RunFolder(tmp_path)
    folder.networks.mkdir()
    for iteration in (4, 8):
        network_file(folder, network_name(iteration)).touch()  # no network, if it were opened

    def opened(_: NetworkData) -> Evaluator:
        raise AssertionError("opened for nothing")

    assert rate_network(folder, 8, RatingParams(opponents=0), SelfPlayParams(), opened)
    assert ratings_of(folder) == {}


def test_a_rating_can_be_stopped_between_two_moves(tmp_path: Path) -> None:
    folder = folder_with_two_networks(tmp_path)
    looks = 0

    def should_stop() -> bool:
        nonlocal looks
        looks += 1
        return looks > 3

    games, on_cpu = SelfPlayParams(board_sizes=(4,)), partial(evaluator_on, "cpu")
    params = RatingParams(games=8, visits=4)
    assert not rate_network(folder, 1, params, games, on_cpu, should_stop=should_stop)
    assert looks == 5  # before each tick, and then
    assert ratings_of(folder) == {}
    assert rate_network(folder, 1, params, games, on_cpu)
    assert set(ratings_of(folder)) == {"000000", "000001"}


def test_a_match_is_played_on_every_size_of_the_run(tmp_path: Path) -> None:
    folder = folder_with_two_networks(tmp_path)
    games = SelfPlayParams(board_sizes=(3, "3x4", 5), size_weights=(1, 1, 0))
    params = RatingParams(games=12, visits=4)
    assert rate_network(folder, 1, params, games, partial(evaluator_on, "cpu"))
    (match,) = read_lines(folder.ratings)
    assert match["wins"] + match["draws"] + match["losses"] == 12
    by_size = {size: [*map(int, text.split("-"))] for size, text in match["by_size"].items()}
    assert by_size.keys() == {"3x3", "3x4"}
    assert [sum(counts) for counts in by_size.values()] == [6, 6]
    assert sum(counts[0] for counts in by_size.values()) == match["wins"]


def test_entries_that_are_no_results_are_skipped(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = RunFolder(tmp_path)
    played = {"first": "000010", "second": "000000", "wins": 3, "draws": 0, "losses": 1}
    wrong: list[dict[str, object]] = [
        {"first": 7},
        {"wins": "3"},
        {"losses": -1},
        {"second": None},
        {"draws": 0.5},
    ]
    append_line(folder.ratings, {"iteration": 10})
    for changed in wrong:
        append_line(folder.ratings, {"iteration": 10, **played, **changed})
    assert ratings_of(folder) == {}
    append_line(folder.ratings, {"iteration": 10, **played})
    capsys.readouterr()
    assert set(ratings_of(folder)) == {"000000", "000010"}
    told = capsys.readouterr().err
    assert [f"entry {k} is no result" in told for k in range(1, 8)] == [True] * 6 + [False]


def test_an_opponent_from_outside_that_fails_does_not_end_the_run(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = folder_with_two_networks(tmp_path)
    missing = str(tmp_path / "nowhere.bin.gz")
    ends_at_once = f"{sys.executable} -c pass"
    outside = (f"{missing}@4", f"gtp:{ends_at_once}", "gtp:no-such-program")
    params = RatingParams(games=2, visits=4, outside=outside)
    games = SelfPlayParams(board_sizes=(3,))
    assert rate_network(folder, 1, params, games, partial(evaluator_on, "cpu"))
    assert set(ratings_of(folder)) == {"000000", "000001"}
    told = capsys.readouterr().err
    for name in ("nowhere.bin.gz@4", ends_at_once, "no-such-program"):
        assert f"000001 is not rated against {name}: " in told


def test_the_first_network_is_zero_whoever_else_plays(tmp_path: Path) -> None:
    folder = RunFolder(tmp_path)
    for first, second in (("000010", "000000"), ("000010", "/usr/games/gnugo --mode gtp")):
        played = {"first": first, "second": second, "wins": 30, "draws": 0, "losses": 10}
        append_line(folder.ratings, {"iteration": 10, **played})
    ratings = ratings_of(folder)
    assert ratings["000000"].elo == 0
    assert ratings["000010"].elo > 100
