"""The files of a pack: whole or not at all, and whatever is wrong is named."""

from __future__ import annotations

import json
import random
import re
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tengen.atomic_files import replace_file
from tengen.runs import pack_file
from tengen.runs.folder import RunError
from tengen.runs.pack_file import MOST_BYTES, PART_BYTES, read_pack, write_pack

MEMBERS = {"first": bytes(range(256)) * 10, "empty": b"", "last": b"end" * 500}


@pytest.fixture
def small_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pack_file, "PART_BYTES", 1000)


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


@pytest.mark.usefixtures("small_parts")
def test_what_was_written_is_read_in_parts_that_are_no_larger_than_allowed(tmp_path: Path) -> None:
    file = tmp_path / "run.pack"
    for number in range(3):
        write_pack(file, {"number": number, "碁": 1.5}, MEMBERS)
        found = read_pack(file)
        assert found.facts == {"number": number, "碁": 1.5}
        assert found.members == MEMBERS
        letter = "aba"[number]
        assert names(tmp_path) == ["run.pack", *(f"run.pack.{letter}{k}" for k in range(1, 6))]
        assert all(re.fullmatch(r"[A-Za-z0-9._-]+", name) for name in names(tmp_path))
        sizes = [path.stat().st_size for path in sorted(tmp_path.glob("run.pack.*"))]
        assert sizes == [1000, 1000, 1000, 1000, 60]


def test_a_pack_is_at_most_three_parts_and_an_index(tmp_path: Path) -> None:
    file = tmp_path / "run.pack"
    write_pack(file, {}, {"all": bytes(MOST_BYTES - pack_file.INDEX_BYTES)})
    sizes = {path.name: path.stat().st_size for path in tmp_path.iterdir()}
    assert len(sizes) == 4
    assert max(sizes.values()) == PART_BYTES == 16 * 2**20
    assert sum(sizes.values()) <= MOST_BYTES == 48 * 2**20
    with pytest.raises(ValueError, match="too many for a pack"):
        write_pack(file, {}, {"all": bytes(MOST_BYTES - pack_file.INDEX_BYTES + 1)})


@pytest.mark.usefixtures("small_parts")
@pytest.mark.parametrize("part", [1, 3, 5])
def test_a_part_that_is_missing_damaged_or_of_another_pack_is_named(
    tmp_path: Path, part: int
) -> None:
    file = tmp_path / "run.pack"
    write_pack(file, {}, MEMBERS)
    path = tmp_path / f"run.pack.a{part}"
    content = path.read_bytes()
    for damage in (
        content[:-1],
        content + b"x",
        b"",
        bytes([content[0] ^ 1]) + content[1:],
        content[::-1],
    ):
        path.write_bytes(damage)
        with pytest.raises(RunError, match=rf"run\.pack\.a{part}: is damaged, or of another pack"):
            read_pack(file)
    path.unlink()
    with pytest.raises(RunError, match=rf"run\.pack\.a{part}: is missing.* copy it to where run"):
        read_pack(file)


def test_an_index_that_is_none_or_damaged_or_of_another_version_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "run.pack"
    with pytest.raises(RunError, match=r"run\.pack: cannot be read: No such file"):
        read_pack(file)
    write_pack(file, {"iteration": 7}, MEMBERS)
    text = file.read_text()
    for wrong in ("", text[:-20], "[]", "3", "{}", "\x89PNG"):
        file.write_text(wrong)
        with pytest.raises(RunError, match=r"run\.pack: is no pack of a run"):
            read_pack(file)
    file.write_text(text.replace('"iteration": 7', '"iteration": 8'))
    with pytest.raises(RunError, match=r"run\.pack: is damaged \(its checksum is wrong\)"):
        read_pack(file)
    file.write_text(text.replace("tengen pack 1", "tengen pack 2"))
    with pytest.raises(RunError, match=r"is a 'tengen pack 2'; this version reads 'tengen pack 1'"):
        read_pack(file)


@pytest.mark.parametrize("name", ["../secret", "/etc/passwd", ""])
def test_an_index_cannot_name_files_elsewhere(tmp_path: Path, name: str) -> None:
    file = tmp_path / "run.pack"
    write_pack(file, {}, MEMBERS)
    index = json.loads(file.read_text())
    index.pop("sha256")
    index["parts"][0][0] = name
    index["sha256"] = pack_file._checksum(index)
    file.write_text(json.dumps(index))
    with pytest.raises(RunError, match="names parts that cannot be"):
        read_pack(file)


@pytest.mark.usefixtures("small_parts")
@pytest.mark.parametrize("fails_at", range(1, 7))
def test_a_disk_that_is_full_leaves_the_old_pack_whole(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, fails_at: int
) -> None:
    file = tmp_path / "run.pack"
    write_pack(file, {"number": 1}, MEMBERS)
    calls = 0

    def failing(path: Path, content: bytes, temporary: str) -> None:
        nonlocal calls
        calls += 1
        if calls == fails_at:
            raise OSError(28, "No space left on device")
        replace_file(path, content, temporary)

    with monkeypatch.context() as full:
        full.setattr(pack_file, "replace_file", failing)
        with pytest.raises(RunError, match=r"the disk is full"):
            write_pack(file, {"number": 2}, MEMBERS)
    assert read_pack(file).facts == {"number": 1}
    write_pack(file, {"number": 3}, MEMBERS)
    assert read_pack(file).facts == {"number": 3}
    assert len(names(tmp_path)) == 6  # what was left is gone


WRITER = """
import itertools, sys
from pathlib import Path
from tengen.runs import pack_file
pack_file.PART_BYTES = 100_000
file = Path(sys.argv[1])
first = pack_file.read_pack(file).facts["number"] + 1 if file.exists() else 1
for number in itertools.count(first):
    pack_file.write_pack(file, {"number": number}, {"a": bytes([number % 256]) * 450_000})
    print(number, flush=True)
"""


def test_kills_while_packing_leave_a_whole_pack(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pack_file, "PART_BYTES", 100_000)
    file, dice, reached = tmp_path / "run.pack", random.Random(3), 0
    for _ in range(6):
        command = [sys.executable, "-c", WRITER, str(file)]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
            assert process.stdout is not None
            first = process.stdout.readline()
            assert first
            time.sleep(dice.uniform(0, 0.2))
            process.kill()
            lines = [first, *process.stdout]
        told = int([line for line in lines if line.endswith("\n")][-1])
        found = read_pack(file)
        number = found.facts["number"]
        assert number >= told > reached
        assert found.members["a"] == bytes([number % 256]) * 450_000
        reached = number
