"""Networks that users keep by name."""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, cast

import pytest

from tengen.frontends.options import PlayOptions
from tengen.frontends.web.http.security import access_policy
from tengen.frontends.web.http.serve import offered_folder
from tengen.frontends.web.play.networks import OfferedNetworks
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
