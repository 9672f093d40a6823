from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest

from tengen.engine.engine import Engine
from tengen.game.color import BLACK
from tengen.game.kernel_rules import terms_of
from tengen.game.rules import parse_rules
from tengen.network.evaluator import Batch, Evaluation
from tengen.network.fake import FakeEvaluator, uniform
from tengen.replay.network_estimates import estimate_turns
from tengen.replay.rows import copies_of_turns
from tengen.selfplay.record import FULL, GAME, TARGET, TURN, Games
from tests.bundled import needs_bundled_network
from tests.replay.games import random_games
from tests.search.scripts import KOMI

SEED = 3
BLACKS_MARGIN = 9.0  # points before komi that Black wins by, as the network below has it


def sure_of_the_margin(batch: Batch) -> Evaluation:
    """Black wins by so much, with some doubt; komi must be positive."""
    own_komi = 20 * batch.globals[:, KOMI]
    sign = np.where(own_komi < 0, 1, -1)  # komi is White's and positive
    lead = (sign * BLACKS_MARGIN + own_komi).astype(np.float32)
    win = 1 / (1 + np.exp(-lead / 3))
    value = np.stack([win, 1 - win, 0 * win], 1).astype(np.float32)
    policy = np.zeros((len(win), batch.planes[0, 0].size + 1), np.float32)
    policy[:, -1] = -20  # searches that pass twice would count the board
    return uniform(batch)._replace(policy=policy, value=value, score=2 * lead, lead=lead + 1)


@pytest.fixture(scope="module")
def engine() -> Iterator[Engine]:
    with Engine(FakeEvaluator(sure_of_the_margin)) as engine:
        yield engine


def plain_games() -> Games:
    """Area scoring with a positive komi, so that the network knows who is who."""
    games = random_games(6, seed=8, sides=(6, 7))
    games.games["terms"]["territory"] = 0
    games.games["terms"]["button"] = 0
    games.games["terms"]["komi"] = [3.5, 4.0, 12.0, 20.5, 8.5, 9.0]
    games.games["no_result"] = [0, 1, 0, 0, 0, 0]
    return games


GAMES = plain_games()


def test_leads_are_those_of_a_network_that_is_right_about_values(engine: Engine) -> None:
    found = estimate_turns(GAMES, engine, SEED, lead_share=1.0)
    copies = copies_of_turns(GAMES, SEED)
    komi = np.repeat(GAMES.games["terms"]["komi"], GAMES.games["n_turns"])
    counted = np.repeat(GAMES.games["no_result"] == 0, GAMES.games["n_turns"])
    known = np.isfinite(found.lead)
    np.testing.assert_array_equal(known, (copies > 0) & counted)
    assert known.sum() > 10
    np.testing.assert_allclose(found.lead[known], (BLACKS_MARGIN - komi)[known], atol=0.3)
    assert len(set(komi[known])) > 2
    margin = (BLACKS_MARGIN - komi)[copies > 0]
    np.testing.assert_allclose(found.score[copies > 0], 2 * margin, atol=1e-4)
    np.testing.assert_allclose(found.value[copies > 0], np.tanh(margin / 6), atol=1e-4)
    assert not found.value[copies == 0].any()
    assert not found.policy_entropy[copies == 0].any()


def test_a_share_of_the_turns_gets_leads(engine: Engine) -> None:
    found = estimate_turns(GAMES, engine, SEED, lead_share=0.3)
    known, rows = np.isfinite(found.lead).sum(), (copies_of_turns(GAMES, SEED) > 0).sum()
    assert 0 < known < rows / 2
    assert not np.isfinite(estimate_turns(GAMES, engine, SEED, lead_share=0.0).lead).any()


def test_entropy_and_surprise_of_an_even_policy(engine: Engine) -> None:
    """A policy that is even but for passing, among n points, has entropy log n."""
    found = estimate_turns(GAMES, engine, SEED, lead_share=0.0)
    turn = target = checked = 0
    for game in GAMES.games:
        for _ in range(game["n_turns"]):
            count = int(GAMES.turns["n_targets"][turn])
            if copies_of_turns(GAMES, SEED)[turn]:
                weights = GAMES.targets["weight"][target : target + count].astype(float)
                shares = weights / weights.sum()
                entropy = -np.sum(shares * np.log(shares))
                legal = np.exp(found.policy_entropy[turn])
                assert legal == pytest.approx(round(float(legal)), abs=1e-3)
                assert count - 1 <= round(float(legal)) <= game["width"] * game["height"]
                passes = GAMES.targets["move"][target : target + count] == game["width"] ** 2
                expected = np.log(legal) - entropy + 20 * shares[passes].sum()
                if legal > 1.5:  # else the pass is all that is left
                    assert found.surprise[turn] == pytest.approx(expected, abs=1e-3)
                checked += 1
            turn, target = turn + 1, target + count
    assert checked > 10


@needs_bundled_network
def test_the_lead_on_a_divided_board_is_its_count_less_komi() -> None:
    """Five columns of nine points are Black's and four are White's; 9 points, whatever komi is."""
    columns = [(x, y) for y in range(9) for x in (4, 5)]  # Black's wall, then White's
    turns = np.zeros(len(columns) + 1, TURN)
    turns["move"] = [*(9 * y + x for x, y in columns), 81]
    turns["color"] = [*(x - 3 for x, _ in columns), BLACK]
    turns["kind"] = FULL
    turns["weight"][-1] = 1
    game = np.zeros(2, GAME)
    game["width"] = game["height"] = 9
    game["n_turns"] = len(turns)
    for k, komi in enumerate((0.5, 20.0)):
        game[k]["terms"] = terms_of(parse_rules("tromp-taylor"), komi)
    games = Games(game, np.tile(turns, 2), np.zeros(0, TARGET), np.zeros(2 * 81, np.int8))
    with Engine() as engine:
        found = estimate_turns(games, engine, SEED, lead_share=1.0)
    leads = found.lead[np.isfinite(found.lead)]
    np.testing.assert_allclose(leads, [8.5, -11.0], atol=1.0)
