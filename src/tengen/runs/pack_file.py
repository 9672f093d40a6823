"""The files of a pack: a small index that names the others, and parts that travel one by one.

The index is JSON: the format, facts about the run, the sizes of the members, and each part's name,
size and checksum. The parts are the members, one after the other, cut into files of a size that
most ways of copying allow. New parts have other names than the old ones and the index is replaced
last, so a process killed while writing leaves the old pack whole.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from tengen.atomic_files import replace_file, sync_folder
from tengen.runs.folder import RunError, writing

FORMAT = "tengen pack 1"
MOST_BYTES = 48 << 20  # of all files together
PART_BYTES = 16 << 20  # of one file
INDEX_BYTES = 1 << 18  # room for the index
_NAME = re.compile(r"[A-Za-z0-9._-]+")
_SETS = ("a", "b")  # parts are called FILE.a1, FILE.a2 ..., those of the next pack FILE.b1 ...


class Pack(NamedTuple):
    """The content of a pack."""

    facts: dict[str, Any]
    members: dict[str, bytes]


def write_pack(file: Path, facts: Mapping[str, Any], members: Mapping[str, bytes]) -> None:
    """Replace a pack atomically; raises RunError.

    Only one process may write to it at a time.
    """
    _check_name(file)
    data = b"".join(members.values())
    if len(data) > MOST_BYTES - INDEX_BYTES:
        raise ValueError(f"{len(data)} bytes are too many for a pack")
    old = _old_parts(file)
    letter = (
        _SETS[1] if any(name.startswith(f"{file.name}.{_SETS[0]}") for name in old) else _SETS[0]
    )
    parts: list[tuple[str, int, str]] = []
    for at in range(0, len(data), PART_BYTES):
        content = data[at : at + PART_BYTES]
        path = file.with_name(f"{file.name}.{letter}{len(parts) + 1}")
        with writing(path, len(content)):
            replace_file(path, content, f".{path.name}.unfinished")
        parts.append((path.name, len(content), hashlib.sha256(content).hexdigest()))
    index: dict[str, Any] = {
        "format": FORMAT,
        "facts": dict(facts),
        "members": {name: len(content) for name, content in members.items()},
        "parts": parts,
    }
    index["sha256"] = _checksum(index)
    text = json.dumps(index, indent=1).encode()
    if len(text) > INDEX_BYTES:
        raise ValueError(f"{len(text)} bytes are too many for the index of a pack")
    with writing(file, len(text)):
        sync_folder(file.parent)  # the parts, before the index that names them
        replace_file(file, text, f".{file.name}.unfinished")
        sync_folder(file.parent)
        named = {name for name, *_ in parts}
        for path in _all_parts(file):
            if path.name not in named:  # of the pack before, or left by a killed process
                path.unlink(missing_ok=True)


def check_target(file: Path) -> None:
    """Raise RunError unless a pack can be written there, without waiting for the first one."""
    _check_name(file)
    with writing(file):
        file.parent.mkdir(parents=True, exist_ok=True)
        probe = file.with_name(f".{file.name}.unfinished")
        probe.write_bytes(b"")
        probe.unlink()
    _old_parts(file)


def read_facts(file: Path) -> dict[str, Any]:
    """What the index says about the run; raises RunError."""
    facts: dict[str, Any] = _read_index(file)["facts"]
    return facts


def read_pack(file: Path) -> Pack:
    """A whole pack; raises RunError that names the file which is missing, damaged or foreign."""
    index = _read_index(file)
    content = []
    for name, size, checksum in index["parts"]:
        part = file.with_name(name)
        try:
            with part.open("rb") as opened:
                content.append(opened.read(PART_BYTES + 1))
        except FileNotFoundError:
            what = f"is missing, a part of the pack {file.name}"
            raise RunError(f"{part}: {what}; copy it to where {file.name} is") from None
        except OSError as error:
            raise RunError(f"{part}: cannot be read: {error.strerror}; copy it again") from None
        if len(content[-1]) != size or hashlib.sha256(content[-1]).hexdigest() != checksum:
            what = f"is damaged, or of another pack than {file.name}"
            raise RunError(f"{part}: {what}; copy all files of one pack again")
    data = b"".join(content)
    members, at = {}, 0
    for name, size in index["members"].items():
        members[name] = data[at : at + size]
        at += size
    return Pack(index["facts"], members)


def _read_index(file: Path) -> dict[str, Any]:
    """A checked index; raises RunError."""
    try:
        with file.open("rb") as opened:
            text = opened.read(INDEX_BYTES + 1)
    except OSError as error:
        raise RunError(f"{file}: cannot be read: {error.strerror}; check the path") from None
    try:
        index = json.loads(text)
        kind = index["format"]
    except (ValueError, KeyError, TypeError, RecursionError):
        raise RunError(f"{file}: is no pack of a run, or cut off; check the path") from None
    if kind != FORMAT:
        what = f"is a {str(kind)[:40]!r}; this version reads {FORMAT!r}"
        raise RunError(f"{file}: {what}; use the version of Tengen that wrote it")
    stated = index.pop("sha256", "")
    if stated != _checksum(index):
        raise RunError(f"{file}: is damaged (its checksum is wrong); copy it again")
    # With a right checksum, only a forged file differs from here on from what `write_pack` writes.
    parts, sizes = index["parts"], index["members"].values()
    harmless = all(
        _NAME.fullmatch(name) and 0 < size <= PART_BYTES for name, size, _checksum in parts
    )
    if not harmless or sum(sizes) != sum(size for _, size, _ in parts):
        raise RunError(f"{file}: names parts that cannot be; take a pack of your own")
    return dict(index)


def _check_name(file: Path) -> None:
    if not _NAME.fullmatch(file.name):
        allowed = "letters, digits, '.', '_' and '-'"
        raise RunError(f"{file}: a pack's name has only {allowed}; name another file")


def _old_parts(file: Path) -> list[str]:
    """The parts of the pack that is there; raises RunError if it is something else."""
    if not file.exists():
        return []
    try:
        return [name for name, *_ in _read_index(file)["parts"]]
    except RunError as error:
        raise RunError(f"{error}; or name another file to write to") from None


def _all_parts(file: Path) -> list[Path]:
    part = re.compile(re.escape(file.name) + rf"\.[{''.join(_SETS)}]\d+")
    return [path for path in file.parent.iterdir() if part.fullmatch(path.name)]


def _checksum(index: Mapping[str, Any]) -> str:
    return hashlib.sha256(json.dumps(index, sort_keys=True).encode()).hexdigest()
