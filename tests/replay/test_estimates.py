from __future__ import annotations

import numpy as np
import pytest

from tengen.engine.engine import Engine
from tengen.network.evaluator import Batch, Evaluation
from tengen.network.fake import FakeEvaluator, uniform
from tengen.replay.estimates import estimate_turns
from tengen.replay.rows import copies_of_turns
from tests.replay.games import random_games
from tests.search.scripts import KOMI

SEED = 3
BLACKS_MARGIN = 9.0  # points before komi that Black wins by, as the network below has it
GAMES = random_games(6, seed=8, sides=(6, 7))


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
def engine() -> Engine:
    return Engine(FakeEvaluator(sure_of_the_margin))


def plain_games() -> None:
    """Make all rules area scoring with a positive komi, so that the network knows who is who."""
    GAMES.games["terms"]["territory"] = 0
    GAMES.games["terms"]["button"] = 0
    GAMES.games["terms"]["komi"] = [3.5, 4.0, 12.0, 20.5, 8.5, 9.0]
    GAMES.games["no_result"] = [0, 1, 0, 0, 0, 0]


def test_leads_are_those_of_a_network_that_is_right_about_values(engine: Engine) -> None:
    plain_games()
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
    plain_games()
    found = estimate_turns(GAMES, engine, SEED, lead_share=0.3)
    known, rows = np.isfinite(found.lead).sum(), (copies_of_turns(GAMES, SEED) > 0).sum()
    assert 0 < known < rows / 2
    assert not np.isfinite(estimate_turns(GAMES, engine, SEED, lead_share=0.0).lead).any()


def test_entropy_and_surprise_of_an_even_policy(engine: Engine) -> None:
    """A policy that is even but for passing, among n points, has entropy log n."""
    plain_games()
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
