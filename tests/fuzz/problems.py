"""Files of problems: any line is a problem that can be shown and tried, or refused."""

from __future__ import annotations

import json
import tempfile
from contextlib import suppress
from pathlib import Path
from random import Random

from tengen.frontends.web.learn.problem_play import ProblemJudge, problem_view
from tengen.frontends.web.limits import RefusedError
from tengen.problems.checking import why_wrong
from tengen.problems.problem_files import SHIPPED, ProblemFileError, problem_line, read_problems
from tengen.problems.solver import RegionSolver
from tests.fuzz.driver import Fuzzer
from tests.fuzz.mutation import changed_bytes, changed_value

TRIES = ("A1", "pass", "C3", "T19", "B2", "Z0")


class ProblemsFuzzer(Fuzzer):
    name = "problems"

    def __init__(self) -> None:
        self._folder = tempfile.TemporaryDirectory()
        self._lines = SHIPPED.read_text("utf-8").splitlines()
        self._judge, self._solver = ProblemJudge(), RegionSolver(20_000, 1 << 14)

    def make(self, rng: Random) -> bytes:
        """Lines of ours with a value or some bytes changed."""
        line = rng.choice(self._lines)
        if rng.random() < 0.7:
            changed = json.loads(line)
            for _ in range(rng.choice((1, 1, 2))):
                changed = changed_value(rng, changed)
            line = json.dumps(changed)
        data = line.encode()
        return changed_bytes(rng, data, 2) if rng.random() < 0.4 else data

    def feed(self, data: bytes) -> int:
        path = Path(self._folder.name) / "problems.jsonl"
        path.write_bytes(data)
        problems, refusal = [], ""
        try:
            problems = read_problems(path)
        except ProblemFileError as error:
            refusal = str(error)
        assert "\n" not in refusal
        for problem in problems:
            problem_line(problem)
            problem_view(problem)
            why_wrong(problem, self._solver)
            with suppress(RefusedError):
                self._judge.tried_view(problem, TRIES[: 1 + len(data) % len(TRIES)])
        return 1

    def close(self) -> None:
        self._folder.cleanup()
