"""Messages to clients, as JSON. Win rates and leads of positions are Black's."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import cache
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

import tengen
from tengen.engine.engine import Engine
from tengen.engine.level_ranks import rank_of
from tengen.engine.levels import LEVELS
from tengen.engine.loading import EngineLoader
from tengen.frontends.web import limits
from tengen.frontends.web.limits import RefusedError
from tengen.frontends.web.play.client_messages import ClientMessage
from tengen.frontends.web.play.game_state import GameState
from tengen.frontends.web.play.game_tree import GameTree, TreeNode, is_set_up
from tengen.frontends.web.play.liberties import groups_in_atari
from tengen.game.color import Color
from tengen.game.diagram import stones_text
from tengen.game.outcome import Reason
from tengen.game.position import Position
from tengen.game.rules import NAMED
from tengen.game.scoring import Tally
from tengen.game.sgf.records import SgfGame
from tengen.network.evaluator import Evaluation
from tengen.network.trained_on import Unfamiliar
from tengen.reviewing.review import Standing, for_black, standing_of
from tengen.search.result import MoveResult, SearchResult

Json: TypeAlias = dict[str, Any]
MOST_MOVES = 12  # that are shown of a search
_FIRST_RULES = ("chinese", "japanese", "aga")  # that are listed first
_RULE_NAMES = {"aga": "AGA", "aga-button": "AGA with button", "chinese-ogs": "Chinese (OGS, KGS)"}


def info_view(loader: EngineLoader, has_run: bool, networks: list[str]) -> Json:
    """What clients are told about the server: version, networks, levels, rules, limits."""
    engine = loader.engine_if_ready
    ranks = _ranks(engine)
    return {
        "version": tengen.__version__,
        "network": {
            "name": "" if engine is None else engine.name,
            "file": "" if engine is None else engine.network.file,
        },
        "device": "" if engine is None else engine.device,
        "ready": engine is not None,
        "levels": [
            {"id": each.id, "name": each.name, "ranks": ranks.get(each.id, {})} for each in LEVELS
        ],
        "rules": [{"id": id_, "name": name, "komi": NAMED[id_][1]} for id_, name in _rule_names()],
        "limits": {
            "visits": limits.VISITS,
            "review_visits": limits.REVIEW_VISITS,
            "upload_bytes": limits.UPLOAD_BYTES,
            "move_seconds": limits.MOVE_SECONDS,
            "sizes": list(range(limits.SMALLEST_BOARD, limits.LARGEST_BOARD + 1)),
        },
        "networks": networks,
        "run": has_run,
    }


def _ranks(engine: Engine | None) -> dict[str, dict[str, Json]]:
    """By level: its rank, about, by the side of the board, where that was measured."""
    if engine is None:
        return {}
    names = [(board.size, engine.name_for(board)) for board in _empty_boards()]
    found = {
        level.id: {str(size.width): rank_of(level, name, size) for size, name in names}
        for level in LEVELS
    }
    return {
        level: {side: rank._asdict() for side, rank in ranks.items() if rank is not None}
        for level, ranks in found.items()
    }


@cache
def _empty_boards() -> tuple[Position, ...]:
    """A board of each size that can be played on, kept since making them is slow."""
    return tuple(map(Position, range(limits.SMALLEST_BOARD, limits.LARGEST_BOARD + 1)))


def _rule_names() -> Iterator[tuple[str, str]]:
    """Each distinct set of rules, by id and as people read it; the best known first."""
    for id_ in dict.fromkeys([*_FIRST_RULES, *(str(rules) for rules, _ in NAMED.values())]):
        yield id_, _RULE_NAMES.get(id_) or id_.replace("-", " ").title()


def error_view(refusal: RefusedError, asked: ClientMessage | None = None) -> Json:
    """Why a message is refused; if it could not be read, the refusal has its number."""
    return {
        "type": "error",
        "request": refusal.request if asked is None else asked.request,
        "code": refusal.code,
        "message": str(refusal),
        "data": refusal.data,
    }


def game_view(game: GameState) -> Json:
    """The whole game with all nodes."""
    tree = game.tree
    position = tree.position(tree.root)
    marks_left = limits.MARKS
    nodes = []
    for node in tree.root.subtree():
        view = node_view(tree, node, with_marks=marks_left > 0)
        marks_left -= len(view.get("marks", ()))
        nodes.append(view)
    return {
        "type": "game",
        "mode": game.mode,
        "size": position.width,
        "rules": str(position.rules),
        "komi": position.komi,
        "handicap": position.handicap,
        "players": {str(color): tree.game.player(color) for color in Color},
        "you": game.you,
        "level": game.level,
        "even": game.even,
        "teach": game.teach,
        "network": game.network,
        "id": game.id,
        "name": game.name,
        "about": about_game(tree.game),
        "nodes": nodes,
        "at": game.at.id,
    }


_FACTS = {
    "event": "EV",
    "round": "RO",
    "date": "DT",
    "place": "PC",
    "result": "RE",
    "black_rank": "BR",
    "white_rank": "WR",
    "game": "GN",
    "annotator": "AN",
    "comment": "GC",
}
_FACT_LENGTH = 1_000


def about_game(game: SgfGame) -> dict[str, str]:
    """What a record says about itself: event, date, ranks, result and the like."""
    told = {fact: game.root.text(name).strip()[:_FACT_LENGTH] for fact, name in _FACTS.items()}
    return {fact: text for fact, text in told.items() if text}


def node_view(tree: GameTree, node: TreeNode, *, with_marks: bool = True) -> Json:
    """One node."""
    move = tree.move(node)
    view: Json = {
        "id": node.id,
        "parent": None if node.parent is None else node.parent.id,
        "move": None if move is None else tree.start.text(move.point),
        "colour": None if move is None else str(move.color),
    }
    if comment := node.sgf.text("C"):
        view["comment"] = comment
    if with_marks and (marks := tree.marks(node)):
        view["marks"] = [
            {
                "point": tree.start.text(mark.point),
                "kind": mark.kind,
                **({} if mark.label is None else {"label": mark.label}),
            }
            for mark in marks
        ]
    if with_marks and (lines := tree.lines(node)):
        view["lines"] = [
            {
                "from": tree.start.text(each.start),
                "to": tree.start.text(each.end),
                "arrow": each.arrow,
            }
            for each in lines
        ]
    if is_set_up(node):
        view["setup"] = True
    return view


def position_view(game: GameState, engine: Engine | None) -> Json:
    """The position shown, what the player may do there, and what the network does not know."""
    position, phase = game.position, game.phase
    move = game.tree.move(game.at)
    ko = position.ko
    yours = game.yours_to_move
    result = game.result
    if phase == "free":
        result = game.tree.root.sgf.text("RE") or None
    return {
        "type": "position",
        "node": game.at.id,
        "stones": stones_text(position.stones),
        "to_play": str(position.to_play),
        "last": None if move is None else position.text(move.point),
        "ko": None if ko is None else position.text(ko),
        "atari": [position.text(point) for point in groups_in_atari(position)],
        "captures": {str(color): position.captured(color.opponent) for color in Color},
        "move_number": game.tree.move_number(game.at),
        "phase": phase,
        "result": result,
        "can": {
            "play": yours,
            "pass": yours,
            "undo": game.can_undo,
            "resign": phase == "playing",
            "hint": yours and engine is not None,
        },
        "clock": None if game.clock is None else game.clock.view(),
        "thinking": game.bot_to_move or (phase == "counting" and game.dead_unknown),
        "network": "" if engine is None else engine.name_for(position),
        "unfamiliar": None if engine is None else unfamiliar_view(engine.unfamiliar(position)),
    }


def board_view(tree: GameTree, node: TreeNode, position: Position) -> Json:
    """The stones at a node and the point of its move, for a picture of the game."""
    move = tree.move(node)
    last = None if move is None or move.point is None else position.text(move.point)
    return {"stones": stones_text(position.stones), "last": last}


def unfamiliar_view(found: Unfamiliar | None) -> Json | None:
    """What a network was not trained on of a game: its board, its rules or both."""
    if found is None:
        return None
    return {
        "network": found.network,
        "board": None if found.board is None else str(found.board),
        "rules": None if found.rules is None else str(found.rules),
    }


def count_view(game: GameState) -> Json:
    """The score, by component."""
    position = game.position
    score = position.score(game.dead)
    result = game.result or str(score.outcome(Reason.SCORE))
    return {
        "type": "count",
        "dead": sorted(position.text(point) for point in game.dead),
        "owner": stones_text(score.owner),
        "black": _tally(score.black),
        "white": _tally(score.white),
        "result": result,
    }


def _tally(tally: Tally) -> Json:
    return {
        "stones": tally.stones,
        "area": tally.territory,
        "prisoners": tally.prisoners,
        "tax": tally.tax,
        "komi": tally.compensation,
        "total": tally.total,
    }


class Known(NamedTuple):
    """How a position stands, after so many visits."""

    standing: Standing
    visits: int

    def view(self) -> Json:
        """The evaluation as JSON."""
        return {**self.standing.rounded(), "visits": self.visits}


def known_from(result: SearchResult) -> Known:
    """The evaluation of a position by a search."""
    return Known(standing_of(result, result.position.to_play), result.visits)


def known_from_network(positions: list[Position], found: Evaluation) -> list[Known]:
    """The evaluation of positions by the network alone."""
    winrates = found.value[:, 0] + found.value[:, 2] / 2  # wins, and half of what has no result
    values = zip(positions, winrates.tolist(), found.lead.tolist(), strict=True)
    return [
        Known(for_black(winrate, lead, position.to_play), 1) for position, winrate, lead in values
    ]


def graph_view(known: Iterable[tuple[int, Known]]) -> Json:
    """Points of the graph."""
    return {"type": "graph", "points": [{"node": node, **each.view()} for node, each in known]}


def analysis_view(result: SearchResult, node: int, speed: float) -> Json:
    """The result of a search at a node."""
    sign = 1 if result.position.to_play is Color.BLACK else -1
    ownership = result.ownership
    return {
        "type": "analysis",
        "node": node,
        **known_from(result).view(),
        "speed": round(speed, 1),
        "moves": moves_view(result.moves, result.position),
        "ownership": None if ownership is None else _rounded(sign * ownership, 2),
        "policy": _rounded(result.policy, 4),
    }


def _rounded(values: NDArray[np.float32], digits: int) -> list[float]:
    return np.round(values.ravel().astype(np.float64), digits).tolist()  # type: ignore[no-any-return]


def moves_view(moves: Iterable[MoveResult], position: Position) -> list[Json]:
    """The best moves first."""
    return [
        {
            "move": position.text(each.move),
            "visits": each.visits,
            "winrate": round(each.winrate, 4),
            "lead": round(each.lead, 2),
            "prior": round(each.prior, 4),
            "pv": [position.text(point) for point in each.pv],
        }
        for each in list(moves)[:MOST_MOVES]
    ]
