"""The network that comes with the package: sound, and with the knowledge it is shipped for."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from random import Random

import numpy as np
import pytest

from tengen.engine.engine import Engine
from tengen.game.color import Color
from tengen.game.position import Position
from tengen.game.rules import NAMED
from tengen.network.backends.registry import CPU, open_evaluator
from tengen.network.evaluator import Evaluation, Evaluator, encode, evaluate
from tengen.network.files.bundled import BUNDLED, FILES, bundled_networks
from tengen.network.files.errors import NetworkFileError
from tengen.network.files.katago_export import save_katago
from tengen.network.files.loading import find_network, load_network
from tengen.network.network_data import NetworkData
from tengen.network.trained_on import unfamiliar
from tengen.search.params import SearchParams
from tengen.search.request import Limits
from tests.bundled import needs_bundled_network
from tests.search.plain_search import Search
from tests.search.tactics import TACTICS, Tactic

MOST_BYTES = 5_000_000
# KataGo's b6c96 and a network of ours after five minutes of learning both solve 27 of the 40 by
# their policy alone. These are the ten of them in which the less sure of the two is the surest.
EASIEST = (
    "passing would lose",
    "double atari",
    "passing when ahead",
    "ko threat first",
    "killing three in a row",
    "snapback that kills",
    "ladder towards one's own wall",
    "connect and die",
    "five on the second line",
    "leaving a seki alone",
)
# Boards at the end of games, on which everything is pass-alive. Komi 7.
BLACK_HAS_WON = """
    X X X X X X O . .
    X . X X X O O O O
    X X . X O . O O .
    . X X X O O O O .
    X X . X X O . O O
    X . X X X X O . O
    X X X X X . X O .
    X . X X . X X O O
    . X . X . X O O .
"""  # by 50 points to 31
WHITE_HAS_WON = """
    . X X X X . X X .
    X X O X O X X X .
    O O O X O O O X .
    . O O O O O X . X
    O . O X X X X X .
    . O X . X X X X X
    O O X X X X O O O
    O . O O X O O O .
    O O . O O O O . O
"""  # by 41 points to 40


@pytest.fixture(scope="module")
def network() -> NetworkData:
    return load_network(BUNDLED)


@pytest.fixture(scope="module")
def evaluator(network: NetworkData) -> Evaluator:
    return open_evaluator(network, CPU)


@pytest.fixture(scope="module")
def engine(evaluator: Evaluator) -> Iterator[Engine]:
    with Engine(evaluator, params=SearchParams(megabytes=32)) as made:
        yield made


def opinions(evaluator: Evaluator, positions: Sequence[Position]) -> Evaluation:
    return evaluate(evaluator, encode(evaluator.features, positions))


def test_its_absence_is_explained(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr("tengen.network.files.bundled.FOLDER", tmp_path / "gone")
    with pytest.raises(NetworkFileError, match=r"gone/tengen-9x9\..*: .* is missing; install"):
        bundled_networks()
    with pytest.raises(NetworkFileError, match="missing"):
        Engine()


@needs_bundled_network
def test_it_is_small_of_the_main_family_and_says_where_it_comes_from(network: NetworkData) -> None:
    file = bundled_networks()[0]
    assert find_network(BUNDLED) == find_network("tengen-9x9") == file
    assert file.name == FILES[0]
    assert file.stat().st_size < MOST_BYTES
    assert network.architecture.features in ("katago", "katago without ladders")
    assert network.provenance["trained_by"] == "tengen train"
    assert {"games", "minutes", "board_sizes"} <= network.provenance.keys()


@needs_bundled_network
@pytest.mark.parametrize("side", [9, 13, 19])
def test_each_usual_board_has_a_network(side: int) -> None:
    game = Position(side, "chinese", 7)
    data = load_network(BUNDLED, game)
    assert find_network(BUNDLED, game).stat().st_size < MOST_BYTES
    # On 19x19 it has only begun to learn, and must not rate anybody.
    assert (unfamiliar(data.name, data.trained_on, game) is None) == (side < 19)
    # It takes all rules for those it knows.
    positions = [Position(side, rules, 7).play("D4") for rules in NAMED]
    said = opinions(open_evaluator(data, CPU), positions)
    assert (said.policy.argmax(1) < game.size.area).all()  # no pass
    assert ((said.value[:, 0] > 0.1) & (said.value[:, 0] < 0.9)).all()


@needs_bundled_network
def test_it_reads_the_same_in_katagos_format(network: NetworkData, tmp_path: Path) -> None:
    save_katago(network, tmp_path / "net.bin.gz")
    theirs = open_evaluator(load_network(tmp_path / "net.bin.gz"), CPU)
    ours = open_evaluator(network, CPU)
    positions = [Position(9).play_all("E5 C3 G4"), Position(13).play_all("D4 K10")]
    for position in positions:
        mine, exported = (opinions(each, [position]) for each in (ours, theirs))
        np.testing.assert_allclose(mine.value, exported.value, atol=0.02)
        np.testing.assert_allclose(mine.ownership, exported.ownership, atol=0.1)


@needs_bundled_network
@pytest.mark.parametrize("size", [5, 7, 9, 13, 19])
def test_its_outputs_are_finite_on_boards_of_all_sizes(evaluator: Evaluator, size: int) -> None:
    positions = [Position(size, "tromp-taylor", 7).play("C3"), Position(size, "japanese", 6.5)]
    for output in opinions(evaluator, positions):
        assert np.isfinite(output).all()


@needs_bundled_network
def test_black_likes_komi_the_less_the_more_there_is(evaluator: Evaluator) -> None:
    komi = np.arange(-20, 31, 10)
    said = opinions(evaluator, [Position(9, "tromp-taylor", float(each)) for each in komi])
    assert (np.diff(said.value[:, 0]) < 0).all()
    assert (np.diff(said.score) < 0).all()
    assert said.value[0, 0] > 0.8
    assert said.value[-1, 0] < 0.2


@needs_bundled_network
@pytest.mark.parametrize(("board", "margin"), [(BLACK_HAS_WON, 12), (WHITE_HAS_WON, -8)])
@pytest.mark.parametrize("to_play", Color)
def test_it_knows_who_owns_a_finished_board_and_who_has_won(
    evaluator: Evaluator, board: str, margin: float, to_play: Color
) -> None:
    position = Position.from_diagram(board, to_play, "tromp-taylor", 7)
    said = opinions(evaluator, [position])
    sign = 1 if to_play is Color.BLACK else -1
    black, white = (position.pass_alive(color) for color in Color)
    assert (black ^ white).all()
    np.testing.assert_array_equal(np.sign(said.ownership[0]), np.where(black, sign, -sign))
    assert (said.value[0, 0] > 0.9) == (sign * margin > 0)
    assert abs(said.score[0] - sign * margin) < 4


@needs_bundled_network
def test_its_score_agrees_with_its_value(evaluator: Evaluator) -> None:
    """Over random games: who leads clearly by points is the one who is to win."""
    random = Random(5)
    positions = []
    for _ in range(12):
        position = Position(9, "tromp-taylor", 7)
        for _ in range(40):
            position = position.play(random.choice(position.legal_moves()))
            positions.append(position)
    said = opinions(evaluator, positions)
    clear = np.abs(said.score) > 5
    agree = (said.score > 0) == (said.value[:, 0] > 0.5)
    assert clear.sum() > 50
    assert agree[clear].mean() > 0.95


@needs_bundled_network
@pytest.mark.parametrize("name", EASIEST)
def test_the_ten_easiest_tactics_are_solved(engine: Engine, name: str) -> None:
    tactic: Tactic = next(tactic for tactic in TACTICS if tactic.name == name)
    position = tactic.position()
    engine.clear()
    assert position.text(engine.search(position, visits=100).move) in tactic.best


@needs_bundled_network
@pytest.mark.parametrize("rules", list(NAMED))
def test_it_knows_how_to_begin_a_game_under_all_rules(engine: Engine, rules: str) -> None:
    position = Position(9, rules, 7).play("E5")
    engine.clear()
    result = engine.search(position, visits=50)
    assert result.move is not None
    assert float(result.policy[-1]) < 0.01
    assert 0.1 < result.winrate < 0.8


@needs_bundled_network
@pytest.mark.parametrize("passed", [False, True])
def test_it_passes_when_the_game_is_over_and_it_is_ahead(engine: Engine, passed: bool) -> None:
    to_play = Color.WHITE if passed else Color.BLACK
    position = Position.from_diagram(BLACK_HAS_WON, to_play, "tromp-taylor", 7)
    if passed:
        position = position.pass_()
    assert position.to_play is Color.BLACK
    assert engine.genmove(position).move is None


@needs_bundled_network
def test_it_beats_a_random_mover_twenty_times_of_twenty(evaluator: Evaluator) -> None:
    """Two visits against moves drawn from all that are legal."""
    random = Random(1)
    start = Position(9, "tromp-taylor", 7, move_limit=162)
    for number in range(20):
        mine = Color.BLACK if number % 2 == 0 else Color.WHITE
        search = Search(evaluator, SearchParams(megabytes=16), ownership=False)
        position = start
        while not position.is_over:
            if position.to_play is mine:
                search.set_position(position)
                move = search.run(Limits(visits=2)).move
            else:
                move = random.choice([*position.legal_moves(), None])
            position = position.play(move)
        outcome = position.outcome()
        assert outcome is not None
        assert outcome.winner is mine, f"game {number}: {outcome}\n{position}"
