"""A run's folder: made once, opened again, written by one process at a time."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tengen.runs.folder import RunError, RunFolder, RunLock, create_run, is_run, open_run


def test_a_new_run_has_its_config_and_its_folders(tmp_path: Path) -> None:
    path = tmp_path / "deep" / "run"
    assert not is_run(path)
    folder = create_run(path, "[run]\nseed = 碁\n")
    assert is_run(path)
    assert (path / "config.toml").read_text(encoding="utf-8") == "[run]\nseed = 碁\n"
    found = {each.name for each in path.iterdir() if each.is_dir()}
    assert found == {"checkpoints", "networks", "shards", "games", "tensorboard"}
    assert open_run(str(path)) == folder


def test_a_run_is_not_made_twice(folder: RunFolder) -> None:
    with pytest.raises(RunError, match="is a run already; resume it"):
        create_run(folder.path, "")
    assert folder.config.read_text() == "# settings\n"


def test_a_folder_with_other_files_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "thesis.tex").write_text("")
    with pytest.raises(RunError, match=r"holds other files \('thesis\.tex' for one\).*empty"):
        create_run(tmp_path, "")
    assert [each.name for each in tmp_path.iterdir()] == ["thesis.tex"]


def test_a_run_that_was_killed_while_it_was_made_is_made_again(tmp_path: Path) -> None:
    (tmp_path / "checkpoints").mkdir()
    (tmp_path / ".config.toml.1234.unfinished").write_text("[ru")
    with RunLock(tmp_path):
        create_run(tmp_path, "[run]\n")
    assert is_run(tmp_path)


@pytest.mark.parametrize(("name", "complaint"), [("", "no config.toml"), ("none", "is no folder")])
def test_what_is_no_run_is_not_opened(tmp_path: Path, name: str, complaint: str) -> None:
    with pytest.raises(RunError, match=f"is no run: it .*{complaint}.*check the path"):
        open_run(tmp_path / name)


def test_folders_that_are_gone_come_back(folder: RunFolder) -> None:
    folder.games.rmdir()
    open_run(folder.path)
    assert folder.games.is_dir()


def test_a_read_only_folder_is_explained(read_only: Path) -> None:
    remedy = "may not be written .*; change its permissions, or name another folder"
    for path in (read_only, read_only / "run"):
        with pytest.raises(RunError, match=f"{path}.* {remedy}"):
            RunLock(path)
        with pytest.raises(RunError, match=f"{path}.* {remedy}"):
            create_run(path, "")


def test_a_file_in_the_place_of_the_folder_is_explained(tmp_path: Path) -> None:
    (tmp_path / "run").write_text("")
    with pytest.raises(RunError, match="run: cannot be written: File exists"):
        create_run(tmp_path / "run", "")


def test_the_lock_keeps_others_out_and_names_its_process(tmp_path: Path) -> None:
    with RunLock(tmp_path):
        with pytest.raises(RunError, match=f"in use by process {os.getpid()} on .*; stop that"):
            RunLock(tmp_path)
        with pytest.raises(RunError, match="in use"):  # the failed attempt changed nothing
            RunLock(tmp_path)
    with RunLock(tmp_path):
        pass


def test_the_lock_holds_between_processes_and_ends_with_its_process(tmp_path: Path) -> None:
    code = (
        "import sys, time\n"
        "from tengen.runs.folder import RunLock\n"
        "lock = RunLock(sys.argv[1])\n"
        "print('locked', flush=True)\n"
        "time.sleep(100)\n"
    )
    command = [sys.executable, "-c", code, str(tmp_path)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            assert process.stdout.readline() == "locked\n"
            with pytest.raises(RunError, match=f"in use by process {process.pid} on "):
                RunLock(tmp_path)
        finally:
            process.kill()
    RunLock(tmp_path).close()
