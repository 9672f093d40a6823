"""The atomic counter: each number is claimed once."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numba import prange

from tengen.jit import kernel
from tengen.selfplay.kernels.step import claim_next


@kernel(parallel=True)
def claim_all(counter: Any, claimed: Any) -> None:
    for k in prange(claimed.shape[0]):
        claimed[k] = claim_next(counter)


@pytest.mark.kernel
def test_no_two_threads_get_the_same_number() -> None:
    counter, claimed = np.array([5]), np.zeros(20_000, np.int64)
    claim_all(counter, claimed)
    assert counter.tolist() == [20_005]
    np.testing.assert_array_equal(np.sort(claimed), np.arange(5, 20_005))
