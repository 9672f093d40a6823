"""Soak test: GTP, analysis, browsers and reviews at a time for long; does anything grow?

Three servers run as processes of their own with a bundled network. Load goes on without a pause, so
that an hour of it has the moves, queries and reviews of half a day of use. Each minute, or oftener
in a short run, all connections are closed, then memory, threads and open files of each server are
read. The baseline is the same server after the first third of the time: graphs are compiled, there
are as many sessions in memory as are kept, and caches are full, which are smaller than usual for
that: 100 MB take longer to fill than a short run lasts, and would look like a leak. OpenVINO has
three threads and some 25 MB for each graph of a batch size, of which the evaluator keeps a stated
number; which sizes occur depends on the load. So browsers come a few at a time before the first
round, until all are there, and the server's pools of threads are whole from the beginning.

Memory is what a process has of its own: pages of files, such as libraries, are in memory or not as
the system likes.

    python benchmarks/soak.py [--minutes 60] [--browsers 50]

Fails if memory is more than 5% above the baseline at the end, a thread or a file is left, or a
server does not end when it is told to.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import random
import re
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from contextlib import ExitStack, closing
from http.client import HTTPConnection
from pathlib import Path
from typing import NamedTuple

from tests.frontends.web.players import play_many
from tests.frontends.web.server import Client
from tests.frontends.web.server_process import ServerProcess

from tengen.engine.levels import LEVELS
from tengen.network.files.bundled import bundled_networks
from tengen.problems.problem_files import shipped_problems

MOST_GROWTH = 0.05
FEWEST_ROUNDS = 18
CACHE_MEGABYTES = 4.0
REST = 3.0  # seconds after which a server has put away what ended connections left
PATIENCE = 300.0  # seconds for an answer: other programs may use the machine, too
LEARNERS_REST = 0.2  # seconds between tries
FIRST_SECONDS = 10.0  # of each number of browsers before the first round
COLUMNS = "ABCDEFGHJ"
GAME = "(;SZ[9]KM[7];B[ee];W[cg];B[gc];W[gg];B[cc];W[ec];B[ce];W[ge])"


LEVEL = LEVELS[len(LEVELS) // 2].id


def address(port: int) -> str:
    return f"ws://127.0.0.1:{port}/ws"


def posted(port: int, path: str, body: object) -> int:
    """The status of the answer to a request, on a connection of its own."""
    with closing(HTTPConnection("127.0.0.1", port, timeout=PATIENCE)) as connection:
        headers = {"Content-Type": "application/json"}
        connection.request("POST", path, json.dumps(body), headers)
        answer = connection.getresponse()
        answer.read()
        return answer.status


class Use(NamedTuple):
    """What a process takes."""

    megabytes: float  # its own
    of_files: float  # megabytes of files' pages
    threads: int
    files: int

    def __str__(self) -> str:
        memory = f"{self.megabytes:.0f} MB (+ {self.of_files:.0f} of files)"
        return f"{memory} {self.threads} threads {self.files} files"


def use_of(pid: int) -> Use:
    status = dict(re.findall(r"(\w+):\s+(\d+)", Path(f"/proc/{pid}/status").read_text()))
    own = int(status["RssAnon"]) + int(status["RssShmem"])
    files = len(list(Path(f"/proc/{pid}/fd").iterdir()))
    return Use(own / 1024, int(status["RssFile"]) / 1024, int(status["Threads"]), files)


def piped(*words: str) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [sys.executable, "-m", "tengen", *words],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    )


class Load:
    """Everything that asks for something, until a time; counts what was answered."""

    def __init__(self, gtp: subprocess.Popen[bytes], analysis: subprocess.Popen[bytes]) -> None:
        self._gtp, self._analysis = gtp, analysis
        self.done: Counter[str] = Counter()
        self.errors: list[str] = []
        self._draw = random.Random(1)

    def round(self, port: int, browsers: int, seconds: float) -> None:
        until = time.monotonic() + seconds
        works = (
            self._speak_gtp,
            self._ask_analysis,
            lambda until: self._review(port, until),
            lambda until: self._learn(port, until),
        )
        threads = [threading.Thread(target=self._guarded, args=[work, until]) for work in works]
        for thread in threads:
            thread.start()
        players = asyncio.run(play_many(address(port), browsers * [LEVEL], seconds))
        for thread in threads:
            thread.join()
        self.done["moves in browsers"] += sum(len(player.answers) for player in players)
        self.errors += [error for player in players for error in player.errors]

    def _guarded(self, work: object, until: float) -> None:
        assert callable(work)
        try:
            work(until)
        except Exception as error:  # reported at the end
            self.errors.append(f"{type(error).__name__}: {error}")

    def _command(self, command: str) -> str:
        assert self._gtp.stdin is not None
        assert self._gtp.stdout is not None
        self._gtp.stdin.write(f"{command}\n".encode())
        self._gtp.stdin.flush()
        lines = []
        while (line := self._gtp.stdout.readline()) not in (b"\n", b""):
            lines.append(line.decode())
        self.done["GTP commands"] += 1
        return "".join(lines)

    def _speak_gtp(self, until: float) -> None:
        while time.monotonic() < until:
            for command in (f"boardsize {self._draw.choice((9, 9, 13, 7))}", "clear_board"):
                self._command(command)
            for _ in range(12):
                self._command(f"play b {self._draw.choice(COLUMNS[:7])}{self._draw.randint(1, 7)}")
                if not self._command("genmove w").startswith("="):
                    self.errors.append("genmove failed")
            self._command("final_score")

    def _ask_analysis(self, until: float) -> None:
        assert self._analysis.stdin is not None
        assert self._analysis.stdout is not None
        number = 0
        while time.monotonic() < until:
            number += 1
            moves = [["BW"[k % 2], f"{COLUMNS[k % 9]}{k % 8 + 1}"] for k in range(16)]
            query = {
                "id": str(number), "moves": moves, "rules": "chinese", "boardXSize": 9,
                "boardYSize": 9, "maxVisits": 20, "analyzeTurns": list(range(16)),
                "includeOwnership": True, "komi": self._draw.choice((5.5, 6.5, 7)),
            }  # fmt: skip
            self._analysis.stdin.write(json.dumps(query).encode() + b"\n")
            self._analysis.stdin.flush()
            left = 16
            while left:
                answer = json.loads(self._analysis.stdout.readline())
                if "error" in answer:
                    self.errors.append(answer["error"])
                left -= "rootInfo" in answer or "error" in answer
            self.done["positions analysed"] += 16

    def _review(self, port: int, until: float) -> None:
        session = None
        while time.monotonic() < until:
            with Client(port, session, patience=PATIENCE) as client:
                session = client.session
                client.ask("open", "game", sgf=GAME)
                client.say("review", visits=20)
                client.hear("review")
            self.done["reviews"] += 1

    def _learn(self, port: int, until: float) -> None:
        """Solve problems, and play capture Go."""
        problems = [each.id for each in shipped_problems()]
        while time.monotonic() < until:
            tries = [f"{self._draw.choice(COLUMNS)}{self._draw.randint(1, 9)}" for _ in range(5)]
            game = {"side": 9, "level": "sharp", "colour": "white", "moves": [], "seed": 1}
            for path, body in (
                (f"problems/{self._draw.choice(problems)}", {"tries": tries}),
                ("capture", game | {"seed": self._draw.randrange(10**6)}),
            ):
                answer = posted(port, f"/api/learn/{path}", body)
                if answer not in (200, 409):  # 409: off the board, or solved before
                    self.errors.append(f"{path}: {answer}")
                self.done["tries of learners"] += 1
            time.sleep(LEARNERS_REST)


def numbers_up_to(most: int) -> list[int]:
    """1, 2, 4 ... and the number itself."""
    return [*(1 << k for k in range(most.bit_length()) if 1 << k < most), most]


def what_grew(uses: list[dict[str, Use]]) -> list[str]:
    """What of each server is more at the end than it may be, by what they took after each round."""
    failures = []
    rounds, last = len(uses), uses[-1]
    base, middle = uses[rounds // 3], uses[rounds // 3 : 2 * rounds // 3]
    for name in last:
        growth = last[name].megabytes / base[name].megabytes - 1
        print(f"{name}: memory {growth:+.1%} against the end of the first third")
        if growth > MOST_GROWTH:
            failures.append(f"{name} grows by {growth:.1%}")
        for what in ("threads", "files"):
            # Of the second third: a graph that is compiled for another board has its own threads.
            before = max(getattr(use[name], what) for use in middle)
            after = getattr(last[name], what)
            if after > before:
                failures.append(f"{name} leaves {what}: {before}, then {after}")
    return failures


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--minutes", type=float, default=60.0)
    parser.add_argument("--browsers", type=int, default=50)
    options = parser.parse_args()
    rounds = max(FEWEST_ROUNDS, round(options.minutes))
    network = bundled_networks()[0]
    with ExitStack() as opened:
        folder = Path(opened.enter_context(tempfile.TemporaryDirectory()))
        web = opened.enter_context(ServerProcess(folder, 0, network, CACHE_MEGABYTES))
        gtp = opened.enter_context(piped("gtp", "--visits", "20"))
        analysis = opened.enter_context(piped("analysis"))
        servers = {"web": web.process.pid, "gtp": gtp.pid, "analysis": analysis.pid}
        while not asyncio.run(play_many(address(web.port), [LEVEL], 5.0))[0].answers:
            pass  # the network is still being loaded
        load = Load(gtp, analysis)
        for browsers in numbers_up_to(options.browsers):
            load.round(web.port, browsers, FIRST_SECONDS)
        uses: list[dict[str, Use]] = []
        for number in range(rounds):
            load.round(web.port, options.browsers, 60 * options.minutes / rounds)
            time.sleep(REST)
            uses.append({name: use_of(pid) for name, pid in servers.items()})
            told = ", ".join(f"{name} {use}" for name, use in uses[-1].items())
            print(f"{number + 1} of {rounds}: {told}", flush=True)
        for process in (gtp, analysis):
            process.communicate(b"quit\n" if process is gtp else b"", timeout=60)
        ended = {"web": web.interrupt(), "gtp": gtp.returncode, "analysis": analysis.returncode}
        unfinished = [str(file) for file in folder.rglob(".*")]
    print(f"{options.minutes:g} minutes: {dict(load.done)}, {len(load.errors)} errors")
    print(f"load average: {os.getloadavg()}, {os.cpu_count()} cores")
    failures = [f"errors: {sorted(set(load.errors))[:5]}"] if load.errors else []
    failures += [f"{name} ends with {status}" for name, status in ended.items() if status]
    if unfinished:
        failures.append(f"files are left: {unfinished[:5]}")
    failures += what_grew(uses)
    if failures:
        raise SystemExit("; ".join(failures))


if __name__ == "__main__":
    main()
