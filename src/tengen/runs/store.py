"""Files by name in a folder or behind an fsspec URL: whole, never half written.

The machines of a run share files through a store. Names are relative, with slashes. A folder may be
on a network file system; a URL is anything fsspec has a back end for, such as s3://bucket/run.
"""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, Protocol

from tengen.atomic_files import replace_file, sync_folder
from tengen.pip_package import install_command

# Where a file appears only when all of it has been sent; elsewhere it is written and then renamed.
_WHOLE_PUTS = {"s3", "s3a", "gs", "gcs", "az", "abfs", "abfss", "adl", "oss", "oci", "memory"}
_EXCLUSIVE = {"s3", "s3a", "gs", "gcs", "memory"}
_UNFINISHED = ".unfinished"


class StoreError(ValueError):
    """A place that cannot be a store; the message says why and what to do."""


class Store(Protocol):
    """Files by name."""

    location: str  # a path or a URL, which opens the same store on another machine
    exclusive: bool  # whether `create` is safe where others create the same file at that moment

    def read(self, name: str) -> bytes:
        """The content of a file; raises FileNotFoundError or another OSError."""

    def write(self, name: str, content: bytes, durable: bool = True) -> None:
        """Write or replace a file, whole; unless `durable`, a power failure may lose it."""

    def create(self, name: str, content: bytes) -> None:
        """Write a new file; raises FileExistsError if there is one, whoever was first."""

    def names(self, folder: str) -> list[str]:
        """The names of the files in a folder, without it, sorted; none if there is no folder."""

    def remove(self, name: str) -> None:
        """Remove a file, if it is there."""


def open_store(location: str | Path) -> Store:
    """The store at a path or a URL; raises StoreError."""
    text = str(location)
    if not is_url(text):
        return FolderStore(Path(text))
    protocol = text.partition("://")[0]
    return FolderStore(Path(text.removeprefix("file://"))) if protocol == "file" else UrlStore(text)


def is_url(location: str | Path) -> bool:
    """Whether this names a store by URL rather than by path."""
    return "://" in str(location)


class FolderStore:
    """A folder, on this machine or shared by several."""

    def __init__(self, path: Path) -> None:
        self.path = path.absolute()
        self.location = str(self.path)
        self.exclusive = True

    def read(self, name: str) -> bytes:
        return (self.path / name).read_bytes()

    def write(self, name: str, content: bytes, durable: bool = True) -> None:
        path = self.path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        replace_file(path, content, durable=durable)
        if durable:
            sync_folder(path.parent)

    def create(self, name: str, content: bytes) -> None:
        path = self.path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("xb") as file:  # the name is what counts: others see it at once
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        sync_folder(path.parent)

    def names(self, folder: str) -> list[str]:
        try:
            with os.scandir(self.path / folder) as found:
                files = [each.name for each in found if each.is_file()]
        except FileNotFoundError:
            return []
        return sorted(name for name in files if not name.endswith(_UNFINISHED))

    def remove(self, name: str) -> None:
        (self.path / name).unlink(missing_ok=True)


class UrlStore:
    """Files behind a URL, by fsspec."""

    def __init__(self, url: str) -> None:
        try:
            import fsspec
        except ImportError:
            need = f"{url}: URLs need fsspec"
            raise StoreError(f"{need}: {install_command('cluster')}") from None
        self.location = url.rstrip("/")
        protocol = url.partition("://")[0]
        try:
            # Listings are never kept: other machines write there.
            self._files, root = fsspec.core.url_to_fs(self.location, use_listings_cache=False)
        except ImportError as error:  # of the protocol's own package
            raise StoreError(f"{url}: {error}") from None
        except ValueError as error:
            known = "such as s3://bucket/run"
            raise StoreError(f"{url}: is no URL that fsspec knows ({error}); {known}") from None
        self._root = str(root).rstrip("/")
        self._whole_puts, self.exclusive = protocol in _WHOLE_PUTS, protocol in _EXCLUSIVE

    def _at(self, name: str) -> str:
        return f"{self._root}/{name}"

    @contextmanager
    def _reaching(self) -> Iterator[None]:
        """Turn all exceptions of a protocol's own package into OSError."""
        try:
            yield
        except OSError:
            raise
        except Exception as error:
            raise OSError(f"{self.location}: {type(error).__name__}: {error}") from error

    def read(self, name: str) -> bytes:
        with self._reaching():
            content: bytes = self._files.cat_file(self._at(name))
            return content

    def write(self, name: str, content: bytes, durable: bool = True) -> None:  # noqa: ARG002
        with self._reaching():
            if self._whole_puts:
                self._files.pipe_file(self._at(name), content)
                return
            folder, _, last = self._at(name).rpartition("/")
            self._files.makedirs(folder, exist_ok=True)
            unfinished = f"{folder}/.{last}.{secrets.token_hex(4)}{_UNFINISHED}"
            self._files.pipe_file(unfinished, content)
            self._files.mv(unfinished, self._at(name))

    def create(self, name: str, content: bytes) -> None:
        with self._reaching():
            if not self._whole_puts:
                self._files.makedirs(self._at(name).rpartition("/")[0], exist_ok=True)
            self._files.pipe_file(self._at(name), content, mode="create")

    def names(self, folder: str) -> list[str]:
        with self._reaching():
            try:
                self._files.invalidate_cache()
                found: list[dict[str, Any]] = self._files.ls(self._at(folder), detail=True)
            except FileNotFoundError:
                return []
        files = [str(each["name"]) for each in found if each["type"] == "file"]
        names = (name.rpartition("/")[2] for name in files)
        return sorted(name for name in names if name and not name.endswith(_UNFINISHED))

    def remove(self, name: str) -> None:
        with self._reaching(), suppress(FileNotFoundError):
            self._files.rm_file(self._at(name))
