"""A network that is trained for the page: begun, watched, stopped, played against, removed."""

from __future__ import annotations

import importlib.util
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tengen import jit
from tengen.frontends.web.learn.born_network import KOMI, MINUTES, TRAIN, Births
from tengen.frontends.web.limits import RefusedError
from tengen.game.color import Color
from tengen.game.position import Position
from tests.frontends.web.learn import fake_training
from tests.frontends.web.run_folders import born_run

LIMIT = 60.0  # seconds

pytestmark = pytest.mark.skipif(
    importlib.util.find_spec("torch") is None, reason="training needs torch"
)


@pytest.fixture(scope="module")
def born(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of births with a run of twenty minutes."""
    folder = tmp_path_factory.mktemp("born")
    born_run(folder / "run")
    return folder


def births_in(folder: Path, prepared: Path) -> Births:
    """Births whose training puts a prepared run there."""
    command = (sys.executable, fake_training.__file__, str(prepared))
    return Births(folder, allowed=True, command=command)


@pytest.fixture
def births(tmp_path: Path, born: Path) -> Iterator[Births]:
    with births_in(tmp_path, born / "run") as births:
        yield births


@pytest.fixture(scope="module")
def grown(born: Path) -> Iterator[Births]:
    """Twenty minutes after it began."""
    with Births(born, allowed=False) as births:
        yield births


def until(enough: Callable[[], bool]) -> None:
    end = time.monotonic() + LIMIT
    while not enough():
        assert time.monotonic() < end
        time.sleep(0.05)


def code_of(act: Callable[[], object]) -> str:
    with pytest.raises(RefusedError) as refused:
        act()
    return str(refused.value.data.get("reason", refused.value.code))


def test_it_is_begun_stopped_gone_on_with_and_removed(births: Births, tmp_path: Path) -> None:
    assert births.view()["state"] == "none"
    births.start()
    until(lambda: births.view()["players"][-1]["ready"])
    view = births.view()
    assert view["state"] == "running"
    assert view["minutes"] == 20.0
    assert code_of(births.start) == "born_running"
    assert code_of(births.remove) == "born_running"
    births.stop()
    # All of the minutes that were asked for are over: it is not stopped, but at its end.
    assert births.view()["state"] == "ended"
    births.remove()
    assert births.view()["state"] == "none"
    assert not (tmp_path / "run").exists()


def test_two_servers_do_not_train_the_same_network(births: Births, tmp_path: Path) -> None:
    births.start()
    until(lambda: births.view()["state"] == "running" and (tmp_path / "run").exists())
    with births_in(tmp_path, tmp_path) as other:
        until(lambda: other.view()["state"] == "running")
        assert code_of(other.start) == "born_running"
        assert code_of(other.stop) == "born_elsewhere"
    assert births.view()["state"] == "running"  # the other server's end ends nothing


def test_an_end_by_an_error_is_told(tmp_path: Path) -> None:
    with births_in(tmp_path, tmp_path / "nothing") as births:
        births.start()
        until(lambda: births.view()["state"] == "none" and bool(births.view()["trouble"]))
        assert births.view()["trouble"] == fake_training.MISSING


def test_how_long_the_preparation_takes_is_told(
    births: Births,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    births.start()
    assert births.view()["preparing"] is None
    seconds = iter([100.0, 190.0])
    monkeypatch.setattr("tengen.jit.time.monotonic", lambda: next(seconds))
    compiling = jit._Compiling()
    compiling._wanted = {len, max, min, sum}
    for one in (len, max, min):
        compiling._met.add(one)
        if one is not max:
            compiling._say_how_far()
    monkeypatch.undo()
    (tmp_path / "log.txt").write_text(capsys.readouterr().err)
    # Three of four took a minute and a half, so that the fourth takes half a minute.
    assert births.view()["preparing"] == {"share": 0.75, "minutes": 0.5}
    (tmp_path / "log.txt").write_text("tengen: something else\n")
    assert births.view()["preparing"] is None


def test_who_may_not_train_is_told_why_and_may_play(grown: Births) -> None:
    assert grown.view()["why_not"] == "owner"
    assert code_of(grown.start) == "born_owner"
    assert grown.played_view(1, Color.WHITE, [])["reply"] is not None


def test_each_minute_is_another_opponent(grown: Births) -> None:
    assert all(each["ready"] for each in grown.view()["players"])
    answers = [grown.played_view(minute, Color.BLACK, ["C3"]) for minute in MINUTES]
    for answer in answers:
        assert answer["before"]["stones"].count("O") == 0
        assert answer["moves"][:1] == ["C3"]
        assert len(answer["moves"]) == 2
    # Their weights differ, and so does what they think of the same board.
    assert len({answer["winrate"] for answer in answers}) == len(MINUTES)


def test_a_game_ends_by_two_passes_and_is_counted(grown: Births) -> None:
    """Black has three lines of five, White two: 15 and 10 points, and the komi decides."""
    moves = ["A3", "A4", "B3", "B4", "C3", "C4", "D3", "D4", "E3", "E4", "pass", "pass"]
    view = grown.played_view(1, Color.BLACK, moves)
    assert view["over"]
    assert view["winner"] == "white"
    assert view["result"] == f"W+{10 + KOMI - 15}"
    assert code_of(lambda: grown.played_view(1, Color.BLACK, [*moves, "A1"])) == "not_now"


@pytest.mark.parametrize(
    ("minute", "moves", "code"),
    [
        (2, [], "bad_terms"),
        (1, ["A1", "A1"], "occupied"),
        (1, ["Z9"], "bad_point"),
        (1, ["pass"] * 200, "bad_terms"),
    ],
)
def test_impossible_games_are_refused(
    grown: Births, minute: int, moves: list[str], code: str
) -> None:
    assert code_of(lambda: grown.played_view(minute, Color.BLACK, moves)) == code


def test_a_network_that_is_not_born_yet_is_refused(births: Births) -> None:
    assert code_of(lambda: births.played_view(1, Color.WHITE, [])) == "born_not_yet"


@pytest.mark.long
def test_a_minute_of_real_training_can_be_played_against(tmp_path: Path) -> None:
    with Births(tmp_path, allowed=True, command=TRAIN) as births:
        births.start()
        end = time.monotonic() + 900
        while not births.view()["players"][0]["ready"]:
            assert time.monotonic() < end
            assert births.view()["state"] == "running", births.view()["trouble"]
            time.sleep(2)
        view = births.played_view(1, Color.BLACK, ["C3"])
        assert Position(5, "tromp-taylor", KOMI).play("C3").is_legal(view["reply"])
        births.stop()
        assert births.view()["state"] == "stopped"
        assert births.view()["trouble"] == ""
