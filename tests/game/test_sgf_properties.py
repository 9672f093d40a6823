"""SGF with random trees, random games and random damage."""

from __future__ import annotations

import re
from pathlib import Path
from typing import NamedTuple, TypeAlias

from hypothesis import example, given, settings
from hypothesis import strategies as st

from tengen.game.color import Color
from tengen.game.geometry import Point
from tengen.game.position import Position
from tengen.game.rules import NAMED, HandicapBonus, KoRule, Rules, Scoring, Tax
from tengen.game.sgf.records import SgfError, SgfGame, SgfNode, read_sgf, record, save_sgf

NASTY = Path(__file__).parents[1] / "data" / "sgf" / "nasty"

# Random trees

Tree: TypeAlias = tuple[dict[str, str], list["Tree"]]

AWKWARD = [*"[]\\();:\t\v\f\n\r\0\ufeff段é", "\r\n", "\n\r", "\\]", "\\\n", "CA[GB2312"]
texts = st.text(st.characters(codec="utf-8")) | st.lists(st.sampled_from(AWKWARD)).map("".join)
# Not FF, GM and CA, which the writer sees to.
names = st.sampled_from(["C", "N", "PB", "GC"]) | st.from_regex("[DE][A-Z]{0,8}", fullmatch=True)
properties = st.dictionaries(names, texts, max_size=3)
trees: st.SearchStrategy[Tree] = st.recursive(
    st.tuples(properties, st.just([])),
    lambda below: st.tuples(properties, st.lists(below, min_size=1, max_size=3)),
    max_leaves=8,
)


def as_node(tree: Tree) -> SgfNode:
    own, below = tree
    node = SgfNode(children=[as_node(child) for child in below])
    for name, text in own.items():
        node.set_text(name, text)
    return node


def as_tree(node: SgfNode) -> Tree:
    own = {name: node.text(name) for name in node.properties}
    return own, [as_tree(child) for child in node.children]


def as_sgf_keeps_it(tree: Tree) -> Tree:
    """Line breaks of any kind become one kind, other white space becomes spaces."""
    own, below = tree
    kept = {
        name: re.sub("[\t\v\f]", " ", re.sub("\r\n|\n\r|\r", "\n", text))
        for name, text in own.items()
    }
    return kept, [as_sgf_keeps_it(child) for child in below]


@given(trees)
@settings(max_examples=150, deadline=None)
def test_trees_survive_writing_and_reading(tree: Tree) -> None:
    written = save_sgf(SgfGame(as_node(tree)))
    (game,) = read_sgf(written)
    assert save_sgf(game) == written
    for name in ("FF", "GM", "CA"):
        del game.root.properties[name]
    assert as_tree(game.root) == as_sgf_keeps_it(tree)


# Random games


class Step(NamedTuple):
    """Apply a random event to the board, or nothing if it is impossible."""

    kind: str
    place: int  # from the top left, row by row, modulo the area
    color: Color | None  # None for the side to play


any_rules = st.sampled_from([rules for rules, _ in NAMED.values()]) | st.builds(
    Rules,
    st.sampled_from(KoRule),
    st.sampled_from(Scoring),
    st.sampled_from(Tax),
    suicide=st.booleans(),
    button=st.booleans(),
    white_handicap_bonus=st.sampled_from(HandicapBonus),
    friendly_pass=st.booleans(),
)
sides = st.integers(1, 19)
small_sides = st.integers(2, 4)  # where captures and kos are frequent
sizes = st.tuples(sides, sides) | st.tuples(small_sides, small_sides)
# By far the most are ordinary moves.
kinds = st.sampled_from(["play"] * 12 + ["play on", "pass", "put", "take"])
steps = st.builds(
    Step, kinds, st.integers(0, 360), st.sampled_from([None, None, None, None, *Color])
)


def after(position: Position, step: Step) -> Position:
    row, x = divmod(step.place % position.size.area, position.width)
    point = Point(x, row)
    mover = position.to_play if step.color is None else step.color
    match step.kind:
        case "play" if position.is_legal(point, mover):
            # Out of turn as records have it: there nothing before such a move counts.
            return position.play(point, mover, strict=mover is position.to_play)
        case "play on" if position.at(point) is None:
            return position.play(point, mover, strict=False)
        case "pass":
            return position.play(None, mover, strict=False)
        case "put":
            black, white = ([point], []) if mover is Color.BLACK else ([], [point])
            try:
                return position.set_up(black, white, to_play=step.color)
            except ValueError:
                return position  # it would have no liberty
        case "take":
            return position.set_up(empty=[point], to_play=step.color)
    return position


@given(
    sizes,
    any_rules,
    st.integers(-300, 300).map(lambda halves: halves / 2),
    st.lists(steps, max_size=20) | st.lists(steps, min_size=40, max_size=80),
)
@settings(max_examples=150, deadline=None)
def test_games_survive_being_recorded_written_and_read(
    size: tuple[int, int], rules: Rules, komi: float, game_steps: list[Step]
) -> None:
    position = Position(size, rules, komi)
    for step in game_steps:
        position = after(position, step)
    (game,) = read_sgf(save_sgf(record(position)))
    again = game.final_position()
    assert again == position
    assert again.moves == position.moves
    assert str(game.outcome) == str(position.outcome())


# Random damage


def header(game: SgfGame) -> tuple[object, ...]:
    players = game.player("black"), game.player("white")
    return game.komi, game.handicap, game.rules, game.outcome, *players


def read_all_of(data: bytes) -> None:
    """Read a file, save its games and play them; only SgfError is allowed."""
    try:
        games = read_sgf(data)
    except SgfError:
        return
    for game in games:
        (again,) = read_sgf(save_sgf(game))
        for root in (again.root, game.root):
            for name in ("FF", "GM", "CA"):
                root.properties.pop(name, None)
        assert as_tree(again.root) == as_tree(game.root)
        assert header(again) == header(game)
        try:
            positions = list(game.positions())
        except SgfError:
            continue
        assert positions == list(again.positions())


TOKENS = [
    *b"( (; ) ; [ ] \\ : \0 \xff \x95\\ \xe9 AddBlack[ GB2312] Shift_JIS] UTF-16] utf-7] ]".split(),
    *b"B[ W[ AB[ AW[ AE[ aa] bb] cc] aa:cc] tt] SZ[ 5] 5:3] PL[W] KM[ HA[ RU[ RE[ C[ CA[".split(),
]
token_soup = st.lists(st.sampled_from(TOKENS)).map(b"".join)


@given(st.binary(), token_soup, st.booleans())
@example(b"", b"(;CA[unicode_escape]C[\\]", False)
@settings(max_examples=400, deadline=None)
def test_random_bytes_raise_nothing_but_sgf_errors(
    noise: bytes, soup: bytes, noise_first: bool
) -> None:
    read_all_of(noise + soup if noise_first else b"(;" + soup + noise)


BRANCHED = (
    b"(;GM[1]FF[4]SZ[9]KM[7]HA[2]RU[AGA]RE[W+3.5]AB[cg][gc];W[ee];B[ec]C[x\\]](;W[eg];B[ff];W[fe]"
    b";B[gf])(;W[dc];AB[aa:cc]AW[dd]PL[W];W[ab];B[];W[tt]))(;SZ[5:7]RU[Chinese];B[aa];W[bb])"
)
GOOD = [BRANCHED, *(path.read_bytes() for path in sorted(NASTY.iterdir()))]
damages = st.tuples(
    st.sampled_from(["cut", "insert", "flip", "duplicate"]),
    st.integers(0, 300),
    st.integers(1, 40),
    st.sampled_from(TOKENS) | st.binary(min_size=1, max_size=4),
)


def damaged(data: bytes, kind: str, place: int, length: int, scrap: bytes) -> bytes:
    at = place % (len(data) + 1)
    before, piece, rest = data[:at], data[at : at + length], data[at + length :]
    match kind:
        case "cut":
            return before + rest
        case "insert":
            return before + scrap + piece + rest
        case "flip":
            return before + bytes(byte ^ 1 << length % 8 for byte in piece[:1]) + piece[1:] + rest
    return before + piece + piece + rest


@given(st.sampled_from(GOOD), st.lists(damages, min_size=1, max_size=6))
@settings(max_examples=400, deadline=None)
def test_damaged_files_raise_nothing_but_sgf_errors(
    data: bytes, blows: list[tuple[str, int, int, bytes]]
) -> None:
    for blow in blows:
        data = damaged(data, *blow)
    read_all_of(data)
