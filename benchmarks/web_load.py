"""Load test of the web server: many level games on 9x9 over real WebSockets.

The server runs in a separate process. Players move at random, pass after a while, accept the score
or resign, and start again. Fairness is the fewest answers that a session got against the most; the
baseline of the rate is one player alone.

    python benchmarks/web_load.py [SESSIONS [SECONDS [NETWORK]]]
"""

from __future__ import annotations

import asyncio
import os
import re
import sys
import tempfile
from pathlib import Path

import numpy as np
from tests.frontends.web.players import play_many
from tests.frontends.web.server_process import ServerProcess

from tengen.engine.levels import LEVELS

NETWORK = Path(__file__).parents[2] / "shared" / "katago" / "g170-b6c96.bin.gz"
SESSIONS, SECONDS = 50, 60.0


def megabytes(process: int) -> float:
    """The resident memory of a process."""
    status = Path(f"/proc/{process}/status").read_text()
    return int(re.findall(r"VmRSS:\s+(\d+)", status)[0]) / 1024


def told(name: str, values: list[float]) -> str:
    half, most, longest = np.quantile(values, [0.5, 0.95, 1.0])
    return f"{name} {half:.3f} s, 95% {most:.3f} s, at most {longest:.2f} s"


def main() -> None:
    sessions = int(sys.argv[1]) if len(sys.argv) > 1 else SESSIONS
    seconds = float(sys.argv[2]) if len(sys.argv) > 2 else SECONDS
    network = Path(sys.argv[3]) if len(sys.argv) > 3 else NETWORK
    if not network.exists():
        print(f"nothing measured: no network at {network}")
        return
    level = LEVELS[len(LEVELS) // 2].id
    with tempfile.TemporaryDirectory() as folder, ServerProcess(Path(folder), 0, network) as server:
        address = f"ws://127.0.0.1:{server.port}/ws"
        process = server.process.pid
        asyncio.run(play_many(address, [level], 5.0))  # loads and warms up the network
        alone = asyncio.run(play_many(address, [level], 10.0))[0]
        before = megabytes(process)
        first = asyncio.run(play_many(address, sessions * [level], seconds / 2))
        halfway = megabytes(process)
        second = asyncio.run(play_many(address, sessions * [level], seconds / 2))
        after = megabytes(process)
    players = first + second
    errors = [error for player in players for error in player.errors]
    counts = [sorted(len(player.answers) for player in half) for half in (first, second)]
    answers = [each for player in players for each in player.answers]
    echoes = [each for player in players for each in player.echoes]
    rate, rate_alone = len(answers) / seconds, len(alone.answers) / 10.0
    print(
        f"{sessions} sessions at level {level} for {seconds:g} s: {len(errors)} errors,"
        f" {sum(player.games for player in players)} games, {rate:.1f} answers/s;"
        f" ratio {rate / max(rate_alone, 1e-9):.2f} against one player alone"
    )
    print(
        f"fairness {', '.join(f'{each[0]}/{each[-1]}' for each in counts)} answers;"
        f" {told('an answer takes', answers)}; {told('an echo', echoes)}"
    )
    print(f"memory {before:.0f} MB before, {halfway:.0f} MB halfway, {after:.0f} MB after")
    print(f"load average: {os.getloadavg()}, {os.cpu_count()} cores")
    if errors:
        raise SystemExit(f"errors: {sorted(set(errors))}")


if __name__ == "__main__":
    main()
