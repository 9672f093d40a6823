"""What a run without a GPU calls is compiled before its time begins."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from numba.core import config
from numba.core.registry import CPUDispatcher

from tengen.kernel_compiler import EntryPoint, ParallelEntryPoint
from tengen.kernel_interpreter import kernels_called_by
from tengen.runs.compile_ahead import compile_first, run_a_little
from tengen.runs.folder import RunFolder
from tengen.runs.run import train
from tests.runs.test_run import SMALL

pytestmark = [
    pytest.mark.usefixtures("one_thread"),
    pytest.mark.skipif(bool(config.DISABLE_JIT), reason="nothing is compiled"),
]

TINY = replace(
    SMALL,
    run=replace(SMALL.run, iterations=1, iteration_rows=20, first_rows=20),
    rating=replace(SMALL.rating, every=1),
)


def test_a_run_calls_no_kernel_that_was_not_compiled_first(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Neither where helpers compile what they are told, nor where they could not hand it over."""
    features = TINY.run.feature_set
    told = {
        (each.module, each.name, each.signature)
        for each in kernels_called_by(lambda: run_a_little(features))
    }
    called = set()

    def call(self: EntryPoint | ParallelEntryPoint, *args: Any) -> Any:
        types = tuple(self.typeof_pyval(argument) for argument in args)
        called.add((self.py_func.__module__, self.py_func.__name__, types))
        return CPUDispatcher.__call__(self, *args)

    for kind in (EntryPoint, ParallelEntryPoint):
        monkeypatch.setattr(kind, "__call__", call, raising=False)
    monkeypatch.setattr("tengen.parallel_compiling.kernel_cache", lambda: None)
    compile_first(features)
    compiled = set(called)
    called.clear()
    monkeypatch.setattr("tengen.runs.run.compile_first", lambda _: None)
    train(tmp_path, TINY)
    assert RunFolder(tmp_path).ratings.exists()  # matches were played, too
    assert {"step_games", "encode_span"} <= {name for _, name, _ in called}
    assert not called - compiled
    assert not called - told
