"""No file makes a terminal do anything: what commands print has no control characters."""

from __future__ import annotations

import ast
import json
import re
import sys
from collections.abc import Callable
from dataclasses import replace
from io import StringIO
from pathlib import Path

import pytest
from rich.progress import Progress, TextColumn
from rich.table import Table
from rich.text import Text

from tengen.engine import behaviour_signature as behaviour
from tengen.frontends import benchmark, doctor
from tengen.frontends.cli import main
from tengen.network.architecture import Activation
from tengen.network.files.tengen_format import save_network
from tengen.terminal_console import TerminalConsole
from tengen.user_messages import printable, say, tell
from tests.frontends.gtp.client import session
from tests.network.test_openvino import BLOCKS, random_network

SOURCES = Path(__file__).parents[2] / "src" / "tengen"
# Title of the window, red, bell, backspace, carriage return, C1's control sequence, right to left.
EVIL = "\x1b]0;owned\x07\x1b[31mE\b\rvil\x9b2J\u202egnp[/x]"
# What rich writes for its own styles, and nothing else: colours, weights and the cursor's place.
STYLE = re.compile(r"\x1b\[[0-9;?]*[mKAhl]|\r")


def assert_harmless(text: str, *, styled: bool = False) -> None:
    plain = STYLE.sub("", text) if styled else text
    bad = {sign for sign in plain if not sign.isprintable() and sign not in "\n\t"}
    assert not bad, repr(text[:2000])


@pytest.fixture
def evil_network(tmp_path: Path) -> Path:
    network = random_network(BLOCKS["ordinary"], Activation.RELU)
    path = tmp_path / f"{EVIL.replace('/', '')}.safetensors"
    provenance = {EVIL: EVIL, "made by": EVIL}
    save_network(replace(network, name=EVIL, provenance=provenance), path)
    return path


@pytest.fixture
def evil_game(tmp_path: Path) -> Path:
    path = tmp_path / f"game {EVIL.replace('/', '')}.sgf"
    name = EVIL.replace("]", "\\]")
    path.write_text(f"(;SZ[5]PB[{name}]PW[{name}]RU[{name}];B[cc]C[{name}];W[bb];B[dd])", "utf-8")
    return path


Run = Callable[..., tuple[int, str, str]]


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Run:
    def call(*arguments: str | Path) -> tuple[int, str, str]:
        monkeypatch.setattr(sys, "argv", ["tengen", *map(str, arguments)])
        with pytest.raises(SystemExit) as end:
            main()
        out, err = capsys.readouterr()
        code = end.value.code
        return code if isinstance(code, int) else 1, out, err

    return call


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """Measure little."""
    monkeypatch.setattr(behaviour, "SIZES", ((3, 3),))
    monkeypatch.setattr(doctor, "VISITS", 2)
    monkeypatch.setattr(benchmark, "LEAVES", (1,))


@pytest.mark.usefixtures("quick")
def test_names_in_networks(run: Run, evil_network: Path, tmp_path: Path) -> None:
    exported = tmp_path / f"out {EVIL.replace('/', '')}.safetensors"
    for command in (
        ["net", "info", evil_network],
        ["net", "verify", evil_network, "--against", "torch", "--positions", "2"],
        ["net", "export", evil_network, "--half", exported],
        ["doctor", "--model", evil_network],
        ["benchmark", "--model", evil_network, "--seconds", "0.1", "--board-size", "5"],
        ["match", f"{evil_network}@1", f"{evil_network}@1", "--games", "2", "--board-size", "5"],
        ["config", tmp_path / EVIL, "--model", evil_network],
    ):
        _, out, err = run(*command)
        assert "internal error" not in err
        assert_harmless(out)
        assert_harmless(err)
        assert "vil" in out + err or "config" in command


def test_names_in_games(run: Run, evil_game: Path, evil_network: Path) -> None:
    status, out, err = run("review", evil_game, "--visits", "2", "--model", evil_network)
    assert status == 0, err
    assert "Black (?]0;owned?[31mE vil?2J?gnp[/x])" in out  # rich drops some itself
    assert_harmless(out)
    assert_harmless(err)


@pytest.mark.usefixtures("quick")
@pytest.mark.parametrize(
    "command",
    [
        ["review"],
        ["net", "info"],
        ["net", "import"],
        ["doctor", "--model"],
        ["gtp", "--config"],
        ["analysis", "--config"],
        ["selfplay"],
        ["train", "run", "--config"],
        ["train", "run", "--set"],
        ["play", "--run"],
        ["play", "--level"],
        ["nonsense"],
    ],
    ids=" ".join,
)
def test_names_of_files_in_errors(run: Run, command: list[str], tmp_path: Path) -> None:
    broken = tmp_path / EVIL.replace("/", "")
    broken.write_text(f"[engine]\n{json.dumps(EVIL)} = {json.dumps(EVIL)}\n", "utf-8")
    for argument in (broken, f"{tmp_path}/missing {EVIL}"):
        arguments = [argument if each == "run" else each for each in command]
        status, out, err = run(*command[: len(arguments)], argument)
        assert status != 0
        assert_harmless(out)
        assert_harmless(err)


def test_replies_of_gtp(tmp_path: Path) -> None:
    broken = tmp_path / "broken.sgf"
    broken.write_text(f"(;SZ[{EVIL.replace(']', '')}];B[cc])", "utf-8")
    with session(None) as client:
        assert_harmless(client.error(f"loadsgf {broken}"))
        assert_harmless(client.error(f"loadsgf {EVIL}"))


def test_a_console_keeps_its_styles_and_nothing_of_the_text_s() -> None:
    out = StringIO()
    console = TerminalConsole(file=out, force_terminal=True, color_system="standard", width=200)
    table = Table(EVIL.replace("[/x]", ""))
    table.add_row(Text(EVIL, style="red"))
    console.print(table)
    console.print(EVIL, markup=False, soft_wrap=True)
    with Progress(TextColumn("{task.description}", markup=False), console=console) as progress:
        progress.add_task(EVIL)
    text = out.getvalue()
    assert "\x1b[31m?]0;owned?[31mE" in text  # red by our style, and not by the text
    assert_harmless(text.replace("\x1b[31m?", "?"), styled=True)
    assert "\x1b]" not in text


def test_messages(capsys: pytest.CaptureFixture[str]) -> None:
    say(f"a\n{EVIL}")
    tell(f"a\n{EVIL}")
    out, err = capsys.readouterr()
    assert err.startswith("tengen: a??]0;owned")
    assert out.startswith("a\n?]0;owned")
    assert_harmless(out + err)
    assert printable("Grüße, 棋: 囲碁 ☺") == "Grüße, 棋: 囲碁 ☺"


def test_nothing_prints_but_what_cleans() -> None:
    """`print` and rich's `Console` are called in the modules that clean, and nowhere else."""
    found = []
    for path in SOURCES.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            called = node.func if isinstance(node, ast.Call) else None
            if isinstance(called, ast.Name) and called.id in ("print", "Console"):
                found.append(path.relative_to(SOURCES).as_posix())
    # GoGui's drawings are made of our own moves and numbers.
    assert set(found) == {"user_messages.py", "frontends/gtp/gogui.py"}
