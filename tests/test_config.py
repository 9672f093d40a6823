"""Sections of settings: any dataclasses, read and written, compared, mistakes named."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest

from tengen.config import changed_keys, load_sections, write_sections
from tengen.search.params import SearchParams


@dataclass(frozen=True)
class Games:
    """What is played."""

    board_sizes: tuple[int, ...] = (7, 9)  # sides of the boards
    weights: tuple[float, ...] = (1.0, 3.0)
    komi: tuple[float, float] = (5.5, 7.5)  # from, to
    # Drawn for each game.
    rules: tuple[str, ...] = ("tromp-taylor",)
    seeds: list[int] = field(default_factory=list)
    noisy: bool = True

    def __post_init__(self) -> None:
        if len(self.weights) != len(self.board_sizes):
            raise ValueError("weights must be as many as board_sizes")


@dataclass(frozen=True)
class Learning:
    """How it is learned from."""

    rate: float = 2e-3
    batch: int = 256
    schedule: str = "cosine # or step"  # how the rate falls


SECTIONS = {"games": Games, "learning": Learning}


def parse(text: str, sections: Mapping[str, type[Any]] = SECTIONS) -> dict[str, Any]:
    with TemporaryDirectory() as folder:
        path = Path(folder) / "run.toml"
        path.write_text(text, encoding="utf-8")
        return load_sections(path, sections)


def test_what_is_written_is_read_again(tmp_path: Path) -> None:
    values = {
        "games": Games((5, 19, 13), (1, 2.5, 1e-7), (0.0, 0.5), ("a\n\x7f\\", 'b"#'), [3], False),
        "learning": Learning(rate=1e-12, batch=-3, schedule="täglich 碁"),
    }
    path = tmp_path / "run.toml"
    path.write_text(write_sections(values), encoding="utf-8")
    assert load_sections(path, SECTIONS) == values


def test_sections_that_are_left_out_have_their_defaults() -> None:
    assert parse("[learning]\nbatch = 7\n") == {"games": Games(), "learning": Learning(batch=7)}


def test_only_what_differs_from_the_defaults_is_set() -> None:
    text = write_sections({"games": Games(noisy=False), "learning": Learning()})
    set_lines = [line for line in text.splitlines() if line and line[0] not in "#["]
    assert set_lines == ["noisy = false"]


def test_every_key_is_written_with_its_remark() -> None:
    text = write_sections({"games": Games(), "learning": Learning()})
    assert "# sides of the boards\n#board_sizes = [7, 9]\n" in text
    assert "# Drawn for each game.\n#rules = " in text
    assert '# how the rate falls\n#schedule = "cosine # or step"\n' in text
    assert all(f"#{each.name} = " in text for kind in (Games, Learning) for each in fields(kind))


def test_defaults_are_valid_settings_when_their_sign_is_removed() -> None:
    text = write_sections({"games": Games(), "learning": Learning()})
    bare = [line[1:] if line[:1] == "#" and line[1] != " " else line for line in text.splitlines()]
    assert parse("\n".join(bare)) == {"games": Games(), "learning": Learning()}


def test_a_retired_key_is_read_if_it_had_its_default() -> None:
    sections = {"search": SearchParams}
    read = parse("[search]\nscore_error_weight = 0.02\nuncertainty = 0.3", sections)
    assert read["search"] == SearchParams(uncertainty=0.3)
    with pytest.raises(ValueError, match="no key 'score_error_weight'"):
        parse("[search]\nscore_error_weight = 0.5", sections)


def test_lists_become_what_the_field_is() -> None:
    found = parse("[games]\nboard_sizes = [3]\nweights = [2]\nseeds = [1, 2]\n")["games"]
    assert found.board_sizes == (3,)
    assert found.weights == (2.0,)
    assert type(found.weights[0]) is float
    assert found.seeds == [1, 2]


@pytest.mark.parametrize(
    ("content", "complaint"),
    [
        ("[game]\n", "[game] is no section; did you mean 'games'?"),
        ("[zzz]\n", "[zzz] is no section; there are games, learning"),
        ("[[games]]\n", "[games] is no section"),
        ("rate = 1\n", "[rate] is no section"),
        ("[games]\nbord_sizes = [7]\n", "[games] has no key 'bord_sizes'; did you mean 'board_siz"),
        (
            "[games]\nboard_sizes = 9\n",
            "[games] board_sizes must be a list of whole numbers, not 9",
        ),
        (
            "[games]\nboard_sizes = [9.5]\n",
            "board_sizes must be a list of whole numbers, not [9.5]",
        ),
        ("[games]\nboard_sizes = [true]\n", "must be a list of whole numbers, not [True]"),
        ("[games]\nweights = ['a']\n", "weights must be a list of numbers, not ['a']"),
        ("[games]\nweights = [[1.0]]\n", "weights must be a list of numbers, not [[1.0]]"),
        ("[games]\nkomi = [1.5]\n", "komi must be a list [a number, a number], not [1.5]"),
        ("[games]\nrules = 'chinese'\n", "rules must be a list of texts, not 'chinese'"),
        ("[games]\nweights = [1]\n", "[games] weights must be as many as board_sizes"),
        ("[games]\nnoisy = 1\n", "noisy must be true or false, not 1"),
        ("[games.more]\n", "[games] has no key 'more'"),
        ("[learning]\nrate = '1'\n", "[learning] rate must be a number, not '1'"),
        ("[learning]\nbatch = 1.0\n", "[learning] batch must be a whole number, not 1.0"),
        ("[learning]\nbatch = 1\nbatch = 2\n", "not TOML"),
    ],
)
def test_mistakes_are_named(content: str, complaint: str) -> None:
    with pytest.raises(ValueError, match=r"run\.toml: ") as caught:
        parse(content)
    assert complaint in str(caught.value)


def test_what_is_no_text_is_named(tmp_path: Path) -> None:
    path = tmp_path / "run.toml"
    path.write_bytes(b"\xff\xfe[games]")
    with pytest.raises(ValueError, match=r"run\.toml: not TOML"):
        load_sections(path, SECTIONS)


def test_changes_are_named_by_section_and_key() -> None:
    old = {"games": Games(), "learning": Learning()}
    new = {"games": replace(Games(), noisy=False), "learning": Learning(rate=1.0, batch=1)}
    assert changed_keys(old, new) == ["games.noisy", "learning.rate", "learning.batch"]
    assert changed_keys(new, new) == []


def test_a_section_that_one_side_lacks_counts_as_defaults() -> None:
    changed = {"learning": Learning(batch=1)}
    assert changed_keys({}, changed) == changed_keys(changed, {}) == ["learning.batch"]
    assert changed_keys({}, {"learning": Learning()}) == []


@dataclass(frozen=True)
class MoreLearning(Learning):
    rate: float = 1e-3
    batch: int = 128  # of a GPU


def test_comments_of_inherited_settings_are_written() -> None:
    text = write_sections({"learning": MoreLearning()})
    assert "# how the rate falls\n#schedule" in text
    assert "# of a GPU\n#batch = 128" in text
