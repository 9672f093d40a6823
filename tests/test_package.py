"""What the package offers, and what it must not need."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

import tengen
import tengen.browser
from tengen.engine.katago_params import SPOKEN_VERSION
from tests.frontends.analysis.conversation import Conversation
from tests.frontends.gtp.client import session


def test_the_exported_names_are_these() -> None:
    assert tengen.__all__ == [
        "Color",
        "Engine",
        "IllegalMoveError",
        "Move",
        "Outcome",
        "Point",
        "Position",
        "Reason",
        "Rules",
        "RulesError",
        "Score",
        "SgfError",
        "SgfGame",
        "SgfNode",
        "Size",
        "Symmetry",
        "Tally",
        "analyse",
        "load_sgf",
        "parse_rules",
        "read_sgf",
        "record",
        "save_sgf",
    ]
    assert all(getattr(tengen, name).__name__ == name for name in tengen.__all__)


def test_all_that_tell_the_version_agree() -> None:
    assert tengen.__version__ == "0.2.0"
    project = tomllib.loads(Path("pyproject.toml").read_text(encoding="utf-8"))
    assert "version" in project["project"]["dynamic"]
    assert project["tool"]["hatch"]["version"]["path"] == "src/tengen/__init__.py"
    assert Path(tengen.__file__) == Path("src/tengen/__init__.py").resolve()
    command = [sys.executable, "-m", "tengen", "--version"]
    told = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    assert told == f"tengen {tengen.__version__}\n"
    with session(None) as client:
        assert client.body("version") == SPOKEN_VERSION == f"1.17.2+tengen{tengen.__version__}"
    with Conversation() as conversation:
        answer = conversation.one({"id": "v", "action": "query_version"})
    assert answer["version"] == SPOKEN_VERSION


def test_a_wheel_is_typed_and_carries_the_pages_and_the_recipes() -> None:
    wheel = tomllib.loads(Path("pyproject.toml").read_text("utf-8"))["tool"]["hatch"]["build"]
    wheel = wheel["targets"]["wheel"]
    assert {"src/tengen", "docs"} <= set(wheel["only-include"])
    assert wheel["sources"] == {"src/tengen": "tengen", "docs": "tengen/docs"}
    needed = [Path("src/tengen/py.typed"), *Path("docs").glob("*.md")]
    needed += Path("docs/recipes").glob("*.toml")
    assert len(needed) > 20
    assert all(path.exists() for path in needed)
    left_out = [path for path in needed for each in wheel["exclude"] if path.is_relative_to(each)]
    assert left_out == []


def test_the_architecture_names_files_that_exist() -> None:
    text = Path("ARCHITECTURE.md").read_text(encoding="utf-8")
    named = re.findall(r"`([\w/]+(?:\.py|\.js|/))`", text)
    there = [f"/{path}{'/' * path.is_dir()}" for path in Path("src").rglob("*")]
    assert len(named) > 50
    assert [name for name in named if not any(path.endswith(f"/{name}") for path in there)] == []


def test_links_in_documents_lead_somewhere() -> None:
    pages = [*Path().glob("*.md"), *Path("docs").rglob("*.md")]
    links = [
        page.parent / link
        for page in pages
        for link in re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", page.read_text(encoding="utf-8"))
    ]
    assert len(links) > 20
    generated = [Path("docs/reference") / name for name in ("cli.md", "settings.md")]
    missing = [link for link in links if not link.exists() and link not in generated]
    assert [str(link) for link in missing] == []


def test_packages_list_their_modules_and_packages() -> None:
    packages = [file.parent for file in Path("src/tengen").rglob("*/__init__.py")]
    told = {
        each: ast.get_docstring(ast.parse((each / "__init__.py").read_text())) for each in packages
    }
    for package in packages:
        above = (
            told.get(package.parent) if package.name == "kernels" else ""
        )  # may list its modules
        listed = f"{told[package]}\n{above}"
        names = [file.stem for file in package.glob("*.py") if not file.stem.startswith("__")]
        names += [file.parent.name for file in package.glob("*/__init__.py")]
        # At the start of a line, or among others after a comma, a semicolon or a folder.
        start = r"(?m)(?:^(?:\d\. )?[-` ]*|[,;/] +`?)(?:kernels\.)?"
        assert [name for name in names if not re.search(rf"{start}{name}\b", listed)] == [], package


def test_the_browser_lists_its_pages_and_folders() -> None:
    listed = tengen.browser.__doc__ or ""
    static = tengen.browser.STATIC
    names = [page.name for page in static.glob("*.html")]
    names += [f"js/{folder.name}/" for folder in (static / "js").iterdir() if folder.is_dir()]
    assert len(names) > 10
    assert [name for name in names if not re.search(rf"(?m)^ *{name} ", listed)] == []


def test_other_names_are_refused() -> None:
    with pytest.raises(AttributeError, match="nonsense"):
        _ = tengen.nonsense


def test_playing_and_recording_need_numpy_and_numba_alone() -> None:
    """Self-play runs on machines that have little else."""
    code = (
        "import sys\n"
        "for name in ('sgfmill', 'openvino', 'fastapi', 'torch', 'onnx', 'ray'):\n"
        "    sys.modules[name] = None\n"
        "from tengen import Position, record, save_sgf\n"
        "print(save_sgf(record(Position(9).play('E5'))).decode())"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert run.returncode == 0, run.stderr
    assert ";B[ee]" in run.stdout


def test_players_do_not_need_torch() -> None:
    code = "import sys, tengen.frontends.cli; from tengen import *; print('torch' in sys.modules)"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout == "False\n"
