"""The settings of a run, from the command line."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from tengen.frontends.options import TrainOptions
from tengen.frontends.train import run_config, run_training
from tengen.runs.params import RunConfig

PAIR = ("selfplay.board_sizes=[5,7]", "selfplay.size_weights=[1,2]")


def config_of(path: Path, *settings: str, **options: object) -> RunConfig:
    config = run_config(str(path), TrainOptions(settings=settings, **options))  # type: ignore[arg-type]
    assert config is not None
    return config


@pytest.mark.parametrize("settings", [PAIR, PAIR[::-1]])
def test_settings_that_belong_together_are_judged_together(
    tmp_path: Path, settings: tuple[str, ...]
) -> None:
    games = config_of(tmp_path, *settings).selfplay
    assert (games.board_sizes, games.size_weights) == ((5, 7), (1.0, 2.0))


def test_a_lone_setting_that_does_not_fit_is_refused_with_both_names(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"selfplay\.size_weights: .* each of board_sizes"):
        config_of(tmp_path, PAIR[1])
    with pytest.raises(ValueError, match=r"board_size.*, selfplay\.komi: komi .* board_sizes"):
        config_of(tmp_path, "selfplay.komi=[7,9]", board_size=5)


def test_options_and_settings_add_up(tmp_path: Path) -> None:
    config = config_of(
        tmp_path, "run.device=cpu", "training.rate = 1", model="b2c32", minutes=3, preset="gumbel"
    )
    assert (config.run.model, config.run.device, config.run.minutes) == ("b2c32", "cpu", 3)
    assert config.training.rate == 1.0
    assert config.selfplay.gumbel == 12


@pytest.mark.parametrize(
    ("setting", "complaint"),
    [
        ("rate", "--set rate: write section.key=value"),
        ("trainin.rate=1", r"--set trainin\.rate=1: \[trainin\] is no section; did you mean"),
        ("training.rte=1", r"--set training\.rte=1: \[training\] has no key 'rte'; did you mean"),
        ("training.batch=1.5", r"training\.batch=1\.5: \[training\] batch must be a whole number"),
        ("training.clip=0", r"training\.clip: clip must be more than 0"),
    ],
)
def test_a_wrong_setting_is_named(tmp_path: Path, setting: str, complaint: str) -> None:
    with pytest.raises(ValueError, match=complaint):
        config_of(tmp_path, setting)


def test_programs_that_a_file_names_are_started_only_if_that_is_allowed(tmp_path: Path) -> None:
    program = f"gtp:{sys.executable} -c pass"
    recipe = tmp_path / "recipe.toml"
    tiny = "iterations = 1\nmodel = 'b2c32'\ndevice = 'cpu'\niteration_rows = 1"
    small = f"games = 2\nboard_sizes = [3]\nvisits = 2\nfast_visits = 1\n[run]\n{tiny}"
    recipe.write_text(f"[rating]\ngames = 2\noutside = [{program!r}]\n[selfplay]\n{small}\n")
    run, asked = tmp_path / "run", r"rating\.outside has 'gtp:.*say --allow-commands"
    with pytest.raises(ValueError, match=asked):
        run_training(str(run), TrainOptions(config=str(recipe)))
    assert not run.exists()
    run_training(str(run), TrainOptions(config=str(recipe), allow_commands=True))
    with pytest.raises(ValueError, match=asked):  # also in a folder that came from elsewhere
        run_training(str(run), TrainOptions())
    by_hand = tmp_path / "by hand"
    options = TrainOptions(config=str(recipe), settings=(f"rating.outside=[{program!r}]",))  # type: ignore[arg-type]
    run_training(str(by_hand), options)
    assert (by_hand / "latest.safetensors").exists()
