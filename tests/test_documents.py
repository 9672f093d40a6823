"""What the documentation shows works: Python runs as it stands, command lines are understood."""

from __future__ import annotations

import re
import shlex
import tomllib
from pathlib import Path
from typing import Any, NamedTuple

import pytest
import typer

from tengen.frontends.cli import app
from tengen.frontends.katago_settings import with_double_hyphens

FOLDERS = ((".", "*.md"), ("docs", "**/*.md"), ("examples", "*.md"))
OTHER_PROGRAMS = ("export", "ray")  # whose words nobody checks here
LEFT_OUT = ("CHANGELOG.md", "cli.md", "lab-notebook.md", "settings.md")
PAGES = [
    page
    for folder, pattern in FOLDERS
    for page in sorted(Path(folder).glob(pattern))
    if page.name not in LEFT_OUT
]
GAME = "(;GM[1]SZ[9]KM[7]RU[Chinese]PB[Ann]PW[Bo]RE[B+R];B[ee];W[cc];B[gg];W[gc];B[cg])"
_BLOCK = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_INLINE = re.compile(r"`(tengen [^`]+)`")
_WORDS_THAT_STAND_FOR_OTHERS = {"COMMAND", "..."}
COMMANDS: Any = typer.main.get_command(app)
PROJECT = tomllib.loads(Path("pyproject.toml").read_text("utf-8"))["project"]


class Block(NamedTuple):
    page: str
    line: int
    language: str
    text: str

    def __str__(self) -> str:
        return f"{self.page}:{self.line}"


def blocks() -> list[Block]:
    found = []
    for page in PAGES:
        text = page.read_text("utf-8")
        for match in _BLOCK.finditer(text):
            line = text.count("\n", 0, match.start()) + 1
            found.append(Block(str(page), line, match[1], match[2]))
    return found


BLOCKS = blocks()
# Translations have the same code.
PYTHON = [block for block in BLOCKS if block.language == "python"]
PYTHON = list({block.text: block for block in reversed(PYTHON)}.values())
SHELL = [block for block in BLOCKS if block.language in ("", "bash", "sh")]


def test_every_block_has_a_kind_that_is_tested() -> None:
    assert {block.language for block in BLOCKS} <= {"python", "", "bash", "sh", "text", "toml"}
    assert len(PYTHON) >= 10
    assert len(SHELL) >= 10


@pytest.mark.parametrize("block", PYTHON, ids=str)
def test_python_runs_as_it_stands(
    block: Block, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("game.sgf").write_text(GAME)
    exec(compile(block.text, str(block), "exec"), {"__name__": "__main__"})


@pytest.mark.parametrize("block", SHELL, ids=str)
def test_command_lines_are_understood(block: Block) -> None:
    for line in block.text.replace("\\\n", " ").splitlines():
        if words := _words(line):
            _check(words)


def test_nobody_is_told_to_install_the_package_of_somebody_else() -> None:
    told = re.compile(r"pip3? install[^`\n]*[ '\"]tengen(?![-\w])")
    assert told.search("run `pip install --no-deps tengen`, then")
    sources = [*PAGES, *Path().glob("*.md"), *Path("src").rglob("*.py"), Path("pyproject.toml")]
    assert [str(each) for each in sources if told.search(each.read_text("utf-8"))] == []


def test_commands_within_sentences_have_their_options() -> None:
    found = [match for page in PAGES for match in _INLINE.findall(page.read_text("utf-8"))]
    assert len(found) > 50
    unknown = []
    for text in found:
        words = with_double_hyphens(shlex.split(" ".join(text.split()).replace("'", ""))[1:])
        command, rest = _command(words)
        if command is None:
            unknown.append(text)
            continue
        given = {word.partition("=")[0] for word in rest if word.startswith("--")}
        unknown += [f"{text}: {name}" for name in given - _options(command) - {"--help"}]
    assert unknown == []


def _options(command: Any) -> set[str]:
    names = [(*parameter.opts, *parameter.secondary_opts) for parameter in command.params]
    return {name for both in names for name in both}


def _words(line: str) -> list[str]:
    """The words of a command line without comments; programs without their folders."""
    line = line.replace(".venv\\Scripts\\", "").replace(".venv/bin/", "")
    return shlex.split(line, comments=True)


def _check(words: list[str]) -> None:
    """Fail unless a command line can be given so."""
    program, *rest = words
    if program == "tengen":
        command, arguments = _command(with_double_hyphens(rest))
        assert command is not None, words
        if command is COMMANDS:  # whose options act at once
            assert set(arguments) <= _options(command), words
        else:
            command.make_context(" ".join(words), arguments)  # raises for what is not understood
    elif program == "make":
        targets = re.findall(r"^([a-z0-9-]+):", Path("Makefile").read_text("utf-8"), re.MULTILINE)
        assert rest[0] in targets, words
    elif program in ("pip", "python", "python3", "py"):
        for extra in re.findall(r"\[([a-z,]+)\]", " ".join(rest)):
            assert set(extra.split(",")) <= PROJECT["optional-dependencies"].keys(), words
        assert "tengen" not in rest, "that is somebody else's distribution"
    elif program not in OTHER_PROGRAMS:
        pytest.fail(f"no test knows {program!r}")


def _command(words: list[str]) -> tuple[Any, list[str]]:
    """The command that words begin with, and the rest of them; None if there is none."""
    command, rest = COMMANDS, list(words)
    while rest and rest[0] == "--module":  # the one option before a command, with a file
        rest = rest[2:]
    if rest and (rest[0] in _WORDS_THAT_STAND_FOR_OTHERS or rest[0].startswith("--")):
        return COMMANDS, [word for word in rest if word not in _WORDS_THAT_STAND_FOR_OTHERS]
    while hasattr(command, "commands"):
        if not rest or rest[0] not in command.commands:
            return (command, rest) if command is not COMMANDS and not rest else (None, rest)
        command = command.commands[rest.pop(0)]
    return command, rest
