"""Networks that users keep by name."""

from __future__ import annotations

import errno
import hashlib
import io
import os
import re
import socketserver
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, cast

import pytest

from tengen.frontends.command_options import PlayOptions
from tengen.frontends.web.http.security import access_policy
from tengen.frontends.web.http.serve import offered_folder
from tengen.frontends.web.play.networks import OfferedNetworks
from tengen.network.files.bundled import bundled_networks
from tengen.network.files.errors import NetworkFileError
from tengen.network.files.library import add_network, kept_networks, remove_network
from tengen.network.files.loading import find_network, library, load_network
from tests.katago_data import SMALL_FOLDER

SOURCE = SMALL_FOLDER / "conv-relu-v9.bin.gz"
HOSTS = ("127.0.0.1", None), ("0.0.0.0", "secret-of-this-test")
SHA256 = hashlib.sha256(SOURCE.read_bytes()).hexdigest()


@pytest.fixture(autouse=True)
def data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("TENGEN_DATA_DIR", str(tmp_path / "data"))
    return tmp_path / "data"


@pytest.fixture
def server(tmp_path: Path) -> Iterator[str]:
    """The address of a server with a network and a page."""
    (tmp_path / "site").mkdir()
    (tmp_path / "site" / SOURCE.name).write_bytes(SOURCE.read_bytes())
    (tmp_path / "site" / "page.bin.gz").write_text("<html>Log in first</html>")
    handler = partial(QuietHandler, directory=str(tmp_path / "site"))
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


class QuietHandler(SimpleHTTPRequestHandler):
    def log_message(self, *_: object) -> None:
        pass


def test_a_file_is_kept_and_found_by_its_name() -> None:
    kept = add_network(str(SOURCE), sha256=SHA256.upper())
    assert (kept.name, kept.sha256, kept.origin) == ("conv-relu-v9", SHA256, str(SOURCE))
    assert kept.path.read_bytes() == SOURCE.read_bytes()
    assert kept_networks() == [kept]
    assert find_network("conv-relu-v9") == kept.path
    assert load_network("conv-relu-v9").name == load_network(SOURCE).name


def test_a_network_is_downloaded_under_another_name(server: str) -> None:
    heard: list[tuple[int, int | None]] = []
    size = SOURCE.stat().st_size
    add_network(
        f"{server}/{SOURCE.name}", "mine", on_progress=lambda *progress: heard.append(progress)
    )
    assert load_network("mine").name == load_network(SOURCE).name
    assert heard[-1] == (size, size)


@pytest.mark.parametrize(
    ("path", "complaint"), [("page.bin.gz", "is a web page"), ("none.bin.gz", "not found")]
)
def test_what_is_no_network_leaves_nothing(server: str, path: str, complaint: str) -> None:
    with pytest.raises(NetworkFileError, match=complaint) as caught:
        add_network(f"{server}/{path}")
    assert path in str(caught.value)
    assert list(library().iterdir()) == []


ANSWERS = {
    "no line of HTTP": b"SSH-2.0-OpenSSH_9.6\r\n\r\n",
    "a line without an end": b"HTTP/1.1 200 " + 100_000 * b"a",
    "too many headers": b"HTTP/1.1 200 OK\r\n" + 1_000 * b"a: b\r\n" + b"\r\n",
    "a body that is cut": b"HTTP/1.1 200 OK\r\nContent-Length: 99\r\n\r\n\x1f\x8b",
    "a length that is none": b"HTTP/1.1 200 OK\r\nContent-Length: \xb2\r\n\r\n\x1f\x8b",
    "chunks that are none": b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
    "another protocol": b"HTTP/1.1 302 Found\r\nLocation: ftp://127.0.0.1:1/x.bin.gz\r\n\r\n",
    "a file here": b"HTTP/1.1 302 Found\r\nLocation: file:///etc/passwd\r\n\r\n",
    "an address that is none": b"HTTP/1.1 302 Found\r\nLocation: http://[/\r\n\r\n",
    "itself": b"HTTP/1.1 302 Found\r\nLocation: /x.bin.gz\r\n\r\n",
    "nothing": b"",
}


@pytest.mark.parametrize("answer", ANSWERS.values(), ids=ANSWERS)
def test_whatever_a_server_answers_is_refused_and_leaves_nothing(answer: bytes) -> None:
    with (
        served(answer) as address,
        pytest.raises(NetworkFileError, match=r"127\.0\.0\.1") as caught,
    ):
        add_network(f"{address}/x.bin.gz")
    assert "\n" not in str(caught.value)
    assert list(library().iterdir()) == []


@pytest.mark.parametrize("source", ["http://[", "http://[::1/x.bin.gz", "HTTP://a b/x.bin.gz"])
def test_addresses_that_are_none(source: str) -> None:
    with pytest.raises(NetworkFileError, match=re.escape(source)):
        add_network(source)


def test_what_begins_like_no_network_is_not_fetched_to_its_end() -> None:
    endless = b"HTTP/1.1 200 OK\r\n\r\n" + 64 * (1 << 20) * b"\0"
    with served(endless) as address, pytest.raises(NetworkFileError, match="is no network file"):
        add_network(f"{address}/x.bin.gz")
    with pytest.raises(NetworkFileError, match="is no network file"):
        add_network("/dev/zero", "zero")


@contextmanager
def served(answer: bytes) -> Iterator[str]:
    """The address of a server that answers everything so."""

    class Handler(socketserver.BaseRequestHandler):
        def handle(self) -> None:
            self.request.recv(65536)
            with suppress(OSError):
                self.request.sendall(answer)

    with socketserver.ThreadingTCPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever, args=[0.01])
        thread.start()
        yield f"http://127.0.0.1:{server.server_address[1]}"
        server.shutdown()
        thread.join()


def test_a_full_disk_is_told_of(monkeypatch: pytest.MonkeyPatch) -> None:
    read = Path.open
    monkeypatch.setattr(
        Path, "open", lambda path, mode: _Full() if "w" in mode else read(path, mode)
    )
    with pytest.raises(NetworkFileError, match="networks: cannot be written to: No space left"):
        add_network(str(SOURCE))


class _Full(io.BytesIO):
    def write(self, *_: object) -> int:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def test_what_a_killed_program_left_is_removed_after_a_day() -> None:
    library().mkdir(parents=True)
    old, new = library() / ".a.0123.bin.gz", library() / ".b.0123.bin.gz"
    for each in (old, new):
        each.touch()
    os.utime(old, (1e9, 1e9))
    add_network(str(SOURCE))
    assert new.exists()
    assert not old.exists()


def test_another_checksum_than_expected_is_refused() -> None:
    with pytest.raises(NetworkFileError, match=f"its SHA-256 is {SHA256}"):
        add_network(str(SOURCE), sha256="0" * 64)
    assert kept_networks() == []


@pytest.mark.parametrize("name", ["bundled", "tengen-9x9", "../other", "", ".hidden", "a b"])
def test_names_that_cannot_be(name: str) -> None:
    with pytest.raises(NetworkFileError, match="--name"):
        add_network(str(SOURCE), name)


def test_a_name_is_taken_until_it_is_removed() -> None:
    add_network(str(SOURCE))
    with pytest.raises(NetworkFileError, match="tengen net remove conv-relu-v9"):
        add_network(str(SOURCE))
    remove_network("conv-relu-v9")
    assert list(library().iterdir()) == []
    with pytest.raises(NetworkFileError, match="not among your networks"):
        remove_network("conv-relu-v9")
    add_network(str(SOURCE))


def test_a_file_that_changes_is_noticed() -> None:
    kept = add_network(str(SOURCE))
    other = SMALL_FOLDER / "conv-relu-v7.bin.gz"
    kept.path.write_bytes(other.read_bytes())
    with pytest.raises(NetworkFileError, match="has changed since it was added"):
        load_network("conv-relu-v9")
    ours = add_network(str(bundled_networks()[0]), "ours")
    load_network("ours")
    ours.path.write_bytes(bundled_networks()[1].read_bytes())
    with pytest.raises(NetworkFileError, match="has changed since it was added"):
        load_network("ours")


def test_the_page_offers_what_was_added_to_people_on_this_machine_alone() -> None:
    add_network(str(SOURCE))
    here, elsewhere = (access_policy(host, token) for host, token in HOSTS)
    folder = offered_folder(PlayOptions(), here)
    assert folder == library()
    (library() / ".unfinished.bin.gz").touch()
    offered = OfferedNetworks(cast(Any, None), folder, cast(Any, load_network))
    assert offered.names() == ["conv-relu-v9.bin.gz"]
    assert offered_folder(PlayOptions(), elsewhere) is None
    named = Path("networks")
    assert offered_folder(PlayOptions(networks=named), elsewhere) == named


def test_a_missing_file_is_named() -> None:
    with pytest.raises(NetworkFileError, match=r"nowhere\.bin\.gz.*No such file"):
        add_network("nowhere.bin.gz")


def test_a_folder_that_cannot_be_written_to_names_the_variable(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setenv("TENGEN_DATA_DIR", str(tmp_path / "file"))
    with pytest.raises(NetworkFileError, match="TENGEN_DATA_DIR"):
        add_network(str(SOURCE))
