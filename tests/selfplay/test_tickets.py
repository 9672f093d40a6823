"""Claims: each is taken once, whoever takes it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numba import prange

from tengen.jit import kernel
from tengen.selfplay.kernels.claim import claim_chunk


@kernel(parallel=True)
def take_all(next_chunk: Any, taken: Any) -> None:
    for k in prange(taken.shape[0]):
        taken[k] = claim_chunk(next_chunk)


@pytest.mark.kernel
def test_no_two_threads_get_the_same_ticket() -> None:
    next_chunk, taken = np.array([5]), np.zeros(20_000, np.int64)
    take_all(next_chunk, taken)
    assert next_chunk.tolist() == [20_005]
    np.testing.assert_array_equal(np.sort(taken), np.arange(5, 20_005))
