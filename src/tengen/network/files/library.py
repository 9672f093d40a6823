"""The user's networks: files that are kept under a name, with their origin and checksum.

`tengen net add` fills it; wherever a network can be named, these names are understood.
"""

from __future__ import annotations

import hashlib
import json
import re
import secrets
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.client import HTTPException
from pathlib import Path
from typing import Any, NamedTuple
from urllib.error import HTTPError
from urllib.parse import unquote, urlsplit
from urllib.request import (
    HTTPDefaultErrorHandler,
    HTTPErrorProcessor,
    HTTPHandler,
    HTTPRedirectHandler,
    HTTPSHandler,
    OpenerDirector,
    ProxyHandler,
    Request,
    UnknownHandler,
)

from tengen.atomic_files import replace_file
from tengen.network.files.bundled import BUNDLED, FILES
from tengen.network.files.errors import AGAIN, NetworkFileError, one_line
from tengen.network.files.loading import (
    CHUNK,
    ENDINGS,
    MAX_FILE_BYTES,
    START,
    check_start,
    library,
    load_network,
    record_of,
    split_ending,
)
from tengen.pip_package import DISTRIBUTION
from tengen.user_folders import DATA_VARIABLE

PUBLIC_NETWORKS = "https://katagotraining.org/networks/"
TIMEOUT_SECONDS = 60.0
UNFINISHED = "."  # with which the names of unfinished files begin
KEPT_SECONDS = 24 * 3600.0  # of such files
_NAME = re.compile(r"[A-Za-z0-9][\w.+-]{0,99}", re.ASCII)

OnProgress = Callable[[int, int | None], object]  # bytes so far, and in all if that is known


class KeptNetwork(NamedTuple):
    """A network of the library."""

    name: str
    path: Path
    sha256: str
    origin: str  # the file or address it came from


def kept_networks() -> list[KeptNetwork]:
    """The networks of the library by name; other files in its folder are ignored."""
    found = (_kept(path) for path in sorted(library().glob("*.origin.json")))
    return [each for each in found if each is not None]


def add_network(
    source: str,
    name: str | None = None,
    sha256: str | None = None,
    on_progress: OnProgress = lambda *_: None,
) -> KeptNetwork:
    """Copy or download a network into the library once it is known to work.

    The name is that of the file without its ending, unless given. Raises NetworkFileError, also
    where the checksum is not the expected one.
    """
    try:
        path = Path(unquote(urlsplit(source).path)) if _is_url(source) else Path(source)
    except ValueError as error:
        raise NetworkFileError(f"{source}: is no address: {error}; check it") from None
    file_name = path.name
    stem, ending = split_ending(file_name)
    ending = ending or ENDINGS[1]
    name = stem if name is None else name
    _check_name(name)
    if not _is_url(source) and "://" in source:
        raise NetworkFileError(
            f"{source}: only http:// and https:// are read; download it, and name the file"
        )
    with _unfinished(name, ending) as unfinished:
        found = _fetch(source, unfinished, on_progress)
        if sha256 is not None and sha256.strip().lower() != found:
            what = f"its SHA-256 is {found}, not {sha256.strip().lower()}"
            raise NetworkFileError(f"{source}: {what}; do not trust this file, or {AGAIN}")
        _check_network(unfinished, source)
        target = library() / f"{name}{ending}"
        unfinished.replace(target)
    record = {"sha256": found, "origin": source, "file": target.name}
    replace_file(record_of(target), json.dumps(record, indent=1).encode())
    return KeptNetwork(name, target, found, source)


def remove_network(name: str) -> KeptNetwork:
    """Remove a network from the library; raises NetworkFileError if there is none of this name."""
    for each in kept_networks():
        if each.name == name:
            each.path.unlink(missing_ok=True)
            record_of(each.path).unlink()
            return each
    known = ", ".join(each.name for each in kept_networks()) or "none"
    raise NetworkFileError(f"{name!r} is not among your networks; there are: {known}")


def _is_url(source: str) -> bool:
    return source.lower().startswith(("http://", "https://"))


def _fetch(source: str, target: Path, on_progress: OnProgress) -> str:
    """Copy or download a file; returns its SHA-256. Raises NetworkFileError."""
    digest = hashlib.sha256()
    pieces = _pieces(source, on_progress)
    with target.open("wb") as out:
        while True:
            try:
                piece = next(pieces, None)
            except HTTPError as error:
                error.close()
                raise NetworkFileError(f"{source}: {_reason(error)}") from None
            except NetworkFileError:
                raise
            except (OSError, HTTPException, ValueError) as error:
                raise NetworkFileError(f"{source}: {_reason(error)}") from None
            if piece is None:
                return digest.hexdigest()
            digest.update(piece)
            try:
                out.write(piece)
                out.flush()
            except OSError as error:
                why = f"cannot be written to: {error.strerror}"
                raise NetworkFileError(
                    f"{target.parent}: {why}; make room, or let {DATA_VARIABLE} name another folder"
                ) from None


def _pieces(source: str, on_progress: OnProgress) -> Iterator[bytes]:
    """The content of a file or an address.

    Raises OSError, HTTPException, and NetworkFileError for what is large or begins like no network.
    """
    if _is_url(source):
        request = Request(source, headers={"User-Agent": DISTRIBUTION})
        file = _OPENER.open(request, timeout=TIMEOUT_SECONDS)
        length = file.headers.get("Content-Length", "")
        total = int(length) if re.fullmatch("[0-9]{1,15}", length) else None
    else:
        file = Path(source).open("rb")  # noqa: SIM115
        total = Path(source).stat().st_size
    done = 0
    with file:
        while piece := file.read(CHUNK):
            if not done:
                check_start(piece[:START], source)
            done += len(piece)
            if done > MAX_FILE_BYTES:
                what = f"is larger than {MAX_FILE_BYTES >> 30} GiB, as no network is"
                raise NetworkFileError(f"{source}: {what}; name a network file")
            on_progress(done, total)
            yield piece


class _Redirects(HTTPRedirectHandler):
    """Follows redirections, and closes the answer where one leads to no address."""

    def http_error_302(self, req: Request, fp: Any, code: int, msg: str, headers: Any) -> Any:
        try:
            return super().http_error_302(req, fp, code, msg, headers)
        except BaseException:
            fp.close()
            raise

    http_error_301 = http_error_303 = http_error_307 = http_error_308 = http_error_302


def _http_alone() -> OpenerDirector:
    """Opens addresses of the web; redirections lead to no other protocol."""
    opener = OpenerDirector()
    for handler in (
        ProxyHandler,
        HTTPHandler,
        HTTPSHandler,
        _Redirects,
        HTTPDefaultErrorHandler,
        HTTPErrorProcessor,
        UnknownHandler,
    ):
        opener.add_handler(handler())
    return opener


_OPENER = _http_alone()


@contextmanager
def _unfinished(name: str, ending: str) -> Iterator[Path]:
    """A file in the library's folder that is removed in the end, if it is still there."""
    folder = library()
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for left in folder.glob(f"{UNFINISHED}*"):  # by a program that was killed
            if time.time() - left.stat().st_mtime > KEPT_SECONDS:
                left.unlink(missing_ok=True)
        path = folder / f"{UNFINISHED}{name}.{secrets.token_hex(4)}{ending}"
        path.touch()
    except OSError as error:
        why = f"cannot be written to: {error.strerror}"
        raise NetworkFileError(f"{folder}: {why}; {DATA_VARIABLE} names another folder") from None
    try:
        yield path
    finally:
        path.unlink(missing_ok=True)


def _check_name(name: str) -> None:
    if not _NAME.fullmatch(name):
        what = "letters, digits, points, hyphens and underscores"
        raise NetworkFileError(f"{name!r} is no name for a network: {what} make one; see --name")
    taken = {BUNDLED, *(Path(file).stem for file in FILES)}
    if name in taken or any(each.name == name for each in kept_networks()):
        known = "comes with Tengen" if name in taken else "is kept already"
        remedy = "" if name in taken else f", or remove that one: tengen net remove {name}"
        raise NetworkFileError(f"a network called {name} {known}; give another --name{remedy}")


def _check_network(path: Path, source: str) -> None:
    """Raise NetworkFileError, with the name that the user knows, unless this is a network."""
    try:
        load_network(path)
    except NetworkFileError as error:
        raise NetworkFileError(str(error).replace(str(path), source)) from None


def _kept(record: Path) -> KeptNetwork | None:
    """The network of a record; None for a record that is damaged or whose file is gone."""
    try:
        facts = json.loads(record.read_text("utf-8"))
        name = record.name.removesuffix(".origin.json")
        path = record.with_name(str(facts["file"]))
        kept = KeptNetwork(name, path, str(facts["sha256"]), one_line(str(facts["origin"])))
    except (OSError, ValueError, KeyError, TypeError):
        return None
    return kept if path.parent == record.parent and path.is_file() else None


def _reason(error: Exception) -> str:
    reason = getattr(error, "reason", None) or getattr(error, "strerror", None) or error
    if isinstance(error, HTTPException):
        reason = f"the answer is none of a web server ({type(error).__name__})"
    return f"cannot be read: {one_line(str(reason))}"
