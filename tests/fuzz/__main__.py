"""Run fuzzers for some time each, or repeat one input: `python -m tests.fuzz --help`."""

from __future__ import annotations

import argparse
import secrets
import sys
from pathlib import Path

from tests.fuzz.driver import FuzzError, fuzz
from tests.fuzz.registry import FUZZERS


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"of {', '.join(FUZZERS)}; or all")
    parser.add_argument("--seconds", type=float, default=60.0, help="for each, 60 by default")
    parser.add_argument("--inputs", type=int, help="how many for each, instead of seconds")
    parser.add_argument("--seed", type=int, help="else a new one, which is printed")
    parser.add_argument("--input", type=Path, help="repeat this input of one fuzzer")
    options = parser.parse_args()
    unknown = [name for name in options.names if name not in FUZZERS]
    if unknown or (options.input is not None and len(options.names) != 1):
        parser.error(f"name fuzzers of {', '.join(FUZZERS)}; with --input one of them")
    if options.input is not None:
        data = options.input.read_bytes()
        with FUZZERS[options.names[0]]() as fuzzer:
            fuzzer.feed(data)
        print("it was read without a failure")
        return 0
    seed = secrets.randbelow(10**6) if options.seed is None else options.seed
    failed = False
    for name in options.names or FUZZERS:
        print(f"{name}: seed {seed} ...", flush=True)
        try:
            with FUZZERS[name]() as fuzzer:
                tally = fuzz(fuzzer, options.seconds, seed, options.inputs)
        except FuzzError as failure:
            print(failure, file=sys.stderr)
            failed = True
        else:
            print(
                f"{name}: {tally.inputs:,} inputs in {tally.seconds:.0f} s, no failure", flush=True
            )
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
