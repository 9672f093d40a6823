"""'Your moments': the costliest turns of a player's games, which come back as puzzles.

After a review the turns that lost most are searched again; those that hold are kept for the player.
A try is judged by searches of the positions after it, after the best move and after the one that
was played, and the same searches say why (see `reviewing/reasons.py`).
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, NamedTuple

from tengen.engine.engine import Engine, wait_for
from tengen.frontends.web.limits import RefusedError, not_now
from tengen.frontends.web.play.analysis import unfinished
from tengen.frontends.web.play.game_state import GameState
from tengen.frontends.web.play.game_store import GameStore
from tengen.frontends.web.play.game_tree import illegal_move
from tengen.frontends.web.play.moments import (
    Moment,
    MomentGame,
    Moments,
    new_moment,
    read_moments,
    write_moments,
)
from tengen.frontends.web.play.server_messages import Json
from tengen.game.color import Color
from tengen.game.diagram import stones_text
from tengen.game.geometry import Point
from tengen.game.illegal_moves import IllegalMoveError
from tengen.game.position import Position
from tengen.game.sgf.records import SgfError, read_sgf
from tengen.reviewing.reasons import MoveReason, Outlook, outlook, reason
from tengen.reviewing.review import GameReview, TurnReview, main_line
from tengen.search.request import Limits, SearchRequest, Wanted

if TYPE_CHECKING:
    from tengen.frontends.web.play.session import PlaySession

OF_A_GAME = 3  # moments
LOOKED_AT = 6  # turns of a game that are searched again
WORTH = 2.0  # points that a turn must have lost
GOOD = 1.0  # points that a good move may lose
LIMITS = Limits(visits=160, seconds=4.0)  # of each search
WANTED = Wanted(ownership=True, pv_length=10)
SHOWN = 8  # moves of a line


class Trial(NamedTuple):
    """The verdict on a try."""

    good: bool
    loss: float  # points, against the best move
    line: Outlook  # what follows
    why: MoveReason | None  # a good try: what it gains; a bad one: what it gives away


class YourMoments:
    """The moments of a session's player. Not thread-safe: belongs to the event loop."""

    def __init__(self, session: PlaySession, game_store: GameStore) -> None:
        self._session, self._game_store = session, game_store

    # What is kept

    async def tell(self) -> None:
        """Tell the client how many there are."""
        self._tell(await self._load())

    def _tell(self, moments: Moments, **more: object) -> None:
        now = time.time()
        later = [each.waits(now) for each in moments.waiting if each.waits(now) > 0]
        counts = {
            "due": len(moments.waiting) - len(later),
            "later": len(later),
            "learnt": len(moments.learnt),
            "next": round(min(later)) if later else None,
        }
        self._session.send({"type": "moments", **counts, **more})

    async def _load(self) -> Moments:
        return await self._change(lambda moments: moments)

    async def _change(self, change: Callable[[Moments], Moments]) -> Moments:
        """Change the player's kept moments; returns the new ones."""

        def changed(content: bytes) -> bytes | None:
            before = read_moments(content)
            after = change(before.by_clock(time.time()))
            return None if after == before else write_moments(after)

        player = self._session.kept.player
        return read_moments(
            await asyncio.wrap_future(self._game_store.change_notes(player, "moments", changed))
        )

    async def _named(self, id_: str) -> Moment:
        moment = (await self._load()).named(id_)
        if moment is None:
            raise RefusedError("unknown_moment", "there is no such moment", moment=id_[:64])
        return moment

    async def forget(self, id_: str) -> None:
        """Remove a moment, so that it does not come back; raises RefusedError."""
        await self._named(id_)
        self._tell(await self._change(lambda moments: moments.without(id_)))

    # After a review

    def find(self, sgf: bytes, review: GameReview) -> None:
        """Keep the costliest turns of a game that was reviewed, of the people who played it."""
        game = self._session.game
        engine = self._session.loader.engine
        turns = [turn for turn in _worst(review) if turn.color is not game.bot][:LOOKED_AT]
        if game.you == "neither":
            turns = []
        terms = _terms(game)

        async def find() -> None:
            found = await self._found(engine, sgf, turns, terms)
            moments = await self._change(lambda moments: moments.with_new(found))
            self._tell(moments, found=[each.id for each in found])

        self._session.tasks.start("moments", find, lambda _: None)

    async def _found(
        self, engine: Engine, sgf: bytes, turns: Iterable[TurnReview], game: MomentGame
    ) -> list[Moment]:
        """The turns whose loss another search confirms, the costliest first."""
        line = main_line(read_sgf(sgf)[0]).turns
        found = []
        for turn in turns:
            before = line[turn.number - 1].before
            best, played = await self._outlooks(engine, before, [turn.best, turn.move])
            loss = best.ahead(turn.color) - played.ahead(turn.color)
            if loss >= WORTH:
                moves = before.text(turn.move), before.text(turn.best)
                moment = new_moment(before, *moves, loss, game, time.time())
                found += [moment] if moment is not None else []
        return sorted(found, key=lambda each: -each.loss)[:OF_A_GAME]

    async def _outlooks(
        self, engine: Engine, before: Position, moves: list[Point | None]
    ) -> list[Outlook]:
        """What is expected after each of some moves; raises IllegalMoveError."""
        after = {move: unfinished(before.play(move)) for move in moves}
        owner = self._session.id
        searches = {
            move: engine.submit(SearchRequest(position, LIMITS, wanted=WANTED), owner=owner)
            for move, position in after.items()
        }
        found = {move: outlook(before, move, await wait_for(searches[move])) for move in searches}
        return [found[move] for move in moves]

    # Puzzles

    async def ask(self) -> None:
        """Show the next puzzle that is due, if there is one."""
        moments = await self._load()
        for moment in moments.due(time.time()):
            try:
                view = await asyncio.to_thread(_puzzle, moment)
            except (SgfError, ValueError):
                moments = await self._change(lambda each, id_=moment.id: each.without(id_))  # type: ignore[misc]
                continue
            self._tell(moments)
            self._session.send({"type": "moment", "moment": view})
            return
        self._tell(moments)
        self._session.send({"type": "moment", "moment": None})

    async def attempt(self, id_: str, move: str) -> None:
        """Judge a try; raises RefusedError for a move that is not legal."""
        moment = await self._named(id_)
        before = await asyncio.to_thread(lambda: moment.position)
        try:
            after = before.play(move)
        except IllegalMoveError as error:
            raise illegal_move(error) from None
        if after.last_move is None or after.last_move.point is None:
            raise RefusedError("bad_point", "a pass is no answer here", point=move)
        tried = after.last_move.point
        engine = self._engine(before)

        async def judge() -> None:
            trial = await self._trial(engine, before, tried, moment)
            moments = await self._noted(moment, solved=trial.good)
            self._tell(moments)
            view = _answer_view("tried", moment, trial.line, trial.why)
            judged = {"move": before.text(tried), "good": trial.good, "loss": round(trial.loss, 1)}
            self._session.send(view | judged)

        self._session.tasks.start("trial", judge, self._session.program.failed)

    async def answer(self, id_: str) -> None:
        """Show the better move; raises RefusedError. Whoever asks for it has not solved it."""
        moment = await self._named(id_)
        before = await asyncio.to_thread(lambda: moment.position)
        engine, mover = self._engine(before), before.to_play

        async def show() -> None:
            moves = [before.point(moment.best), _point(before, moment.played)]
            best, played = await self._outlooks(engine, before, moves)
            self._tell(await self._noted(moment, solved=False))
            why = reason(best, played, mover)
            self._session.send(_answer_view("moment_answer", moment, best, why))

        self._session.tasks.start("trial", show, self._session.program.failed)

    def _engine(self, position: Position) -> Engine:
        self._session.need_network()
        engine = self._session.loader.engine
        if engine.unfamiliar(position) is not None:
            raise not_now("the network was not trained for such games", "unfamiliar")
        return engine

    async def _trial(self, engine: Engine, before: Position, tried: Point, moment: Moment) -> Trial:
        mover = before.to_play
        moves = [tried, before.point(moment.best), _point(before, moment.played)]
        line, best, played = await self._outlooks(engine, before, moves)
        loss = max(0.0, best.ahead(mover) - line.ahead(mover))
        if loss > GOOD:
            return Trial(False, loss, line, reason(line, best, mover.opponent))
        return Trial(True, loss, line, reason(line, played, mover) if line is not played else None)

    async def _noted(self, moment: Moment, *, solved: bool) -> Moments:
        return await self._change(
            lambda moments: moments.after(moment.id, solved=solved, now=time.time())
        )


def _worst(review: GameReview) -> list[TurnReview]:
    """The turns that lost much and had a better point on the board, the costliest first.

    None where the network has no grounds to say so.
    """
    if review.unfamiliar is not None:
        return []
    turns = [each for each in review.turns if each.points_lost >= WORTH and each.best is not None]
    return sorted(turns, key=lambda each: -each.points_lost)


def _terms(game: GameState) -> MomentGame:
    black, white = (game.tree.game.player(color) for color in Color)
    return MomentGame(black, white, game.you, game.level)


def _point(position: Position, text: str) -> Point | None:
    return None if text == "pass" else position.point(text)


def _puzzle(moment: Moment) -> Json:
    """A puzzle as pages are told it: without its answer. Raises SgfError for a damaged record."""
    position = moment.position
    position.play(moment.best)
    last = position.last_move
    return {
        "id": moment.id,
        "size": position.width,
        "stones": stones_text(position.stones),
        "to_play": str(position.to_play),
        "last": None if last is None else position.text(last.point),
        "ko": None if position.ko is None else position.text(position.ko),
        "captures": {str(color): position.captured(color.opponent) for color in Color},
        "number": position.move_number + 1,
        "played": moment.played,
        "loss": moment.loss,
        "found": round(moment.found),
        "step": moment.step,
        "game": {
            "you": moment.you,
            "level": moment.level,
            "players": {"black": moment.black, "white": moment.white},
        },
    }


def _answer_view(kind: str, moment: Moment, line: Outlook, why: MoveReason | None) -> Json:
    position = line.before
    return {
        "type": kind,
        "id": moment.id,
        "played": moment.played,
        "line": [
            {
                "colour": str(before.to_play),
                "move": before.text(move),
                "stones": stones_text(after.stones),
            }
            for before, after, move in zip(
                line.positions, line.positions[1:], line.line, strict=False
            )
        ][:SHOWN],
        "why": None if why is None else _why_view(position, why),
    }


def _why_view(position: Position, why: MoveReason) -> Json:
    view: Json = {"kind": why.kind, "gain": round(why.gain, 1), "stones": why.stones}
    for name, point in (("at", why.at), ("other", why.other)):
        view[name] = None if point is None else position.text(point)
    return view
