"""Your moments: costly turns of one's games come back as puzzles, after a day and after a week."""

from __future__ import annotations

import json
from pathlib import Path

from tengen.frontends.web.http.serve import make_engine
from tengen.frontends.web.play.moments import (
    DAY,
    MOST_LEARNT,
    MOST_MOMENTS,
    Moment,
    MomentGame,
    Moments,
    new_moment,
    read_moments,
    write_moments,
)
from tengen.game.position import Position
from tengen.network.loaded_network import LoadedNetwork
from tengen.network.trained_on import trained_on
from tests.frontends.web.made_up import CENTRE_IS_WORTH_TWENTY
from tests.frontends.web.server import Client, serving

NOW = 1_800_000_000.0
GAME = MomentGame("", "Tengen", "black", "beginner")


def moment(number: int = 0) -> Moment:
    column, row = "ABCDEFGHJ"[number % 9], number // 9 % 9 + 1
    position = Position(9).play(f"{column}{row}")
    found = new_moment(position, "A1", "J9", 5 + number % 7, GAME, NOW + number)
    assert found is not None
    return found


def after(moments: Moments, solved: bool, now: float) -> Moments:
    return moments.after(moments.waiting[0].id, solved=solved, now=now)


# When they come back


def test_a_moment_comes_back_after_a_day_and_after_a_week_and_is_then_learnt() -> None:
    moments = Moments().with_new([moment()])
    now = NOW
    for days in (1, 7):
        assert [each.id for each in moments.due(now)] == [moment().id]
        moments = after(moments, True, now)
        assert moments.due(now + days * DAY - 1) == []
        now += days * DAY
    moments = after(moments, True, now)
    assert moments == Moments((), (moment().id,))
    assert moments.with_new([moment()]) == moments  # the same game, reviewed once more


def test_what_was_not_solved_begins_anew_the_next_day() -> None:
    moments = after(Moments().with_new([moment()]), True, NOW)
    moments = after(moments, False, NOW + DAY)
    assert moments.due(NOW + 2 * DAY - 1) == []
    for day in (2, 3):
        assert moments.due(NOW + day * DAY)
        moments = after(moments, True, NOW + day * DAY)
    assert moments.due(NOW + 10 * DAY - 1) == []
    assert moments.due(NOW + 10 * DAY)


def test_tries_before_it_is_due_count_for_nothing() -> None:
    moments = after(Moments().with_new([moment()]), True, NOW)
    for solved in (True, False):
        assert after(moments, solved, NOW + DAY - 1) == moments


def test_a_clock_that_jumps_only_makes_a_moment_wait_its_own_time() -> None:
    solved = after(Moments().with_new([moment()]), True, NOW + 1000 * DAY)  # the clock was wrong
    right = solved.by_clock(NOW)
    assert right.due(NOW + DAY - 1) == []
    assert right.due(NOW + DAY)
    assert right.by_clock(NOW + 5) == right
    ahead = after(solved.by_clock(NOW), True, NOW + 1000 * DAY)  # all are due, none is lost
    assert [each.step for each in ahead.waiting] == [2]


def test_the_moments_of_a_player_are_bounded() -> None:
    many = [moment(number)._replace(id=str(number)) for number in range(3 * MOST_MOMENTS)]
    moments = Moments().with_new(many[:1]).after("0", solved=True, now=NOW)
    moments = moments.with_new(many)
    assert len(moments.waiting) == MOST_MOMENTS
    # Those that were solved already make room first, then the oldest.
    assert {each.id for each in moments.waiting} == {str(n) for n in range(200, 300)}
    for number in range(MOST_LEARNT + 50):
        moments = moments.without(f"x{number}")
    assert len(moments.learnt) == MOST_LEARNT


def test_moments_are_written_and_read_and_damaged_ones_left_out() -> None:
    moments = Moments().with_new([moment(), moment(1)]).without("x")
    content = write_moments(moments)
    assert read_moments(content) == moments
    told = json.loads(content)
    for damage in (None, {}, {"id": 3}, {**told["waiting"][0], "step": 9}, [1]):
        broken = {"waiting": [damage, told["waiting"][1]], "learnt": told["learnt"]}
        assert read_moments(json.dumps(broken).encode()).waiting == (moment(1),)
    for nonsense in (b"", b"[]", b"{", b"\xff", b'{"waiting": 3}', b"null"):
        assert read_moments(nonsense) == Moments()


def test_a_record_that_is_too_long_makes_no_moment() -> None:
    position = Position(19)
    for point in position.legal_moves()[:200]:
        position = position.play(point).play(None)
    assert new_moment(position, "pass", "B2", 5, GAME, NOW)
    for point in position.legal_moves()[40:]:
        position = position.play(point).play(None)
    assert new_moment(position, "pass", "B2", 5, GAME, NOW) is None


# Played, found, tried


def finished_game(client: Client) -> str:
    """Give the centre away, have the game looked through, and hear what was found."""
    client.new_game(level="beginner", size=5)
    client.play("A1")
    client.ask("resign")
    client.say("better")
    client.hear("better")
    found = client.hear("moments")
    assert (found["due"], found["later"], found["learnt"]) == (1, 0, 0)
    assert len(found["found"]) == 1
    return str(found["found"][0])


def test_after_a_game_its_costliest_turn_is_a_puzzle_that_is_solved(tmp_path: Path) -> None:
    with serving(tmp_path, CENTRE_IS_WORTH_TWENTY) as port, Client(port) as client:
        assert client.hear("moments")["due"] == 0
        id_ = finished_game(client)
        puzzle = client.ask("moment", "moment")["moment"]
        assert puzzle["id"] == id_
        assert (puzzle["stones"], puzzle["to_play"], puzzle["number"]) == ("." * 25, "black", 1)
        assert (puzzle["played"], puzzle["game"]["you"]) == ("A1", "black")
        assert "best" not in puzzle
        client.say("try_moment", moment=id_, move="C3")
        assert client.hear("moments")["due"] == 0
        answer = client.hear("tried")
        assert (answer["good"], answer["loss"]) == (True, 0)
        assert answer["line"][0] == {
            "colour": "black",
            "move": "C3",
            "stones": "." * 12 + "X" + "." * 12,
        }
        assert answer["why"]["gain"] >= 10
        assert client.ask("moment", "moment")["moment"] is None


def test_a_bad_try_is_answered_and_comes_back_the_next_day(tmp_path: Path) -> None:
    with serving(tmp_path, CENTRE_IS_WORTH_TWENTY) as port, Client(port) as client:
        client.hear("moments")
        id_ = finished_game(client)
        client.say("try_moment", moment=id_, move="E5")
        counts = client.hear("moments")
        assert (counts["due"], counts["later"]) == (0, 1)
        assert 0 < counts["next"] <= DAY
        answer = client.hear("tried")
        assert not answer["good"]
        assert answer["loss"] >= 10
        assert [each["move"] for each in answer["line"]][:2] == ["E5", "C3"]  # Tengen answers
        # Whoever tries on practises: the day is not over.
        client.say("try_moment", moment=id_, move="C3")
        assert client.hear("moments")["later"] == 1
        assert client.hear("tried")["good"]
        player = client.welcome["player"]
    file = tmp_path / "moments" / f"{player}.json"
    told = json.loads(file.read_bytes())
    told["waiting"][0]["tried"] -= DAY
    file.write_text(json.dumps(told))
    with serving(tmp_path, CENTRE_IS_WORTH_TWENTY) as port:
        with Client(port, player=player) as client:
            assert client.hear("moments")["due"] == 1
            assert client.ask("moment", "moment")["moment"]["id"] == id_
        with Client(port) as stranger:
            assert stranger.hear("moments")["due"] == 0
            assert stranger.refused("try_moment", moment=id_, move="C3") == "unknown_moment"


def test_whoever_asks_for_the_answer_has_not_solved_it(tmp_path: Path) -> None:
    with serving(tmp_path, CENTRE_IS_WORTH_TWENTY) as port, Client(port) as client:
        client.hear("moments")
        id_ = finished_game(client)
        client.say("answer_moment", moment=id_)
        assert client.hear("moments")["later"] == 1
        answer = client.hear("moment_answer")
        assert answer["line"][0]["move"] == "C3"
        assert answer["why"]["gain"] >= 10
        assert client.ask("forget_moment", "moments", moment=id_)["learnt"] == 1
        assert client.refused("forget_moment", moment=id_) == "unknown_moment"


def test_only_legal_moves_on_the_board_are_tries(tmp_path: Path) -> None:
    with serving(tmp_path, CENTRE_IS_WORTH_TWENTY) as port, Client(port) as client:
        client.hear("moments")
        id_ = finished_game(client)
        for move, code in (("Z9", "illegal_move"), ("pass", "bad_point"), ("", "illegal_move")):
            assert client.refused("try_moment", moment=id_, move=move) == code
        assert client.refused("try_moment", moment="x", move="C3") == "unknown_moment"
        assert client.ask("moment", "moment")["moment"]["id"] == id_


def test_a_record_that_is_reviewed_has_moments_of_both_sides(tmp_path: Path) -> None:
    with serving(tmp_path, CENTRE_IS_WORTH_TWENTY) as port, Client(port) as client:
        client.hear("moments")
        for _ in range(2):  # the second time they are known
            client.say("open", sgf="(;SZ[5]KM[0]PB[Ann]PW[Bob];B[aa];W[ea];B[ee];W[ae])")
            client.say("review", visits=20)
            client.hear("review")
            found = client.hear("moments")
            assert found["due"] == len(found["found"]) == 3
        seen = set()
        for _ in range(3):
            puzzle = client.ask("moment", "moment")["moment"]
            assert puzzle["game"]["players"] == {"black": "Ann", "white": "Bob"}
            seen.add(puzzle["to_play"])
            client.say("answer_moment", moment=puzzle["id"])
            client.hear("moment_answer")
        assert seen == {"black", "white"}


def test_games_that_tengen_played_with_itself_have_none(tmp_path: Path) -> None:
    with serving(tmp_path, CENTRE_IS_WORTH_TWENTY) as port, Client(port) as client:
        client.hear("moments")
        client.new_game(colour="neither", level="newcomer", size=5)
        client.until(lambda position: position["move_number"] >= 2)
        client.ask("set_mode", mode="analyse")
        client.say("review", visits=10)
        client.hear("review")
        counts = {"due": 0, "later": 0, "learnt": 0, "next": None}
        assert client.hear("moments") == {"type": "moments", **counts, "found": []}


def test_a_network_that_does_not_know_the_board_finds_none(tmp_path: Path) -> None:
    known = trained_on({"board_sizes": "9", "rules": "tromp-taylor"})
    network = LoadedNetwork(CENTRE_IS_WORTH_TWENTY, "x.safetensors", trained_on=known)
    with serving(tmp_path, make=lambda: make_engine(network)) as port, Client(port) as client:
        while not client.position["can"]["hint"]:
            client.until(lambda position: position["can"]["hint"])
        client.say("open", sgf="(;SZ[5]KM[0];B[aa];W[ea];B[ee];W[ae])")
        client.say("review", visits=20)
        assert client.hear("review")["unfamiliar"]
        while (told := client.hear("moments")).get("found") is None:
            pass
        assert told["found"] == []
