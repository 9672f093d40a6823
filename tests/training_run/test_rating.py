"""Ratings of a run's networks."""

from __future__ import annotations

from pathlib import Path

from tengen.network.data import NetworkData
from tengen.network.evaluator import Evaluator
from tengen.selfplay.params import SelfPlayParams
from tengen.training_run.folder import RunFolder
from tengen.training_run.json_lines import append_line
from tengen.training_run.params import RatingParams
from tengen.training_run.rating import network_file, network_name, rate_network, ratings_of


def test_without_opponents_nothing_is_opened_and_nobody_rated(tmp_path: Path) -> None:
    folder = RunFolder(tmp_path)
    folder.networks.mkdir()
    for iteration in (4, 8):
        network_file(folder, network_name(iteration)).touch()  # no network, if it were opened

    def opened(_: NetworkData) -> Evaluator:
        raise AssertionError("opened for nothing")

    assert rate_network(folder, 8, RatingParams(opponents=0), SelfPlayParams(), opened)
    assert ratings_of(folder) == {}


def test_the_first_network_is_zero_whoever_else_plays(tmp_path: Path) -> None:
    folder = RunFolder(tmp_path)
    for first, second in (("000010", "000000"), ("000010", "/usr/games/gnugo --mode gtp")):
        played = {"first": first, "second": second, "wins": 30, "draws": 0, "losses": 10}
        append_line(folder.ratings, {"iteration": 10, **played})
    ratings = ratings_of(folder)
    assert ratings["000000"].elo == 0
    assert ratings["000010"].elo > 100
