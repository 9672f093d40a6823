"""A small run: it plays, learns, saves networks that play, stops and goes on."""

from __future__ import annotations

import os
import signal
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from tengen.features.feature_set import BASIC
from tengen.frontends.command_options import TrainOptions
from tengen.frontends.train import run_training
from tengen.game.geometry import Size
from tengen.game.position import Position
from tengen.network.backends.registry import open_evaluator
from tengen.network.evaluator import encode, evaluate
from tengen.network.files.loading import load_network
from tengen.runs.folder import RunError, RunFolder, RunLock, open_or_create_run, read_lines
from tengen.selfplay.record import BY_MOVE_LIMIT, FULL, Games, joined
from tengen.tutorial.network import initial_network, network_data
from tengen.tutorial.recipe import CHANGEABLE, SECTIONS, Config, LearningParams, Recipe
from tengen.tutorial.run import TutorialRun, is_tutorial, train
from tengen.tutorial.self_play import examples_of, play_games, player
from tests.replay.games import read_shards

pytestmark = pytest.mark.usefixtures("one_thread")

TINY = Recipe(
    device="cpu",
    iterations=2,
    games=4,
    side=5,
    komi=0.5,
    most_moves=20,
    blocks=1,
    channels=8,
    visits=8,
    sampled_moves=6,
)
SMALL = Config(TINY, LearningParams(epochs=2))


def session(path: Path, iterations: int) -> None:
    """Go on for so many iterations and end as if killed."""
    with RunLock(path):
        folder, settled = open_or_create_run(path, vars(SMALL), SECTIONS, CHANGEABLE)
        with TutorialRun(folder, Config(**settled)) as run:
            for _ in range(iterations):
                run.iterate()


def games_of(path: Path) -> Games:
    return joined(list(read_shards(RunFolder(path).shards)))


def played(recipe: Recipe, seed: int = 1) -> Games:
    network = initial_network(recipe.side, recipe.blocks, recipe.channels, 1)
    evaluator = player(network_data(network, "initial", {}), "cpu")
    games = play_games(evaluator, recipe, seed, lambda _: None, should_stop=lambda: False)
    assert games is not None
    return games


def test_the_recipe_is_the_tutorials() -> None:
    recipe, training = Recipe(), LearningParams()
    assert (recipe.side, recipe.komi, recipe.blocks, recipe.channels) == (9, 5.5, 4, 64)
    assert (recipe.visits, recipe.noise_alpha, recipe.noise_share) == (100, 0.3, 0.25)
    assert (recipe.sampled_moves, recipe.most_moves) == (30, 200)
    assert (recipe.games, recipe.iterations) == (50, 100)
    assert (training.epochs, training.rate, training.batch) == (10, 1e-3, 32)
    network = initial_network(recipe.side, recipe.blocks, recipe.channels, recipe.seed)
    architecture = network_data(network, "initial", {}).architecture
    assert (architecture.features, architecture.planes) == ("basic", 7)
    assert recipe.selfplay().most_turns(Size(9, 9)) == 200


def test_every_turn_of_every_game_is_searched_in_full_and_learned_from_once() -> None:
    games = played(TINY)
    assert games.games["number"].tolist() == [0, 1, 2, 3]
    assert (games.games["terms"]["komi"] == 0.5).all()
    at_limit = games.games["end"] == BY_MOVE_LIMIT
    assert (games.games["n_turns"][at_limit] == 20).all()
    assert games.games["n_turns"].max() <= 20
    assert (games.turns["kind"] == FULL).all()
    assert (games.turns["visits"] == 8).all()
    rows = examples_of(games, 5)
    assert rows.planes.shape == (len(games.turns), 7, 5, 5)
    np.testing.assert_allclose(rows.policy.sum(1), 1, atol=2e-3)
    # Eight visits, one of them the root's own: shares of seven.
    np.testing.assert_allclose(rows.policy * 7, np.rint(rows.policy * 7), atol=5e-3)
    assert set(rows.value.tolist()) <= {-1.0, 0.0, 1.0}
    # The first turn is Black's, on an empty board where every point may be played.
    first = rows.planes[0]
    assert [plane.mean() for plane in first] == [0, 0, 1, 0, 0, 1, 1]
    assert rows.value[0] == np.sign(games.games["score"][0])
    assert rows.value[1] == -rows.value[0]


def test_moves_are_drawn_first_and_then_the_most_visited_are_played() -> None:
    def strayed(recipe: Recipe) -> list[bool]:
        """For each turn of the first game: was another than a most visited move played?"""
        games = played(recipe)
        found, target = [], 0
        for turn in games.turns[: games.games["n_turns"][0]]:
            tried = games.targets[target : target + turn["n_targets"]]
            target += turn["n_targets"]
            best = tried["move"][tried["weight"] == tried["weight"].max()]
            found.append(turn["move"] not in best)
        return found

    many = replace(TINY, games=1, visits=30)
    assert any(strayed(many)[:6])
    assert not any(strayed(many)[6:])
    assert any(strayed(replace(many, sampled_moves=20))[6:])


def test_a_run_that_was_cut_equals_one_that_was_not(tmp_path: Path) -> None:
    whole, cut = tmp_path / "whole", tmp_path / "cut"
    session(whole, 2)
    for _ in range(2):
        session(cut, 1)
    for one, other in zip(games_of(whole), games_of(cut), strict=True):
        np.testing.assert_array_equal(one, other)
    assert games_of(cut).games["number"].tolist() == list(range(8))
    for name in ("000001", "000002"):
        models = [load_network(path / "networks" / f"{name}.safetensors") for path in (whole, cut)]
        weights = [model.weights for model in models]
        assert all(np.array_equal(weights[0][each], weights[1][each]) for each in weights[0])
    losses = [
        [line["loss/policy"] for line in read_lines(RunFolder(path).metrics)]
        for path in (whole, cut)
    ]
    assert losses[0] == losses[1]
    assert len(losses[0]) == 2


def test_a_model_learns_and_can_be_asked(tmp_path: Path) -> None:
    train(tmp_path / "run", SMALL)
    files = sorted((tmp_path / "run" / "networks").iterdir())
    assert [file.name for file in files] == ["000001.safetensors", "000002.safetensors"]
    models = [load_network(file) for file in files]
    found = [
        evaluate(open_evaluator(model, "cpu"), encode(BASIC, [Position(5, komi=0.5)]))
        for model in models
    ]
    assert found[0].policy.shape == (1, 26)
    assert np.isfinite(found[1].policy).all()
    assert abs(found[0].policy - found[1].policy).max() > 1e-3


def test_an_iteration_cut_off_leaves_nothing_behind(tmp_path: Path) -> None:
    path = tmp_path / "run"
    session(path, 1)
    first = next((path / "shards").glob("*.games"))
    extra = first.with_name("000099-games-1-2.games")
    extra.write_bytes(first.read_bytes())
    session(path, 1)
    assert games_of(path).games["number"].tolist() == list(range(8))


def test_an_interrupt_ends_the_run_in_good_order(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "run"
    session(path, 1)
    with RunLock(path):
        folder, settled = open_or_create_run(path, None, SECTIONS, CHANGEABLE)
        with TutorialRun(folder, Config(**settled)) as run:
            show = run._show_games

            def interrupt(ended: int) -> None:
                for _ in range(2):
                    show(ended)  # the second time is too soon, and waits for the end
                if not run._stop.is_set():
                    os.kill(os.getpid(), signal.SIGINT)

            run._show_games = interrupt  # type: ignore[method-assign]
            run.go()
            assert run.iteration == 1
    said = " ".join(capsys.readouterr().err.split())  # of however wide a terminal
    assert said.endswith(f"go on with: tengen train {path}")
    train(path)
    assert games_of(path).games["number"].tolist() == list(range(8))


def test_the_command_begins_and_goes_on_with_a_tutorial(tmp_path: Path) -> None:
    path = str(tmp_path / "run")
    keys = {
        name: getattr(TINY, name)
        for name in ("games", "komi", "most_moves", "blocks", "channels", "visits")
    }
    settings = [f"tutorial.{name}={value}" for name, value in keys.items()]
    options = TrainOptions(
        preset="tutorial", device="cpu", seed=3, iterations=1, board_size=5, settings=settings
    )
    run_training(path, options)
    assert is_tutorial(path)
    recipe = Config(**open_or_create_run(path, None, SECTIONS, set())[1]).tutorial
    assert recipe == replace(TINY, seed=3, iterations=1, sampled_moves=30)
    run_training(path, TrainOptions(iterations=2))
    run_training(path, TrainOptions(preset="tutorial"))  # it has reached its end
    assert len(list((tmp_path / "run" / "networks").iterdir())) == 2
    with pytest.raises(RunError, match=r"tutorial\.seed cannot change"):
        run_training(path, TrainOptions(seed=4))
    with pytest.raises(ValueError, match="--model is not for the tutorial"):
        run_training(path, TrainOptions(model="b6c96"))
    with pytest.raises(ValueError, match="--preset gumbel is not"):
        run_training(path, TrainOptions(preset="gumbel"))


@pytest.mark.parametrize(
    ("values", "complaint"),
    [
        ({"games": 0}, "games must be 1 or more"),
        ({"side": 1}, "board_sizes"),
        ({"rules": "japanese"}, "counts territory"),
        ({"noise_share": 2.0}, "noise_share"),
        ({"device": "abacus"}, "device"),
    ],
)
def test_recipes_that_cannot_be_are_refused(values: dict[str, object], complaint: str) -> None:
    with pytest.raises(ValueError, match=complaint):
        Recipe(**values)  # type: ignore[arg-type]
