"""How a cost grows with the size of the input: four times the input, and what it costs then."""

from __future__ import annotations

import time
import tracemalloc
from collections.abc import Callable
from typing import TypeVar

Input = TypeVar("Input")

TIMES = 4
# A linear cost grows by 4, one with the square by 16; other programs and caches disturb either.
MOST_GROWTH = 9.0
_REPEATS = 3


def cpu_growth(make: Callable[[int], Input], work: Callable[[Input], object], n: int) -> float:
    """By what the processor time of some work grows from an input of size n to four times that."""
    small, large = (_cpu_seconds(make(size), work) for size in (n, TIMES * n))
    return large / small


def _cpu_seconds(given: Input, work: Callable[[Input], object]) -> float:
    """The least of some tries: whatever disturbs them makes them longer."""
    found = []
    for _ in range(_REPEATS):
        began = time.process_time()
        work(given)
        found.append(time.process_time() - began)
    return min(found)


def memory_growth(make: Callable[[int], Input], work: Callable[[Input], object], n: int) -> float:
    """The same for the most memory that is in use at a time."""
    small, large = (peak_bytes(work, make(size)) for size in (n, TIMES * n))
    return large / small


def peak_bytes(work: Callable[[Input], object], given: Input) -> int:
    """The most memory that some work takes at a time, its result included."""
    tracemalloc.start()
    try:
        work(given)
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
