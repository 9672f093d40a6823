"""Analysis: what can be asked for, and the lines that come."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest

from tengen.frontends.gtp.analyze import (
    AnalyzeRequest,
    Restriction,
    Style,
    number,
    parse_analysis,
    root_options,
)
from tengen.frontends.gtp.protocol import GtpError, Vertex
from tengen.game.color import Color
from tengen.game.position import Position
from tests.frontends.gtp.client import NO_NETWORK, SMALL, Client, session
from tests.frontends.gtp.opponents import black_wins

# KataGo's fields in KataGo's order, read from its sources.
NUMBER = r"-?[0-9]+\.[0-9]+"
MOVE = r"(?:[A-HJ-T][0-9]+|pass)"
KATA = re.compile(
    rf"info move {MOVE} visits [0-9]+ edgeVisits [0-9]+ utility {NUMBER} winrate {NUMBER} "
    rf"scoreMean {NUMBER} scoreStdev {NUMBER} scoreLead {NUMBER} scoreSelfplay {NUMBER} "
    rf"prior {NUMBER} lcb {NUMBER} utilityLcb {NUMBER} weight {NUMBER} order [0-9]+ "
    rf"pv {MOVE}(?: {MOVE})*"
)
LZ = re.compile(
    rf"info move {MOVE} visits [0-9]+ winrate [0-9]+ prior [0-9]+ lcb [0-9]+ order [0-9]+ "
    rf"pv {MOVE}(?: {MOVE})*"
)


def _analyzed(client: Client, command: str) -> str:
    """The first line of an analysis, which is then ended by an empty line."""
    client.send(f"{command}\n".encode())
    header = client.lines.next_line()
    assert header == "=", header
    line = client.lines.next_line()
    client.send(b"\n")
    while client.lines.next_line():
        pass
    return line


def _infos(line: str) -> list[dict[str, str]]:
    """The infos of a line, each as its fields; pv as one text."""
    infos = []
    for part in re.split(r"(?:^| )info ", line.partition(" rootInfo")[0])[1:]:
        facts, _, pv = part.partition(" pv ")
        words = facts.split()
        infos.append(dict(zip(words[::2], words[1::2], strict=True)) | {"pv": pv})
    return infos


# Arguments


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ("", AnalyzeRequest()),
        ("10", AnalyzeRequest(interval=0.1)),
        ("b 50", AnalyzeRequest(color=Color.BLACK, interval=0.5)),
        ("WHITE", AnalyzeRequest(color=Color.WHITE)),
        ("interval 25 maxmoves 3", AnalyzeRequest(interval=0.25, max_moves=3)),
        ("0", AnalyzeRequest(interval=0.01)),
        ("100 minmoves 4 ownership true", AnalyzeRequest(min_moves=4, ownership=True)),
        (
            "rootInfo true ownershipStdev true movesOwnership true pvVisits true pvEdgeVisits true",
            AnalyzeRequest(
                root_info=True,
                ownership_stdev=True,
                moves_ownership=True,
                pv_visits=True,
                pv_edge_visits=True,
            ),
        ),
        (
            "movesOwnershipStdev true noResultValue 1 rootInfo false",
            AnalyzeRequest(moves_ownership_stdev=True, no_result=True),
        ),
        (
            "avoid b D4,pass 3 avoid b Q16 1 allow w a1 2",
            AnalyzeRequest(
                restrictions=(
                    Restriction(Color.BLACK, (Vertex("D4"), Vertex("PASS")), 3, False),
                    Restriction(Color.BLACK, (Vertex("Q16"),), 1, False),
                    Restriction(Color.WHITE, (Vertex("A1"),), 2, True),
                )
            ),
        ),
    ],
)
def test_all_arguments_are_understood(arguments: str, expected: AnalyzeRequest) -> None:
    assert parse_analysis(Style.KATA, arguments.split()) == expected
    plain = {"true", "1"} & set(arguments.split())
    if not plain:
        assert parse_analysis(Style.LZ, arguments.split()) == replace(expected, style=Style.LZ)


@pytest.mark.parametrize(
    "arguments",
    [
        "sideways",
        "ownership",
        "ownership maybe",
        "interval -5",
        "interval x",
        "minmoves -1",
        "maxmoves 1.5",
        "avoid b D4",
        "avoid green D4 1",
        "avoid b I4 1",
        "avoid b D4 0",
        "allow b D4 1 allow b D5 1",
        "avoid b D4 1 allow b D5 1",
        "b w",
    ],
)
def test_arguments_that_cannot_be(arguments: str) -> None:
    with pytest.raises(GtpError):
        parse_analysis(Style.KATA, arguments.split())
    with session() as client:
        client.error(f"kata-analyze {arguments}")


def test_leela_zeros_analysis_has_no_ownership() -> None:
    with pytest.raises(GtpError):
        parse_analysis(Style.LZ, ["ownership", "true"])


def test_allowed_moves_are_all_that_is_not_avoided() -> None:
    position = Position(5)
    options = root_options(
        parse_analysis(Style.KATA, ["allow", "b", "A1,C3", "2"]), position, symmetry_pruning=True
    )
    assert len(options.avoid) == 26 - 2
    assert {avoid.depth for avoid in options.avoid} == {2}
    assert not options.symmetry_pruning


def test_numbers_have_a_decimal_point_and_no_exponent() -> None:
    assert [number(x) for x in (1.0, 0.0, 0.5, 1e-9, -12.25, 1 / 3)] == [
        "1.0",
        "0.0",
        "0.5",
        "0.0",
        "-12.25",
        "0.333333",
    ]


# Lines


def test_katas_lines_have_katagos_shape() -> None:
    with session() as client:
        for command in ("kata-analyze b 1", "analyze B 1", "kata-analyze interval 1"):
            line = _analyzed(client, command)
            assert re.fullmatch(f"{KATA.pattern}(?: {KATA.pattern})*", line)


def test_leela_zeros_lines_are_in_whole_numbers() -> None:
    with session() as client:
        line = _analyzed(client, "lz-analyze 1")
        assert re.fullmatch(f"{LZ.pattern}(?: {LZ.pattern})*", line)
        for info in _infos(line):
            assert 0 <= int(info["winrate"]) <= 10_000
            assert 0 <= int(info["lcb"]) <= 10_000


def test_moves_come_in_their_order_and_number() -> None:
    with session() as client:
        client.body("kata-set-param analysisWideRootNoise 0")  # which changes priors
        infos = _infos(_analyzed(client, "kata-analyze 5 maxmoves 3"))
        assert [info["order"] for info in infos] == ["0", "1", "2"]
        client.body("clear_cache")
        infos = _infos(_analyzed(client, "kata-analyze 1 minmoves 1000"))
        assert len(infos) == 26  # all moves and a pass
        assert len({info["move"] for info in infos}) == 26
        assert [int(info["order"]) for info in infos] == list(range(26))
        assert sum(float(info["prior"]) for info in infos) == pytest.approx(1, abs=0.01)


def test_extra_fields_follow_the_line_of_moves() -> None:
    with session() as client:
        line = _analyzed(client, "kata-analyze 2 maxmoves 1 pvVisits true pvEdgeVisits true")
        assert re.fullmatch(rf"{KATA.pattern} pvVisits(?: \d+)+ pvEdgeVisits(?: \d+)+", line)
        pv, visits, edges = re.split(" pvVisits | pvEdgeVisits ", line.partition(" pv ")[2])
        assert len(pv.split()) == len(visits.split()) == len(edges.split())
        line = _analyzed(client, "kata-analyze 2 maxmoves 1 noResultValue true")
        assert re.search(rf"scoreSelfplay {NUMBER} noResultValue {NUMBER} prior", line)


def test_ownership_and_root_info_come_after_all_moves() -> None:
    with session() as client:
        client.body("play b C3")
        line = _analyzed(
            client,
            "kata-analyze 2 rootInfo true ownership true ownershipStdev true minmoves 2 maxmoves 2",
        )
        match = re.fullmatch(
            rf"{KATA.pattern} {KATA.pattern} rootInfo visits \d+ utility {NUMBER} "
            rf"winrate {NUMBER} scoreMean {NUMBER} scoreStdev {NUMBER} scoreLead {NUMBER} "
            rf"scoreSelfplay {NUMBER} weight {NUMBER} rawStWrError {NUMBER} "
            rf"rawStScoreError {NUMBER} rawVarTimeLeft {NUMBER} "
            rf"ownership((?: {NUMBER}){{25}}) ownershipStdev((?: {NUMBER}){{25}})",
            line,
        )
        assert match
        owner = [float(value) for value in match[1].split()]
        assert owner[12] == pytest.approx(-1, abs=0.02)  # Black's stone, and White is to play


def test_each_move_may_have_its_ownership() -> None:
    with session() as client:
        line = _analyzed(
            client, "kata-analyze 2 movesOwnership true movesOwnershipStdev true maxmoves 2"
        )
        each = rf"{KATA.pattern} movesOwnership(?: {NUMBER}){{25}}"
        each += rf" movesOwnershipStdev(?: {NUMBER}){{25}}"
        assert re.fullmatch(f"{each} {each}", line)


def test_only_allowed_moves_are_looked_at() -> None:
    with session() as client:
        infos = _infos(_analyzed(client, "kata-analyze 1 allow b A1,B2 1 minmoves 10"))
        assert {info["move"] for info in infos} == {"A1", "B2"}
        infos = _infos(_analyzed(client, "kata-analyze 5 avoid b C3,D4 1"))
        assert not {"C3", "D4"} & {info["move"] for info in infos}
        infos = _infos(_analyzed(client, "kata-analyze w 1 allow w E5 1"))
        assert [info["move"] for info in infos] == ["E5"]


@pytest.mark.parametrize(
    ("perspective", "black", "white"),
    [("SIDETOMOVE", 0.99, 0.01), ("BLACK", 0.99, 0.99), ("WHITE", 0.01, 0.01)],
)
def test_reports_are_for_whom_they_are_asked_for(
    perspective: str, black: float, white: float
) -> None:
    with session(black_wins) as client:
        client.body(f"kata-set-param reportAnalysisWinratesAs {perspective}")
        for color, chance in (("b", black), ("w", white)):
            line = _analyzed(client, f"kata-analyze {color} 2 ownership true")
            info = _infos(line.partition(" ownership ")[0])[0]
            ahead = 1 if chance > 0.5 else -1
            assert float(info["winrate"]) == pytest.approx(chance, abs=0.02)
            assert float(info["scoreLead"]) * ahead > 20
            assert float(info["utility"]) * ahead > 0.9
            owner = [float(value) for value in line.partition(" ownership ")[2].split()]
            assert sum(owner) * ahead == pytest.approx(25, abs=1)


def test_analysis_streams_until_anything_comes() -> None:
    with session() as client:
        client.send(b"1 kata-analyze 1\n")
        assert client.lines.next_line() == "=1"
        first = int(_infos(client.lines.next_line())[0]["visits"])
        for _ in range(3):
            line = client.lines.next_line()
        assert int(_infos(line)[0]["visits"]) > first
        client.send(b"2 name\n")
        while client.lines.next_line():
            pass
        assert client.reply() == "=2 Tengen"


def test_commands_that_wait_already_end_an_analysis_at_once() -> None:
    with session() as client:
        client.send(b"1 kata-analyze 100\n2 name\n3 lz-analyze 100\n4 version\n")
        assert client.reply() == "=1"
        assert client.reply() == "=2 Tengen"
        assert client.reply() == "=3"
        assert client.reply().startswith("=4 ")


def test_analysis_goes_on_after_the_end_of_the_game() -> None:
    with session() as client:
        client.body("play_sequence b C3 w pass b pass")
        assert client.session.position.is_over
        assert KATA.match(_analyzed(client, "kata-analyze 1"))


def test_analysis_leaves_the_game_alone() -> None:
    with session() as client:
        client.body("play b C3")
        before = client.body("showboard")
        _analyzed(client, "kata-analyze b 1")
        assert client.body("showboard") == before


def test_mirror_images_are_reported_as_such() -> None:
    with session() as client:
        client.body("kata-set-param rootSymmetryPruning true")
        infos = _infos(_analyzed(client, "kata-analyze 3"))
        copies = [info for info in infos if "isSymmetryOf" in info]
        assert copies
        searched = {info["move"] for info in infos} - {info["move"] for info in copies}
        assert {info["isSymmetryOf"] for info in copies} <= searched


def test_without_a_network_analysis_says_so() -> None:
    with session(None, SMALL) as client:
        for command in ("kata-analyze 10", "lz-analyze b 10", "kata-genmove_analyze b"):
            assert client.error(command) == NO_NETWORK
