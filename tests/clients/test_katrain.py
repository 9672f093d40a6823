"""KaTrain, as PyPI has it, reviews a whole game with our engine and finds nothing to complain of.

It is no dependency of ours: it needs a window toolkit. So it lives in an environment of its own,
whose interpreter TENGEN_KATRAIN_PYTHON names; `make test-katrain` sees to all that.
"""

from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from tengen.user_folders import user_cache
from tests.frontends.analysis.engine import FAKE, LIMIT, Engine, command
from tests.katago_data import FOLDER, network_path

ROOT = Path(__file__).parents[2]
PYTHON = os.environ.get("TENGEN_KATRAIN_PYTHON", sys.executable)
NETWORK = FOLDER / "g170-b6c96.bin.gz"
MOVES = 200  # at most


def has_katrain() -> bool:
    looks = "import importlib.util as u, sys; sys.exit(u.find_spec('katrain') is None)"
    return subprocess.run([PYTHON, "-c", looks], capture_output=True).returncode == 0


pytestmark = [
    pytest.mark.long,
    pytest.mark.timeout(1200),
    pytest.mark.skipif(
        not has_katrain(),
        reason="KaTrain is not at hand: make test-katrain",
    ),
]


def drive(settings: dict[str, Any], moves: int, folder: Path, **more: Any) -> dict[str, Any]:
    """Let KaTrain play and analyse; what it reports."""
    asked = json.dumps({"engine": settings, "moves": moves, **more})
    process = subprocess.run(
        [PYTHON, str(Path(__file__).with_name("katrain_drive.py")), asked],
        cwd=ROOT,
        # Its own home, but our kernels as they are compiled: it waits two minutes at most.
        env=os.environ
        | {"HOME": str(folder), "KIVY_HOME": str(folder), "TENGEN_CACHE_DIR": str(user_cache())},
        capture_output=True,
        text=True,
    )
    assert process.returncode == 0, process.stdout[-2000:] + process.stderr[-2000:]
    report = json.loads(process.stdout.splitlines()[-1])
    assert isinstance(report, dict)
    return report


def check(report: dict[str, Any]) -> None:
    assert report["errors"] == []
    assert report["more"] > report["before"]
    assert report["swept"] > report["tried"]


def own_network() -> Path:
    """The network that comes with KaTrain."""
    where = (
        "import importlib.util as u; print(u.find_spec('katrain').submodule_search_locations[0])"
    )
    found = subprocess.run([PYTHON, "-c", where], capture_output=True, text=True, check=True)
    return Path(found.stdout.strip()) / "models" / "b10c384h6nbttflrs.bin.gz"


@pytest.mark.parametrize("own", [False, True], ids=["small", "katrain's own"])
def test_katrain_plays_a_whole_game_with_us_as_its_engine_command(
    tmp_path: Path, own: bool
) -> None:
    network = own_network() if own else NETWORK
    if not network.exists():
        pytest.skip(f"{network.name} is not at hand: no sensible game without a network")
    # KaTrain ends the shell that it starts, and waits for what the shell started to end as well.
    ours = f"exec {shlex.join(command(str(network)))}"
    settings = {"backend": "custom", "altcommand": ours}
    report = drive(settings, MOVES, tmp_path)
    check(report)
    assert report["analysed"] >= 40


def test_katrain_reaches_us_over_a_websocket(tmp_path: Path) -> None:
    with Engine(FAKE, listen="127.0.0.1:0") as engine:
        end = time.monotonic() + LIMIT
        match = None
        while match is None and time.monotonic() < end:
            match = re.search(rb"listening at (ws://[\d.:]+)", b"".join(engine.errors))
            time.sleep(0.02)
        assert match is not None
        settings = {"backend": "remote", "remote_url": match[1].decode()}
        check(drive(settings, 10, tmp_path))


def test_katrain_s_human_style_ais_play_with_a_network_that_imitates_people(tmp_path: Path) -> None:
    model, human = network_path("conv-mish-v16-q"), network_path("human-nbt-mish-v15")
    ours = f"exec {shlex.join(command(str(model), human_model=str(human)))}"
    settings = {"backend": "custom", "altcommand": ours}
    ais = [
        {"human_kyu_rank": 5, "modern_style": True},
        {"human_kyu_rank": -2, "modern_style": False},
        {"pro_year": 1850},
    ]
    report = drive(settings, 6, tmp_path, ai=ais)
    assert report["errors"] == []
    assert len(report["played"]) == 6
    assert all("Played move" in thoughts for thoughts in report["played"])  # no fallback
