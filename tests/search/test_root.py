"""What is special about the root: noise, forced visits, the moves left out, the move chosen."""

from __future__ import annotations

import math
from collections import Counter
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from tengen.features.feature_set import KATAGO
from tengen.game.color import Color
from tengen.game.geometry import Point, point_index
from tengen.game.kernels.moves import PASS
from tengen.game.position import Position
from tengen.network.evaluator import Batch, Evaluation, encode
from tengen.network.fake import uniform
from tengen.search.kernels.forest import (
    UTILITY,
    UTILITY_SQUARE,
    nth_candidate,
    nth_edge,
    packed_point,
    packed_prior,
)
from tengen.search.kernels.gumbel import turn_of
from tengen.search.kernels.random_numbers import gamma, gumbel, normal
from tengen.search.kernels.random_numbers import uniform as uniform_draw
from tengen.search.kernels.root import (
    choose_move,
    draw,
    lower_bound,
    move_temperature,
    play_weights,
    prepare_root,
)
from tengen.search.params import SearchParams, settings_array
from tengen.search.request import Limits, RootOptions, allow_only
from tests.search.plain_search import Search
from tests.search.scripts import OPPONENT, OWN, Script, opinions, preferring
from tests.search.trees import (
    MEANS,
    edges_of,
    forest_of,
    random_position,
    searching,
    settings_of_tree,
)

NOISY = RootOptions(noisy=True)
PLAIN: dict[str, Any] = {
    "noise_share": 0,
    "root_temperature": 1,
    "root_temperature_early": 1,
    "value_bias": 0,
}


def one_good_move(move: Point) -> Script:
    """Who has a stone there wins nine games of ten; all moves look alike."""

    def script(batch: Batch) -> Evaluation:
        mine, theirs = (batch.planes[:, plane, move.y, move.x] for plane in (OWN, OPPONENT))
        win = 0.5 + 0.4 * (mine - theirs)
        return uniform(batch)._replace(value=np.stack([win, 1 - win, 0 * win], 1))

    return script


def settings(search: Search) -> Any:
    return settings_of_tree(search)


def priors(search: Search) -> dict[int, float]:
    """The priors at the root, by point, tried or not."""
    forest = forest_of(search)
    root = forest.nodes[forest.trees[0]["root"]]
    found = {}
    for k in range(int(root["n_candidates"])):
        packed = nth_candidate(forest, root, k)
        found[int(packed_point(packed))] = float(packed_prior(packed))
    return found


def softmax(position: Position, script: Script, temperature: float = 1) -> dict[int, float]:
    """What the network thinks of each legal move, by point."""
    logits = script(encode(KATAGO, [position])).policy[0].astype(float) / temperature
    odds = np.exp(logits) * position.legal_mask()
    points = [
        point_index((x, y), position.width)
        for y in range(position.height)
        for x in range(position.width)
    ]
    return {
        point: float(share)
        for point, share in zip([*points, PASS], odds / odds.sum(), strict=True)
        if share
    }


def chi_square(counts: Counter[int], shares: dict[int, float]) -> float:
    total = counts.total()
    assert set(counts) <= set(shares)
    return sum((counts[k] - total * share) ** 2 / (total * share) for k, share in shares.items())


# Random numbers


def samples(kernel: Any, count: int, *arguments: float) -> NDArray[np.float64]:
    rng = np.array([7], np.uint64)
    return np.array([kernel(rng, *arguments) for _ in range(count)])


def assert_moments(drawn: NDArray[np.float64], mean: float, variance: float) -> None:
    """Within five standard errors, those of the variance taken from the sample."""
    n = len(drawn)
    assert abs(drawn.mean() - mean) < 5 * math.sqrt(variance / n)
    squares = (drawn - mean) ** 2
    assert abs(squares.mean() - variance) < 5 * squares.std() / math.sqrt(n)


def assert_shares_below(drawn: NDArray[np.float64], shares: dict[float, float]) -> None:
    for bound, share in shares.items():
        error = math.sqrt(share * (1 - share) / len(drawn))
        assert abs((drawn < bound).mean() - share) < 5 * error


def test_uniform_numbers_are_uniform() -> None:
    drawn = samples(uniform_draw, 20_000)
    assert_moments(drawn, 1 / 2, 1 / 12)
    assert_shares_below(drawn, {0.1: 0.1, 0.5: 0.5, 0.9: 0.9})
    assert drawn.min() > 0
    assert drawn.max() < 1


def test_normal_numbers_are_normal() -> None:
    drawn = samples(normal, 20_000)
    assert_moments(drawn, 0, 1)
    assert_shares_below(drawn, {-1: 0.158655, 0: 0.5, 2: 0.977250})
    assert np.corrcoef(drawn[1:], drawn[:-1])[0, 1] == pytest.approx(0, abs=0.035)


@pytest.mark.parametrize("shape", [0.03, 0.3, 1, 2.5])
def test_gamma_numbers_have_their_shape(shape: float) -> None:
    drawn = samples(gamma, 20_000, shape)
    assert_moments(drawn, shape, shape)
    if shape == 1:  # the exponential distribution
        assert_shares_below(drawn, {x: 1 - math.exp(-x) for x in (0.1, 1, 3)})


def test_gumbel_numbers_are_gumbels() -> None:
    drawn = samples(gumbel, 20_000)
    assert_moments(drawn, 0.5772156649, math.pi**2 / 6)
    assert_shares_below(drawn, {x: math.exp(-math.exp(-x)) for x in (-1, 0, 1, 3)})


# Noise and temperature


def noise(position: Position, draws: int, **params: Any) -> NDArray[np.float64]:
    """[draws, legal moves] priors that are noise alone."""
    search = searching(position, uniform, NOISY, **{**PLAIN, "noise_share": 1, **params})
    search.run(Limits(visits=1))
    drawn = []
    for _ in range(draws):
        prepare_root(forest_of(search), 0, settings(search))
        drawn.append([prior for _, prior in sorted(priors(search).items())])
    return np.array(drawn)


@pytest.mark.parametrize(
    ("size", "moves", "alpha", "params"),
    [
        (9, 82, 0.3, {}),
        (19, 362, 0.03, {}),
        (5, 26, 1.5, {"noise_alpha": 1.5}),
        (9, 82, 10.83 / 82, {"noise_total": 10.83}),
    ],
)
def test_noise_is_dirichlets(size: int, moves: int, alpha: float, params: Any) -> None:
    drawn = noise(Position(size), 1200, **params)
    assert drawn.shape[1] == moves
    np.testing.assert_allclose(drawn.sum(1), 1, atol=1e-3)
    mean = 1 / moves
    variance = mean * (1 - mean) / (alpha * moves + 1)
    assert ((drawn - mean) ** 2).mean() == pytest.approx(variance, rel=0.06)
    # No move gets more of it than another.
    assert (np.abs(drawn.mean(0) - mean) < 5 * math.sqrt(variance / len(drawn))).all()


@pytest.mark.kernel
def test_a_quarter_of_a_noisy_roots_priors_is_noise() -> None:
    position = Position(4, komi=0.5).play("B2")
    search = searching(position, opinions(), NOISY, **{**PLAIN, "noise_share": 0.25})
    search.run(Limits(visits=1))
    own, mixed = softmax(position, opinions()), priors(search)
    added = {point: (mixed[point] - 0.75 * own[point]) / 0.25 for point in own}
    assert set(mixed) == set(own)
    assert sum(mixed.values()) == pytest.approx(1, abs=1e-3)
    assert sum(added.values()) == pytest.approx(1, abs=4e-3)
    assert min(added.values()) > -1e-4
    assert max(added.values()) - min(added.values()) > 0.02


def test_only_noisy_roots_have_noise() -> None:
    position = random_position(2)
    for options in (RootOptions(), RootOptions(gumbel=4)):
        search = searching(position, opinions(), options)
        search.run(Limits(visits=30))
        own = softmax(position, opinions())
        assert priors(search) == pytest.approx(own, rel=1e-4)


def test_noise_stays_at_the_root() -> None:
    position = Position(5, komi=0.5)
    search = searching(position, opinions(), NOISY, noise_share=1, noise_alpha=1)
    result = search.run(Limits(visits=100))
    best = result.moves[0]
    assert best.prior != pytest.approx(
        softmax(position, opinions())[point_index(best.move, 5) if best.move else PASS], rel=1e-2
    )
    after = position.play(best.move)
    search.set_position(after, NOISY)
    kept = search.result().moves
    own = softmax(after, opinions())
    for each in kept:
        point = point_index(each.move, 5) if each.move else PASS
        assert each.prior == pytest.approx(own[point], rel=1e-4)


def test_root_temperature_flattens_the_priors() -> None:
    position = random_position(4)
    for temperature in (1.0, 2.0):
        params = {**PLAIN, "root_temperature": temperature, "root_temperature_early": temperature}
        search = searching(position, opinions(), NOISY, **params)
        search.run(Limits(visits=20))
        assert priors(search) == pytest.approx(softmax(position, opinions(), temperature), rel=1e-3)


@pytest.mark.parametrize(("size", "half"), [(9, 9), (19, 19), (5, 5)])
def test_root_temperature_halves_its_way_as_the_board_is_wide(size: int, half: int) -> None:
    position = Position(size, komi=0.5)
    params = {**PLAIN, "root_temperature": 1, "root_temperature_early": 3}
    # With each half-life half of what is above the late temperature goes: 3, 2, 1.5.
    for moves, temperature in ((0, 3.0), (half, 2.0), (2 * half, 1.5)):
        while position.move_number < moves:
            points = position.legal_moves()
            position = position.play(points[len(points) // 3])
        search = searching(position, opinions(), NOISY, **params)
        search.run(Limits(visits=1))
        assert priors(search) == pytest.approx(softmax(position, opinions(), temperature), rel=1e-3)


def test_root_temperature_stays_as_long_as_the_moves_one() -> None:
    position = Position(5, komi=0.5)
    params = {**PLAIN, "root_temperature": 1, "root_temperature_early": 3, "temperature_moves": 2}
    for temperature in (3.0, 3.0, 3.0, 1 + 2 * 0.5 ** (1 / 5)):
        search = searching(position, opinions(), NOISY, **params)
        search.run(Limits(visits=1))
        assert priors(search) == pytest.approx(softmax(position, opinions(), temperature), rel=1e-3)
        points = position.legal_moves()
        position = position.play(points[len(points) // 3])


# Wide noise and forced visits


def test_wide_root_noise_tries_more_moves() -> None:
    tried = [
        len(
            searching(Position(7), opinions(sharpness=4), wide_root_noise=noise)
            .run(Limits(visits=400))
            .moves
        )
        for noise in (0.0, 0.05, 2.0)
    ]
    assert tried[0] < tried[1] < tried[2]
    assert tried[2] > 2 * tried[0]


def test_noisy_roots_visit_every_move_tried_as_often_as_its_prior_demands() -> None:
    position, good, visits = Position(5), Point(3, 1), 600
    least = []
    for options in (NOISY, RootOptions()):
        search = searching(position, one_good_move(good), options, leaves=1, **PLAIN)
        result = search.run(Limits(visits=visits))
        assert result.move == good
        least.append(min(each.edge_visits for each in result.moves))
        if options is NOISY:
            assert len(result.moves) == 26
            for each in result.moves:
                assert each.edge_visits >= math.sqrt(2 * each.prior * visits) - 1
    assert least[0] > least[1]


def test_forced_visits_do_not_count_for_the_choice() -> None:
    search = searching(Position(5), one_good_move(Point(3, 1)), NOISY, leaves=1, **PLAIN)
    best, *others = search.run(Limits(visits=600)).moves
    assert best.move == Point(3, 1)
    assert best.play_weight == best.edge_visits
    for each in others:
        forced = math.sqrt(2 * each.prior * 600)
        assert each.play_weight <= each.edge_visits
        assert each.play_weight >= each.edge_visits - forced - 1 or each.play_weight == 0
    assert sum(each.play_weight for each in others) < 0.5 * sum(each.edge_visits for each in others)


def test_visits_that_hindsight_would_not_make_do_not_count_for_the_choice() -> None:
    # Constant exploration, so that the formula is the one of a single visit.
    plain = {**PLAIN, "exploration_log": 0, "stdev_scale": 0, "lcb_stdevs": 0}
    search = searching(Position(5), one_good_move(Point(3, 1)), leaves=1, **plain)
    best, *others = search.run(Limits(visits=600)).moves
    assert best.play_weight == best.edge_visits
    explore = math.sqrt(599 + 0.01)
    bar = best.utility + explore * best.prior / (1 + best.visits)
    for each in others:
        wanted = explore * each.prior / (bar - each.utility) - 1
        near = {math.ceil(min(wanted, each.visits) + error) for error in (-0.01, 0.01)}
        assert each.play_weight in near or wanted < 1  # KataGo rounds it up
    assert any(each.play_weight < each.edge_visits for each in others)


# The move chosen


@pytest.mark.kernel
def test_temperature_0_draws_the_best() -> None:
    rng = np.array([3], np.uint64)
    weights = np.array([5, 1, 4], np.float32)
    for best in range(3):
        assert {draw(weights, 3, best, 0.0, rng) for _ in range(20)} == {best}


@pytest.mark.parametrize("temperature", [1.0, 0.5, 2.0])
def test_moves_are_drawn_by_their_weights_and_the_temperature(temperature: float) -> None:
    rng = np.array([3], np.uint64)
    weights = np.array([50, 0, 10, 30, 60, 99], np.float32)  # the last is not in play
    counts = Counter(int(draw(weights, 5, 4, temperature, rng)) for _ in range(10_000))
    powers = {k: float(weights[k]) ** (1 / temperature) for k in (0, 2, 3, 4)}
    shares = {k: power / sum(powers.values()) for k, power in powers.items()}
    assert chi_square(counts, shares) < 21.1  # one in ten thousand, at three degrees of freedom


def test_a_move_is_chosen_by_the_weights_of_the_search() -> None:
    position = random_position(6)
    search = searching(position, opinions(), temperature=1.0, temperature_early=1.0)
    result = search.run(Limits(visits=200))
    forest = forest_of(search)
    weights = np.zeros(forest.policy.shape[1], np.float32)
    counts = Counter(int(choose_move(forest, 0, settings(search), weights)) for _ in range(4000))
    total = sum(each.play_weight for each in result.moves)
    shares = {
        point_index(each.move, 5) if each.move else PASS: each.play_weight / total
        for each in result.moves
        if each.play_weight
    }
    # Beyond one in ten thousand: by Wilson and Hilferty's approximation.
    freedom = len(shares) - 1
    limit = freedom * (1 - 2 / (9 * freedom) + 3.72 * math.sqrt(2 / (9 * freedom))) ** 3
    assert len(shares) > 4
    assert chi_square(counts, shares) < limit


@pytest.mark.kernel
def test_without_temperature_the_best_move_is_chosen_and_after_one_visit_the_policys() -> None:
    position = Position(4, komi=0.5)
    search = searching(position, opinions())
    weights = np.zeros(forest_of(search).policy.shape[1], np.float32)
    search.run(Limits(visits=1))
    own = softmax(position, opinions())
    chosen = {int(choose_move(forest_of(search), 0, settings(search), weights)) for _ in range(3)}
    assert chosen == {max(own, key=own.__getitem__)}
    search.run(Limits(visits=30))
    weights[:] = 0
    best = play_weights(forest_of(search), 0, settings(search), weights)
    root = int(forest_of(search).trees[0]["root"])
    point = edges_of(forest_of(search), root)[best].point
    chosen = {int(choose_move(forest_of(search), 0, settings(search), weights)) for _ in range(3)}
    assert chosen == {point}


@pytest.mark.kernel
@pytest.mark.parametrize(("size", "half"), [(9, 9), (19, 19), (5, 5)])
def test_the_temperature_falls_with_a_half_life_as_long_as_the_board_is_wide(
    size: int, half: int
) -> None:
    params = settings_array(SearchParams(temperature=0.2, temperature_early=1.0))[0]
    position = Position(size)
    boards, _ = position.arrays(room=0)
    for half_lives in range(4):
        boards[0]["ply"] = half_lives * half
        expected = 0.2 + 0.8 * 0.5**half_lives
        assert move_temperature(boards[0], params) == pytest.approx(expected, rel=1e-5)


@pytest.mark.kernel
def test_the_temperature_stays_for_some_moves_before_it_falls() -> None:
    slow = settings_array(
        SearchParams(temperature=0.2, temperature_early=1.0, temperature_moves=12)
    )[0]
    sudden = settings_array(
        SearchParams(temperature_early=1.0, temperature_moves=12, temperature_halflife=1e-3)
    )[0]
    boards, _ = Position(9).arrays(room=0)
    for ply, expected in ((0, 1.0), (11, 1.0), (12, 1.0), (21, 0.6), (30, 0.4)):
        boards[0]["ply"] = ply
        assert move_temperature(boards[0], slow) == pytest.approx(expected, rel=1e-5)
        assert move_temperature(boards[0], sudden) == (1.0 if ply <= 12 else 0.0)


def with_statistics(
    to_play: Color, statistics: list[tuple[int, float, float]], **params: Any
) -> Search:
    """A search that found moves with these visits, means and standard deviations of utility, for
    the side to play.
    """
    position = Position(3) if to_play is Color.BLACK else Position(3).play("A1")
    moves = [Point(k, 1) for k in range(len(statistics))]
    search = searching(position, preferring(*moves), allow_only(position, moves), **params)
    assert len(search.run(Limits(visits=10)).moves) == len(moves)
    forest = forest_of(search)
    sign = 1 if to_play is Color.BLACK else -1
    root = int(forest.trees[0]["root"])
    for k in range(int(forest.nodes[root]["n_tried"])):
        edge = forest.edges[nth_edge(forest, forest.nodes[root], k)]
        place = int(packed_point(edge["packed"])) - point_index((0, 1), 3)
        visits, mean, stdev = statistics[place]
        child = forest.nodes[edge["child"]]
        edge["visits"] = child["visits"] = child["weight"] = child["weight_square"] = visits
        child[MEANS][UTILITY] = sign * mean
        child[MEANS][UTILITY_SQUARE] = mean**2 + stdev**2
    return search


@pytest.mark.kernel
@pytest.mark.parametrize("to_play", Color)
def test_a_surer_move_is_preferred_to_the_most_visited_one(to_play: Color) -> None:
    # Five standard errors below its mean the first is worth 0.3 - 5 * 1 / 10, the second more than
    # 0.25 - 5 * 0.1 / 7.
    wild, sure = (100, 0.3, 1.0), (60, 0.25, 0.1)
    assert with_statistics(to_play, [wild, sure]).result().move == Point(1, 1)
    assert with_statistics(to_play, [wild, sure], lcb_stdevs=0).result().move == Point(0, 1)
    # A move with few visits is not to be trusted.
    few = (14, 0.25, 0.01)
    assert with_statistics(to_play, [wild, few]).result().move == Point(0, 1)
    assert with_statistics(to_play, [wild, few], lcb_least=0.1).result().move == Point(1, 1)
    # The surer move weighs as much as the most visited one.
    first, second = with_statistics(to_play, [wild, sure]).result().moves
    assert first.play_weight >= second.play_weight == 100


@pytest.mark.kernel
def test_the_lower_bound_lies_standard_errors_below_the_mean() -> None:
    search = with_statistics(Color.BLACK, [(10_000, 0.3, 0.6), (40_000, -0.2, 0.5)])
    for each, bound in zip(
        sorted(search.result().moves, key=lambda each: each.edge_visits),
        (0.3 - 5 * 0.6 / 100, -0.2 - 5 * 0.5 / 200),
        strict=True,
    ):
        assert each.utility_lcb == pytest.approx(bound, abs=1e-3)
    # One visit says nothing of the spread: the bound lies farther down than utility reaches.
    search = with_statistics(Color.BLACK, [(1, 0.3, 0.0), (5, 0.3, 0.0)])
    forest = forest_of(search)
    root = int(forest.trees[0]["root"])
    for edge in edges_of(forest, root):
        bound = lower_bound(forest.nodes[edge.child], np.float32(1), settings(search))
        assert (bound < -1.4) == (edge.visits == 1)
        assert bound < 0.3


# The Gumbel root


def sequential_halving(simulations: int, considered: int) -> tuple[list[int], list[int]]:
    """The visits that the move in turn has before each simulation, and those of all moves then.

    Each of log2(considered) phases visits its moves equally often, then the better half stays, at
    least two; what is left over goes to the last two.
    """
    phases = math.ceil(math.log2(considered)) if considered > 1 else 1
    visits, left = [0] * considered, considered
    sequence: list[int] = []
    while True:
        for _ in range(max(1, math.floor(simulations / (phases * left)))):
            for move in range(left):
                if len(sequence) == simulations:
                    return sequence, visits
                sequence.append(visits[move])
                visits[move] += 1
        left = min(considered, max(2, left // 2))


@pytest.mark.kernel
def test_turns_follow_sequential_halving() -> None:
    for simulations in (1, 2, 7, 16, 50, 101):
        for considered in (1, 2, 3, 4, 7, 8, 16, 26):
            sequence, _ = sequential_halving(simulations, considered)
            assert [turn_of(k, simulations, considered) for k in range(simulations)] == sequence


def test_halving_as_it_is_told_in_the_paper() -> None:
    # 200 simulations over 16 moves: four phases of about 50.
    _, visits = sequential_halving(200, 16)
    # What is left over of 200 goes to the last two.
    last = 3 + 6 + 12 + 25 + 3
    assert visits == [last, last, *[3 + 6 + 12] * 2, *[3 + 6] * 4, *[3] * 8]
    assert sum(visits) == 200


@pytest.mark.kernel
def test_a_small_gumbel_search_spends_its_visits_in_rounds() -> None:
    position = Position(4, komi=0.5)
    search = searching(position, opinions(), RootOptions(gumbel=4), leaves=1)
    result = search.run(Limits(visits=17))
    # 16 simulations over 4 moves in 2 rounds: 2 each, then 4 each for two.
    assert sorted(each.edge_visits for each in result.moves) == [2, 2, 6, 6]
    assert result.moves[0].edge_visits == 6


@pytest.mark.parametrize(("visits", "considered"), [(65, 8), (200, 16), (40, 30), (12, 26), (9, 1)])
@pytest.mark.parametrize("leaves", [1, 8])
def test_a_gumbel_search_spends_its_visits_in_rounds(
    visits: int, considered: int, leaves: int
) -> None:
    position = Position(5, komi=0.5)
    for seed in range(3):
        search = searching(
            position, opinions(), RootOptions(gumbel=considered), leaves=leaves, seed=seed
        )
        result = search.run(Limits(visits=visits))
        found = sorted((each.edge_visits for each in result.moves), reverse=True)
        _, expected = sequential_halving(visits - 1, min(considered, 26))
        assert len(found) <= considered
        assert sum(found) == visits - 1
        if leaves == 1:
            assert found == sorted((n for n in expected if n), reverse=True)
        assert result.moves[0].edge_visits == max(found)


def test_a_gumbel_search_finds_the_one_good_move() -> None:
    for seed, good in enumerate([Point(0, 0), Point(3, 2), Point(4, 4)]):
        search = searching(
            Position(5), one_good_move(good), RootOptions(gumbel=26), seed=seed, leaves=1
        )
        assert search.run(Limits(visits=100)).move == good


def test_gumbels_noise_makes_the_first_move_a_draw_from_the_policy() -> None:
    # Of one move considered nothing but noise and policy decide: the Gumbel-max trick.
    position = Position(3, komi=0.5)
    own = softmax(position, opinions())
    search = searching(position, opinions(), RootOptions(gumbel=1), leaves=1)
    counts: Counter[int] = Counter()
    for seed in range(2000):
        search._seed = seed
        search.set_position(position, RootOptions(gumbel=1))
        (only,) = search.run(Limits(visits=2)).moves
        counts[point_index(only.move, 3) if only.move else PASS] += 1
    assert len(own) == 10
    assert chi_square(counts, own) < 33.7  # one in ten thousand, at nine degrees of freedom
