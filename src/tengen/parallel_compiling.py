"""Compile the kernels that a task will call, in several processes, before or while it calls them.

Which kernels these are, and for which types, is found by performing the task once with the kernels
as plain Python: on a tiny board that takes half a second. Each process then compiles a share of
them into the cache on disk.

`compile_for` waits for that. `compile_behind` does not: until they are compiled, kernels run as
plain Python in this process, which is some thousand times slower, but enough for a first move.
"""

from __future__ import annotations

import atexit
import gc
import os
import pickle
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

import llvmlite.binding as llvm
from numba.core import config

from tengen.jit import COMPILING, kernel_cache
from tengen.kernel_compiler import functions_of
from tengen.kernel_interpreter import INTERPRETER, WantedKernel, kernels_called_by

# A process takes a quarter of a gigabyte, and most of the work is one kernel, which does not split.
MOST_PROCESSES = 3


def compile_for(task: Callable[[], object], name: str) -> None:
    """Compile what a task calls, unless that was done before; `name` names the task."""
    if (done := _mark_of(name)) is None:
        return
    shares = _shares(kernels_called_by(task))
    helpers = [_helper(share) for share in shares[1:]]
    try:
        _compile(shares[0])
        # What a helper failed to compile is compiled where it is called.
        failed = [helper for helper in helpers if _wait(helper)]
    finally:
        _end(helpers)
    if not failed:
        done.touch()


def compile_behind(task: Callable[[], object], name: str) -> bool:
    """Like `compile_for`, but return at once: until then kernels run as plain Python.

    Returns whether anything is being compiled.
    """
    if (done := _mark_of(name)) is None:
        return False
    with _starting:
        if name not in _behind:
            _behind.add(name)
            _start(task, done)
    return True


_starting = threading.Lock()
_behind: set[str] = set()  # the tasks that are compiled behind this process, or were


def _start(task: Callable[[], object], done: Path) -> None:
    """Have helpers compile what a task calls, and kernels interpreted until they have."""
    # The first one, which has most to do, tells the user how far it is.
    shares = _shares(kernels_called_by(task))
    helpers = [_helper(share, shows=n == 0) for n, share in enumerate(shares)]
    stop = partial(_end, helpers)
    atexit.register(stop)
    INTERPRETER.begin()

    def finish() -> None:
        try:
            failed = [helper for helper in helpers if _wait(helper)]
            if not failed:
                with suppress(OSError):  # a full disk: the next start looks again
                    done.touch()
        finally:  # or searches would wait for ever
            INTERPRETER.end()
            atexit.unregister(stop)

    threading.Thread(target=finish, name="compiling", daemon=True).start()


def _mark_of(name: str) -> Path | None:
    """The file that tells that a task's kernels are compiled; None if nothing is to be done.

    Without a cache other processes could not hand over what they compile.
    """
    if config.DISABLE_JIT or (folder := kernel_cache()) is None:
        return None
    done = folder / f"{name}.{llvm.get_host_cpu_name()}.compiled"
    return None if done.exists() else done


def _shares(kernels: Sequence[WantedKernel]) -> list[list[WantedKernel]]:
    """Share the work between as many processes as there are cores, the largest kernels first.

    Each goes where the largest share grows least, then where least is compiled twice: kernels
    share most of what they call.
    """
    most = min(MOST_PROCESSES, os.cpu_count() or 1)
    called = {each: functions_of(each.entry_point()) for each in kernels}
    shares: list[list[WantedKernel]] = [[] for _ in range(min(most, len(kernels)))]
    loads: list[set[Callable[..., Any]]] = [set() for _ in shares]

    def price(k: int) -> tuple[int, int]:
        more = len(called[each] - loads[k])
        return max(len(loads[k]) + more, *map(len, loads)), more

    for each in sorted(kernels, key=lambda each: len(called[each]), reverse=True):
        cheapest = min(range(len(shares)), key=price)
        shares[cheapest].append(each)
        loads[cheapest] |= called[each]
    return [share for share in shares if share]


def _compile(share: Sequence[WantedKernel]) -> None:
    COMPILING.expect(each.entry_point() for each in share)
    for each in share:
        each.entry_point().compile(each.signature)


def _helper(share: Sequence[WantedKernel], *, shows: bool = False) -> subprocess.Popen[bytes]:
    """Start a process that compiles a share, and `shows` on stderr how far it is."""
    helper = subprocess.Popen(
        [sys.executable, "-m", "tengen.parallel_compiling"],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=None if shows else subprocess.DEVNULL,
    )
    assert helper.stdin is not None
    with suppress(OSError):  # it has ended already, which is seen when it is waited for
        pickle.dump([tuple(each) for each in share], helper.stdin)
        helper.stdin.flush()
    return helper


def _wait(helper: subprocess.Popen[bytes]) -> int:
    """Wait for the end of a process, and close the pipe to it, which stays open until then."""
    status = helper.wait()
    assert helper.stdin is not None
    with suppress(OSError):
        helper.stdin.close()
    return status


def _end(helpers: Iterable[subprocess.Popen[bytes]]) -> None:
    for helper in helpers:
        helper.kill()
        _wait(helper)


def _help() -> None:
    """Compile the share that stands on stdin, unless the parent ends: then nobody wants it."""
    gc.disable()  # the process ends soon
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # its parent ends it
    share = [WantedKernel._make(each) for each in pickle.load(sys.stdin.buffer)]

    def end_with_parent() -> None:
        os.read(0, 1)  # not through sys.stdin, which the end of the process wants to close
        os._exit(1)

    threading.Thread(target=end_with_parent, daemon=True).start()
    _compile(share)


if __name__ == "__main__":
    _help()
