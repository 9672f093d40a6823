"""Visits/s of `tengen match` against GTP programs on a GPU, sixteen games at a time.

Searches of one process share the network's batches, so sixteen games should be searched much
faster than one. Baseline: the same match, one game at a time. The opponent plays random moves, so
that nearly all time is ours. `--source FOLDER` measures another version's sources.
"""

from __future__ import annotations

import argparse
import os
import random
import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).parents[1]
VISITS = 64


def opponent() -> None:
    """Speak GTP, play random legal moves, and pass when few points are left."""
    from tengen.game.position import Position

    position, choice = Position(9, "tromp-taylor", 7), random.Random(1)
    for line in sys.stdin:
        command, *words = line.split() or [""]
        answer = ""
        match command:
            case "name":
                answer = "random"
            case "known_command":
                answer = "false"
            case "clear_board":
                position = Position(9, "tromp-taylor", 7)
            case "play":
                position = position.play(None if words[1].lower() == "pass" else words[1])
            case "genmove":
                moves = position.legal_moves()
                move = choice.choice(moves) if len(moves) > 20 else None
                answer = position.text(move)
                position = position.play(move)
        print(f"= {answer}\n", flush=True)
        if command == "quit":
            return


def play(model: str, games: int, parallel: int, source: Path) -> tuple[float, int]:
    """Seconds of a match, and the visits of all our moves in it."""
    environment = os.environ | {"PYTHONPATH": f"{source}{os.pathsep}{ROOT}"}
    other = f"gtp:{sys.executable} -m benchmarks.gpu_match --opponent"
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-m", "tengen", "match", f"{model}@{VISITS}", other]
        command += ["--games", str(games), "--parallel", str(parallel), "--out", folder]
        began = time.perf_counter()
        subprocess.run(command, check=True, cwd=ROOT, env=environment, stdout=subprocess.DEVNULL)
        seconds = time.perf_counter() - began
        moves = 0
        for file in Path(folder).glob("games/*.sgf"):
            ours = "B" if int(file.stem) % 2 == 0 else "W"
            moves += len(re.findall(rf";{ours}\[", file.read_text(encoding="utf-8")))
    return seconds, VISITS * moves


def rate(model: str, parallel: int, source: Path) -> float:
    """Visits/s, start-up left out: of a long match less a short one."""
    short, long = (play(model, games, parallel, source) for games in (2 * parallel, 6 * parallel))
    return (long[1] - short[1]) / (long[0] - short[0])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--model", default="bundled")
    parser.add_argument("--parallel", type=int, default=16)
    parser.add_argument("--source", type=Path, default=ROOT / "src")
    parser.add_argument("--opponent", action="store_true", help="be the opponent")
    options = parser.parse_args()
    if options.opponent:
        opponent()
        return
    play(options.model, 2, 2, options.source)  # compiles kernels
    one = rate(options.model, 1, options.source)
    many = rate(options.model, options.parallel, options.source)
    print(
        f"{options.source}: {many:,.0f} visits/s with {options.parallel} games at a time, "
        f"{many / one:.1f} x one game at a time ({one:,.0f} visits/s)"
    )


if __name__ == "__main__":
    main()
