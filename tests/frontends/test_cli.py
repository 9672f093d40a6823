"""The command line as its user meets it."""

from __future__ import annotations

import os
import re
import socket
import subprocess
import sys
from dataclasses import fields
from pathlib import Path
from typing import Any

import pytest

import tengen
from tengen.engine.settings import NetworkOptions
from tengen.frontends.command_options import (
    AnalysisOptions,
    BenchmarkOptions,
    GtpOptions,
    MatchOptions,
    PlayOptions,
    ReviewOptions,
    SelfPlayOptions,
    TrainOptions,
)
from tests.bundled import needs_bundled_network


@pytest.fixture(scope="module", autouse=True)
def kernels_are_compiled() -> None:
    """So that no command has to say that it compiles them first."""
    tengen.Position(9, "chinese")


def run(
    *arguments: str, answers: str = "", folder: Path | None = None
) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "tengen", *arguments],
        input=answers,
        capture_output=True,
        text=True,
        cwd=folder,
        env=os.environ | {"COLUMNS": "200"},
    )


def test_version() -> None:
    process = run("--version")
    assert (process.returncode, process.stdout) == (0, f"tengen {tengen.__version__}\n")


@pytest.mark.parametrize("arguments", [[], ["--help"]])
def test_help_lists_the_commands(arguments: list[str]) -> None:
    process = run(*arguments)
    assert process.returncode == 0
    assert "play" in process.stdout


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (["nonsense"], "nonsense"),
        (["--nonsense"], "--nonsense"),
        (["play", "--board-size", "99"], "--board-size"),
        (["play", "--board-size", "nine"], "integer"),
        (["play", "--rules", "calvinball"], "calvinball"),
        (["play", "--komi", "6.3"], "half points"),
        (["play", "--color", "green"], "green"),
        (["play", "--model", "nowhere.bin.gz"], "nowhere.bin.gz"),
        (["play", "--model", "README.md", "--board-size", "3"], "5 lines"),
        (["play", "--model", "README.md", "--level", "god"], "there are newcomer"),
        (["play", "--model", "README.md", "--host", "no.such.host.invalid"], "no.such.host"),
        (["play", "--run", "nowhere"], "nowhere"),
    ],
)
def test_bad_usage_is_one_clear_line_and_exit_code_2(arguments: list[str], complaint: str) -> None:
    process = run(*arguments)
    assert process.returncode == 2
    assert process.stdout == ""
    assert process.stderr.count("\n") == 1
    assert process.stderr.startswith("tengen: ")
    assert complaint in process.stderr


def test_an_error_of_our_own_shows_no_traceback(monkeypatch: pytest.MonkeyPatch) -> None:
    from tengen.frontends.cli import _explained

    message, status = _explained(KeyError("surprise"))
    assert status == 1
    assert "surprise" in message
    missing = FileNotFoundError(2, "No such file", "x.sgf")
    assert _explained(missing) == ("x.sgf: No such file; check the path", 1)


# What went wrong, where, and what to do, of typical mistakes; FILE is a text, FOLDER is empty.
MISTAKES = [
    (["reveiw", "x.sgf"], ["No such command 'reveiw'", "Did you mean 'review'?"]),
    (["review", "--visits", "many", "x.sgf"], ["--visits", "integer", "tengen review --help"]),
    (["review"], ["GAMES", "tengen review --help"]),
    (["net", "add"], ["FILE_OR_ADDRESS", "tengen net add --help"]),
    (["review", "nowhere.sgf"], ["nowhere.sgf: cannot be read: No such file", "check the path"]),
    (["review", "FILE"], ["FILE: no game found: SGF begins with '(;'"]),
    (["review", "EMPTY"], ["EMPTY: no game found: SGF begins with '(;'"]),
    (["review", "FOLDER"], ["no game to review in FOLDER", "name SGF files, or their folder"]),
    (["net", "info", "nowhere"], ["nowhere", "there is no such network", "tengen net list"]),
    (["net", "info", "FOLDER"], ["FOLDER: is no file", "name a network file"]),
    (["net", "info", "FILE"], ["FILE: is no network file", ".bin.gz"]),
    (["net", "info", "EMPTY"], ["EMPTY: is empty", "download or export it again"]),
    (["net", "add", "ftp://localhost/x.bin.gz"], ["ftp://localhost/x.bin.gz", "https://"]),
    (["net", "add", "nowhere.bin.gz"], ["nowhere.bin.gz: cannot be read: No such file"]),
    (["selfplay", "--out", "FILE"], ["FILE", "is no folder", "name a folder"]),
    (["problems", "make", "FILE"], ["FILE", "a folder is needed there"]),
    (["problems", "check", "nowhere"], ["nowhere: No such file", "check the path"]),
    (["problems", "check", "FILE"], ["FILE, line 1: not a problem", "tengen problems make"]),
    (["gtp", "--config", "nowhere.toml"], ["nowhere.toml: No such file"]),
    (["gtp", "--log", "FOLDER"], ["FOLDER: Is a directory", "name a file"]),
    (["config", "FOLDER"], ["FOLDER exists", "name another file"]),
    (["review", "GAME", "--out", "FILE"], ["FILE: is no folder", "--out FOLDER"]),
    (["review", "GAME", "--out", "FILE/x"], ["FILE: is no folder", "--out FOLDER"]),
    (["match", "gtp:nowhere x", "firstday"], ["'nowhere x' does not start", "full path"]),
]


@pytest.mark.parametrize(("arguments", "said"), MISTAKES, ids=lambda words: " ".join(words))
def test_a_typical_mistake_is_told_with_its_place_and_remedy(
    arguments: list[str], said: list[str], tmp_path: Path
) -> None:
    (tmp_path / "FILE").write_text("a shopping list\n")
    (tmp_path / "GAME").write_text("(;SZ[9];B[ee];W[cc])")
    (tmp_path / "EMPTY").touch()
    (tmp_path / "FOLDER").mkdir()
    process = run(*arguments, folder=tmp_path)
    assert process.returncode in (1, 2)
    assert process.stdout == ""
    message = process.stderr.splitlines()[-1]
    assert message.startswith("tengen: ")
    assert "Traceback" not in process.stderr
    assert [each for each in said if each not in message] == []


@needs_bundled_network
def test_a_second_network_that_imitates_nobody_is_told_of() -> None:
    process = run("gtp", "--human-model", "tengen-9x9", answers="boardsize 9\ngenmove b\nquit\n")
    assert "tengen-9x9 does not imitate people" in process.stderr
    assert "humanSLProfile" not in process.stderr


def test_a_sweep_that_cannot_be_written_begins_no_run(tmp_path: Path) -> None:
    (tmp_path / "FILE").touch()
    process = run("sweep", "7x7", "--out", "FILE", folder=tmp_path)
    assert process.returncode == 1
    assert process.stderr == "tengen: FILE: File exists; name another, or remove it\n"


@needs_bundled_network
def test_a_port_in_use_is_named_with_what_to_do() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        process = run("analysis", "--listen", f"127.0.0.1:{port}")
    assert process.returncode == 2
    message = process.stderr.splitlines()[-1]
    assert f"cannot listen at 127.0.0.1 port {port}: Address already in use" in message
    assert "name another port" in message


@needs_bundled_network
def test_a_game_in_the_terminal() -> None:
    game = ["play", "--terminal", "--board-size", "5", "--level", "novice"]
    process = run(*game, answers="C3\nc3\nhello\nundo\nresign\n")
    assert process.returncode == 0, process.stderr
    assert "Tengen plays " in process.stdout
    assert "occupied" in process.stdout
    assert "not a move" in process.stdout
    assert process.stdout.rstrip().endswith("Result: W+R")


def test_a_file_that_is_no_network_ends_the_server_with_one_line() -> None:
    process = run("play", "--model", "README.md", "--no-browser", "--port", "0")
    assert process.returncode == 2
    assert process.stdout == ""
    *before, last = process.stderr.splitlines()
    assert all(line.startswith("tengen: ") for line in before)
    assert "README.md" in last


def test_a_level_keeps_its_own_limits_beside_a_file_of_settings(tmp_path: Path) -> None:
    file = str(tmp_path / "tengen.toml")
    assert run("config", file).returncode == 0
    process = run("gtp", "--level", "casual", "--config", file, answers="name\nquit\n")
    assert (process.returncode, process.stdout) == (0, "= Tengen\n\n=\n\n")
    refused = run("gtp", "--level", "casual", "--config", file, "--visits", "9", answers="quit\n")
    assert refused.returncode == 2
    assert "--visits" in refused.stderr


@needs_bundled_network
def test_leaving_a_game_in_the_terminal_is_no_error() -> None:
    assert run("play", "--terminal", "--board-size", "5", "--color", "white").returncode == 0


OF_COMMANDS: dict[str, type[Any]] = {
    "play": PlayOptions,
    "match": MatchOptions,
    "gtp": GtpOptions,
    "analysis": AnalysisOptions,
    "review": ReviewOptions,
    "train": TrainOptions,
    "selfplay": SelfPlayOptions,
    "benchmark": BenchmarkOptions,
    "config": NetworkOptions,
    "doctor": NetworkOptions,
}


@pytest.mark.parametrize("command", OF_COMMANDS)
def test_every_declared_option_is_explained_on_the_command_line(command: str) -> None:
    shown = " ".join(run(command, "--help").stdout.split())
    shown = re.sub(r"(\w)- ", r"\1-", shown)  # lines end at hyphens, too
    declared = [each for each in fields(OF_COMMANDS[command]) if "option" in each.metadata]
    assert declared
    for each in declared:
        info = each.metadata["option"]
        assert f"{info.flag or '--' + each.name.replace('_', '-')} " in shown
        assert info.help[1:] in shown


def test_a_settings_file_and_the_command_line_fill_the_same_options(tmp_path: Path) -> None:
    path = tmp_path / "tengen.toml"
    path.write_text("[gtp]\nname = 'A'\nresign_turns = 5\n[search]\nexploration = 2\n")
    wanted = "resignConsecTurns", "cpuctExploration"
    talk = "\n".join(["name", *(f"kata-get-param {name}" for name in wanted), "quit\n"])
    process = run("gtp", "--config", str(path), "--name", "B", answers=talk)
    assert process.stdout == "= B\n\n= 5\n\n= 2.0\n\n=\n\n"
    path.write_text("[gtp]\nbord_size = 7\n")
    process = run("gtp", "--config", str(path), answers="quit\n")
    assert process.returncode == 2
    assert "did you mean 'board_size'" in process.stderr


@pytest.mark.parametrize("module", ["cli", "gtp.run"])
def test_what_is_needed_first_imports_nothing_heavy(module: str) -> None:
    heavy = "numpy", "numba", "openvino", "torch", "rich", "fastapi", "asyncio"
    code = f"import sys, tengen.frontends.{module}; print([m for m in {heavy} if m in sys.modules])"
    process = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert process.stdout == "[]\n", process.stderr


def test_lists_of_commands_are_not_cut() -> None:
    for words in (["--help"], ["net", "--help"]):
        done = subprocess.run(
            [sys.executable, "-m", "tengen", *words],
            capture_output=True,
            text=True,
            check=True,
            env=os.environ | {"COLUMNS": "60"},
        )
        assert "..." not in done.stdout.partition("Commands:")[2]


@pytest.mark.parametrize(
    ("words", "place", "wanted"),
    [("tengen re", 1, "review"), ("tengen net ad", 2, "add"), ("tengen gtp --mod", 2, "--model")],
)
def test_shells_can_complete_commands_and_options(words: str, place: int, wanted: str) -> None:
    completing = {"COMP_WORDS": words, "COMP_CWORD": str(place)}
    done = subprocess.run(
        [sys.executable, "-m", "tengen"],
        capture_output=True,
        text=True,
        env=os.environ | {"_TENGEN_COMPLETE": "complete_bash", **completing},
    )
    assert wanted in done.stdout.split()
