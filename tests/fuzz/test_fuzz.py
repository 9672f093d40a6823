"""Every fuzzer for some seconds with the same seeds each time, and for an hour with new ones."""

from __future__ import annotations

import os
import secrets
from pathlib import Path
from random import Random

import pytest

from tests.frontends.analysis.conversation import warm
from tests.fuzz import driver
from tests.fuzz.driver import Fuzzer, FuzzError, fuzz
from tests.fuzz.registry import FUZZERS

# For each: enough to see that the fuzzer works. `make fuzz` takes a minute each, in CI, too.
SECONDS = float(os.environ.get("TENGEN_FUZZ_SECONDS", "2"))
HOUR = 3600.0
SEED = 1


@pytest.mark.parametrize("name", FUZZERS)
def test_some_seconds(name: str) -> None:
    warm()
    with FUZZERS[name]() as fuzzer:
        assert fuzz(fuzzer, SECONDS, SEED).inputs


@pytest.mark.long
@pytest.mark.timeout(2 * HOUR)
@pytest.mark.parametrize("name", FUZZERS)
def test_an_hour(name: str) -> None:
    seconds = float(os.environ.get("TENGEN_FUZZ_SECONDS", HOUR))
    seed = secrets.randbelow(10**6)
    with FUZZERS[name]() as fuzzer:
        tally = fuzz(fuzzer, seconds, seed)
    print(f"{name}: {tally.inputs:,} inputs with seed {seed}")


class Picky(Fuzzer):
    name = "picky"

    def make(self, rng: Random) -> bytes:
        return bytes([rng.randrange(256)])

    def feed(self, data: bytes) -> int:
        assert data != b"\x07", "seven"
        return 1


def test_a_failure_is_kept_and_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(driver, "FAILURES", tmp_path)
    with pytest.raises(FuzzError, match="seven") as failure:
        fuzz(Picky(), 60, seed=3)
    (kept,) = tmp_path.iterdir()
    assert kept.read_bytes() == b"\x07"
    assert f"python -m tests.fuzz picky --input {kept}" in str(failure.value)
    number = int(kept.name.rpartition("-")[2])
    assert Picky().make(Random(f"picky 3 {number}")) == b"\x07"
