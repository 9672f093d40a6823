"""What survives: reloads, lost connections, duplicated tabs, and servers that are killed."""

from __future__ import annotations

import json
import os
import threading
import time
from pathlib import Path

import pytest

from tengen.frontends.web.play import disk_worker
from tengen.frontends.web.play import game_store as store_module
from tengen.frontends.web.play.client_messages import ClockTerms, NewGame
from tengen.frontends.web.play.game_snapshot import PROPERTY, Snapshot, restored_game, saved_game
from tengen.frontends.web.play.game_state import GameState, new_game_state
from tengen.frontends.web.play.game_store import GameKey, GameStore, new_game_id
from tengen.game.sgf.records import load_sgf, read_sgf, save_sgf
from tests.frontends.web.server import Client, serving
from tests.frontends.web.server_process import ServerProcess

ID = 32 * "a"
KEY = GameKey(32 * "b", new_game_id())


def kept_files(folder: Path) -> list[Path]:
    return sorted((folder / "games").glob("*/*.sgf"))


def new_game(**terms: object) -> GameState:
    usual: dict[str, object] = {"size": 9, "colour": "both"}
    return new_game_state(NewGame(**(usual | terms)))  # type: ignore[arg-type]


def written(content: bytes, nodes: int = 1) -> Snapshot:
    return Snapshot(lambda: content, nodes)


def test_a_game_comes_back_to_its_session_and_to_no_other(port: int) -> None:
    with Client(port) as client:
        client.new_game(colour="both", size=13)
        client.play("D4")
        session = client.session
    with Client(port, session) as client, Client(port) as other:
        assert client.welcome["saved"]
        assert client.session == session
        assert client.game["size"] == 13
        assert client.position["last"] == "D4"
        assert not other.welcome["saved"]
        assert other.session != session


def test_two_tabs_with_one_id_are_two_sessions(client: Client, port: int) -> None:
    client.new_game(colour="both")
    client.play("D4")
    with Client(port, client.session) as copy:
        assert copy.welcome["saved"]
        assert copy.session != client.session
        assert copy.position["last"] == "D4"
        copy.play("E5")
        assert client.ask("play", move="C3")["stones"].count("O") == 1
        assert copy.ask("play", move="G7")["move_number"] == 3


def test_a_killed_server_goes_on_with_the_game_and_with_the_opponents_turn(tmp_path: Path) -> None:
    with ServerProcess(tmp_path) as server, Client(server.port) as client:
        if not client.welcome["info"]["ready"]:
            client.hear("info")
        client.new_game(level="full", clock={"main": 100, "period": 5, "periods": 2})
        time.sleep(0.1)
        client.say("play", move="D4")
        echo = client.hear("position")
        assert echo["thinking"]
        server.kill()  # the move was shown, so it must be on the disk
    with (
        ServerProcess(tmp_path, server.port) as server,
        Client(server.port, client.session) as back,
    ):
        assert back.welcome["saved"]
        assert back.position["last"] == "D4"
        assert back.game["level"] == "full"
        assert 90 < back.position["clock"]["black"]["main"] < 100
        after = back.until(lambda position: not position["thinking"])
        assert after["move_number"] == 2
        assert server.interrupt() == 0


def test_a_server_that_ends_has_written_everything(tmp_path: Path) -> None:
    with serving(tmp_path) as port, Client(port) as client:
        client.new_game(colour="both")
        client.play("D4")
        client.say("comment", node=1, text="good")
        client.hear("node")
    [file] = kept_files(tmp_path)
    assert load_sgf(file)[0].root.children[0].text("C") == "good"
    with serving(tmp_path) as port, Client(port, client.session) as client:
        assert client.game["nodes"][1]["comment"] == "good"


def test_a_game_that_makes_room_for_another_is_kept(tmp_path: Path) -> None:
    with serving(tmp_path) as port, Client(port) as client:
        client.new_game(colour="both")
        client.play("D4")
        client.new_game(colour="both")
        client.new_game(colour="both")  # nothing was played in the one before
        client.settle()
        files = kept_files(tmp_path)
        boards = [load_sgf(file)[0].final_position().stones for file in files]
        assert sorted(stones.sum() for stones in boards) == [0, 1]


def test_the_whole_state_of_a_game_is_saved() -> None:
    before = new_game(clock=ClockTerms(main=10, period=3, periods=4), rules="japanese", handicap=3)
    for move in ["D4", "E5", "pass", "pass"]:
        before.play(move)
    before.propose_dead(frozenset())
    before.mark_dead("D4")
    before.set_mode("analyse")
    before.go(1)
    before.play("J9")
    after = restored_game(saved_game(before))
    assert after is not None
    assert (after.mode, after.you, after.phase) == ("analyse", "both", "free")
    assert after.tree.sgf() == before.tree.sgf()
    assert after.position == before.position
    after.set_mode("play")
    assert after.phase == "counting"
    assert after.dead == before.dead
    assert not after.dead_unknown
    assert after.clock is not None
    assert after.clock.view()["white"]["periods"] == 4


@pytest.mark.parametrize(
    "change",
    [
        {"form": 99},
        {"you": "green"},
        {"level": "god"},
        {"clock": {"terms": {}}},
        {"end": None},
        {"dead": ["Z99"], "counting": True},
        {"at": "x"},
    ],
)
def test_files_that_make_no_sense_are_no_session(change: dict[str, object]) -> None:
    game = new_game()
    for move in ["D4", "pass", "pass"]:
        game.play(move)
    game.set_mode("analyse")
    saved = read_sgf(saved_game(game))[0]
    state = json.loads(saved.root.text(PROPERTY))
    assert restored_game(save_sgf(saved)) is not None
    saved.root.set_text(PROPERTY, json.dumps(state | change))
    assert restored_game(save_sgf(saved)) is None


def test_damaged_files_are_no_session(tmp_path: Path) -> None:
    with GameStore(tmp_path) as game_store:
        whole = saved_game(new_game())
        game_store.save(ID, KEY, written(whole)).result(5)
        assert game_store.load(ID) == (KEY, whole)
        assert game_store.load("../sessions/" + ID) is None
        assert game_store.load_game(GameKey("..", KEY.game)) is None
        assert game_store.load_game(GameKey(KEY.player, "../" + KEY.game)) is None
        kept_files(tmp_path)[0].unlink()
        assert game_store.load(ID) is None
    for damaged in (b"", b"nonsense", whole[: len(whole) // 2], b"(;GM[1])", b"(;TENGEN[{}])"):
        assert restored_game(damaged) is None


def test_the_latest_state_is_the_one_on_the_disk(tmp_path: Path) -> None:
    with GameStore(tmp_path) as game_store:
        for i in range(100):
            content = b"%d" % i
            done = game_store.save(ID, KEY, written(content, nodes=1_000 * (i % 3)))
            assert game_store.load(ID) == (KEY, content)
        done.result(5)
        assert kept_files(tmp_path)[0].read_bytes() == b"99"
        assert not list(tmp_path.glob("**/.*"))


def test_a_small_game_is_on_the_disk_at_once_unless_something_of_it_waits(tmp_path: Path) -> None:
    other = GameKey(KEY.player, "20260101-000000-00000000")
    with GameStore(tmp_path) as game_store:
        assert game_store.save(ID, KEY, written(b"1")).done()
        assert kept_files(tmp_path)[0].read_bytes() == b"1"
        begun, may_end = threading.Event(), threading.Event()

        def large() -> bytes:
            begun.set()
            may_end.wait(60)
            return b"2"

        waiting = game_store.save(ID, KEY, Snapshot(large, 1_000))
        begun.wait(60)
        # The thread is at work: what comes meanwhile waits for it, and nothing is lost.
        later = [game_store.save(ID, KEY, written(b"3")), game_store.save(ID, other, written(b"4"))]
        assert not any(each.done() for each in (waiting, *later))
        may_end.set()
        for each in (waiting, *later):
            each.result(60)
        assert [file.read_bytes() for file in kept_files(tmp_path)] == [b"4", b"3"]
        assert game_store.save(ID, KEY, written(b"5")).done()


def test_nobody_waits_for_a_slow_disk_twice(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(disk_worker, "SLOW", -1.0)
    with GameStore(tmp_path) as game_store:
        threads: list[str] = []

        def content() -> bytes:
            threads.append(threading.current_thread().name)
            return b"1"

        for _ in range(2):
            game_store.save(ID, KEY, Snapshot(content, 1)).result(60)
    assert threads == [threading.current_thread().name, "game_store_0"]


def test_a_session_of_an_earlier_version_comes_back(tmp_path: Path) -> None:
    (tmp_path / "sessions").mkdir()
    (tmp_path / "sessions" / f"{ID}.sgf").write_bytes(saved_game(new_game()))
    with serving(tmp_path) as port, Client(port, ID) as client:
        assert client.welcome["saved"]
        client.play("D4")
    assert len(kept_files(tmp_path)) == 1


def test_a_disk_that_cannot_be_written_does_not_stop_the_game(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    with serving(tmp_path) as port, Client(port) as client:
        client.new_game(colour="both")
        client.play("D4")
        client.settle()
        (tmp_path / "games").rename(tmp_path / "gone")
        client.play("E5")
        assert client.play("C3")["move_number"] == 3
    assert capfd.readouterr().err.count("games cannot be saved") == 1


def test_the_game_of_a_session_that_nobody_used_for_long_is_kept(tmp_path: Path) -> None:
    with GameStore(tmp_path) as game_store:
        game_store.save(ID, KEY, written(b"(;GM[1])")).result(5)
    long_ago = time.time() - 100 * 24 * 3600
    os.utime(tmp_path / "sessions" / f"{ID}.json", (long_ago, long_ago))
    with GameStore(tmp_path) as game_store:
        assert game_store.load(ID) is None
        assert game_store.load_game(KEY) == b"(;GM[1])"


def test_games_stay_within_their_bytes_and_the_oldest_finished_one_goes_first(
    tmp_path: Path,
) -> None:
    finished, under_way = new_game(), new_game()
    for game in (finished, under_way):
        game.play("D4")
        game.tree.set_comment(0, "x" * 10_000)
    finished.resign()
    contents = {"over": saved_game(finished), "on": saved_game(under_way)}
    order = ["on", "over", "over", "on", "on"]  # five fit, of six one has to go
    keys = [GameKey(KEY.player, f"20260101-00000{i}-00000000") for i in range(7)]
    with GameStore(tmp_path, most_bytes=56_000) as game_store:
        for kind, key in zip(order, keys, strict=False):
            game_store.write(key, contents[kind]).result(5)
            time.sleep(0.01)
        assert [each.id for each in game_store.games(KEY.player).result(5)] == [
            key.game for key in reversed(keys[:5])
        ]
        assert 0.8 < game_store.share_used <= 1
        for key, gone in ((keys[5], keys[1]), (keys[6], keys[2])):
            game_store.save(32 * "c", key, written(contents["on"])).result(5)
            assert game_store.load_game(gone) is None
        assert game_store.share_used <= 1
        # Of somebody else who has less, nothing goes.
        other = GameKey(32 * "d", keys[0].game)
        game_store.write(other, contents["over"]).result(5)
        assert game_store.load_game(other) == contents["over"]
        assert game_store.load_game(keys[0]) is None
    assert sum(file.stat().st_size for file in kept_files(tmp_path)) <= 56_000


def test_games_stay_within_their_number_and_the_oldest_go_first(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(store_module, "MOST_GAMES", 10)
    monkeypatch.setattr(store_module, "FEWER", 0.8)
    keys = [GameKey(KEY.player, f"20260101-0000{i:02}-00000000") for i in range(11)]
    with GameStore(tmp_path) as game_store:
        for key in keys[:10]:
            game_store.write(key, b"(;GM[1])").result(5)
            time.sleep(0.01)
        assert len(kept_files(tmp_path)) == 10
        game_store.write(keys[10], b"(;GM[1])").result(5)
        left = [key.game for key in keys if game_store.load_game(key) is not None]
    assert left == [key.game for key in keys[3:]]  # eight: the next ones cost no search


def test_of_a_player_without_games_no_folder_is_left(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(store_module, "MOST_GAMES", 10)
    keys = [GameKey(f"{player:032x}", KEY.game) for player in range(30)]
    with GameStore(tmp_path) as game_store:
        for key in keys:
            game_store.write(key, b"(;GM[1])").result(5)
        left = {key.player for key in keys if game_store.load_game(key) is not None}
        assert {folder.name for folder in (tmp_path / "games").iterdir()} == left
        assert len(left) <= 10
        assert keys[-1].player in left
        back = next(key for key in keys if key.player not in left)
        game_store.write(back, b"(;GM[1])").result(5)
        assert game_store.load_game(back) == b"(;GM[1])"


def test_whoever_deletes_the_last_game_leaves_no_folder(tmp_path: Path) -> None:
    other = GameKey(KEY.player, new_game_id())
    with GameStore(tmp_path) as game_store:
        for key in (KEY, other):
            game_store.write(key, b"(;GM[1])").result(5)
        game_store.delete(KEY).result(5)
        assert [file.stem for file in kept_files(tmp_path)] == [other.game]
        game_store.delete(other).result(5)
        assert list((tmp_path / "games").iterdir()) == []
        game_store.write(KEY, b"(;GM[1])").result(5)
        assert game_store.load_game(KEY) == b"(;GM[1])"
