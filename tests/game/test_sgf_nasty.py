"""Nasty SGF files: the bytes are in tests/data/sgf/nasty, the expected results here.

The encoding of a file with few words is a guess; the guesses that were hard have a table.
"""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import pytest

from tengen.game.sgf.records import SgfGame, load_sgf, read_sgf, save_sgf

FOLDER = Path(__file__).parents[1] / "data" / "sgf" / "nasty"


class Contents(NamedTuple):
    """The intended content of a file; each is a game on 9x9."""

    black: str
    white: str = ""
    komi: float | None = None
    comment: str = ""  # in the first node
    moves: int = 1
    last_comment: str = ""
    handicap: int = 0
    children: tuple[int, ...] = ()  # how many each node of the main line has; () not to look


# The last byte of 十 and 予 in Shift-JIS, and of 許 and 功 in Big5, is a backslash; that of ゾ is a
# closing bracket. 迺 and 谞 are not in the GB2312 that their files declare.
JAPANESE = Contents("趙治勲 十", "園田ゾ", 6.5, "日本棋院の予選", 3)
SIMPLIFIED = Contents("芮迺伟", "马晓春", 6.5, "中国围棋 第一局", 3)
TRADITIONAL = Contents("許家元", "周俊勳", 6.5, "成功大學的棋盤", 3)
KOREAN = Contents("이창호", "조훈현", 6.5, "제일국", 3)
WESTERN = Contents("Åke Öberg", "André Müß", 6.5, "déjà joué", 3)
UNICODE = Contents("이세돌", "謝依旻", 6.5, "Zürich – 日本", 3)

FILES = {
    # The encoding declared rightly, not at all, or wrongly (as ...)
    "shift_jis_declared": JAPANESE,
    "shift_jis_undeclared": JAPANESE,
    "shift_jis_as_utf8": JAPANESE,
    "gb18030_declared": SIMPLIFIED,
    "gb18030_undeclared": SIMPLIFIED,
    "gb18030_as_latin1": SIMPLIFIED,
    "gb18030_rare_declared": Contents("申真谞", "常昊"),
    "gb18030_like_korean_undeclared": Contents("柯洁", "李昌镐"),
    "big5_declared": TRADITIONAL,
    "big5_undeclared": TRADITIONAL,
    "big5_as_gb2312": TRADITIONAL,
    "euc_kr_declared": KOREAN,
    "euc_kr_undeclared": KOREAN,
    "euc_kr_as_utf8": KOREAN,
    "latin1_declared": WESTERN,
    "latin1_undeclared": WESTERN,
    "latin1_as_utf8": WESTERN,
    "latin1_as_gb2312": Contents("Jérôme Hubert", "Müller"),
    "cp1252_quotes": Contents("x", comment="White’s “move”"),
    "koi8r_declared": Contents("Александр Динерштейн"),
    "utf8_declared": UNICODE,
    "utf8_undeclared": UNICODE,
    "utf8_as_gb2312": UNICODE,
    "utf8_as_windows1251": Contents("Łukasz Podpěra"),
    "utf8_bom": Contents("謝依旻"),
    "utf16_le": Contents("謝依旻"),
    "utf16_be": Contents("謝依旻"),
    "unknown_charset": Contents("謝依旻"),
    "codec_no_text": Contents("謝依旻"),
    # Odd bytes
    "crlf": Contents("Lee Sedol", comment="one\ntwo three", moves=2),
    "nul_bytes": Contents("x"),
    "ctrl_z": Contents("x", moves=2),
    # Cut short
    "cut_in_value": Contents("x", moves=2, last_comment="the file ends he"),
    "cut_in_escape": Contents("x", last_comment="the file ends "),
    "cut_in_variation": Contents("x", moves=3, children=(1, 2, 1, 0)),
    "cut_after_name": Contents("x", moves=2, children=(1, 1, 1, 0)),
    # Sloppy
    "no_semicolon": Contents("x", komi=5.5, moves=2),
    "komi_empty": Contents("x"),
    "handicap_text": Contents("x", komi=0.5, handicap=2),
    "spelled_out": Contents("x", komi=5.5),
    "lower_case": Contents("x", komi=5.5, moves=2),
    "mail": Contents("x"),
    "brackets_in_text": Contents("x [9d]", comment="(;B[aa]) \\"),
    "players_coordinates": Contents("x", moves=2),
    "stray_parentheses": Contents("x", moves=2, children=(1, 1, 0)),
}


def contents(game: SgfGame, with_children: bool) -> Contents:
    line = list(game.root.main_line())
    return Contents(
        black=game.player("black"),
        white=game.player("white"),
        komi=game.komi,
        comment=game.root.text("C"),
        moves=len(game.final_position().moves),
        last_comment=line[-1].text("C"),
        handicap=game.handicap,
        children=tuple(len(node.children) for node in line) if with_children else (),
    )


def test_every_nasty_file_has_an_entry() -> None:
    assert {path.name for path in FOLDER.iterdir()} == {f"{name}.sgf" for name in FILES}


@pytest.mark.parametrize("name", FILES)
def test_nasty_file_is_read_as_meant_and_survives_being_saved(name: str) -> None:
    expected = FILES[name]
    (game,) = load_sgf(FOLDER / f"{name}.sgf")
    assert game.size == (9, 9)
    assert contents(game, bool(expected.children)) == expected
    (again,) = read_sgf(save_sgf(game))
    assert contents(again, bool(expected.children)) == expected
    assert again.final_position() == game.final_position()


@pytest.mark.parametrize(
    ("declared", "encoding", "name"),
    [
        pytest.param("", "gb18030", "柯洁 古力", id="few characters are no Korean"),
        pytest.param("", "gb18030", "李昌镐 刘昌赫", id="odd syllables are no Korean"),
        pytest.param("", "gb18030", "芈昱廷 常昊", id="rare characters"),
        pytest.param("", "gb18030", "古力vs柯洁", id="beside letters"),
        pytest.param("Big5", "cp950", "楊嘉源 黑嘉嘉", id="would be Korean but for CA"),
        pytest.param("GBK", "gbk", "趙治勲", id="rare but as declared"),
        pytest.param("Shift_JIS", "cp932", "A図", id="beside a letter but as declared"),
        pytest.param("Shift_JIS", "cp932", "髙﨑", id="beyond the declared Shift_JIS"),
        pytest.param("EUC-KR", "cp949", "똠방각하", id="beyond the declared EUC-KR"),
        pytest.param("Big5", "cp950", "碁聖", id="beyond the declared Big5"),
        pytest.param("EUC-JP", "euc_jp", "林海峰", id="rarely used"),
        pytest.param("ISO-2022-JP", "iso2022_jp", "林海峰", id="in ASCII bytes"),
        pytest.param("GB2312", "utf-8", "André Müller", id="Western UTF-8 declared Chinese"),
    ],
)
def test_name_in_a_hard_encoding_is_read(declared: str, encoding: str, name: str) -> None:
    charset = f"CA[{declared}]" if declared else ""
    (game,) = read_sgf(f"(;GM[1]{charset}SZ[9]PB[{name}])".encode(encoding))
    assert game.player("black") == name


def test_charset_is_found_after_half_a_character_that_looks_like_a_backslash() -> None:
    (game,) = read_sgf("(;PB[十]CA[Shift_JIS]PW[髙﨑])".encode("cp932"))
    assert (game.player("black"), game.player("white")) == ("十", "髙﨑")


def test_charset_quoted_in_a_comment_does_not_count() -> None:
    (game,) = read_sgf("(;C[is it CA[GB2312]CA[UTF-8]PB[é])".encode())
    assert (game.player("black"), game.root.text("C")) == ("é", "is it CA[GB2312")
