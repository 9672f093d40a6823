"""The settings of a run, from the command line."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

import pytest
import torch

from tengen.frontends.command_options import DistilOptions, TrainOptions
from tengen.frontends.distil import as_training
from tengen.frontends.run_settings import run_config
from tengen.frontends.train import run_training
from tengen.network.files.bundled import FOLDER
from tengen.network.files.tengen_format import load_network_file
from tengen.network.learned_from import learned_from
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
        ("selfplay.visits=1", r"selfplay\.visits must be 2 or more"),
        ("data.held_out=0.9", r"data\.held_out: held_out must be from 0 to 0\.5"),
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


def test_records_choose_a_recipe_of_their_own(tmp_path: Path) -> None:
    config = config_of(tmp_path / "run", records=["games", "more.sgf"], board_size=13)
    assert config.data.records == (str(Path("games").resolve()), str(Path("more.sgf").resolve()))
    assert config.data.record_sizes == (13,)
    assert config.training.samples_per_row == 1
    assert config.data.teacher == ""
    other = config_of(tmp_path / "run", records=["games"], preset="katago")
    assert other.training == RunConfig().training


def test_workers_are_refused_where_nobody_plays(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="nobody plays in a run that learns from records"):
        run_training(str(tmp_path / "run"), TrainOptions(records=["docs"], workers=2))
    assert not (tmp_path / "run").exists()


@pytest.mark.usefixtures("one_kernel_thread")
def test_a_network_is_distilled_and_goes_on_from_any_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    torch.set_num_threads(1)
    shutil.copy(FOLDER / "tengen-9x9.safetensors", tmp_path / "big.safetensors")
    tiny = ["run.iteration_rows=20", "run.first_rows=5", "selfplay.games=16", "training.batch=8"]
    settings = [*tiny, "rating.every=0"]
    monkeypatch.chdir(tmp_path)
    small = DistilOptions(into="b2c32", board_size=4, iterations=1, device="cpu", settings=settings)
    run_training("run", as_training("big", "run", small))
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")
    run_training("../run", as_training("../big.safetensors", "../run", DistilOptions(iterations=2)))
    run_training("../run", TrainOptions(iterations=3))
    network = load_network_file(tmp_path / "run" / "latest.safetensors")
    assert learned_from(network.provenance) == "teacher tengen-9x9"
    with pytest.raises(ValueError, match=r"data\.teacher cannot change"):
        run_training("../run", as_training("tengen-all", "../run", DistilOptions(iterations=4)))


def test_a_distillation_that_does_not_say_what_learns_is_refused(tmp_path: Path) -> None:
    run = str(tmp_path / "run")
    with pytest.raises(ValueError, match="say what is to learn, as in --into"):
        as_training("tengen-9x9", run, DistilOptions())
    with pytest.raises(ValueError, match="name one, such as tengen-9x9"):
        as_training("bundled", run, DistilOptions(into="b2c32"))
    with pytest.raises(ValueError, match="distil trains in a folder of this machine, not at a URL"):
        as_training("tengen-9x9", "s3://bucket/run", DistilOptions(into="b2c32"))
    assert not (tmp_path / "run").exists()
