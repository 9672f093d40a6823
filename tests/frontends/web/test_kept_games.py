"""A player's games: listed, opened again, renamed, deleted, downloaded; by nobody else."""

from __future__ import annotations

import time
import urllib.error
import urllib.request
from pathlib import Path

import pytest

from tengen.game.sgf.records import read_sgf
from tests.frontends.web.server import Client, serving


def listed(client: Client) -> list[dict[str, object]]:
    games = client.ask("games", "games")["games"]
    assert isinstance(games, list)
    return games


def test_games_are_listed_opened_renamed_downloaded_and_deleted(client: Client, port: int) -> None:
    assert listed(client) == []  # nothing was done in the first game
    client.new_game(colour="both", size=5)
    client.play("B2")
    client.say("resign")
    client.hear("position")
    first = client.game["id"]
    client.new_game(level="beginner", clock={"main": 100})
    time.sleep(0.3)  # that the clock shows
    client.play("C3")
    second = client.game["id"]
    games = listed(client)
    assert [each["id"] for each in games] == [second, first]
    assert [each["current"] for each in games] == [True, False]
    assert [each["under_way"] for each in games] == [True, False]
    assert games[1]["result"] == "B+R"
    assert str(games[1]["stones"]).count("X") == 1
    assert games[0]["level"] == "beginner"
    assert games[0]["moves"] == 2
    # Open the first one again: the other is kept as it is, its clock with it.
    client.say("open_game", game=first)
    assert client.hear("game")["id"] == first
    assert client.hear("position")["phase"] == "over"
    client.say("open_game", game=second)
    assert client.hear("game")["level"] == "beginner"
    position = client.hear("position")
    assert position["phase"] == "playing"
    assert 90 < position["clock"]["black"]["main"] < 100
    assert position["clock"]["running"] == "black"
    # Rename both.
    for game in (first, second):
        names = client.ask("rename_game", "games", game=game, name=f"game {game}")["games"]
        assert f"game {game}" in [each["name"] for each in names]
    assert client.refused("rename_game", game="nonsense", name="x") == "unknown_game"
    # Download.
    player = client.welcome["player"]
    address = f"http://127.0.0.1:{port}/api/players/{player}/games/{first}.sgf"
    with urllib.request.urlopen(address) as answer:
        assert read_sgf(answer.read())[0].root.text("RE") == "B+R"
    with pytest.raises(urllib.error.HTTPError):
        urllib.request.urlopen(address.replace(player, 32 * "0"))
    # Delete.
    assert client.refused("delete_game", game=second) == "not_now"
    left = client.ask("delete_game", "games", game=first)["games"]
    assert [each["id"] for each in left] == [second]
    assert client.refused("open_game", game=first) == "unknown_game"


def test_games_belong_to_a_player_in_all_tabs_and_to_nobody_else(tmp_path: Path) -> None:
    with serving(tmp_path) as port:
        with Client(port) as one:
            one.new_game(colour="both", size=5)
            one.play("B2")
            player, game = one.welcome["player"], one.game["id"]
            with Client(port, player=player) as tab, Client(port) as stranger:
                assert [each["id"] for each in listed(tab)] == [game]
                assert tab.refused("open_game", game=game) == "not_now"  # it is open elsewhere
                assert tab.refused("delete_game", game=game) == "not_now"
                assert listed(stranger) == []
                assert stranger.refused("open_game", game=game) == "unknown_game"
        time.sleep(0.1)
        with Client(port, player=player) as tab:  # the first tab is closed
            tab.say("open_game", game=game)
            assert tab.hear("game")["id"] == game
            assert tab.hear("position")["last"] == "B2"
    with serving(tmp_path) as port, Client(port, tab.session) as back:
        assert back.welcome["player"] == player
        assert back.game["id"] == game
        assert len(listed(back)) == 1


def test_a_record_is_kept_once_something_was_changed_in_it(client: Client) -> None:
    for _ in range(2):
        client.say("open", sgf="(;SZ[9]PB[Ann]PW[Bob]DT[2020-02-02]RE[W+2.5];B[ee];W[cc])")
        about = client.hear("game")["about"]
    assert about == {"date": "2020-02-02", "result": "W+2.5"}
    assert listed(client) == []
    client.say("comment", node=1, text="good")
    client.hear("node")
    client.new_game(colour="both")
    [kept] = listed(client)
    assert kept["players"] == {"black": "Ann", "white": "Bob"}
    assert (kept["moves"], kept["result"], kept["under_way"]) == (2, "W+2.5", False)


def test_undo_takes_back_a_resignation_alone(client: Client) -> None:
    client.new_game(level="beginner")
    moves = client.play("C3")["move_number"]
    client.say("resign")
    assert client.hear("position")["result"] == "W+R"
    after = client.ask("undo")
    assert (after["phase"], after["move_number"], after["result"]) == ("playing", moves, None)
    assert client.ask("undo")["move_number"] == 0


def test_undo_gives_back_the_time_of_what_is_taken_back(client: Client) -> None:
    client.new_game(colour="both", clock={"main": 0.3})
    client.play("C3")
    lost = client.until(lambda position: position["phase"] == "over")
    assert lost["result"] == "B+T"
    after = client.ask("undo")
    assert after["clock"]["white"]["main"] > 0
    assert after["clock"]["black"]["main"] > 0.2
    assert after["phase"] == "playing"


def test_a_hint_offers_the_pass_where_the_game_is_over(client: Client) -> None:
    client.new_game(colour="both", size=5)
    for move in ("C1", "D1", "C2", "D2", "C3", "D3", "C4", "D4", "C5", "D5", "pass"):
        client.play(move)
    # The made-up network likes all moves equally, so that a pass costs nothing.
    moves = client.ask("hint", "hint")["moves"]
    assert moves[0]["move"] == "pass"
    assert len(moves) > 1


def test_people_are_told_before_games_have_to_go(tmp_path: Path) -> None:
    from tengen.frontends.web.play.game_store import GameKey, GameStore, new_game_id, new_id

    with GameStore(tmp_path) as game_store:
        game_store.write(GameKey(new_id(), new_game_id()), b"x" * 95_000).result(5)
    for room, told in ((100_000, True), (1_000_000, False)):
        with serving(tmp_path, kept_bytes=room) as port, Client(port) as client:
            assert client.welcome["room"]["nearly_full"] is told
            assert client.ask("games", "games")["room"]["nearly_full"] is told
