"""Files are written whole or not at all, and none in the place of what is no file."""

from __future__ import annotations

import errno
import os
import socket
from pathlib import Path

import pytest

from tengen.atomic_files import replace_file, replace_text


def test_a_file_is_replaced_whole(tmp_path: Path) -> None:
    path = tmp_path / "file"
    replace_file(path, b"one")
    replace_text(path, "zwölf\n")
    assert path.read_bytes() == "zwölf\n".encode()
    assert list(tmp_path.iterdir()) == [path]


def test_what_fails_leaves_the_old_file_and_names_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(_: int) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))  # as the system tells it

    def interrupt(_: int) -> None:
        raise KeyboardInterrupt

    path = tmp_path / "file"
    replace_file(path, b"old")
    monkeypatch.setattr(os, "fsync", refuse)
    with pytest.raises(OSError, match="No space left") as failed:
        replace_file(path, b"new")
    assert failed.value.filename == str(path)
    monkeypatch.setattr(os, "fsync", interrupt)
    with pytest.raises(KeyboardInterrupt):
        replace_file(path, b"new")
    assert path.read_bytes() == b"old"
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no such things")
def test_what_is_no_file_is_not_replaced(tmp_path: Path) -> None:
    pipe, address, link = tmp_path / "pipe", tmp_path / "socket", tmp_path / "link"
    os.mkfifo(pipe)
    link.symlink_to(os.devnull)
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(str(address))
        for path in (pipe, address, link):
            with pytest.raises(OSError, match="no file"):
                replace_file(path, b"new")
    assert pipe.is_fifo()
    assert address.is_socket()
    assert link.is_char_device()
