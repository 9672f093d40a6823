"""Several processes compile what a task will call, and find out by themselves what that is."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from numba.core import config
from numba.core.registry import CPUDispatcher

from tengen.features.feature_set import KATAGO
from tengen.jit import PACKAGE_ROOT
from tengen.kernel_compiler import EntryPoint
from tengen.parallel_compiling import WantedKernel, kernels_called_by
from tengen.search.warmup import search_a_little

pytestmark = pytest.mark.skipif(bool(config.DISABLE_JIT), reason="nothing is compiled")

TASK = """
import numpy as np
from tengen.jit import kernel
from tengen.parallel_compiling import compile_for

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


def test_helpers_compile_a_share_and_the_next_process_nothing(tmp_path: Path) -> None:
    package, cache = tmp_path / "tengen", tmp_path / "cache"
    shutil.copytree(PACKAGE_ROOT, package, ignore=shutil.ignore_patterns("__pycache__"))
    (package / "task.py").write_text(TASK)

    def perform() -> tuple[str, str]:
        environment = os.environ | {"PYTHONPATH": str(tmp_path), "TENGEN_CACHE_DIR": str(cache)}
        environment.pop("NUMBA_CACHE_DIR", None)
        process = subprocess.run(
            [sys.executable, "-c", PERFORM],
            env=environment,
            capture_output=True,
            text=True,
            check=True,
        )
        return process.stdout, process.stderr

    out, messages = perform()
    assert out == "10.0 4\n" * 2  # once as plain Python, and once compiled
    assert "compiling kernels" in messages
    files = list(cache.rglob("task.*.nbc"))
    assert {each.name.split("-")[0] for each in files} == {"task.add_all", "task.largest"}
    processes = {each.name.split(".")[-2].split("-")[0] for each in files}
    assert len(processes) == min(2, os.cpu_count() or 1)
    assert perform() == ("10.0 4\n", "")


def test_the_kernels_found_for_a_search_are_those_it_calls(monkeypatch: pytest.MonkeyPatch) -> None:
    found = set(kernels_called_by(lambda: search_a_little(KATAGO, None, visits=8)))
    called = set()

    def call(self: EntryPoint, *args: Any) -> Any:
        types = tuple(self.typeof_pyval(argument) for argument in args)
        called.add(WantedKernel(self.py_func.__module__, self.py_func.__name__, types))
        return CPUDispatcher.__call__(self, *args)

    monkeypatch.setattr(EntryPoint, "__call__", call, raising=False)
    search_a_little(KATAGO, None, visits=50)
    assert found == called
    assert any(each.name == "find_leaves" for each in found)
