"""Compile the kernels that a task will call, in several processes, before it calls them.

Which kernels these are, and for which types, is found by performing the task once with the kernels
as plain Python: on a tiny board that takes half a second. Each process, this one among them,
then compiles a share of them into the cache on disk.
"""

from __future__ import annotations

import gc
import os
import pickle
import subprocess
import sys
import threading
from collections.abc import Callable, Sequence
from importlib import import_module
from typing import Any, NamedTuple

import llvmlite.binding as llvm
import numpy as np
from numba.core import config
from numba.core.registry import CPUDispatcher

from tengen.jit import COMPILING, kernel_cache, kernels_are_kept
from tengen.kernel_compiler import EntryPoint, functions_of

# A process takes a quarter of a gigabyte, and most of the work is one kernel, which does not split.
MOST_PROCESSES = 3


class WantedKernel(NamedTuple):
    """A kernel and the types of its arguments."""

    module: str
    name: str
    signature: tuple[Any, ...]

    def entry_point(self) -> EntryPoint:
        """The kernel."""
        found = getattr(import_module(self.module), self.name)
        assert isinstance(found, EntryPoint)
        return found


def compile_for(task: Callable[[], object], name: str) -> None:
    """Compile what a task calls, unless that was done before; `name` names the task."""
    if config.DISABLE_JIT or not kernels_are_kept():
        return
    done = kernel_cache() / f"{name}.{llvm.get_host_cpu_name()}.compiled"
    if done.exists():
        return
    shares = _shares(kernels_called_by(task), min(MOST_PROCESSES, os.cpu_count() or 1))
    helpers = [_helper(share) for share in shares[1:]]
    try:
        _compile(shares[0])
        # What a helper failed to compile is compiled where it is called.
        failed = [helper for helper in helpers if helper.wait()]
    finally:
        for helper in helpers:
            helper.kill()
            helper.wait()
    if not failed:
        done.touch()


def kernels_called_by(task: Callable[[], object]) -> list[WantedKernel]:
    """Perform a task with kernels as plain Python; returns those that Python calls, once each."""
    found: dict[WantedKernel, None] = {}
    thread, depth = threading.get_ident(), 0

    def call(self: EntryPoint, *args: Any) -> Any:
        nonlocal depth
        if threading.get_ident() != thread:
            return CPUDispatcher.__call__(self, *args)
        if depth == 0:
            function = self.py_func
            signature = tuple(self.typeof_pyval(argument) for argument in args)
            found[WantedKernel(function.__module__, function.__name__, signature)] = None
        depth += 1
        try:
            return self.py_func(*args)
        finally:
            depth -= 1

    EntryPoint.__call__ = call
    try:
        with np.errstate(over="ignore"):  # hashing and random numbers live on overflow
            task()
    finally:
        del EntryPoint.__call__
    return list(found)


def _shares(kernels: Sequence[WantedKernel], most: int) -> list[list[WantedKernel]]:
    """Share the work, the largest kernels first.

    Each goes where the largest share grows least, then where least is compiled twice: kernels
    share most of what they call.
    """
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


def _helper(share: Sequence[WantedKernel]) -> subprocess.Popen[bytes]:
    """Start a process that compiles a share."""
    helper = subprocess.Popen(
        [sys.executable, "-m", "tengen.parallel_compiling"],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    assert helper.stdin is not None
    try:
        with helper.stdin as pipe:
            pickle.dump([tuple(each) for each in share], pipe)
    except OSError:
        pass  # it has ended already, which is seen when it is waited for
    return helper


if __name__ == "__main__":
    gc.disable()  # the process ends soon
    _compile([WantedKernel._make(each) for each in pickle.load(sys.stdin.buffer)])
