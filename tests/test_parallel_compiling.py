"""Several processes compile what a task will call, and find out by themselves what that is."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import pytest
from numba import prange
from numba.core import config
from numba.core.registry import CPUDispatcher

from tengen.jit import PACKAGE_ROOT, kernel
from tengen.kernel_compiler import EntryPoint
from tengen.kernel_interpreter import INTERPRETER, WantedKernel, kernels_called_by
from tengen.search.warmup import search_a_little

pytestmark = pytest.mark.skipif(bool(config.DISABLE_JIT), reason="nothing is compiled")

TASK = """
import numpy as np
from tengen.jit import kernel
from tengen.parallel_compiling import compile_behind, compile_for

@kernel
def add(a, b):
    return a + b

@kernel
def add_all(numbers):
    total = 0.0
    for number in numbers:
        total = add(total, number)
    return total

@kernel
def largest(numbers):
    best = numbers[0]
    for number in numbers:
        best = max(best, number)
    return best

def task():
    print(add_all(np.arange(5.0)), largest(np.arange(5)))
"""
PERFORM = "from tengen import task; task.compile_for(task.task, 'task'); task.task()"
PERFORM_MEANWHILE = """
import threading
from tengen import task
assert task.compile_behind(task.task, 'task')
assert task.compile_behind(task.task, 'task')
assert task.compile_behind(task.task, 'task')  # nothing is compiled twice
task.task()
assert not task.add_all.overloads
(compiling,) = (each for each in threading.enumerate() if each.name == 'compiling')
compiling.join()
assert not task.compile_behind(task.task, 'task')
task.task()
assert task.add_all.stats.cache_hits and not task.add_all.stats.cache_misses
"""


LIMIT = 240.0  # seconds

Perform: TypeAlias = Callable[[str], tuple[str, str]]


@pytest.fixture
def perform(tmp_path: Path) -> Perform:
    """Runs code in a package with the task, with a cache of its own; returns what it prints."""
    package = tmp_path / "tengen"
    shutil.copytree(PACKAGE_ROOT, package, ignore=shutil.ignore_patterns("__pycache__"))
    (package / "task.py").write_text(TASK)
    folders = {"PYTHONPATH": str(tmp_path), "TENGEN_CACHE_DIR": str(tmp_path / "cache")}
    environment = os.environ | folders
    environment.pop("NUMBA_CACHE_DIR", None)

    def run(code: str) -> tuple[str, str]:
        process = subprocess.run(
            [sys.executable, "-c", code],
            env=environment,
            capture_output=True,  # until the last helper has ended, which writes there, too
            text=True,
            timeout=LIMIT,
        )
        assert process.returncode == 0, process.stderr
        return process.stdout, process.stderr

    return run


def test_helpers_compile_a_share_and_the_next_process_nothing(
    perform: Perform, tmp_path: Path
) -> None:
    out, messages = perform(PERFORM)
    assert out == "10.0 4\n" * 2  # once as plain Python, and once compiled
    assert "compiling kernels" in messages
    files = list(tmp_path.rglob("task.*.nbc"))
    assert {each.name.split("-")[0] for each in files} == {"task.add_all", "task.largest"}
    processes = {each.name.split(".")[-2].split("-")[0] for each in files}
    assert len(processes) == min(2, os.cpu_count() or 1)
    assert perform(PERFORM) == ("10.0 4\n", "")


def test_kernels_run_as_plain_python_until_helpers_have_compiled_them(
    perform: Perform, tmp_path: Path
) -> None:
    out, messages = perform(PERFORM_MEANWHILE)
    assert out == "10.0 4\n" * 3  # to find its kernels, meanwhile, and compiled
    assert messages.count("compiling kernels for") == 1
    assert len(list(tmp_path.rglob("task.*.nbc"))) == 2
    assert perform(PERFORM) == ("10.0 4\n", "")


def test_helpers_end_with_the_process_that_needs_them(perform: Perform, tmp_path: Path) -> None:
    with (tmp_path / "tengen" / "task.py").open("a") as file:
        file.write("import sys, time\n")
        file.write("if sys.argv[0].endswith('parallel_compiling.py'):\n    time.sleep(1000)\n")
    end = "import os; os._exit(0)"
    perform(f"from tengen import task; task.compile_behind(task.task, 'task'); {end}")


def test_kernels_are_not_interpreted_for_ever_if_the_disk_is_full(perform: Perform) -> None:
    full = """
from pathlib import Path
def touch(self):
    raise OSError(28, 'No space left on device')
Path.touch = touch
"""
    meanwhile = PERFORM_MEANWHILE.replace("assert not task.compile_behind(task.task, 'task')\n", "")
    out, messages = perform(full + meanwhile)
    assert out == "10.0 4\n" * 3
    assert "Traceback" not in messages


def test_what_an_interpreted_kernel_calls_is_interpreted_to_its_end() -> None:
    reached, may_go_on = threading.Event(), threading.Event()

    def add_one(number: int) -> int:
        return number + 1

    inner: Any = kernel(add_one)

    def wait_and_add(number: int) -> Any:
        reached.set()
        may_go_on.wait()
        return inner(number) + inner(number)

    outer = kernel(wait_and_add)
    results: list[int] = []
    INTERPRETER.begin()
    calling = threading.Thread(target=lambda: results.append(outer(1)))
    calling.start()
    reached.wait()
    ending = threading.Thread(target=INTERPRETER.end)
    ending.start()
    assert ending.is_alive()
    may_go_on.set()
    calling.join()
    ending.join()
    assert results == [4]
    assert not inner.overloads
    assert inner(1) == 2
    assert inner.overloads


@kernel(parallel=True)
def count_up(out: Any) -> None:
    for k in prange(out.shape[0]):
        out[k] = k


def test_kernels_with_parallel_loops_are_found_without_compiling_them() -> None:
    out = np.zeros(3)
    (found,) = kernels_called_by(lambda: count_up(out))
    assert out.tolist() == [0.0, 1.0, 2.0]
    assert found.entry_point() is count_up
    assert not found.entry_point().overloads


def test_kernels_with_parallel_loops_are_compiled_while_others_are_interpreted() -> None:
    counting: Any = kernel(parallel=True)(count_up.py_func)  # type: ignore[attr-defined]
    INTERPRETER.begin()
    try:
        counting(np.zeros(3))
    finally:
        INTERPRETER.end()
    assert counting.overloads


def test_the_kernels_found_for_a_search_are_those_it_calls(monkeypatch: pytest.MonkeyPatch) -> None:
    found = set(kernels_called_by(lambda: search_a_little(visits=8)))
    called = set()

    def call(self: EntryPoint, *args: Any) -> Any:
        types = tuple(self.typeof_pyval(argument) for argument in args)
        called.add(WantedKernel(self.py_func.__module__, self.py_func.__name__, types))
        return CPUDispatcher.__call__(self, *args)

    monkeypatch.setattr(EntryPoint, "__call__", call, raising=False)
    search_a_little(visits=50)
    assert found == called
    assert any(each.name == "find_leaves" for each in found)
