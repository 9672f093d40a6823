"""Command lines and settings files that were written for KataGo."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tengen.frontends.command_options import AnalysisOptions, GtpOptions
from tengen.frontends.katago_settings import (
    options_from,
    options_in_files,
    parse_overrides,
    read_config,
    with_double_hyphens,
)

GTP_CONFIG = """
# For a match
logDir = gtp_logs    # where it writes
rules = tromp-taylor
allowResignation = true
resignThreshold = -0.90
maxVisits = 64
numSearchThreads = 6
ponderingEnabled=false
cpuctExploration = 1.2
cudaUseFP16 = auto
"""


def test_options_of_katago_get_two_hyphens_for_protocols_alone() -> None:
    words = ["gtp", "-model", "a.bin.gz", "-config", "gtp.cfg", "-override-config", "maxVisits=1"]
    assert with_double_hyphens(words) == [
        *("gtp", "--model", "a.bin.gz", "--config", "gtp.cfg", "--override-config", "maxVisits=1")
    ]
    assert with_double_hyphens(["play", "-model", "a"]) == ["play", "-model", "a"]
    words = ["analysis", "-analysis-threads", "4", "-quit-without-waiting"]
    assert with_double_hyphens(words) == ["analysis", "--quit-without-waiting"]


def test_a_file_of_katago_sets_options_and_search(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    config = tmp_path / "gtp.cfg"
    config.write_text(GTP_CONFIG)
    found = GtpOptions(**options_in_files(GtpOptions, {"config": str(config)}))
    assert (found.rules, found.visits, found.resign, found.ponder) == (
        *("tromp-taylor", 64, True, False),
    )
    assert found.resign_winrate == pytest.approx(0.05)  # of utility from -1 to 1
    assert found.search == {"exploration": 1.2}
    said = capsys.readouterr().err
    assert "without effect here: logDir, cudaUseFP16" in said
    assert "numSearchThreads has no effect here" in said


def test_overrides_go_before_files_of_both_kinds(tmp_path: Path) -> None:
    katago, ours = tmp_path / "gtp.cfg", tmp_path / "tengen.toml"
    katago.write_text(GTP_CONFIG)
    ours.write_text("[engine]\nvisits = 64\n[search]\nexploration = 1.2\nfpu_loss = 0.5\n")
    for config, search in ((katago, {}), (ours, {"fpu_loss": 0.5})):
        given = {"config": str(config), "override_config": ["maxVisits=9, cpuctExploration=2"]}
        found = options_in_files(GtpOptions, given)
        assert found["visits"] == 9
        assert found["search"] == {"exploration": 2.0, **search}


def test_queries_begin_with_what_a_file_for_analysis_sets() -> None:
    settings = parse_overrides(["maxVisits=7,analysisPVLen=3", "reportAnalysisWinratesAs=WHITE"])
    assert options_from(AnalysisOptions, settings, {}) == {
        "visits": 7,
        "perspective": "WHITE",
        "of_queries": {"analysisPVLen": "3"},
    }


def test_what_cannot_be_is_refused_with_its_line(tmp_path: Path) -> None:
    config = tmp_path / "gtp.cfg"
    config.write_text("rules = japanese\nmaxVisits = many\n")
    with pytest.raises(ValueError, match=r"gtp\.cfg, line 2: maxVisits: a whole number"):
        options_from(GtpOptions, read_config(config), {})
    config.write_text("hello\n")
    with pytest.raises(ValueError, match=r"gtp\.cfg, line 1: write NAME = VALUE"):
        read_config(config)
    with pytest.raises(ValueError, match="No such file"):
        read_config(tmp_path / "none.cfg")
    with pytest.raises(ValueError, match="--override-config"):
        parse_overrides(["maxVisits"])


def test_what_is_not_known_is_left_out_and_named(capsys: pytest.CaptureFixture[str]) -> None:
    assert options_from(GtpOptions, parse_overrides(["maxVisit=3"]), {}) == {}
    assert "perhaps misspelt: maxVisit" in capsys.readouterr().err


def test_a_command_line_of_katago_needs_one_word_changed(tmp_path: Path) -> None:
    (tmp_path / "analysis.cfg").write_text("maxVisits = 3\nanalysisPVLen = 1\n")
    query = {"id": "a", "moves": [], "rules": "tromp-taylor", "boardXSize": 9, "boardYSize": 9}
    done = subprocess.run(
        [
            *(sys.executable, "-m", "tengen", "analysis", "-model", "tengen-9x9"),
            *("-config", "analysis.cfg", "-override-config", "maxVisits=5"),
        ],
        input=f"{json.dumps(query)}\n",
        cwd=tmp_path,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    answer = json.loads(done.stdout)
    assert answer["rootInfo"]["visits"] == 5
    assert max(len(move["pv"]) for move in answer["moveInfos"]) <= 2
