"""Kernels are parts of those that call them, compiled once each."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numba import prange
from numba.core import config, event, types
from numba.core.registry import cpu_target

from tengen.kernel_compiler import EntryPoint, ParallelEntryPoint

OPTIONS = {
    "nopython": True,
    "nogil": True,
    "error_model": "numpy",
    "no_cfunc_wrapper": True,
}

pytestmark = pytest.mark.skipif(bool(config.DISABLE_JIT), reason="nothing is compiled")

# mypy: disable-error-code="no-untyped-def, no-untyped-call"


def doubled(x):
    return x + x


def fill(out, k):
    out[k] = doubled(out[k]) + doubled(3) + doubled(4)


def fill_all(out):
    for k in range(out.shape[0]):
        fill(out, k)
    fill(out, 0)


def fill_in_parallel(out):
    for k in prange(out.shape[0]):
        fill(out, k)


@pytest.fixture
def kernels(monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """The functions above as kernels that were never compiled, and that no cache knows."""
    serial = {each.__name__: EntryPoint(each, OPTIONS) for each in (doubled, fill, fill_all)}
    parallel = ParallelEntryPoint(fill_in_parallel, {**OPTIONS, "_nrt": True})
    made = {**serial, fill_in_parallel.__name__: parallel}
    for name, each in made.items():
        monkeypatch.setitem(globals(), name, each)
    return made


class _Listener(event.Listener):  # type: ignore[misc]
    """Notes which functions of this file are compiled, and for which types."""

    def __init__(self) -> None:
        self.compiled: list[tuple[str, tuple[Any, ...]]] = []

    def on_start(self, compiling: event.Event) -> None:
        function = compiling.data["dispatcher"].py_func
        if function.__module__ == __name__:
            self.compiled.append((function.__name__, tuple(compiling.data["args"])))

    def on_end(self, _: event.Event) -> None:
        pass


def compiled_by(call: Callable[[], object]) -> list[tuple[str, tuple[Any, ...]]]:
    listener = _Listener()
    with event.install_listener("numba:compile", listener):
        call()
    return sorted(listener.compiled, key=str)


def test_a_kernel_is_compiled_once_for_narrow_integers_and_constants(
    kernels: dict[str, Any],
) -> None:
    numbers = np.array([1, 2], np.int32)
    compiled = compiled_by(lambda: kernels["fill_all"](numbers))
    assert numbers.tolist() == [2 * (2 * 1 + 14) + 14, 2 * 2 + 14]
    array = types.Array(types.int32, 1, "C")
    assert compiled == [
        ("doubled", (types.int64,)),
        ("fill", (array, types.int64)),
        ("fill_all", (array,)),
    ]


@pytest.mark.parametrize("name", ["fill_all", "fill_in_parallel"])
def test_only_the_kernel_that_python_calls_becomes_machine_code(
    kernels: dict[str, Any], name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    codegen = cpu_target.target_context.codegen()
    modules, add_module = [], codegen._add_module

    def counted(module: object) -> object:
        modules.append(module)
        return add_module(module)

    monkeypatch.setattr(codegen, "_add_module", counted)
    numbers = np.array([0.5, 1.5])
    kernels[name](numbers)
    assert numbers[1] == 17
    assert len(modules) == 1


def test_python_may_call_a_kernel_that_is_a_part_of_others(kernels: dict[str, Any]) -> None:
    kernels["fill_all"](np.zeros(1))
    assert kernels["doubled"](0.25) == 0.5
    assert kernels["doubled"](np.int32(21)) == 42
    kernels["fill_all"](np.zeros(1, np.float32))


OUT_OF_BOUNDS = """
import numpy as np
from tests import test_kernel_compiler as tested

tested.doubled = tested.EntryPoint(tested.doubled, tested.OPTIONS)
fill = tested.EntryPoint(tested.fill, tested.OPTIONS)

def far(out):
    fill(out, 5)

try:
    tested.EntryPoint(far, tested.OPTIONS)(np.zeros(2))
except IndexError:
    print("checked")
"""


def test_errors_in_parts_reach_python() -> None:
    process = subprocess.run(
        [sys.executable, "-c", OUT_OF_BOUNDS],
        cwd=Path(__file__).parents[1],
        env={**os.environ, "NUMBA_BOUNDSCHECK": "1"},
        capture_output=True,
        text=True,
        check=True,
    )
    assert process.stdout.strip() == "checked"
