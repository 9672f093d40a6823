"""Where files of users are kept, and what happens where nothing can be."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tengen.user_folders import user_cache, user_data


@pytest.mark.parametrize(
    ("folder", "variable"), [(user_cache, "TENGEN_CACHE_DIR"), (user_data, "TENGEN_DATA_DIR")]
)
def test_the_folders_follow_the_environment(
    folder: object, variable: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert callable(folder)
    monkeypatch.setenv(variable, "/somewhere")
    assert folder() == Path("/somewhere")


def test_without_a_folder_for_caches_the_variable_is_named(tmp_path: Path) -> None:
    home = tmp_path / "home"
    home.write_text("no folder")  # which nobody can write to, not even root
    kept = {name: value for name, value in os.environ.items() if not name.startswith("XDG_")}
    kept.pop("TENGEN_CACHE_DIR", None)
    code = "from tengen import Position; Position(9).play('E5')"
    done = subprocess.run(
        [sys.executable, "-c", code],
        env={**kept, "HOME": str(home)},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    assert "TENGEN_CACHE_DIR names another folder" in done.stderr


@pytest.mark.skipif(sys.platform == "win32", reason="there are other variables")
@pytest.mark.parametrize("folder", [user_cache, user_data])
def test_a_user_without_a_home_has_no_folder_and_no_error(
    folder: Callable[[], Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("TENGEN_CACHE_DIR", "TENGEN_DATA_DIR", "XDG_CACHE_HOME", "XDG_DATA_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", "~")  # as if it were unknown
    assert not folder().exists()
    with pytest.raises(NotADirectoryError):
        folder().mkdir(parents=True)
