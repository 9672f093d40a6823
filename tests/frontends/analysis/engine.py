"""The analysis engine as a process of its own, for tests; run as a program, with a fake network.

What follows is JSON for AnalysisOptions; a `model` that is a file is loaded for real.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable
from contextlib import suppress
from queue import Empty, Queue
from types import TracebackType
from typing import Any

FAKE = "fake"
LIMIT = 60.0  # seconds


class Engine:
    """A process, and its answers."""

    def __init__(self, model: str = FAKE, **options: Any) -> None:
        self.process = subprocess.Popen(
            command(model, **options),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=os.environ | {"PYTHONWARNINGS": "error"},
        )
        self.lines: Queue[bytes] = Queue()
        self.errors: list[bytes] = []
        self._readers = [
            threading.Thread(target=self._read_answers, daemon=True),
            threading.Thread(target=self._read_errors, daemon=True),
        ]
        for reader in self._readers:
            reader.start()

    def _read_answers(self) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            self.lines.put(line)

    def _read_errors(self) -> None:
        assert self.process.stderr is not None
        for line in self.process.stderr:
            self.errors.append(line)

    def say(self, query: dict[str, Any] | bytes) -> None:
        assert self.process.stdin is not None
        line = query if isinstance(query, bytes) else json.dumps(query).encode() + b"\n"
        self.process.stdin.write(line)
        self.process.stdin.flush()

    def answer(self) -> dict[str, Any]:
        """The next line, which must be JSON."""
        try:
            line = self.lines.get(timeout=LIMIT)
        except Empty:
            raise AssertionError(f"no answer in time; stderr: {self.errors}") from None
        assert line.endswith(b"\n")
        answer = json.loads(line)
        assert isinstance(answer, dict)
        return answer

    def until(self, enough: Callable[[list[dict[str, Any]]], bool]) -> list[dict[str, Any]]:
        answers: list[dict[str, Any]] = []
        while not enough(answers):
            answers.append(self.answer())
        return answers

    def finish(self) -> tuple[int, list[dict[str, Any]]]:
        """End its input; the exit code and what it still had to say."""
        assert self.process.stdin is not None
        self.process.stdin.close()
        code = self.process.wait(LIMIT)
        for reader in self._readers:
            reader.join(LIMIT)
        answers = []
        while not self.lines.empty():
            answers.append(self.answer())
        return code, answers

    def __enter__(self) -> Engine:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        assert self.process.stderr is not None
        self.process.kill()
        self.process.wait()
        for reader in self._readers:
            reader.join(LIMIT)
        self.process.stdout.close()
        self.process.stderr.close()
        with suppress(BrokenPipeError):
            self.process.stdin.close()


def command(model: str = FAKE, **options: Any) -> list[str]:
    """What starts the engine."""
    given = json.dumps({"model": model, "visits": 10, "searches": 4, **options})
    return [sys.executable, "-m", "tests.frontends.analysis.engine", given]


def main() -> None:
    from tengen.frontends.analysis.server import run_analysis, serve
    from tengen.frontends.command_options import AnalysisOptions

    # Tests may run in the background of a shell, whose jobs ignore interrupts.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    options = AnalysisOptions(**json.loads(sys.argv[1]))
    if options.model != FAKE:
        run_analysis(options)
        return
    from tests.frontends.analysis.conversation import network

    serve(options, network)


if __name__ == "__main__":
    main()
