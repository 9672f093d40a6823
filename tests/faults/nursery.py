"""Starts `tengen` again and again as forks of one process that has imported everything.

So a start takes a twentieth of a second instead of some seconds, and a hundred kills take minutes.
The forks are processes as any others: they are killed, fill their disk and have their own clock.

    python -m tests.faults.nursery

reads requests on stdin and answers each on stdout, as lines of JSON.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from types import TracebackType
from typing import IO, Any

from tests.faults.faulty_process import ROOT, bring_about

IMPORTED = ("tengen.frontends.cli", "tengen.frontends.train", "tengen.runs.run")
LOOK_SECONDS = 0.01


class Nursery:
    """The process that is forked. Its forks run on one thread."""

    def __enter__(self) -> Nursery:
        one = dict.fromkeys(("OMP_NUM_THREADS", "NUMBA_NUM_THREADS"), "1")
        self._process = subprocess.Popen(
            [sys.executable, "-m", "tests.faults.nursery"],
            cwd=ROOT,
            env=os.environ | one,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.close()  # it kills what is left, and ends
        self._process.wait()
        self._process.stdout.close()

    def start(self, faults: dict[str, Any], words: Sequence[str]) -> Started:
        """Start `tengen WORDS` with faults."""
        # What it says comes through a pipe: to a file it could not say that the disk is full.
        with tempfile.TemporaryDirectory() as folder:
            pipe = Path(folder) / "messages"
            os.mkfifo(pipe)
            ear = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
            pid = self.ask({"faults": faults, "words": list(words), "messages": str(pipe)})
        return Started(self, int(pid), ear)

    def ask(self, request: dict[str, Any]) -> Any:
        """The answer to a request."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        print(json.dumps(request), file=self._process.stdin, flush=True)
        return json.loads(self._process.stdout.readline())


class Started:
    """A fork."""

    def __init__(self, nursery: Nursery, pid: int, ear: int) -> None:
        self._nursery, self.pid = nursery, pid
        self._status: int | None = None
        self._heard: list[bytes] = []
        self._listening = threading.Thread(target=self._listen, args=(ear,))
        self._listening.start()

    def _listen(self, ear: int) -> None:
        with open(ear, "rb", 0) as messages:
            os.set_blocking(ear, True)
            while content := messages.read(1 << 16):
                self._heard.append(content)

    @property
    def errors(self) -> str:
        """What it has said on stderr so far; all of it once it has ended."""
        if self._status is not None:
            self._listening.join()
        return b"".join(self._heard).decode(errors="replace")

    def poll(self) -> int | None:
        """Its exit status, negative for a signal; None while it runs."""
        if self._status is None:
            self._status = self._nursery.ask({"poll": self.pid})
        return self._status

    def wait(self, seconds: float) -> int:
        """Its exit status once it has ended; raises TimeoutError."""
        deadline = time.monotonic() + seconds
        while (status := self.poll()) is None:
            if time.monotonic() > deadline:
                raise TimeoutError(f"process {self.pid} has not ended:\n{self.errors}")
            time.sleep(LOOK_SECONDS)
        return status

    def send(self, number: int) -> None:
        """Send a signal, if it still runs."""
        if self.poll() is None:
            os.kill(self.pid, number)  # not reaped yet, so nobody else has this number


def _serve(requests: IO[str], answers: IO[str]) -> None:
    for name in IMPORTED:
        import_module(name)
    assert len(list(Path("/proc/self/task").iterdir())) == 1, "forks of threads would hang"
    alive: set[int] = set()
    for line in requests:
        request = json.loads(line)
        answer: int | None
        if "poll" in request:
            answer = _status_of(request["poll"], os.WNOHANG)
            if answer is not None:
                alive.discard(request["poll"])
        else:
            messages = os.open(request["messages"], os.O_WRONLY)
            answer = os.fork()
            if answer == 0:
                _become(request, messages)
            os.close(messages)
            alive.add(answer)
        print(json.dumps(answer), file=answers, flush=True)
    for pid in alive:
        os.kill(pid, 9)
        os.waitpid(pid, 0)


def _status_of(pid: int, options: int) -> int | None:
    ended, status = os.waitpid(pid, options)
    return os.waitstatus_to_exitcode(status) if ended else None


def _become(request: dict[str, Any], messages: int) -> None:
    """Run the command line in this process, and end it."""
    nothing = os.open(os.devnull, os.O_RDWR)
    for stream, file in enumerate((nothing, nothing, messages)):
        os.dup2(file, stream)
    bring_about(request["faults"])
    sys.argv = ["tengen", *request["words"]]
    status = 1
    try:
        import_module("tengen.frontends.cli").main()
        status = 0
    except SystemExit as end:
        status = end.code if isinstance(end.code, int) else int(end.code is not None)
    except BaseException:
        sys.excepthook(*sys.exc_info())
    finally:
        sys.stderr.flush()
        os._exit(status)


if __name__ == "__main__":
    _serve(sys.stdin, sys.stdout)
