"""What tests of several packages share."""

from __future__ import annotations

from collections.abc import Iterator

import numba
import pytest


@pytest.fixture
def one_kernel_thread() -> Iterator[None]:
    """Kernels run in one thread: several wait long for each other where other programs run."""
    before = numba.get_num_threads()
    numba.set_num_threads(1)
    yield
    numba.set_num_threads(before)
