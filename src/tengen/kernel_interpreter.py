"""Run kernels as plain Python: to see which of them a task calls, or until they are compiled.

That is some thousand times slower than machine code, but a search of a few visits is done in less
time than its kernels take to compile.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from importlib import import_module
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numba.core.registry import CPUDispatcher

from tengen.kernel_compiler import EntryPoint, ParallelEntryPoint

_SECONDS_BETWEEN_LOOKS = 0.05
# So long a thread may interpret; then it waits for the compilers, which need its core.
_MOST_SECONDS = 5.0


_Kernel: TypeAlias = EntryPoint | ParallelEntryPoint


class WantedKernel(NamedTuple):
    """A kernel and the types of its arguments."""

    module: str
    name: str
    signature: tuple[Any, ...]

    def entry_point(self) -> _Kernel:
        """The kernel."""
        found = getattr(import_module(self.module), self.name)
        assert isinstance(found, _Kernel)
        return found


class _Thread(threading.local):
    """The state of each thread."""

    interprets = False  # it is within a kernel that runs as plain Python
    seconds = 0.0  # that it has spent so
    recorded: dict[WantedKernel, None] | None = None  # what it calls, if that is recorded


class KernelInterpreter:
    """Decides for each call of a kernel by Python whether it runs as plain Python.

    It stands between Python and Numba only while it is needed. What an interpreted kernel calls is
    interpreted, too, even if it is compiled meanwhile: a callee has no machine code of its own.
    """

    def __init__(self) -> None:
        self._thread = _Thread()
        self._lock = threading.Lock()
        self._users = 0  # who need it to stand between Python and Numba
        self._compilers = 0  # those of them that compile
        self._under_way = 0  # interpreted calls
        self._compiled = threading.Event()
        self._compiled.set()

    @contextmanager
    def recording(self) -> Iterator[dict[WantedKernel, None]]:
        """Interpret all kernels of this thread; yields those that Python calls, in their order."""
        found: dict[WantedKernel, None] = {}
        self._install()
        self._thread.recorded = found
        try:
            yield found
        finally:
            self._thread.recorded = None
            self._uninstall()

    def begin(self) -> None:
        """Interpret kernels from now on, in all threads, but for those whose code is loaded.

        Those with parallel loops are compiled where they are called, as ever.
        """
        self._install()
        with self._lock:
            self._compilers += 1
            self._compiled.clear()

    def end(self) -> None:
        """End what `begin` began; returns when the interpreted calls under way have ended."""
        with self._lock:
            self._compilers -= 1
            if self._compilers == 0:
                self._compiled.set()
        while self._under_way:
            time.sleep(_SECONDS_BETWEEN_LOOKS)
        self._uninstall()

    def _install(self) -> None:
        def call(kernel: _Kernel, *args: Any) -> Any:
            return self._call(kernel, args)

        with self._lock:
            self._users += 1
            if self._users == 1:
                EntryPoint.__call__ = ParallelEntryPoint.__call__ = call

    def _uninstall(self) -> None:
        with self._lock:
            self._users -= 1
            if self._users == 0:
                del EntryPoint.__call__, ParallelEntryPoint.__call__

    def _call(self, kernel: _Kernel, args: tuple[Any, ...]) -> Any:
        thread = self._thread
        if thread.interprets:
            return kernel.py_func(*args)
        if thread.recorded is None and isinstance(kernel, ParallelEntryPoint):
            # It works on many games: as plain Python one call could take longer than to compile it.
            return CPUDispatcher.__call__(kernel, *args)
        if thread.seconds > _MOST_SECONDS and thread.recorded is None and not kernel.overloads:
            self._compiled.wait()
        with self._lock:
            compiles = self._compilers > 0 and not kernel.overloads
            interprets = compiles or thread.recorded is not None
            self._under_way += interprets
        if not interprets:
            return CPUDispatcher.__call__(kernel, *args)
        if thread.recorded is not None:
            thread.recorded[_wanted(kernel, args)] = None
        thread.interprets = True
        began = time.monotonic()
        try:
            with np.errstate(all="ignore"):  # machine code does not warn either
                return kernel.py_func(*args)
        finally:
            thread.interprets = False
            thread.seconds += time.monotonic() - began
            with self._lock:
                self._under_way -= 1


def _wanted(kernel: _Kernel, args: Iterable[Any]) -> WantedKernel:
    function = kernel.py_func
    signature = tuple(kernel.typeof_pyval(argument) for argument in args)
    return WantedKernel(function.__module__, function.__name__, signature)


INTERPRETER = KernelInterpreter()


def kernels_called_by(task: Callable[[], object]) -> list[WantedKernel]:
    """Perform a task with kernels as plain Python; returns those that Python calls, once each."""
    with INTERPRETER.recording() as found:
        task()
    return list(found)
