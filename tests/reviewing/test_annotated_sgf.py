"""A review as SGF, read again by us and by sgfmill."""

from __future__ import annotations

from sgfmill import sgf as sgfmill_sgf

from tengen.game.sgf.records import SgfGame, SgfNode, read_sgf, save_sgf
from tengen.reviewing.annotated_sgf import annotated_sgf
from tengen.reviewing.review import GameReview
from tests.reviewing.games import BOTH_LEFT, only_game, review_by, two_points_network

VISITS = 60


def reviewed(text: str) -> tuple[SgfGame, GameReview]:
    game = only_game(text)
    return game, review_by(two_points_network(), game, VISITS)


def reread(text: str) -> list[SgfNode]:
    """The nodes of the main line of the annotated game."""
    (game,) = read_sgf(annotated_sgf(*reviewed(text)))
    return list(game.root.main_line())


def test_every_move_has_a_comment_in_plain_words() -> None:
    nodes = reread(BOTH_LEFT)
    assert "Loses 1" in nodes[1].text("C")
    assert "D4 was better" in nodes[1].text("C")
    assert "White is ahead by" in nodes[1].text("C")
    assert "The best move" in nodes[2].text("C")
    assert all("wins" in node.text("C") for node in nodes[1:])


def test_comments_of_the_record_are_kept_and_come_first() -> None:
    assert reread(BOTH_LEFT)[1].text("C").startswith("a remark\n\n")


def test_a_mistake_has_the_better_line_as_a_variation_and_a_mark_on_the_better_move() -> None:
    root, mistake, *_ = reread(BOTH_LEFT)
    better = root.children[1]
    assert better.raw("B") == "dd"
    assert better.children[0].raw("W") == "gg"
    assert "Expected: D4 G1" in better.text("C")
    assert mistake.properties["TR"] == ["dd"]
    assert mistake.raw("BM") == "1"


def test_good_moves_have_neither() -> None:
    nodes = reread(BOTH_LEFT)
    assert len(nodes[1].children) == 1
    assert not {"TR", "BM", "DO"} & set(nodes[2].properties)


def test_a_line_that_is_there_already_is_not_written_twice() -> None:
    tried = "(;SZ[7]KM[0]RU[chinese](;B[aa];W[dd])(;B[dd]C[I thought of this];W[gg]))"
    root = reread(tried)[0]
    assert [child.raw("B") for child in root.children] == ["aa", "dd"]
    assert root.children[1].text("C").startswith("I thought of this\n\nBetter by")


def test_marks_and_judgements_of_the_record_are_kept() -> None:
    nodes = reread("(;SZ[7]KM[0]RU[chinese];B[aa]SQ[dd]IT[]LB[ba:x];W[dd];B[bb])")
    assert nodes[1].properties["SQ"] == ["dd"]
    assert nodes[1].properties["LB"] == ["ba:x"]
    assert not {"TR", "BM", "DO"} & set(nodes[1].properties)


def test_the_game_itself_is_left_as_it_was() -> None:
    game, review = reviewed(BOTH_LEFT)
    before = save_sgf(game)
    annotated_sgf(game, review)
    assert save_sgf(game) == before


def test_the_root_sums_up() -> None:
    summary = reread(BOTH_LEFT)[0].text("C")
    assert "Reviewed by two points, 60 visits" in summary
    assert "Black: accuracy 33%" in summary
    assert "White: accuracy 100%" in summary
    assert "move 1 A7" in summary


def test_what_could_not_be_reviewed_is_said() -> None:
    summary = reread("(;SZ[7]KM[0]RU[chinese];B[aa];W[aa];B[bb])")[0].text("C")
    assert "cannot be reviewed: move 2, white A7: the point is occupied" in summary


def test_sgfmill_reads_the_same_game() -> None:
    nasty = BOTH_LEFT.replace("a remark", r"brackets [\] and \\ and : 圍棋")
    text = annotated_sgf(*reviewed(nasty))
    theirs = sgfmill_sgf.Sgf_game.from_string(text)
    moves = [node.get_move() for node in theirs.get_main_sequence()][1:]
    # sgfmill counts rows from the bottom.
    assert moves == [("b", (6, 0)), ("w", (3, 3)), ("b", (6, 6)), ("w", (0, 6)), ("b", (0, 0))]
    first = theirs.get_main_sequence()[1]
    assert first.get("C").startswith(r"brackets [] and \ and : 圍棋")
    assert first.get("TR") == {(3, 3)}
    assert theirs.get_root()[1].get_move() == ("b", (3, 3))


def test_a_move_in_the_root_is_judged_without_a_variation() -> None:
    root, *_ = reread("(;SZ[7]KM[0]RU[chinese]B[aa];W[dd])")
    assert "D4 was better" in root.text("C")
    assert root.properties["TR"] == ["dd"]
    assert len(root.children) == 1


def test_a_long_record_is_no_problem() -> None:
    """Deeper than Python nests calls."""
    long = "(;SZ[7]KM[0]RU[chinese];B[aa];W[dd]" + ";C[waiting]" * 1200 + ";B[bb])"
    assert annotated_sgf(*reviewed(long)).count("waiting") == 1200
