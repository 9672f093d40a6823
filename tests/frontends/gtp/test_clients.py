"""The dialogue of each client in CLIENTS.md, as its sources have it, held byte for byte."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

import pytest

from tengen.frontends.command_options import GtpOptions
from tests.frontends.gtp.client import Client, session
from tests.frontends.gtp.dialogue import replay

OPTIONS = GtpOptions(seed=0, board_size=9, visits=24)


@pytest.fixture
def client() -> Iterator[Client]:
    with session(options=OPTIONS) as each:
        yield each


def test_sabaki(client: Client) -> None:
    """No ids; four commands at once; stops analysis with protocol_version."""
    client.send(b"name\nversion\nprotocol_version\nlist_commands\n")
    assert client.reply() == "= Tengen"
    assert re.fullmatch(r"= 1\.\d+\.\d+\+tengen[0-9.]+", client.reply())
    assert client.reply() == "= 2"
    listed = client.reply()[2:].splitlines()
    assert {"analyze", "genmove_analyze", "set_free_handicap", "undo", "boardsize"} <= set(listed)
    replay(
        client,
        """
        > boardsize 9
        < =
        <
        > komi 6.5
        < =
        <
        > clear_board
        < =
        <
        > set_free_handicap C3 G7
        < =
        <
        > play W E5
        < =
        <
        > play B pass
        < =
        <
        > analyze W 5
        < =
        <+ (?:info move MOVE visits .* pv MOVE(?: MOVE)* ?)+
        > protocol_version
        <
        < = 2
        <
        > genmove_analyze W 5
        < =
        <+ info move .* pv MOVE(?: MOVE)*
        <~ play MOVE
        <
        > undo
        < =
        <
        > clear_board
        < =
        <
        > play B A1
        < =
        <
        > play B A3
        < =
        <
        > play W B2
        < =
        <
        > play W C1
        < =
        <
        > play B D4
        < =
        <
        > analyze B 5
        < =
        <+ info move .*
        > protocol_version
        <
        < = 2
        <
        > quit
        < =
        <
        """,
    )


def _sabakis_variations(line: str) -> list[dict[str, object]]:
    """A line as Sabaki reads it: split at info, the line of moves at the end of each."""
    ownership = re.search(r"ownership\s+(.+)", line)
    if ownership:
        line = line[: ownership.start()]
    found = []
    for part in re.split(r"\s*info\s+", line)[1:]:
        part = part.strip()
        pv = re.search(r"(pass|[A-Za-z]\d+)(\s+(pass|[A-Za-z]\d+))*$", part)
        assert pv
        tokens = part[: pv.start()].split()[:-1]
        facts: dict[str, object] = dict(zip(tokens[::2], tokens[1::2], strict=True))
        rate = str(facts["winrate"])
        facts["winrate"] = float(rate) * 100 if "." in rate else float(rate) / 100
        facts["pv"] = pv[0].split()
        facts["owners"] = len(ownership[1].split()) if ownership else 0
        found.append(facts)
    return found


@pytest.mark.parametrize("command", ["analyze", "kata-analyze", "lz-analyze"])
def test_sabaki_reads_the_lines_as_they_are_meant(client: Client, command: str) -> None:
    extra = "" if command == "lz-analyze" else " ownership true"
    client.send(f"{command} B 2{extra}\n".encode())
    assert client.lines.next_line() == "="
    for facts in _sabakis_variations(client.lines.next_line()):
        rate = facts["winrate"]
        assert isinstance(rate, float)
        assert 0 <= rate <= 100
        assert facts["owners"] == (81 if extra else 0)
        assert isinstance(facts["pv"], list)
        assert facts["pv"][0] == facts["move"]
    client.send(b"protocol_version\n")


def test_lizzie(client: Client) -> None:
    """Ids; a version of x.N with N of 15 or more; a rectangle; name as the stop."""
    replay(
        client,
        """
        > 0 name
        < =0 Tengen
        <
        > 1 version
        <~ =1 [0-9]+\\.(?:1[5-9]|[2-9][0-9]|[0-9]{3,})\\..*
        <
        > 2 boardsize 9
        < =2
        <
        > 3 komi 7.5
        < =3
        <
        > 4 lz-analyze 5
        < =4
        <+ (?:info move MOVE visits N winrate N prior N lcb -?N order N pv(?: MOVE)+ ?)+
        > 5 name
        <
        < =5 Tengen
        <
        > 6 play B E5
        < =6
        <
        > 7 lz-analyze 5
        < =7
        <+ info move .*
        > 8 undo
        <
        < =8
        <
        > 9 time_settings 0 1 1
        < =9
        <
        > 10 genmove B
        <~ =10 MOVE
        <
        > 11 lz-genmove_analyze W 5
        < =11
        <+ info move .*
        <~ play MOVE
        <
        > 12 clear_board
        < =12
        <
        > 13 fixed_handicap 4
        < =13 C7 G7 C3 G3
        <
        > 14 boardsize 9 13
        < =14
        <
        > 15 lz-analyze 5
        < =15
        <+ info move .*
        > 16 quit
        <
        < =16
        <
        """,
    )


def test_lizzie_in_kata_mode() -> None:
    """A name that begins with KataGo; ownership as the last of the line."""
    with session(options=replace(OPTIONS, name="KataGo (Tengen)")) as client:
        replay(
            client,
            """
            > 0 name
            < =0 KataGo (Tengen)
            <
            > 1 kata-analyze 5 ownership true
            < =1
            <+ info move [^=?]* ownership(?: -?[0-9.]+){81}
            > 2 play B Q16
            <
            <~ \\?2 illegal move: .*
            <
            > 3 play B C3
            < =3
            <
            > 4 kata-analyze 5 ownership true
            < =4
            <+ info move .*
            > 5 name
            <
            < =5 KataGo (Tengen)
            <
            """,
        )


def test_lizzieyzy(client: Client) -> None:
    """As Lizzie; over SSH name arrives three times."""
    client.send(b"0 name\n1 name\n2 name\n")
    assert [client.reply() for _ in range(3)] == ["=0 Tengen", "=1 Tengen", "=2 Tengen"]
    client.send(b"3 list_commands\n")
    assert client.reply().startswith("=3 ")
    replay(
        client,
        """
        > 4 kata-get-param playoutDoublingAdvantage
        < =4 0.0
        <
        > 5 kata-get-rules
        <~ =5 \\{.*\\}
        <
        > 6 kata-set-rules {"scoring":"AREA","ko":"SIMPLE","suicide":false}
        < =6
        <
        > 7 kata-analyze B 5 ownership true
        < =7
        <+ info move .*
        > 8 stop
        <
        < =8
        <
        """,
    )


def test_q5go(client: Client) -> None:
    """A missing id is fatal; a doubled space; known_command as the stop."""
    replay(
        client,
        """
        > 1 protocol_version
        < =1 2
        <
        > 2 boardsize 9
        < =2
        <
        > 3 clear_board
        < =3
        <
        > 4 komi 6.5
        < =4
        <
        > 5 known_command lz-analyze
        < =5 true
        <
        > 6 known_command kata-analyze
        < =6 true
        <
        > 7 known_command known_command
        < =7 true
        <
        > 8 kata-analyze black 5
        < =8
        <+ info move .*
        > 9 known_command known_command
        <
        < =9 true
        <
        > 10 play black E5
        < =10
        <
        > 11 play white pass
        < =11
        <
        > 12 time_settings 1 1 0
        < =12
        <
        > 13 time_settings 60 30 10
        < =13
        <
        > 14 time_left black 60 0
        < =14
        <
        > 15 kata-genmove_analyze black 5
        < =15
        <+ info move .*
        <~ play MOVE
        <
        > 16  lz-genmove_analyze white 5
        < =16
        <+ info move .*
        <~ play MOVE
        <
        > 17 undo
        < =17
        <
        > 18 known_command final_score
        < =18 true
        <
        > 19 final_score
        <~ =19 (?:[BW]\\+[0-9.]+|0)
        <
        > 20 rectangular_boardsize 9 5
        < =20
        <
        > 21 quit
        < =21
        <
        """,
    )


def test_gogui(client: Client) -> None:
    """No ids; asks for analyze commands; a comment as the interrupt."""
    replay(
        client,
        """
        > protocol_version
        < = 2
        <
        > name
        < = Tengen
        <
        > known_command gogui-interrupt
        < = true
        <
        > gogui-interrupt
        < =
        <
        > boardsize 9
        < =
        <
        > clear_board
        < =
        <
        > komi 6.5
        < =
        <
        > time_settings 60 0 0
        < =
        <
        > play_sequence B C3 W G7 B G3
        < =
        <
        > time_left w 55 0
        < =
        <
        > # interrupt
        > genmove w
        <~ = MOVE
        <
        > gg-undo 2
        < =
        <
        > set_free_handicap C3 G7
        < ? board not empty
        <
        > gogui-analyze_commands
        <~ = cboard/.*/gogui-policy
        <+ [a-z]+/[^/]+/[^/]+
        <
        > final_status_list dead
        <~ =(?: POINT)*
        <
        > play b pass
        < =
        <
        > play w pass
        < =
        <
        > kgs-genmove_cleanup w
        <~ = MOVE
        <
        > quit
        < =
        <
        """,
    )


def test_gtp2ogs(client: Client) -> None:
    r"""No ids and \r\n; matches replies by their order."""
    client.send(b"list_commands\r\n")
    listed = client.reply()[2:].splitlines()
    for name in ("kata-list_time_settings", "kata-time_settings", "kgs-time_settings"):
        assert name in listed
    for name in ("place_free_handicap", "set_free_handicap", "showboard", "time_left"):
        assert name in listed
    replay(
        client,
        """
        > kata-list_time_settings
        < = none absolute byoyomi canadian fischer fischer-capped
        <
        > boardsize 9
        < =
        <
        > clear_board
        < =
        <
        > komi 5.5
        < =
        <
        > place_free_handicap 2
        < = G7 C3
        <
        > kata-time_settings fischer-capped 60 10 120 30
        < =
        <
        > time_left black 55 0
        < =
        <
        > time_left white 58 0
        < =
        <
        > genmove white
        <~ = MOVE
        <
        > play black E5
        <~ [=?].*
        <
        > kgs-time_settings byoyomi 60 10 3
        < =
        <
        > time_left white 9 3
        < =
        <
        > genmove white
        <~ = MOVE
        <
        > quit
        < =
        <
        """,
        newline=b"\r\n",
    )


def test_cgos(client: Client) -> None:
    """Seconds in time_left; one line of JSON with the move; a game replayed on reconnection."""
    client.send(b"list_commands\n")
    listed = client.reply()[2:].splitlines()
    assert "cgos-genmove_analyze" in listed
    replay(
        client,
        """
        > boardsize 9
        < =
        <
        > komi 7.0
        < =
        <
        > clear_board
        < =
        <
        > time_settings 300 0 0
        < =
        <
        > cgos-opponent_name Gnugo-3.8-a1
        < =
        <
        > cgos-opponent_rating 1800
        < =
        <
        > play b E5
        < =
        <
        > play w C3
        < =
        <
        > time_left b 290 0
        < =
        <
        > cgos-genmove_analyze b
        < =
        <~ \\{"winrate":.*,"visits":N,"moves":\\[.*\\],"ownership":"[A-Za-z0-9+]{81}",.*\\}
        <~ play MOVE
        <
        > time_left w 299 0
        < =
        <
        > genmove w
        <~ = MOVE
        <
        > cgos-gameover 2025-01-01 B+Resign
        < =
        <
        > quit
        < =
        <
        """,
    )


def test_kgs(client: Client) -> None:
    """Rules and clocks of its own; dead stones and cleaning up after the game."""
    replay(
        client,
        """
        > kgs-rules chinese
        < =
        <
        > boardsize 9
        < =
        <
        > kgs-time_settings byoyomi 600 30 5
        < =
        <
        > komi 7.5
        < =
        <
        > clear_board
        < =
        <
        > place_free_handicap 3
        < = C7 G7 C3
        <
        > time_left w 600 0
        < =
        <
        > kgs-time_settings none
        < =
        <
        > genmove w
        <~ = MOVE
        <
        > kgs-chat game somebody hello there
        <~ = \\S.*
        <
        > play b pass
        < =
        <
        > play w pass
        < =
        <
        > final_status_list dead
        <~ =(?: POINT)*
        <
        > kgs-genmove_cleanup w
        <~ = MOVE
        <
        > kgs-game_over
        < =
        <
        > quit
        < =
        <
        """,
    )
    assert client.session.position.rules.name in ("chinese-ogs", "chinese-kgs")
