"""Problems over HTTP: listed, tried, and made out of a player's own games."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any
from urllib.error import HTTPError
from urllib.request import Request, urlopen

import pytest

from tengen.engine.loading import EngineLoader
from tengen.frontends.web.http.serve import make_engine
from tengen.frontends.web.learn.own_problems import LEAST_MOVES, OwnProblems
from tengen.frontends.web.learn.problem_play import ProblemJudge, view_of
from tengen.frontends.web.limits import RefusedError
from tengen.frontends.web.play.game_store import GameKey, GameStore
from tengen.game.geometry import point_text
from tengen.network.loaded_network import LoadedNetwork
from tengen.problems.problem import Problem
from tengen.problems.problem_files import shipped_problems
from tengen.problems.solution import OpponentReply, SolverOutcome
from tests.frontends.web.made_up import HALVES
from tests.frontends.web.server import Client

PLAYER = "0123456789abcdef" * 2
LIMIT = 60.0  # seconds
JUDGED = shipped_problems()[::40]


def fetched(port: int, path: str, body: object = None) -> tuple[int, Any]:
    data = None if body is None else json.dumps(body).encode()
    headers = {"Content-Type": "application/json"}
    request = Request(f"http://127.0.0.1:{port}/api/learn/{path}", data, headers)
    try:
        with urlopen(request) as answer:
            return answer.status, json.load(answer)
    except HTTPError as error:
        with error:
            return error.code, json.load(error)


@pytest.fixture(scope="module")
def judge() -> ProblemJudge:
    return ProblemJudge()


@pytest.mark.parametrize("problem", JUDGED, ids=[each.id for each in JUDGED])
def test_the_solution_is_right_to_its_end_and_a_wrong_move_is_refuted(
    problem: Problem, judge: ProblemJudge
) -> None:
    height = problem.size.height
    moves, turn = [], problem.answers
    while True:
        move, reply = next(iter(turn.right.items()))
        moves.append(point_text(move, height))
        view = judge.tried_view(problem, moves)
        assert view["right"]
        assert view["solved"] == (not isinstance(reply, OpponentReply))
        if not isinstance(reply, OpponentReply):
            break
        assert view["reply"] == point_text(reply.move, height)
        turn = reply.then
    with pytest.raises(RefusedError, match="solved"):
        judge.tried_view(problem, [*moves, "pass"])
    for wrong, refuted in problem.answers.wrong.items():
        view = judge.tried_view(problem, [point_text(wrong, height)])
        assert not view["right"]
        told = None if refuted.move is None else point_text(refuted.move, height)
        assert view["reply"] == told
        assert (view["said"] == "only_ko") == (refuted.outcome is SolverOutcome.KO)


def test_what_is_shown_holds_the_stones_in_question() -> None:
    for problem in shipped_problems():
        view = view_of(problem)
        for x, y in problem.question.region.points:
            assert view.left <= x <= view.right
            assert view.top <= y <= view.bottom
        width, height = view.right - view.left + 1, view.bottom - view.top + 1
        assert min(width, height) >= 7
        assert max(width, height) <= max(problem.size)


def test_problems_are_listed_shown_and_tried(port: int) -> None:
    status, listed = fetched(port, "problems")
    assert status == 200
    assert [each["id"] for each in listed["problems"]] == [each.id for each in shipped_problems()]
    problem = shipped_problems()[0]
    _, shown = fetched(port, f"problems/{problem.id}")
    assert shown["hint"] == point_text(problem.solution, problem.size.height)
    assert len(shown["marked"]) == len(problem.question.stones)
    _, tried = fetched(port, f"problems/{problem.id}", {"tries": [shown["hint"]]})
    assert tried["right"]


@pytest.mark.parametrize(
    ("path", "body", "status"),
    [
        ("problems/000000000000", None, 404),
        ("problems/none", None, 422),
        (f"problems/{shipped_problems()[0].id}", {"tries": []}, 422),
        (f"problems/{shipped_problems()[0].id}", {"tries": ["A1"], "more": 1}, 422),
        (f"problems/{shipped_problems()[0].id}", {"tries": ["Z99"]}, 409),
        ("players/nobody/problems", None, 422),
        ("lessons/none/1", {"tries": ["A1"]}, 409),
        ("capture", {"side": 6, "level": "fair", "colour": "black", "moves": [], "seed": 1}, 409),
        ("born/burn", {}, 422),
    ],
)
def test_requests_that_make_no_sense_are_refused(
    path: str, body: object, status: int, port: int
) -> None:
    assert fetched(port, path, body)[0] == status


# Out of one's own games


@pytest.fixture
def own(tmp_path: Path) -> Iterator[tuple[OwnProblems, GameStore]]:
    with (
        GameStore(tmp_path) as game_store,
        EngineLoader(lambda: make_engine(LoadedNetwork(HALVES, "fake"))) as loader,
        closing(OwnProblems(tmp_path / "problems", game_store, loader)) as own,
    ):
        loader.wait()
        yield own, game_store


def until(enough: Callable[[], bool]) -> None:
    end = time.monotonic() + LIMIT
    while not enough():
        assert time.monotonic() < end
        time.sleep(0.02)


def test_games_are_read_once_and_a_file_that_is_gone_does_no_harm(
    own: tuple[OwnProblems, GameStore],
) -> None:
    problems, _ = own
    games = ["20261119-aaaaaaaa", "20261119-bbbbbbbb"]
    assert problems.view(PLAYER, games)["unread"] == 2
    problems.start(PLAYER, games)
    until(lambda: not problems.view(PLAYER, games)["working"])
    assert problems.view(PLAYER, games) == {"unread": 0, "working": False, "done": 0, "of": 0}
    problems.start(PLAYER, games)
    assert not problems.view(PLAYER, games)["working"]
    assert problems.problems(PLAYER) == []


def test_what_was_found_is_kept_and_found_again(own: tuple[OwnProblems, GameStore]) -> None:
    """Problems are the player's alone; the latest are listed first."""
    problems, _ = own
    found = shipped_problems()[:3]
    problems._keep(PLAYER, "one", found[:2])
    problems._keep(PLAYER, "two", found[1:])
    assert [each.id for each in problems.problems(PLAYER)] == [
        found[2].id,
        found[1].id,
        found[0].id,
    ]
    assert problems.problems("f" * 32) == []


def test_a_game_that_was_played_is_looked_through(port: int, client: Client) -> None:
    """Over HTTP, with a network that is made up: it doubts nothing, so nothing is found."""
    client.new_game(size=5, colour="both")
    for move in ["A1", "B1", "A2", "B2", "A3", "B3", "A4", "B4", "C1", "C2", "C3"][:LEAST_MOVES]:
        client.say("play", move=move)
    client.settle()
    player = client.welcome["player"]
    until(lambda: fetched(port, f"players/{player}/problems")[1]["unread"] == 1)
    status, begun = fetched(port, f"players/{player}/problems", {})
    assert status == 200
    assert begun["working"]
    until(lambda: not fetched(port, f"players/{player}/problems")[1]["working"])
    status, read = fetched(port, f"players/{player}/problems")
    assert (status, read["unread"], read["problems"]) == (200, 0, [])


def test_games_of_others_are_not_read(own: tuple[OwnProblems, GameStore]) -> None:
    problems, game_store = own
    assert game_store.load_game(GameKey(PLAYER, "20261119-aaaaaaaa")) is None
    assert problems.view("../../etc", ["x"])["unread"] == 1
    assert problems.problems("../../etc/passwd") == []
