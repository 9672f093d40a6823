"""The page of a run: what it reads, what it answers, and that it harms nothing."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, suppress
from functools import partial
from http.client import HTTPConnection
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import urlsplit

import numpy as np
import pytest

import tengen.frontends.train as train_command
from tengen.cluster.manifest import TRAINING, Manifest, write_manifest
from tengen.frontends import connection_limit
from tengen.frontends.cli import shown_at
from tengen.frontends.command_options import TrainOptions
from tengen.frontends.train import run_training
from tengen.frontends.web.runs.metrics import MOST_POINTS, GrowingLines, rows_by_step, series_of
from tengen.frontends.web.runs.run_state import RunState, cluster_state, game_files
from tengen.frontends.web.runs.serve import RunPage
from tengen.game.sgf.records import read_sgf
from tengen.network.backends.registry import open_evaluator
from tengen.network.evaluator import encode, evaluate
from tengen.network.files.tengen_format import load_network_file
from tengen.runs.exchange import MANIFEST
from tengen.runs.folder import RunFolder, append_line, forget_after
from tengen.runs.store import FolderStore
from tests.frontends.web.run_folders import (
    GAME,
    OUTSIDER,
    add_game,
    add_iteration,
    add_network,
    lively_run,
    new_run,
)

LIMIT = 30.0  # seconds


class Answer(NamedTuple):
    status: int
    headers: dict[str, str]
    body: bytes

    @property
    def content(self) -> Any:
        return json.loads(self.body)


Get = Callable[..., Answer]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> RunFolder:
    return lively_run(tmp_path_factory.mktemp("runs") / "lively")


@pytest.fixture(scope="module")
def get(folder: RunFolder) -> Iterator[Get]:
    with RunPage(folder.path, 0) as page:
        yield getter(page)


def getter(page: RunPage) -> Get:
    def get(path: str, **headers: str) -> Answer:
        connection = HTTPConnection(urlsplit(page.address).netloc, timeout=LIMIT)
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        connection.request("GET", path, headers=named)
        response = connection.getresponse()
        answer = Answer(response.status, dict(response.getheaders()), response.read())
        connection.close()
        return answer

    return get


# Lines


def test_a_line_is_read_once_it_is_whole(tmp_path: Path) -> None:
    path = tmp_path / "lines.jsonl"
    lines = GrowingLines(path)
    path.write_bytes(b'{"step": 1}\n{"st')
    assert lines.refresh()
    assert lines.lines == [{"step": 1}]
    first = lines.lines[0]
    assert not lines.refresh()
    with path.open("ab") as file:
        file.write(b'ep": 2}\n')
    assert lines.refresh()
    assert lines.lines == [{"step": 1}, {"step": 2}]
    assert lines.lines[0] is first  # it was not read again


def test_a_file_may_come_late_and_go(tmp_path: Path) -> None:
    path = tmp_path / "lines.jsonl"
    lines = GrowingLines(path)
    assert not lines.refresh()
    append_line(path, {"step": 1})
    assert lines.refresh()
    path.unlink()
    assert lines.refresh()
    assert lines.lines == []
    assert not lines.refresh()


def test_what_a_run_that_goes_on_forgot_is_forgotten(tmp_path: Path) -> None:
    path = tmp_path / "lines.jsonl"
    lines = GrowingLines(path)
    for step in range(6):
        append_line(path, {"step": step, "session": 1})
    lines.refresh()
    forget_after(path, "step", 2)
    for step in range(3, 9):  # longer than it was before anybody looks
        append_line(path, {"step": step, "session": 2})
    assert lines.refresh()
    assert [line["step"] for line in lines.lines] == list(range(9))
    assert [line["session"] for line in lines.lines] == [1] * 3 + [2] * 6


def test_a_file_that_was_rewritten_in_place_is_read_anew(tmp_path: Path) -> None:
    path = tmp_path / "lines.jsonl"
    lines = GrowingLines(path)
    path.write_bytes(b'{"step": 1}\n{"step": 2}\n')
    lines.refresh()
    with path.open("r+b") as file:  # the same file, as long as before
        file.write(b'{"step": 8}\n{"step": 9}\n')
    assert lines.refresh()
    assert lines.lines == [{"step": 8}, {"step": 9}]


def test_damaged_lines_are_left_out(tmp_path: Path) -> None:
    path = tmp_path / "lines.jsonl"
    path.write_bytes(b'{"step": 1}\n\xff\xfe\n[1, 2]\n' + b"[" * 5000 + b'\n\n{"step": 2}\n')
    lines = GrowingLines(path)
    lines.refresh()
    assert lines.lines == [{"step": 1}, {"step": 2}]


# Columns


def test_lines_of_one_step_are_one_row_and_only_numbers_count() -> None:
    lines: list[dict[str, Any]] = [
        {"step": 2, "loss": 1.5},
        {"step": 1, "loss": float("nan"), "name": "x", "yes": True, "null": None},
        {"step": 2, "elo": 40},
        {"loss": 7.0},
    ]
    assert rows_by_step(lines) == [{"step": 1}, {"step": 2, "loss": 1.5, "elo": 40}]


def test_a_long_run_is_drawn_with_few_points() -> None:
    count = 5000
    series = series_of([{"step": float(i), "loss": float(i % 2)} for i in range(count)])
    steps = series.columns["step"]
    assert MOST_POINTS / 2 < len(steps) <= MOST_POINTS
    assert steps[-1] == count - 1
    assert set(series.columns["loss"]) == {0.5}  # neighbours are averaged
    assert series.last == {"step": count - 1, "loss": 1.0}


# The state


def test_a_folder_in_which_nothing_is_yet_has_a_state(tmp_path: Path) -> None:
    state = RunState(RunFolder(tmp_path / "later"))
    state.refresh()
    assert state.state()["facts"] is None
    assert state.state()["series"] == {}
    folder = new_run(tmp_path / "later")
    add_iteration(folder, 1)
    state.refresh()
    content = state.state()
    assert (content["facts"]["width"], content["facts"]["height"]) == (3, 3)
    assert content["share"] == 0.1  # one iteration of ten
    assert content["series"]["loss/policy"] == [3.0]


def test_networks_are_rated_over_time_and_outsiders_are_anchors(folder: RunFolder) -> None:
    state = RunState(folder)
    state.refresh()
    ratings = state.state()["ratings"]
    first, middle, last = ratings["networks"]
    assert (first["elo"], first["minutes"], first["games"]) == (0, 0, 0)
    assert (last["step"], last["minutes"], last["games"]) == (6, 3.0, 600)
    # Three of four points are 191 Elo more; a little less is believed of so few games.
    assert 150 < middle["elo"] < 195
    assert 150 < last["elo"] - middle["elo"] < 195
    assert last["low"] < last["elo"] < last["high"]
    (anchor,) = ratings["anchors"]
    assert anchor["name"] == OUTSIDER
    assert anchor["elo"] > last["elo"]


@pytest.mark.parametrize("name", ["config.toml", "metrics.jsonl", "ratings.jsonl"])
def test_nonsense_in_a_file_of_the_run_is_borne(tmp_path: Path, name: str) -> None:
    folder = new_run(tmp_path / "run")
    (folder.path / name).write_bytes(b'{"first": 1, "second": {}}\n\x00\xff = [\n' * 3)
    state = RunState(folder)
    state.refresh()
    json.dumps(state.state(), allow_nan=False)


# Answers


def test_the_workers_of_a_run_are_listed_and_nonsense_about_them_is_borne(tmp_path: Path) -> None:
    folder = new_run(tmp_path / "run")
    assert cluster_state(folder) is None
    store = FolderStore(folder.path)
    worker = {"session": 7, "label": "worker 2", "node": "here", "state": "lost", "games": 123_456}
    manifest = Manifest(
        state=TRAINING, version=3, steps=40, aside={"5": "has NaN"}, losses=1, workers=(worker,)
    )
    write_manifest(store, manifest)
    found = cluster_state(folder)
    assert found is not None
    assert (found["version"], found["steps"], found["losses"]) == (3, 40, 1)
    assert found["training"]
    assert found["aside"] == ["5"]
    (shown,) = found["workers"]
    assert (shown["label"], shown["state"], shown["games"]) == ("worker 2", "lost", 123_456)
    assert shown["games_rate"] == 0
    for content in (b"", b"[]", b'{"workers": 3}', b'{"workers": [3]}', b'{"version": "x"}'):
        store.write(MANIFEST, content)
        cluster_state(folder)  # raises nothing


def test_the_latest_games_of_several_workers_come_first(tmp_path: Path) -> None:
    folder = new_run(tmp_path / "run")
    for age, number in enumerate([(3 << 32) + 1, (1 << 32) + 9, (2 << 32) + 5]):
        path = folder.games / f"{number:09}.sgf"
        path.write_text(GAME)
        os.utime(path, ns=(0, 10**18 - age))
    assert [number >> 32 for number in game_files(folder)] == [3, 1, 2]


def test_the_page_is_served_and_lets_nothing_in_from_elsewhere(get: Get) -> None:
    page = get("/run")
    assert page.status == 200
    assert b"/static/js/runs/main.js" in page.body
    assert "default-src 'self'" in page.headers["content-security-policy"]
    assert get("/static/js/runs/main.js").status == 200
    assert get("/").headers["location"] == "/run"
    assert get("/api/run", Host="evil.example").status == 403
    assert get("/api/run", Origin="https://evil.example").status == 403


def test_what_has_not_changed_is_not_sent_again(tmp_path: Path) -> None:
    folder = new_run(tmp_path / "run")
    add_iteration(folder, 1)
    with RunPage(folder.path, 0) as page:
        get = getter(page)
        first = get("/api/run")
        assert first.content["last"]["games"] == 100
        again = get("/api/run", If_None_Match=first.headers["etag"])
        assert (again.status, again.body) == (304, b"")
        add_iteration(folder, 2)
        news = get("/api/run", If_None_Match=first.headers["etag"])
        assert news.status == 200
        assert news.content["series"]["step"] == [1, 2]


def test_a_game_comes_position_by_position_with_what_the_search_thought(get: Get) -> None:
    assert get("/api/run").content["games"] == [12, 7]
    game = get("/api/run/games/7").content
    assert (game["width"], game["result"], game["komi"]) == (3, "B+8.5", 0.5)
    start, first, second, third, *_, last = game["turns"]
    assert (start["stones"], start["move"]) == (".........", None)
    assert (first["stones"], first["move"], first["colour"]) == ("...X.....", "A2", "black")
    assert (first["winrate"], first["score"], first["visits"]) == (0.608, 3.3, 20)
    assert (second["score"], second["weight"]) == (-3.6, 0.5)
    assert third["stones"] == ".X.X....."  # the corner was taken
    assert (last["move"], last["winrate"]) == ("pass", None)
    assert game["owner"] == "XXXXXXXXX"


@pytest.mark.parametrize("number", ["8", "007x", "-1", "1e3", "9" * 5000, "..%2f..%2fconfig.toml"])
def test_only_games_that_are_there_are_found(get: Get, number: str) -> None:
    for path in (f"/api/run/games/{number}", f"/api/run/games/{number}/ownership"):
        answer = get(path)
        assert answer.status in (404, 422)
        assert b"b2c32" not in answer.body


def test_a_damaged_game_is_none(tmp_path: Path) -> None:
    folder = new_run(tmp_path / "run")
    add_game(folder, 3, "(;SZ[3];B[zz]")
    add_game(folder, 4, "")
    with RunPage(folder.path, 0) as page:
        for number in (3, 4):
            answer = getter(page)(f"/api/run/games/{number}")
            assert answer.status == 404
            assert str(folder.path).encode() not in answer.body


def test_each_network_is_asked_for_its_first_move(get: Get) -> None:
    networks = all_policies(get, 3)
    assert [network["step"] for network in networks] == [0, 3, 6]
    for network in networks:
        assert len(network["policy"]) == 9
        assert sum(network["policy"]) + network["pass"] == pytest.approx(1, abs=1e-3)
        assert 0 <= network["winrate"] <= 1


def test_a_network_that_cannot_be_read_is_left_out(tmp_path: Path) -> None:
    folder = new_run(tmp_path / "run")
    add_network(folder, 0)
    add_network(folder, 9).write_bytes(b"not a network")
    with RunPage(folder.path, 0) as page:
        get = getter(page)
        assert [network["step"] for network in all_policies(get, 1)] == [0]
        add_game(folder, 1)
        assert get("/api/run/games/1/ownership").content is None


def test_ownership_is_the_latest_networks_and_blacks(folder: RunFolder, get: Get) -> None:
    answer = get("/api/run/games/7/ownership").content
    assert answer["network"] == 6
    evaluator = open_evaluator(load_network_file(folder.networks / "000006.safetensors"), "cpu")
    positions = list(read_sgf(GAME)[0].positions())
    assert len(answer["points"]) == len(positions)
    for points, position, sign in zip(
        answer["points"], positions, [1, -1, 1, -1, 1, -1], strict=True
    ):
        opinion = evaluate(evaluator, encode(evaluator.features, [position]))
        np.testing.assert_allclose(points, 10 * sign * opinion.ownership.ravel(), atol=0.8)


def test_looking_changes_nothing(folder: RunFolder, get: Get) -> None:
    before = contents(folder.path)
    for path in ("/api/run", "/api/run/policies", "/api/run/games/7", "/api/run/games/7/ownership"):
        assert get(path).status == 200
    assert contents(folder.path) == before


def test_a_page_that_is_closed_evaluates_no_more_networks(tmp_path: Path) -> None:
    folder = new_run(tmp_path / "run")
    for step in range(100):
        add_network(folder, step)
    before = set(threading.enumerate())
    with RunPage(folder.path, 0) as page:
        all_policies(getter(page), 1)
    left = [each.name for each in threading.enumerate() if each not in before]
    assert not [name for name in left if name.startswith("network outputs")]


def all_policies(get: Get, count: int) -> list[dict[str, Any]]:
    """The opinions of all networks, when they are there."""
    end = time.monotonic() + LIMIT
    while time.monotonic() < end:
        networks: list[dict[str, Any]] = get("/api/run/policies").content["networks"]
        if len(networks) >= count:
            return networks
        time.sleep(0.05)
    raise AssertionError("the networks were not asked in time")


def contents(path: Path) -> dict[Path, int]:
    return {each: each.stat().st_mtime_ns for each in path.rglob("*")}


# Training


def test_a_run_serves_its_page_while_it_trains(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    seen: list[Any] = []

    def train(path: str, *_: object) -> None:
        address = capsys.readouterr().err.split()[-1]
        connection = HTTPConnection(urlsplit(address).netloc, timeout=LIMIT)
        connection.request("GET", "/api/run")
        seen.append((path, json.loads(connection.getresponse().read())["name"]))
        connection.close()

    monkeypatch.setattr(train_command, "train", train)
    run_training(str(tmp_path / "run"), TrainOptions(), partial(shown_at, 0))
    assert seen == [(str(tmp_path / "run"), "run")]


def test_a_port_that_is_taken_is_named(tmp_path: Path) -> None:
    with RunPage(tmp_path, 0) as page:
        port = urlsplit(page.address).port
        assert port is not None
        with pytest.raises(ValueError, match=f"cannot serve at port {port} .*--serve {port + 1}"):
            RunPage(tmp_path, port)


def test_readers_leave_files_to_the_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connection_limit, "MOST", 2)
    with RunPage(tmp_path, 0) as page, ExitStack() as opened:
        place = "127.0.0.1", urlsplit(page.address).port
        for _ in range(2):
            opened.enter_context(socket.create_connection(place, LIMIT))
        third = opened.enter_context(socket.create_connection(place, LIMIT))
        with suppress(ConnectionError):
            assert third.recv(1) == b""


def test_training_needs_no_web_server_unless_a_page_is_wanted(tmp_path: Path) -> None:
    program = (
        "import sys\n"
        "sys.modules['fastapi'] = sys.modules['uvicorn'] = None\n"
        "from functools import partial\n"
        "from tengen.frontends.cli import shown_at\n"
        "from tengen.frontends.command_options import TrainOptions\n"
        "from tengen.frontends.train import run_training\n"
        "try:\n"
        f"    run_training({str(tmp_path / 'run')!r}, TrainOptions(), partial(shown_at, 0))\n"
        "except ValueError as error:\n"
        "    print(error)\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert "pip install fastapi uvicorn" in done.stdout
    assert done.stderr == ""
    assert not (tmp_path / "run").exists()
