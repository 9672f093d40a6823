"""Network files of any kind, recognised by their content, not their names."""

from __future__ import annotations

import gzip
import hashlib
import io
import json
import re
import zlib
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from tengen.network.files.bundled import BUNDLED, FOLDER, bundled_for, bundled_networks
from tengen.network.files.errors import AGAIN, NetworkFileError, describe_foreign_file
from tengen.network.files.katago_format import read_network
from tengen.network.files.tengen_format import (
    cannot_read,
    load_network_file,
    looks_like_safetensors,
    save_network,
)
from tengen.network.network_data import NetworkData
from tengen.user_folders import user_cache, user_data

if TYPE_CHECKING:
    from tengen.game.position import Position

ENDINGS = (".safetensors", ".bin.gz", ".txt.gz", ".bin", ".txt")
MAX_FILE_BYTES = 4 << 30  # the largest network that KataGo has published is under 1 GB
# Limits on the size of decompressed files, against gzip bombs: weights hardly shrink, text by 3.
FREE_GROWTH, GROWTH = 64 << 20, 20
CHUNK = 1 << 20
# Part of the names of cached conversions: raise it when the conversion changes.
CONVERSION = 3

_GZIP = b"\x1f\x8b"
_KATAGO = re.compile(rb"\s*[^\s@]\S{0,199}\s+-?\d{1,9}\s")  # a name and a version
START = 512  # bytes by which kinds of files are told apart


def load_network(path_or_name: str | Path, game: Position | None = None) -> NetworkData:
    """Load a network file of Tengen's or KataGo's; raises NetworkFileError.

    `bundled` is the network that comes with the package for a game like this one, without a game
    the first of them. Other names may omit the file's ending and are searched in this folder, among
    the user's networks and among the package's. Conversions of KataGo's files are cached by the
    file's content.
    """
    path = find_network(path_or_name, game)
    start = read_bytes(path, START)
    check_start(start, str(path))
    if looks_like_safetensors(start):
        if path.parent == library():
            _check_unchanged(path, file_sha256(path))
        return load_network_file(path)
    content = read_bytes(path)
    digest = hashlib.sha256(content).hexdigest()
    _check_unchanged(path, digest)
    cached = _cached_networks() / f"{digest}-{CONVERSION}.safetensors"
    with suppress(NetworkFileError):
        return load_network_file(cached)
    data = read_katago(content, str(path))
    with suppress(OSError, NetworkFileError):  # without a cache it is converted each time
        cached.parent.mkdir(parents=True, exist_ok=True)
        save_network(data, cached)
    return data


def find_network(path_or_name: str | Path, game: Position | None = None) -> Path:
    """Find the file that a path or name stands for; raises NetworkFileError if there is none."""
    if path_or_name == BUNDLED:
        return bundled_networks()[0] if game is None else bundled_for(game)
    path = Path(path_or_name)
    places = [path]
    if path.name == str(path):
        folders = Path(), library(), _cached_networks(), FOLDER
        places += [folder / f"{path.name}{end}" for folder in folders for end in ENDINGS]
    try:
        found = next((place for place in places if place.exists()), None)
        if found is None:
            remedy = "check the path; `tengen net list` shows those that have names"
            raise NetworkFileError(f"{path}: there is no such network file; {remedy}")
        if not found.is_file():
            raise NetworkFileError(f"{path}: is no file; name a network file")
    except OSError as error:
        raise cannot_read(path, error) from None
    except ValueError as error:
        if isinstance(error, NetworkFileError):
            raise
        raise NetworkFileError(f"{str(path)!r}: is no path: {error}; check it") from None
    return found


def file_sha256(path: Path) -> str:
    """The SHA-256 of a file, which identifies a network whatever its name."""
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise cannot_read(path, error) from None


def read_bytes(path: Path, count: int = -1) -> bytes:
    """Read a file or its start; raises NetworkFileError if it is unreadable or too large."""
    try:
        if path.stat().st_size > MAX_FILE_BYTES:
            what = f"is larger than {MAX_FILE_BYTES >> 30} GiB, as no network is"
            raise NetworkFileError(f"{path}: {what}; name a network file")
        with path.open("rb") as file:
            return file.read(count)
    except OSError as error:
        raise cannot_read(path, error) from None


def read_katago(content: bytes, source: str) -> NetworkData:
    """Read the bytes of a KataGo file, compressed or not; raises NetworkFileError."""
    if content.startswith(_GZIP):
        content = _decompress(content, source)
    _check_katago_start(content[:START], source)
    return read_network(content, source)


def check_start(start: bytes, source: str) -> None:
    """Raise NetworkFileError unless this may be the start of a network file of any kind."""
    if not (looks_like_safetensors(start) or start.startswith(_GZIP)):
        _check_katago_start(start, source)


def _check_katago_start(start: bytes, source: str) -> None:
    """Raise NetworkFileError unless this is the start of an uncompressed KataGo file."""
    if foreign := describe_foreign_file(start):
        raise NetworkFileError(f"{source}: {foreign}")
    if not _KATAGO.match(start):
        kinds = "a safetensors file of Tengen's or a .bin.gz of KataGo's"
        raise NetworkFileError(f"{source}: is no network file; name {kinds}")


def _decompress(content: bytes, source: str) -> bytes:
    """Decompress a gzip file; raises NetworkFileError for a gzip bomb."""
    limit = FREE_GROWTH + GROWTH * len(content)
    pieces: list[bytes] = []
    size = 0
    try:
        with gzip.GzipFile(fileobj=io.BytesIO(content)) as file:
            while piece := file.read(CHUNK):
                pieces.append(piece)
                size += len(piece)
                if size > limit:
                    what = f"grows past {limit:,} bytes, as no network does"
                    raise NetworkFileError(f"{source}: {what}; do not trust this file")
    except (OSError, EOFError, zlib.error):
        raise NetworkFileError(f"{source}: damaged gzip file; {AGAIN}") from None
    return b"".join(pieces)


def library() -> Path:
    """The folder of the networks that the user added."""
    return user_data() / "networks"


def record_of(path: Path) -> Path:
    """The file beside a network of the library that says where it came from."""
    return path.with_name(f"{split_ending(path.name)[0]}.origin.json")


def _check_unchanged(path: Path, digest: str) -> None:
    """Raise NetworkFileError if a file of the library is not the one that was added."""
    if digest != expected_checksum(path, digest):
        what = "has changed since it was added: its checksum is another one"
        raise NetworkFileError(f"{path}: {what}; remove it, and add it again")


def expected_checksum(path: Path, otherwise: str) -> str:
    """The SHA-256 that a file of the library had when it was added."""
    if path.parent != library():
        return otherwise
    with suppress(OSError, ValueError, KeyError, TypeError):
        return str(json.loads(record_of(path).read_text("utf-8"))["sha256"])
    return otherwise


def split_ending(file_name: str) -> tuple[str, str]:
    """A file's name without the ending that tells its kind, and that ending, which may be ""."""
    for ending in ENDINGS:
        if file_name.lower().endswith(ending) and len(file_name) > len(ending):
            return file_name[: -len(ending)], ending
    return file_name, ""


def _cached_networks() -> Path:
    return user_cache() / "networks"
