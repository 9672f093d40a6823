"""`tengen uninstall-data` removes what Tengen made, and nothing else."""

from __future__ import annotations

import re
from contextlib import closing
from pathlib import Path

import pytest

from tengen.frontends.uninstall import kept_folders, remove_files
from tengen.frontends.web.play.game_store import GameStore
from tengen.user_folders import CACHES, DATA


@pytest.fixture
def folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Caches and data in one folder each, beside a file of somebody else."""
    monkeypatch.setenv("TENGEN_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setenv("TENGEN_DATA_DIR", str(tmp_path / "data"))
    for name in ("cache/kernels/a", "cache/networks", "cache/ranges", "data/games", "data/other"):
        (tmp_path / name).mkdir(parents=True)
        (tmp_path / name / "file").write_bytes(b"12345")
    (tmp_path / "data" / "networks").mkdir()
    return tmp_path


def test_every_folder_that_is_written_to_is_known(tmp_path: Path) -> None:
    found: set[str] = set()
    for file in Path("src/tengen").rglob("*.py"):
        text = file.read_text("utf-8")
        found |= set(re.findall(r'user_(?:cache|data)\(\) / "(\w+)"', text))
    with closing(GameStore(tmp_path)):
        made = {path.name for path in tmp_path.iterdir()}
    assert {"games", "results", "sessions"} <= made
    assert {"kernels", "networks"} <= found
    assert found | made <= {*CACHES, *DATA}


def left(folder: Path) -> list[str]:
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file())


def test_all_is_removed_but_what_is_not_tengen_s(
    folders: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert sum(each.size for each in kept_folders()) >= 20
    remove_files(caches_only=False, sure=True)
    assert left(folders) == ["data/other/file"]
    assert not (folders / "cache").exists()
    assert "pip uninstall tengen-go" in capsys.readouterr().out
    remove_files(caches_only=False, sure=True)
    assert "keeps no files" in capsys.readouterr().out


def test_caches_alone(folders: Path) -> None:
    remove_files(caches_only=True, sure=True)
    assert left(folders) == ["data/games/file", "data/other/file"]


def test_nothing_is_removed_unasked(folders: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = left(folders)
    with pytest.raises(ValueError, match="--yes"):
        remove_files(caches_only=False, sure=False)
    monkeypatch.setattr("sys.stdin.isatty", lambda: True, raising=False)
    monkeypatch.setattr("builtins.input", lambda _: "n")
    remove_files(caches_only=False, sure=False)
    assert left(folders) == before
