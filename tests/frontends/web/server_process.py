"""The web server as a process of its own, for tests; run as a program, with a made-up network.

What follows is the folder for its games, the port, and a network file if it is to be a real one,
then, for a soak, the megabytes of its cache, which is smaller than usual; its pools of threads are
whole from the beginning, so that a thread that comes later is one too many.
"""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from queue import Empty, Queue
from typing import Any

from tengen.closeable import Closeable

LIMIT = 60.0  # seconds


class ServerProcess(Closeable):
    """A process, and its port."""

    def __init__(
        self,
        folder: Path,
        port: int = 0,
        network: Path | None = None,
        cache_megabytes: float | None = None,
    ) -> None:
        program = [
            sys.executable,
            "-m",
            "tests.frontends.web.server_process",
            str(folder),
            str(port),
            *([] if network is None else [str(network)]),
            *([] if cache_megabytes is None else [str(cache_megabytes)]),
        ]
        self.process = subprocess.Popen(
            program,
            cwd=Path(__file__).parents[3],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
            env=os.environ | {"PYTHONWARNINGS": "error"},
        )
        self.lines: Queue[str] = Queue()
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()
        self.port = self._port()

    def _read(self) -> None:
        assert self.process.stderr is not None
        for line in self.process.stderr:
            self.lines.put(line)

    def _port(self) -> int:
        heard = []
        while True:
            try:
                heard.append(self.lines.get(timeout=LIMIT))
            except Empty:
                raise AssertionError(f"it does not serve: {heard}") from None
            if match := re.search(r"http://127\.0\.0\.1:(\d+)/", heard[-1]):
                return int(match[1])

    def kill(self) -> None:
        self.process.kill()
        self.process.wait()

    def interrupt(self) -> int:
        """Ctrl-C; the exit code."""
        self.process.send_signal(signal.SIGINT)
        return self.process.wait(LIMIT)

    def close(self) -> None:
        self.kill()
        self._reader.join()
        assert self.process.stderr is not None
        self.process.stderr.close()


def begin_pools_whole() -> None:
    """From now on a pool begins with all its threads, not with each when it is needed."""
    usual = ThreadPoolExecutor.__init__

    def begin(pool: ThreadPoolExecutor, *args: Any, **options: Any) -> None:
        usual(pool, *args, **options)
        all_there = threading.Barrier(pool._max_workers)
        for _ in range(pool._max_workers):
            pool.submit(all_there.wait)

    ThreadPoolExecutor.__init__ = begin  # type: ignore[assignment]


def main() -> None:
    from tengen.engine.engine import Engine
    from tengen.frontends.command_options import PlayOptions
    from tengen.frontends.web.http import serve as serving
    from tengen.frontends.web.http.serve import make_engine, serve
    from tengen.frontends.web.play.client_messages import NewGame
    from tengen.network.loaded_network import LoadedNetwork
    from tests.frontends.web.made_up import slow_halves

    folder, port, *real = sys.argv[1:]
    if len(real) > 1:
        begin_pools_whole()
        serving.CACHE_MEGABYTES = float(real[1])
    options = PlayOptions(port=int(port), browser=False, data=Path(folder))
    first_game = NewGame(size=9, colour="black", level="beginner")

    def make() -> Engine:
        return make_engine(real[0] if real else LoadedNetwork(slow_halves(0.02), "fake.bin.gz"))

    serve(options, first_game, make)


if __name__ == "__main__":
    main()
