"""Commands that show the position, the network's evaluation and the last search as text."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from tengen.frontends.gtp.analyze import point_at
from tengen.frontends.gtp.protocol import GtpError, Vertex, command, parse_float, parse_int
from tengen.frontends.gtp.session import Commands, anew, for_search
from tengen.frontends.katago_reports import described_networks, reported_uncertainty
from tengen.game.color import Color, parse_color

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from tengen.game.geometry import Symmetry
    from tengen.game.position import Position
    from tengen.network.evaluator import Evaluation, Evaluator
    from tengen.search.result import MoveResult, SearchResult

BENCHMARK_VISITS = 400
SHOWN_MOVES = 20  # of a search
NUMBERED_MOVES = 3  # the last ones on the board


class InspectionCommands(Commands):
    @command()
    def showboard(self) -> str:
        return board_text(self.session.position)

    @command("kata-raw-nn")
    def kata_raw_nn(self, *arguments: str) -> str:
        question = _raw_question(self.session.position, arguments, "kata-raw-nn", optimism=True)
        engine = self.session.engine()
        self.session.rest()
        optimism = question.optimism
        if optimism is None:
            optimism = self.session.params().root_optimism
        self.session.warn(question.position)
        evaluator = engine.network_for(question.position).evaluator
        return self._raw(evaluator, question, optimism, human=False)

    @command("kata-raw-human-nn")
    def kata_raw_human_nn(self, *arguments: str) -> str:
        question = _raw_question(self.session.position, arguments, "kata-raw-human-nn")
        engine = self.session.engine()
        if engine.human_network is None:
            raise GtpError("there is no network beside the main one: --human-model FILE")
        evaluator = engine.human_network.evaluator
        if evaluator.imitates_people and not self.session.settings.human.profile:
            raise GtpError("set whom to imitate: kata-set-param humanSLProfile rank_5k")
        self.session.rest()
        return self._raw(evaluator, question, 0.0, human=True)

    def _raw(
        self, evaluator: Evaluator, question: RawQuestion, optimism: float, *, human: bool
    ) -> str:
        position, profile = question.position, self.session.settings.human.profile
        advantage = self.session.advantage_for(position.to_play)
        return "\n".join(
            raw_text(evaluator, position, symmetry, optimism, profile, advantage, human=human)
            for symmetry in question.symmetries
        )

    @command("kata-get-models")
    def kata_get_models(self) -> str:
        models = described_networks(self.session.engine())
        return json.dumps(models, sort_keys=True, separators=(",", ":"))

    @command()
    def clear_cache(self) -> None:
        self.session.rest()
        if engine := self.session.loader.engine_if_ready:
            engine.free_memory()

    @command("benchmark", "kata-benchmark")
    def benchmark(self, visits: int = BENCHMARK_VISITS) -> str:
        """How fast the position is searched, from a new tree."""
        from tengen.search.request import Limits

        session = self.session
        engine = session.engine()
        position = for_search(session.position, session.position.to_play)
        # Compile everything before the time is measured.
        session.search(session.request(position, Limits(visits=2)))
        engine.clear()
        found = session.search(session.request(position, Limits(visits=visits)))
        seconds = max(found.seconds, 1e-6)
        network = engine.network_for(position).evaluator
        return (
            f"visits {found.visits} seconds {found.seconds:.3f} "
            f"visits/s {found.visits / seconds:.1f} evaluations/s {found.evaluated / seconds:.1f} "
            f"board {position.size} network {network.name} device {network.device}"
        )

    @command()
    def debug_moves(self, *branch: Vertex) -> str:
        """The moves that the last search looked at, or those after a line of moves."""
        found = self.session.last_result
        if found is None or not branch:
            text = "nothing was searched yet" if found is None else moves_text(found)
            return f"{self.showboard()}\n{text}"
        line = [point_at(move, found.position) for move in branch]
        position, moves = self.session.engine().moves_after(line)
        head = f"after {' '.join(branch)}: {position.to_play} to play"
        return "\n".join([board_text(position), head, *move_lines(position, moves)])

    @command("kata-debug-print")
    def debug_print(self) -> str:
        """The state of the session."""
        session = self.session
        engine = session.loader.engine_if_ready
        return "\n".join(
            [
                board_text(session.position),
                f"handicap {session.position.handicap}",
                *(f"{color.name.title()} {session.clocks[color]}" for color in Color),
                f"{session.settings}",
                "no network" if engine is None else f"{engine.name} on {engine.device}",
                f"thought {session.seconds_thought:.1f} s",
            ]
        )


def board_text(position: Position) -> str:
    """The board with what matters about the game, in the shape that KataGo gives it."""
    from tengen.game.geometry import COLUMN_LETTERS, Point

    total = sum(later.last_move is not None and later.move_number > 0 for later in position.line())
    rules = {**position.rules.as_json(), "komi": position.komi}
    bonus = position.rules.white_handicap_bonus.points(position.handicap)
    recent = position.moves[-NUMBERED_MOVES:]
    numbers = {move.point: str(i) for i, move in enumerate(recent, 1) if move.point is not None}
    lines = [
        f"MoveNum: {total} HASH: {position.stones_hash:016X}",
        "   " + " ".join(COLUMN_LETTERS[: position.width]),
    ]
    for y, row in enumerate(position.stones.tolist()):
        signs = "".join(".XO"[stone] + numbers.get(Point(x, y), " ") for x, stone in enumerate(row))
        lines.append(f"{position.height - y:2} {signs.rstrip()}")
    lines += [
        f"Next player: {'Black' if position.to_play is Color.BLACK else 'White'}",
        f"Rules: {json.dumps(rules, sort_keys=True, separators=(',', ':'))}",
        *([f"Handicap bonus score: {bonus}"] if bonus else []),
        f"B stones captured: {position.captured(Color.BLACK)}",
        f"W stones captured: {position.captured(Color.WHITE)}",
    ]
    return "\n".join(lines)


def moves_text(result: SearchResult) -> str:
    """The moves of a search, one a line, for the side to play."""
    position = result.position
    head = (
        f"{position.to_play} to play, move {position.move_number + 1}: {result.visits} visits, "
        f"winrate {100 * result.winrate:.1f}%, lead {result.lead:+.1f}, "
        f"{result.seconds:.2f} s ({result.stopped_by})"
    )
    return "\n".join([head, *move_lines(position, result.moves)])


def move_lines(position: Position, moves: Sequence[MoveResult]) -> list[str]:
    """A line for each move that was tried in a position, for the side to play."""
    return [
        f"{position.text(move.move):>4}: visits {move.visits}, winrate {100 * move.winrate:.1f}%, "
        f"lcb {100 * move.lcb:.1f}%, lead {move.lead:+.1f}, prior {100 * move.prior:.2f}%, "
        f"pv {' '.join(position.text(point) for point in move.pv)}"
        for move in moves[:SHOWN_MOVES]
    ]


def summary(result: SearchResult) -> str:
    """The evaluation of a position, in one line."""
    return (
        f"{result.position.to_play} wins {100 * result.winrate:.1f}% and leads by "
        f"{result.lead:+.1f}, after {result.visits} visits"
    )


class RawQuestion(NamedTuple):
    """The arguments of a command about the raw network."""

    position: Position
    symmetries: list[Symmetry]
    optimism: float | None  # None: as at the root of a search


def _raw_question(
    position: Position, arguments: Sequence[str], name: str, *, optimism: bool = False
) -> RawQuestion:
    """Read ``[COLOR] SYMMETRY [OPTIMISM]``, the last where it is possible; raises GtpError."""
    from tengen.game.geometry import Symmetry

    words = list(arguments)
    if words and words[0].lower() in ("b", "w", "black", "white"):
        color = parse_color(words.pop(0))
        position = position if color is position.to_play else for_search(position, color)
    usage = f"write {name} [COLOR] SYMMETRY, 0 to 7 or all"
    if optimism:
        usage = f"write {name} [COLOR] SYMMETRY [OPTIMISM], 0 to 7 or all, 0 to 1"
    which, *more = words or [""]
    if (which.lower() != "all" and which not in tuple("01234567")) or len(more) > optimism:
        raise GtpError(f"syntax error: {usage}")
    share = parse_float(more[0]) if more else None
    if share is not None and not 0 <= share <= 1:
        raise GtpError(f"syntax error: {usage}")
    symmetries = Symmetry if which.lower() == "all" else [Symmetry(parse_int(which))]
    return RawQuestion(position, sorted(symmetries), share)


def evaluate_position(
    evaluator: Evaluator,
    position: Position,
    optimism: float,
    profile: str,
    advantage: float = 0.0,
) -> Evaluation:
    """A network's evaluation of one position, without the batch axis.

    The side to play has 2^advantage times the opponent's playouts, if the network can be told so.
    """
    import numpy as np

    from tengen.features.kernels.feature_table import KNOWS_ADVANTAGE
    from tengen.features.kernels.katago import encode_advantage
    from tengen.network.evaluator import Evaluation, encode_for, evaluate

    batch = encode_for(evaluator, [position], profile)
    if advantage and KNOWS_ADVANTAGE[evaluator.features.kind]:
        encode_advantage(batch.globals[0], advantage)
    batch = batch._replace(optimism=np.array([optimism], np.float32))
    return Evaluation(*(values[0] for values in evaluate(evaluator, batch)))


def raw_text(
    evaluator: Evaluator,
    position: Position,
    symmetry: Symmetry,
    optimism: float,
    profile: str,
    advantage: float,
    *,
    human: bool,
) -> str:
    """An evaluation in the shape of KataGo's `kata-raw-nn` or `kata-raw-human-nn`, all for White.

    The network sees the board turned by the symmetry; as in KataGo, a board that is not square is
    not transposed.
    """
    import numpy as np

    from tengen.game.geometry import Symmetry, symmetry_points
    from tengen.search.result import Uncertainty

    turned = symmetry if position.width == position.height else Symmetry(symmetry % 4)
    seen = evaluate_position(evaluator, position.transformed(turned), optimism, profile, advantage)
    places = np.argsort(symmetry_points(turned, position.size))
    policy = _probabilities(np.append(seen.policy[:-1][places], seen.policy[-1]), position)
    sign = 1 if position.to_play is Color.WHITE else -1
    shape = position.height, position.width
    ownership = (sign * seen.ownership.ravel()[places]).reshape(shape)
    own, other, no_result = (float(chance) for chance in seen.value)
    win, loss = (own, other) if sign > 0 else (other, own)
    uncertainty = reported_uncertainty(
        Uncertainty(float(seen.value_error), float(seen.score_error), float(seen.variance_time))
    )
    score = "whiteScore" if human else "whiteScoreSelfplay"
    lead = [] if human else [f"whiteLead {sign * seen.lead:.3f}"]
    time_left = [] if human else [f"varTimeLeft {uncertainty.variance_time:.3f}"]
    return "\n".join(
        [
            f"symmetry {int(symmetry)}",
            f"whiteWin {win:.6f}",
            f"whiteLoss {loss:.6f}",
            f"noResult {no_result:.6f}",
            *lead,
            f"{score} {sign * seen.score:.3f}",
            f"{score}Sq {seen.score**2 + seen.spread**2:.3f}",
            *time_left,
            f"shorttermWinlossError {uncertainty.value:.3f}",
            f"shorttermScoreError {uncertainty.score:.3f}",
            "policy",
            *(" ".join(_probability(p) for p in row) for row in policy[:-1].reshape(shape)),
            f"policyPass {_probability(policy[-1])}",
            "whiteOwnership",
            *(" ".join(f"{owner:9.7f}" for owner in row) for row in ownership),
        ]
    )


def _probabilities(logits: NDArray[np.float32], position: Position) -> NDArray[np.float64]:
    """[area + 1] the policy over legal moves, not a number elsewhere."""
    import numpy as np

    legal = anew(position).legal_mask() if position.is_over else position.legal_mask()
    policy = np.where(legal, np.exp(logits.astype(np.float64) - logits[legal].max()), np.nan)
    probabilities: NDArray[np.float64] = policy / np.nansum(policy)
    return probabilities


def _probability(value: float) -> str:
    return "    NAN" if value != value else f"{value:8.6f}"
