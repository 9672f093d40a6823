"""Folders of runs for tests, made by hand: what a run writes, without the hours it takes."""

from __future__ import annotations

from pathlib import Path

from tengen.network.files.tengen_format import save_network
from tengen.runs.folder import RunFolder, append_line, create_run
from tengen.runs.rating import network_file, network_name
from tests.network.test_tengen_format import random_network

CONFIG = '[run]\nmodel = "b2c32"\niterations = 10\n\n[selfplay]\nboard_sizes = [3]\n'
BORN = '[run]\nmodel = "b2c32"\nminutes = 20\n\n[selfplay]\nboard_sizes = [5]\nkomi = [10.5]\n'
BORN_MINUTES = {2: 1.0, 10: 5.0, 40: 20.0}  # of its networks, by iteration
OUTSIDER = "gnugo --mode gtp"
# White's stone in the corner is taken by the third move; the comments are those of self-play.
GAME = (
    "(;FF[4]GM[1]CA[UTF-8]AP[Tengen]SZ[3]KM[0.5]RU[tromp-taylor]RE[B+8.5]GN[game 7, step 3]"
    ";B[ab]C[Black wins 60.8%, score +3.3, visits 20]"
    ";W[aa]C[Black wins 61.4%, score -3.6, visits 96, learned from 0.5 times]"
    ";B[ba];W[];B[])\n"
)


def new_run(path: Path) -> RunFolder:
    """A run of ten iterations on 3x3 that has just begun."""
    return create_run(path, CONFIG)


def add_iteration(folder: RunFolder, step: int) -> None:
    """What an iteration writes down."""
    values = {
        "step": step,
        "minutes": step / 2,
        "games": 100 * step,
        "rows": 1000 * step,
        "window": 900 * step,
        "rate": 0.002,
        "speed/games": 12.5,
        "speed/evals": 40_000.0,
        "speed/samples": 3000.0,
        "loss/policy": 3 / step,
        "loss/total": 9 / step,
        "games/length": 14.0,
    }
    append_line(folder.metrics, values)


def add_rating(folder: RunFolder, iteration: int, opponent: str, wins: int, losses: int) -> None:
    """How the network of an iteration fared against another."""
    first = network_name(iteration)
    values = {"iteration": iteration, "first": first, "second": opponent}
    append_line(folder.ratings, {**values, "wins": wins, "draws": 0, "losses": losses})


def add_network(folder: RunFolder, iteration: int, minutes: float | None = None) -> Path:
    """The network of an iteration, with random weights, which may say when it was made."""
    path = network_file(folder, network_name(iteration))
    told = {} if minutes is None else {"minutes": f"{minutes:.1f}"}
    save_network(random_network("b2c32", seed=iteration, provenance=told), path, half=True)
    return path


def add_game(folder: RunFolder, number: int, text: str = GAME) -> Path:
    """A sample of self-play."""
    path = folder.games / f"{number:09}.sgf"
    path.write_text(text, "utf-8")
    return path


def lively_run(path: Path) -> RunFolder:
    """A run that has something of everything."""
    folder = new_run(path)
    for step in range(1, 7):
        add_iteration(folder, step)
    for iteration in (0, 3, 6):
        add_network(folder, iteration)
    add_rating(folder, 3, network_name(0), 48, 16)
    add_rating(folder, 6, network_name(3), 48, 16)
    add_rating(folder, 6, OUTSIDER, 16, 48)
    for number in (7, 12):
        add_game(folder, number)
    return folder


def born_run(path: Path) -> RunFolder:
    """A run of twenty minutes on 5x5, as the page for learning has it trained."""
    folder = create_run(path, BORN)
    for step in range(1, 41):
        add_iteration(folder, step)
    for iteration, minutes in BORN_MINUTES.items():
        add_network(folder, iteration, minutes)
    add_rating(folder, 10, network_name(2), 12, 4)
    add_rating(folder, 40, network_name(10), 12, 4)
    return folder
