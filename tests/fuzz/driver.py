"""Runs fuzzers. Each input is made from a number alone, so that a number is enough to repeat it."""

from __future__ import annotations

import time
import traceback
from abc import ABC, abstractmethod
from itertools import count
from pathlib import Path
from random import Random
from typing import ClassVar, NamedTuple

from tengen.closeable import Closeable

FAILURES = Path(".fuzz")  # where inputs that fail are kept
LONGEST = 20.0  # seconds of processor time that one input may take
LONGEST_FIRST = 300.0


class Tally(NamedTuple):
    """What a run of a fuzzer came to."""

    inputs: int
    seconds: float


class FuzzError(AssertionError):
    """An input that something did not survive; the message says how to repeat it."""


class Fuzzer(Closeable, ABC):
    """Something that reads input from outside, in this process, and input for it."""

    name: ClassVar[str]

    @abstractmethod
    def make(self, rng: Random) -> bytes:
        """An input: a file, or a conversation of some lines."""

    @abstractmethod
    def feed(self, data: bytes) -> int:
        """Read an input; returns how many lines, messages or files it was.

        Raises whatever must not happen.
        """

    def close(self) -> None:
        """End what was started."""


def fuzz(fuzzer: Fuzzer, seconds: float, seed: int, inputs: int | None = None) -> Tally:
    """Feed inputs for some seconds, or until there were so many; raises FuzzError.

    The clock starts after the first input, for which kernels may have to be compiled.
    """
    done = _fed(fuzzer, fuzzer.make(Random(f"{fuzzer.name} {seed} 0")), f"{seed}-0", LONGEST_FIRST)
    began = time.monotonic()
    for number in count(1):
        elapsed = time.monotonic() - began
        if elapsed >= seconds if inputs is None else done >= inputs:
            return Tally(done, elapsed)
        data = fuzzer.make(Random(f"{fuzzer.name} {seed} {number}"))
        done += _fed(fuzzer, data, f"{seed}-{number}")
    raise AssertionError("there is always another number")


def _fed(fuzzer: Fuzzer, data: bytes, label: str, longest: float = LONGEST) -> int:
    start = time.process_time()
    try:
        lines = fuzzer.feed(data)
        spent = time.process_time() - start
        assert spent < longest, f"it took {spent:.0f} s"
    except Exception as error:
        FAILURES.mkdir(exist_ok=True)
        path = FAILURES / f"{fuzzer.name}-{label}"
        path.write_bytes(data)
        raise FuzzError(
            f"{fuzzer.name} failed on input {label}: {type(error).__name__}: {error}\n"
            f"repeat it with: python -m tests.fuzz {fuzzer.name} --input {path}\n"
            f"{''.join(traceback.format_exception(error)[-4:])}"
        ) from error
    return lines
