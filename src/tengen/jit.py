"""The @kernel decorator, and the disk cache of compiled kernels.

A kernel is a free function over NumPy arrays and records that Numba compiles: it releases the
GIL, allocates nothing, raises nothing and uses no Python objects. With ``NUMBA_DISABLE_JIT=1``
kernels run as plain Python.

Numba's own disk cache does not notice a change in a *called* file. Here the name of the cache
folder is a hash of all kernel sources and of Numba's settings, so stale kernels are never loaded.
"""

from __future__ import annotations

import gc
import hashlib
import os
import re
import shutil
import tempfile
import threading
import time
import uuid
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any, TypeAlias, overload

import numba
from numba.core import config, event

from tengen.kernel_compiler import EntryPoint, ParallelEntryPoint, functions_of
from tengen.user_folders import CACHE_VARIABLE, user_cache
from tengen.user_messages import say

PACKAGE_ROOT = Path(__file__).parent
KEEP_UNUSED_CACHES_DAYS = 30
SECONDS_BETWEEN_MESSAGES = 4.0

_IMPORT = re.compile(
    r"^\s*(?:from|import) +tengen([.\w]*)(?: +import +(\([^)]*\)|.*))?", re.MULTILINE
)
_DECORATED = re.compile(r"^@kernel\b|= kernel\(", re.MULTILINE)
# Settings that do not change the compiled code.
_SETTINGS_WITHOUT_EFFECT_ON_CODE = {"NUMBA_CACHE_DIR", "NUMBA_NUM_THREADS", "NUMBA_THREADING_LAYER"}

_PROCESS = uuid.uuid4().hex[:8]
_decorating = threading.Lock()

Kernel: TypeAlias = Callable[..., Any]


@overload
def kernel(function: Kernel, /) -> Kernel: ...
@overload
def kernel(*, inline: bool = False, parallel: bool = False) -> Callable[[Kernel], Kernel]: ...
def kernel(
    function: Kernel | None = None, /, *, inline: bool = False, parallel: bool = False
) -> Kernel | Callable[[Kernel], Kernel]:
    """Compile a function on first use and cache the machine code on disk.

    ``inline`` makes LLVM always inline it (for predicates in hot loops); ``parallel`` runs
    ``prange`` loops in threads.
    """

    def compile_lazily(function: Kernel) -> Kernel:
        if config.DISABLE_JIT:
            return function
        options = {
            "nopython": True,
            "nogil": True,
            "error_model": "numpy",
            "forceinline": inline,
            "_nrt": parallel,
            "no_cfunc_wrapper": True,
        }
        compiled = (ParallelEntryPoint if parallel else EntryPoint)(function, options)
        if (folder := kernel_cache()) is not None:
            with _cache_in(folder):
                compiled.enable_caching()
            _name_files_by_process(compiled)
            _go_on_without_room(compiled)
        return compiled

    return compile_lazily if function is None else compile_lazily(function)


def _name_files_by_process(compiled: EntryPoint | ParallelEntryPoint) -> None:
    """Put a name unique to this process into the names of the function's cache files.

    Numba only numbers them: two processes that compile a function for different types at the same
    time choose the same number, and one's index then points to the other's code.
    """
    cache_file = compiled._cache._cache_file
    pattern = cache_file._data_name_pattern
    cache_file._data_name_pattern = pattern.replace("{number", f"{_PROCESS}-{{number")


def _go_on_without_room(compiled: EntryPoint | ParallelEntryPoint) -> None:
    """Let a kernel be used that is compiled and cannot be kept: a full disk must not end a game."""
    save = compiled._cache.save_overload

    def save_if_possible(signature: object, data: object) -> None:
        try:
            save(signature, data)
        except OSError as error:
            _say_not_kept(error.strerror or "no reason given")

    compiled._cache.save_overload = save_if_possible


@cache
def _say_not_kept(reason: str) -> None:
    say(f"cannot keep compiled kernels in {kernel_cache()}: {reason}; they are compiled again")


def kernel_sources(package: Path) -> list[Path]:
    """All files that affect the compiled code.

    These are the files with kernels and, since kernels compile in the constants that they read,
    all files of the package that those import, directly or indirectly.
    """
    texts = {path: path.read_text(encoding="utf-8") for path in package.rglob("*.py")}
    todo = [path for path, text in texts.items() if _DECORATED.search(text)]
    found = set(todo)
    while todo:
        for path in _imported_files(texts[todo.pop()], package) - found:
            found.add(path)
            todo.append(path)
    return sorted(found)


def _imported_files(text: str, package: Path) -> set[Path]:
    """The package's files that the import statements of this text name."""
    found: set[Path] = set()
    for match in _IMPORT.finditer(text):
        module = package.joinpath(*match[1].split("."))
        names = re.findall(r"\w+", match[2] or "")
        for candidate in (module, *(module / name for name in names)):
            found.update((candidate.with_suffix(".py"), candidate / "__init__.py"))
    return {candidate for candidate in found if candidate.is_file()}


def cache_key(package: Path) -> str:
    """A hash of all kernel sources and of the Numba settings that change the compiled code."""
    digest = hashlib.sha256(numba.__version__.encode())
    for name in sorted(os.environ):
        if name.startswith("NUMBA_") and name not in _SETTINGS_WITHOUT_EFFECT_ON_CODE:
            digest.update(f"{name}={os.environ[name]}\n".encode())
    for path in kernel_sources(package):
        digest.update(str(path.relative_to(package)).encode())
        digest.update(path.read_bytes())
    return digest.hexdigest()[:16]


@cache
def kernel_cache() -> Path | None:
    """The cache folder for the current sources; None if it is not writable."""
    base = _caches()
    folder = base / cache_key(PACKAGE_ROOT)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        tempfile.TemporaryFile(dir=folder).close()
        os.utime(folder)
        _drop_unused_caches(base)
    except OSError as error:
        COMPILING.warn(
            f"cannot keep compiled kernels in {folder}: {error.strerror}; compiling each time "
            f"({CACHE_VARIABLE} names another folder)"
        )
        return None
    return folder


def _caches() -> Path:
    return Path(config.CACHE_DIR) if config.CACHE_DIR else user_cache() / "kernels"


def _drop_unused_caches(base: Path) -> None:
    """Delete cache folders that were not used for KEEP_UNUSED_CACHES_DAYS."""
    oldest = time.time() - KEEP_UNUSED_CACHES_DAYS * 24 * 3600
    for folder in base.iterdir():
        if re.fullmatch(r"[0-9a-f]{16}", folder.name) and folder.stat().st_mtime < oldest:
            shutil.rmtree(folder, ignore_errors=True)


@contextmanager
def _cache_in(folder: Path) -> Iterator[None]:
    """Set Numba's global cache folder, which it reads once, when it decorates a function.

    Locked, because several threads may import kernels at a time.
    """
    with _decorating:
        before, config.CACHE_DIR = config.CACHE_DIR, str(folder)
        try:
            yield
        finally:
            config.CACHE_DIR = before


class _Compiling(event.Listener):  # type: ignore[misc]
    """Tells the user that kernels are being compiled, how many of how many, and for how long yet.

    Pauses Python's garbage collector meanwhile, which would traverse the compiler's data again
    and again.
    """

    def __init__(self) -> None:
        self._depth = 0
        self._collects = False
        self._wanted: set[Kernel] = set()  # functions to be compiled
        self._met: set[Kernel] = set()
        self._began = self._said = 0.0
        self._warning = ""

    def warn(self, warning: str) -> None:
        """Say this when kernels are compiled: most commands import some and need none."""
        self._warning = warning

    def expect(self, entry_points: Iterable[EntryPoint | ParallelEntryPoint]) -> None:
        """Count these kernels, and all that they call, to what is to be compiled."""
        for entry_point in entry_points:
            self._wanted |= functions_of(entry_point)

    def on_start(self, compiling: event.Event) -> None:
        dispatcher = compiling.data["dispatcher"]
        if self._depth == 0:
            self._collects = gc.isenabled()
            gc.disable()
            if isinstance(dispatcher, EntryPoint | ParallelEntryPoint):
                self.expect([dispatcher])
        self._depth += 1
        if dispatcher.py_func in self._wanted:
            self._met.add(dispatcher.py_func)
            self._say_how_far()

    def on_end(self, _: event.Event) -> None:
        self._depth -= 1
        if self._depth == 0 and self._collects:
            gc.enable()

    def _say_how_far(self) -> None:
        now = time.monotonic()
        if not self._began:
            self._began = self._said = now
            say("compiling kernels for this machine (first use only; slow until then) ...")
            if self._warning:
                say(self._warning)
        elif now - self._said >= SECONDS_BETWEEN_MESSAGES:
            self._said = now
            done, of = len(self._met), len(self._wanted)
            left = (now - self._began) / done * (of - done)
            say(f"compiling kernels: {done} of {of}, some {left:.0f} s left ...")


COMPILING = _Compiling()
event.register("numba:compile", COMPILING)
