"""What tests of several packages share."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

# Torch reads it when it is imported. `make test` runs two processes on what may be two cores: the
# threads of one wait for each other while the other computes, and burn its time by spinning.
os.environ.setdefault("OMP_NUM_THREADS", "1")

import numba
import pytest
import torch
from numba.core import config

from tengen.search.warmup import compile_kernels

FIRST = "test_kernel_modes.py"
WITHOUT_SEARCHES = Path(__file__).parent / "game"


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Run the longest test first: the other process compiles the kernels for both meanwhile."""
    items.sort(key=lambda item: item.path.name != FIRST)


@pytest.fixture(scope="session", autouse=True)
def _torch_in_one_thread() -> None:
    """As asked for above: starting its threads, Numba sets OpenMP's number of the main thread."""
    numba.get_num_threads()  # starts them
    torch.set_num_threads(1)


@pytest.fixture
def one_kernel_thread() -> Iterator[None]:
    """Kernels run in one thread: several wait long for each other where other programs run."""
    before = numba.get_num_threads()
    numba.set_num_threads(1)
    yield
    numba.set_num_threads(before)


@pytest.fixture(scope="session")
def compiled_kernels() -> None:
    """The kernels of searches are compiled: until then an engine's searches are slow."""
    if not config.DISABLE_JIT:
        compile_kernels()


@pytest.fixture(scope="module", autouse=True)
def _searches_at_full_speed(request: pytest.FixtureRequest) -> None:
    if request.path.name != FIRST and WITHOUT_SEARCHES not in request.path.parents:
        request.getfixturevalue("compiled_kernels")
