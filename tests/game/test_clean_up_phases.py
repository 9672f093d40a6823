"""The clean-up phases of territory scoring that is played out, as KataGo has them."""

from __future__ import annotations

import os
import pickle
import random
from dataclasses import replace

import pytest

from tengen.game.color import Color
from tengen.game.illegal_moves import OccupiedError, SuperkoError
from tengen.game.kernel_rules import rules_of, terms_of
from tengen.game.outcome import Reason
from tengen.game.position import Position
from tengen.game.rules import KoRule, Rules, Scoring, Tax, parse_rules
from tests.game.ko_fights import ko_fight
from tests.game.reference import PlayedOutGame

pytestmark = pytest.mark.kernel

WITHOUT_COMPILER = os.environ.get("NUMBA_DISABLE_JIT") == "1"
JAPANESE = replace(parse_rules("japanese"), played_out=True)


def board(diagram: str, rules: Rules = JAPANESE, komi: float = 0.0, to_play: str = "B") -> Position:
    return Position.from_diagram(diagram, to_play, rules, komi)


# Phases

# White's stone in the corner and Black's on the right are dead.
DEAD = """
    O . X O .
    . X X O .
    X X O O O
    . X O X .
    X X O O .
"""


def test_two_passes_each_lead_through_the_phases_to_the_count() -> None:
    position = board(DEAD)
    phases = []
    for _ in range(6):
        assert not position.is_over
        phases.append(position.phase)
        position = position.pass_()
    assert phases == [0, 0, 1, 1, 2, 2]
    assert position.is_over
    outcome = position.outcome()
    assert outcome is not None
    assert outcome.reason is Reason.SCORE


def test_where_players_agree_two_passes_end_the_game_as_ever() -> None:
    position = board(DEAD, replace(JAPANESE, played_out=False)).play_all("pass pass")
    assert position.is_over
    assert position.phase == 0
    dead = position.score(dead=["A5", "D2"])
    assert (dead.black.total, dead.white.total) == (5, 6)


def test_passing_through_leaves_what_cannot_live_to_its_captor() -> None:
    """Both walls have two eyes, so that the dead stones need not be captured."""
    score = board(DEAD).play_all("pass pass pass pass pass pass").score()
    assert (score.black.territory, score.black.prisoners) == (4, 1)
    assert (score.white.territory, score.white.prisoners) == (5, 1)


# Nothing is pass-alive: White's stones must be captured.
IN_A_CORNER = """
    . . O X . .
    . O . X . .
    O . X X . .
    X X X . . .
    . . . . . .
    . . . . . .
"""


def test_capturing_costs_points_in_the_first_phase_and_none_in_the_second() -> None:
    """Four moves capture three stones, while White passes."""
    capture = "C5 pass B6 pass B4 pass A5 pass pass"
    first = board(IN_A_CORNER).play_all(f"pass pass {capture} pass pass")
    second = board(IN_A_CORNER).play_all(f"pass pass pass pass {capture}")
    assert first.is_over
    assert second.is_over
    # All points but the 7 where Black stood before the phase, and 3 prisoners; of those points the
    # four moves have cost one each.
    assert second.score().margin == 29 + 3
    assert first.score().margin == 25 + 3


def test_what_is_not_captured_lives() -> None:
    """Black, who passes, lets White's stones make the whole corner nobody's."""
    score = board(IN_A_CORNER).play_all(6 * "pass ").score()
    assert score.owner[0, 2] == score.owner[1, 1] == score.owner[2, 0] == Color.WHITE
    assert (score.black.territory, score.black.prisoners) == (0, 0)


@pytest.mark.parametrize("moves", ["E5 E4", "B5"])
def test_moves_of_the_second_phase_change_nothing_where_all_is_settled(moves: str) -> None:
    """They cost nothing, and stones that were not there before are no prisoners."""
    before = board(DEAD).play_all("pass pass pass pass")
    after = before.play_all(f"{moves} pass pass")
    assert after.is_over
    assert after.captured("B") == after.captured("W") == 0
    assert after.score().margin == before.play_all("pass pass").score().margin == 5 - 6


def test_a_stone_in_the_opponent_s_territory_costs_as_much_as_its_capture() -> None:
    captured = board(DEAD).play_all("pass pass E5 E4").play_all(4 * "pass ")
    assert captured.score().margin == 5 - 6
    unanswered = board(DEAD).play_all("pass pass B5").play_all(4 * "pass ")
    assert unanswered.score().margin == 4 - 6


# Seki

# All stones are in one seki.
ONE_EYE_EACH = """
    . X . O .
    X X X O O
    X X X O O
    X X X O O
    X X . O O
"""


def territory(tax: Tax) -> Rules:
    return replace(JAPANESE, tax=tax)


@pytest.mark.parametrize(("tax", "eye"), [(Tax.NONE, 1), (Tax.SEKI, 0), (Tax.ALL, 0)])
def test_eyes_in_seki_count_where_there_is_no_tax(tax: Tax, eye: int) -> None:
    position = board(ONE_EYE_EACH, territory(tax)).play_all("pass pass pass pass pass pass")
    score = position.score()
    assert score.owner[0, 0] == eye * Color.BLACK
    assert score.owner[0, 4] == eye * Color.WHITE
    assert score.owner[0, 2] == 0
    assert score.owner[1, 0] == Color.BLACK  # stones are their owner's, in seki or not
    assert (score.black.territory, score.white.territory) == (eye, eye)


def test_a_living_group_pays_two_points_of_group_tax() -> None:
    plain = board(DEAD, territory(Tax.SEKI)).play_all("pass pass pass pass pass pass").score()
    taxed = board(DEAD, territory(Tax.ALL)).play_all("pass pass pass pass pass pass").score()
    assert (plain.black.tax, plain.white.tax) == (0, 0)
    assert (taxed.black.tax, taxed.white.tax) == (2, 2)


# Kos

# White takes with B4, Black takes back with C4.
KO = """
    . X O . .
    X . X O .
    . X O . O
    X X O O O
    . X X O .
"""


def test_a_ko_is_retaken_after_a_pass_for_it() -> None:
    taken = board(KO, to_play="W").play_all("pass pass B4")
    assert taken.at("C4") is None
    assert taken.ko is None
    # A move where Black would take back takes nothing: it lifts the block. So does the stone.
    for pass_for_ko in ("C4", "B4"):
        lifted = taken.play(pass_for_ko)
        assert lifted.stones.tolist() == taken.stones.tolist()
        assert lifted.passes == 0
        assert lifted.to_play is Color.WHITE
        with pytest.raises(OccupiedError):
            lifted.play("B4", "B")
        assert lifted.play("C4").stones_hash != lifted.stones_hash  # White may end the ko
        again = lifted.pass_().play("C4")
        assert again.at("B4") is None
        assert again.at("C4") is Color.BLACK


def test_threats_elsewhere_do_not_lift_a_block() -> None:
    taken = board(KO, to_play="W").play_all("pass pass B4 E5 E4")
    assert taken.play("C4").at("B4") is Color.WHITE
    main = board(KO, to_play="W").play_all("B4 E5 E4")
    assert main.play("C4").at("B4") is None


def test_a_pass_for_a_ko_costs_nothing() -> None:
    taken = board(KO, to_play="W").play_all("pass pass B4")
    through = 4 * "pass "
    assert taken.play_all("C4 " + through).score().margin == taken.play_all(through).score().margin


def test_nobody_takes_a_ko_twice_in_one_position() -> None:
    position = board(KO, to_play="W").play_all("pass pass B4 C4 pass C4")
    assert position.stones.tolist() == board(KO).stones.tolist()
    lifted = position.play("B4").pass_()  # Black's stone was blocked
    assert lifted.to_play is Color.WHITE
    with pytest.raises(SuperkoError):
        lifted.play("B4")
    assert lifted.play("E5").pass_().is_legal("B4")  # in another position
    assert lifted.pass_().is_legal("B4", "W")  # in the next phase


def test_bans_of_superko_end_with_the_main_phase() -> None:
    rules = replace(JAPANESE, ko=KoRule.POSITIONAL, suicide=True)
    position = board(KO, rules, to_play="W").play("B4")
    assert not position.is_legal("C4")
    assert position.play_all("pass pass").phase == 1
    assert position.play_all("pass pass").is_legal("C4", "B")


def test_a_move_limit_counts_the_board_as_it_is() -> None:
    """As the second clean-up would, had it begun now."""
    for moves in ("", "pass pass"):
        assert board(DEAD).play_all(moves).score().margin == 5 - 6


# Against the rules in slow motion


def rule_sets() -> list[Rules]:
    return [
        Rules(ko, Scoring.TERRITORY, tax, suicide=suicide, played_out=True)
        for ko in KoRule
        for tax in Tax
        for suicide in (False, True)
    ]


@pytest.mark.parametrize("rules", rule_sets(), ids=lambda r: f"{r.ko}-{r.tax}-{r.suicide}")
def test_random_games_are_those_of_the_reference(rules: Rules) -> None:
    lifted = banned = ended = 0
    for seed in range(1 if WITHOUT_COMPILER else 25):
        choice = random.Random(f"{seed} {rules}")
        size = choice.choice([(3, 3), (4, 3), (4, 4), (5, 4), (2, 3)])
        position = Position(size, rules, 0)
        slow = PlayedOutGame(*size, rules.ko.value.lower(), rules.suicide, rules.tax.value)
        for _ in range(150):
            if slow.over:
                break
            legal = [p for p in slow.points() if slow.is_legal(p)]
            assert sorted(position.legal_moves()) == sorted(legal)
            assert position.score().margin == slow.score()
            passes = choice.random() < (0.15 if slow.phase else 0.1)
            # Kos are sought, so that there are enough of them.
            kos = [p for p in legal if slow.phase and (slow.block_at(p) or slow.ko_stone(p))]
            move = None if passes or not legal else choice.choice(kos * 3 + legal)
            lifted += move is not None and slow.phase > 0 and slow.block_at(move) is not None
            banned += slow.phase > 0 and any(
                slow.ko_stone(p) and p not in legal for p in slow.points()
            )
            slow.play(move)
            position = position.play(move)
            assert position.phase == slow.phase
            assert position.is_over == slow.over
        ended += slow.over
        outcome = position.outcome()
        assert (outcome is not None and outcome.reason is Reason.NO_RESULT) == slow.no_result
    assert WITHOUT_COMPILER or (lifted > 0 and ended > 0)


@pytest.mark.parametrize("ko", KoRule)
def test_ko_fights_are_those_of_the_reference(ko: KoRule) -> None:
    banned = 0
    for seed in range(3 if WITHOUT_COMPILER else 60):
        for position, slow in ko_fight(replace(JAPANESE, ko=ko), seed):
            legal = [p for p in slow.points() if slow.is_legal(p)]
            assert sorted(position.legal_moves()) == (sorted(legal) if not slow.over else [])
            assert (position.phase, position.is_over) == (slow.phase, slow.over)
            assert position.score().margin == slow.score()
            banned += slow.phase > 0 and any(
                slow.ko_stone(p) and p not in legal for p in slow.points()
            )
    assert WITHOUT_COMPILER or banned > 0


# Conversions


def test_a_game_in_a_clean_up_survives_pickling_and_terms() -> None:
    position = board(KO, to_play="W").play_all("pass pass B4 pass E5 C4")
    again = pickle.loads(pickle.dumps(position))
    assert again == position
    assert again.legal_mask().tolist() == position.legal_mask().tolist()
    assert position != board(KO, to_play="W").play_all("pass pass B4 pass E5 pass")
    assert rules_of(terms_of(JAPANESE, 6.5)) == JAPANESE
    assert JAPANESE.name == "japanese"


def test_positions_differ_by_the_stones_that_began_the_second_phase() -> None:
    early = board(DEAD).play_all("pass pass B5 pass pass")
    late = board(DEAD).play_all("pass pass pass pass B5")
    for position in (early, late):
        assert (position.phase, position.passes, position.to_play) == (2, 0, Color.WHITE)
    assert early.stones.tolist() == late.stones.tolist()
    assert early != late
