"""A game being played or looked at: its tree, the node shown, phase, clock and dead stones."""

from __future__ import annotations

import math
import time
from typing import Any, Literal, NamedTuple, TypeAlias

from tengen.engine.levels import LEVELS, Level, level_named
from tengen.frontends.web import limits
from tengen.frontends.web.limits import RefusedError, not_now
from tengen.frontends.web.play.client_messages import NewGame
from tengen.frontends.web.play.game_clock import GameClock
from tengen.frontends.web.play.game_tree import GameTree, Stone, TreeNode, named_point
from tengen.game.color import Color
from tengen.game.geometry import Point
from tengen.game.outcome import Outcome, Reason
from tengen.game.position import Position
from tengen.game.rules import KomiError
from tengen.game.sgf.records import record

Mode: TypeAlias = Literal["play", "analyse"]
Phase: TypeAlias = Literal["playing", "counting", "over", "free"]
You: TypeAlias = Literal["black", "white", "both", "neither"]

EVEN_KOMI_IN_HANDICAP_GAMES = 0.5
USUAL_LEVEL = LEVELS[len(LEVELS) // 2].id
VISITS_LEVEL, SECONDS_LEVEL = "visits:", "seconds:"  # begin ids such as visits:800


class Opponent(NamedTuple):
    """How the program plays in a game."""

    level: Level
    seconds: float | None = None  # for a move, where a number of visits is not the measure


def opponent_named(id_: str) -> Opponent:
    """A level by its id, or full strength with `visits:800` or `seconds:5`; raises ValueError."""
    for start, most in ((VISITS_LEVEL, limits.VISITS), (SECONDS_LEVEL, limits.MOVE_SECONDS)):
        if id_.startswith(start):
            number = float(id_.removeprefix(start))
            if not (math.isfinite(number) and 0 < number <= most):
                raise ValueError(f"{start}{most:g} is the most, not {id_[:40]!r}")
            if start == VISITS_LEVEL:
                return Opponent(Level(id_, id_, max(1, int(number)), resign_winrate=0.02))
            return Opponent(Level(id_, id_, limits.VISITS, resign_winrate=0.02), number)
    return Opponent(level_named(id_))


class GameState:
    """The state of one session's game. Not thread-safe; knows no network."""

    def __init__(
        self,
        tree: GameTree,
        you: You | None = None,
        level: str | None = None,
        clock: GameClock | None = None,
    ) -> None:
        """A game to be played on from the end of the tree; without `you`, one to be looked at."""
        self.tree, self.you, self.level, self.clock = tree, you, level, clock
        self.mode: Mode = "play" if you else "analyse"
        self.at = tree.root
        self.end = tree.root.last() if you else tree.root  # of the game that is played
        self.counting = False
        self.dead: frozenset[Point] = frozenset()
        self.dead_unknown = False  # counting, but nobody has said yet which stones are dead
        self.result: str | None = None
        self.id = ""  # among the games of its player, once it is kept
        self.name = ""  # that its player gave it
        self.network: str | None = None  # file of the network that plays; None: the server's
        self.teach: float | None = None  # points that a move may lose before that is told
        self.even = False  # were the terms chosen for even chances?
        self.changed = False  # was a record changed since it was opened?
        self._clocks: dict[int, dict[str, Any]] = {}  # as they stood when a node was reached
        self._note_clock(self.end)

    # Status

    @property
    def phase(self) -> Phase:
        if self.mode == "analyse":
            return "free"
        if self.result is not None:
            return "over"
        return "counting" if self.counting else "playing"

    @property
    def position(self) -> Position:
        """The position at the node shown."""
        return self.tree.position(self.at)

    @property
    def bot(self) -> Color | None:
        """The colour that the program plays."""
        if self.you in (None, "both", "neither"):
            return None
        return Color.WHITE if self.you == "black" else Color.BLACK

    @property
    def bot_to_move(self) -> bool:
        """Is it the program's turn?"""
        mine = self.you == "neither" or self.position.to_play is self.bot
        return self.phase == "playing" and mine

    @property
    def yours_to_move(self) -> bool:
        """May the person move?"""
        return self.phase == "free" or (self.phase == "playing" and not self.bot_to_move)

    @property
    def can_undo(self) -> bool:
        if self.mode != "play" or self.you in (None, "neither"):
            return False
        return self._resigned_by_person or self._undo_to() is not None

    @property
    def _resigned_by_person(self) -> bool:
        if self.result is None or not self.result.endswith("+R"):
            return False
        return self.bot is None or self.result[0] == self.bot.letter

    @property
    def worth_keeping(self) -> bool:
        """Has anything been done in it that would be lost?"""
        return self.changed or (self.you is not None and self.end.parent is not None)

    # Playing

    def play(self, move: str) -> tuple[TreeNode, bool]:
        """Play a move of the side to move; the node, and whether it is new. Raises RefusedError."""
        if self.phase == "free":
            node, new = self.tree.add(self.at, move)
            self.at = node
            self.changed |= new
            return node, new
        if self.phase != "playing":
            raise not_now("the game is over: moves can be tried in analysis")
        mover = self.position.to_play
        node, new = self.tree.add(self.end, move, main=True)
        self.at = self.end = node
        if self.clock is not None:
            self.clock.moved(mover)
        self._note_clock(node)
        after = self.position
        outcome = after.outcome()
        if outcome is not None and outcome.reason is Reason.NO_RESULT:
            self.finish(outcome)
        elif outcome is not None:
            self.counting, self.dead, self.dead_unknown = True, frozenset(), True
        return node, new

    def undo(self) -> TreeNode | None:
        """Take back to the person's last move; the node removed. Raises RefusedError.

        A resignation of the person's is taken back alone, and nothing is removed.
        """
        if self.mode != "play" or self.you in (None, "neither"):
            raise not_now("there is nothing to take back")
        if self._resigned_by_person:
            self._set_result(None)
            return None
        before = self._undo_to()
        if before is None:
            raise not_now("there is no move to take back")
        return self._back_to(before)

    def _undo_to(self) -> TreeNode | None:
        """The node before the person's last move, None if there is no such move."""
        node = self.end
        while node.parent is not None:
            move = self.tree.move(node)
            node = node.parent
            if move is not None and move.color is not self.bot:
                return node
        return None

    def _back_to(self, node: TreeNode) -> TreeNode:
        removed = next(each for each in self.end.line() if each.parent is node)
        self.tree.remove(removed)
        self.at = self.end = node
        self.counting, self.dead = False, frozenset()
        self._set_result(None)
        if self.clock is not None:
            self.clock.set_back(self._clocks.get(node.id))
        return removed

    def _note_clock(self, node: TreeNode) -> None:
        if self.clock is not None:
            self._clocks[node.id] = self.clock.saved()

    def resign(self, color: Color | None = None) -> None:
        """Resign for a colour, by default the person's. Raises RefusedError."""
        if self.phase != "playing":
            raise not_now("there is no game to resign")
        if color is None:
            color = self.position.to_play if self.bot is None else self.bot.opponent
        self.finish(Outcome(color.opponent, None, Reason.RESIGNATION))

    def lose_on_time(self, color: Color) -> None:
        """End a game in which a colour has used up its time."""
        self.finish(Outcome(color.opponent, None, Reason.TIME))

    def finish(self, outcome: Outcome) -> None:
        """End the game with a result."""
        if self.clock is not None:
            self.clock.run(None)
        self.counting = False
        self._set_result(str(outcome))

    def _set_result(self, result: str | None) -> None:
        self.result = result
        if result is None:
            self.tree.root.sgf.properties.pop("RE", None)
        else:
            self.tree.root.sgf.set_text("RE", result)

    # Counting

    def propose_dead(self, dead: frozenset[Point]) -> None:
        """Begin counting with these stones marked dead."""
        self.dead, self.dead_unknown = dead, False

    def mark_dead(self, text: str) -> None:
        """Toggle a chain between alive and dead; raises RefusedError."""
        self._need_counting()
        position = self.position
        chain = frozenset(position.chain(named_point(position, text)))
        if not chain:
            what = f"there is no stone at {text}"
            raise RefusedError("bad_point", what, reason="no_stone", point=text)
        self.dead_unknown = False
        self.dead = self.dead - chain if chain <= self.dead else self.dead | chain

    def accept_count(self) -> None:
        """End the game with the score as counted; raises RefusedError."""
        self._need_counting()
        self.finish(self.position.score(self.dead).outcome(Reason.SCORE))

    def resume(self) -> TreeNode:
        """Play on: remove the passes at the end; the first node removed. Raises RefusedError."""
        self._need_counting()
        node = self.end
        while node.parent is not None:
            move = self.tree.move(node)
            if move is None or move.point is not None:
                break
            node = node.parent
        return self._back_to(node)

    def _need_counting(self) -> None:
        if self.phase != "counting":
            raise not_now("the game is not being counted")

    # Analysing

    def set_mode(self, mode: Mode) -> None:
        """Play or analyse; raises RefusedError if there is no game to play."""
        if mode == "play":
            if self.you is None:
                raise not_now("this game is not being played: begin a new one")
            self.at = self.end
        self.mode = mode

    def go(self, node: int) -> None:
        """Go to a node; raises RefusedError."""
        self._need_analysis()
        self.at = self.tree.node(node)

    def add(self, node: int, move: str) -> tuple[TreeNode, bool]:
        """Go to the node after a move; the node, and whether it is new. Raises RefusedError."""
        self._need_analysis()
        added, new = self.tree.add(self.tree.node(node), move)
        self.at = added
        self.changed |= new
        return added, new

    def remove(self, number: int) -> TreeNode:
        """Remove a variation; raises RefusedError for a node of the game being played."""
        self._need_analysis()
        node = self.tree.node(number)
        if self.you is not None and node in self.end.line():
            raise not_now("moves of the game itself can only be taken back by undo")
        inside = node in self.at.line()
        self.tree.remove(node)
        self.changed = True
        if inside and node.parent is not None:
            self.at = node.parent
        return node

    def promote(self, number: int) -> TreeNode:
        """Make a variation the main line; raises RefusedError for a game being played."""
        self._need_analysis()
        if self.you is not None:
            raise not_now("the main line of a game that was played stays what was played")
        node = self.tree.node(number)
        self.tree.promote(node)
        self.changed = True
        return node

    def set_up(self, number: int, point: str, stone: Stone) -> tuple[TreeNode, bool]:
        """Edit the position at a node; see the tree's `set_up`. Raises RefusedError."""
        return self._edited(*self.tree.set_up(self._editable(number), point, stone))

    def set_turn(self, number: int, color: Color) -> tuple[TreeNode, bool]:
        """Say who moves next at a node; see the tree's `set_turn`. Raises RefusedError."""
        return self._edited(*self.tree.set_turn(self._editable(number), color))

    def set_captured(self, number: int, black: int, white: int) -> tuple[TreeNode, bool]:
        """Say how many stones were captured; see the tree's `set_captured`. Raises RefusedError."""
        return self._edited(*self.tree.set_captured(self._editable(number), black, white))

    def _editable(self, number: int) -> TreeNode:
        self._need_analysis()
        return self.tree.node(number)

    def _edited(self, node: TreeNode, new: bool) -> tuple[TreeNode, bool]:
        self.at, self.changed = node, True
        return node, new

    def played_on_from(self, number: int, level: str) -> GameState:
        """A game against the program from a node on, by whoever is to move; raises RefusedError."""
        node = self.tree.node(number)
        position = self.tree.position(node)
        if position.is_over:
            raise not_now("the game is over here")
        try:
            opponent_named(level)
        except ValueError as error:
            raise RefusedError("bad_terms", str(error)) from None
        game = GameState(
            GameTree(self.tree.line_alone(node)),
            "black" if position.to_play is Color.BLACK else "white",
            level,
        )
        game.at = game.end
        game.network = self.network
        return game

    def _need_analysis(self) -> None:
        if self.mode != "analyse":
            raise not_now("the game is being played: switch to analysis to look at other positions")


def new_game_state(wanted: NewGame) -> GameState:
    """A game at its beginning; raises RefusedError for impossible terms."""
    you = wanted.colour
    if you == "either":
        raise RefusedError("bad_terms", "either colour is for even games, which choose one")
    try:
        handicap = wanted.handicap
        komi = EVEN_KOMI_IN_HANDICAP_GAMES if wanted.komi is None and handicap else wanted.komi
        position = Position(wanted.size, wanted.rules, komi)
        if handicap > 1:
            position = position.with_handicap(handicap)
        level = None
        if you != "both":
            level = opponent_named(wanted.level or USUAL_LEVEL).level
        clock = None if wanted.clock is None else GameClock(wanted.clock)
    except ValueError as error:
        reason = "komi" if isinstance(error, KomiError) else None
        raise RefusedError("bad_terms", str(error), reason=reason) from None
    name = "" if level is None else f"Tengen, {level.name}"
    black, white = (name if you in (other, "neither") else "" for other in ("white", "black"))
    tree = GameTree(record(position, black, white))
    tree.root.sgf.set_text("DT", time.strftime("%Y-%m-%d"))
    game = GameState(tree, you, None if level is None else level.id, clock)
    game.network, game.even = wanted.network, wanted.even
    game.teach = wanted.teach if game.bot is not None else None
    return game
