"""KataGo's own answers on fixed positions, and KataGo itself where it is at hand."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

FOLDER = Path(__file__).parents[2] / "shared" / "katago"
SMALL_FOLDER = Path(__file__).parent / "data" / "katago_small"
# Networks of random weights, one of each kind that KataGo writes.
SMALL_NETWORKS = sorted(path.name.removesuffix(".bin.gz") for path in SMALL_FOLDER.glob("*.bin.gz"))
PROGRAM = FOLDER / "bin" / "katago"

needs_katago_data = pytest.mark.skipif(
    not FOLDER.is_dir(), reason="KataGo's outputs are not at hand (../shared/katago)"
)
needs_katago = pytest.mark.skipif(
    not PROGRAM.is_file(), reason="KataGo is not at hand (../shared/katago/bin)"
)


def network_path(network: str) -> Path:
    """The file of a network."""
    folder = SMALL_FOLDER if network in SMALL_NETWORKS else FOLDER
    return folder / f"{network}.bin.gz"


def answers(network: str) -> list[dict[str, Any]]:
    """KataGo's answers for a network, one for each position; empty where there are none."""
    path = network_path(network).with_name(f"{network}.raw-nn.json")
    return json.loads(path.read_text()) if path.exists() else []


class RefusedError(Exception):
    """KataGo does not load a network; the message says why."""


def ask_katago(network: Path, commands: Sequence[str]) -> list[str]:
    """KataGo's replies to GTP commands, with this network; raises RefusedError."""
    options = "maxVisits=1,numSearchThreads=1,logToStderr=false"
    ran = subprocess.run(
        [
            *(PROGRAM, "gtp", "-config", PROGRAM.with_name("gtp.cfg")),
            *("-model", network, "-override-config", options),
        ],
        input="\n".join([*commands, "quit\n"]),
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    replies = ran.stdout.split("\n\n")
    if ran.returncode or len(replies) < len(commands):
        raise RefusedError((ran.stderr + ran.stdout).strip().splitlines()[-1])
    return replies[: len(commands)]


def parse_raw_nn(reply: str) -> dict[str, Any]:
    """A reply to `kata-raw-nn` in the form of the stored answers."""
    found: dict[str, Any] = {}
    rows: list[list[float | None]] | None = None
    for line in reply.removeprefix("=").strip().splitlines():
        words = line.split()
        if not words:
            continue
        if words[0][0].isalpha() and words[0] not in ("NAN",):
            name, *rest = words
            rows = None
            if rest:
                found[name] = float(rest[0])
            else:
                rows = found[name] = []
        elif rows is not None:
            rows.append([None if word == "NAN" else float(word) for word in words])
    return found
