"""The page for learning, and its HTTP API, which keeps no state but players' own problems.

A request has all tries so far, and the answer is computed from them. Answers have codes, whose
texts the page has.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Annotated, Any, Literal, TypeVar

from fastapi import APIRouter, HTTPException, Response
from fastapi import Path as InPath
from fastapi.responses import FileResponse
from pydantic import BaseModel, ConfigDict, Field

from tengen.browser import STATIC
from tengen.closeable import Closeable
from tengen.engine.loading import EngineLoader
from tengen.frontends.web.http.refusals import Refusal
from tengen.frontends.web.learn import capture_go
from tengen.frontends.web.learn.boards_as_json import Json
from tengen.frontends.web.learn.born_network import Births
from tengen.frontends.web.learn.lessons import lessons_view, tried_view
from tengen.frontends.web.learn.own_problems import OwnProblems
from tengen.frontends.web.learn.problem_play import (
    ProblemJudge,
    by_id,
    problem_view,
    summary,
)
from tengen.frontends.web.learn.work import LearningWork
from tengen.frontends.web.limits import RefusedError
from tengen.frontends.web.play.game_store import SESSION_ID, GameStore
from tengen.game.color import parse_color
from tengen.problems.problem import Problem
from tengen.problems.problem_files import shipped_problems

PROBLEMS, BORN = "problems", "born"  # folders in the user's data
Answer = TypeVar("Answer")
PlayerId = Annotated[str, InPath(pattern=f"^{SESSION_ID.pattern}$")]
ProblemId = Annotated[str, InPath(pattern="^[0-9a-f]{12}$")]
Text = Annotated[str, Field(max_length=8)]
REFUSED: dict[int | str, dict[str, Any]] = {409: {"description": "Not possible, with a code."}}
UNREADABLE: dict[int | str, dict[str, Any]] = {400: {"description": "The body is no JSON."}}
UNKNOWN: dict[int | str, dict[str, Any]] = {404: {"description": "There is no such thing."}}


class Body(BaseModel):
    """Data of a request, exactly as declared."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


class Tries(Body):
    """What was tried so far, the latest last."""

    tries: Annotated[list[Text], Field(min_length=1, max_length=100)]
    player: Annotated[str, Field(pattern=f"^{SESSION_ID.pattern}$")] | None = None


class CaptureGame(Body):
    """A game of capture Go so far."""

    side: Annotated[int, Field(ge=2, le=19)]
    level: Annotated[str, Field(max_length=20)]
    colour: Literal["black", "white"]
    moves: Annotated[list[Text], Field(max_length=400)]
    seed: Annotated[int, Field(ge=0, le=2**31)]


class BornGame(Body):
    """A game against a network of the run so far."""

    minute: Annotated[int, Field(ge=0, le=1000)]
    colour: Literal["black", "white"]
    moves: Annotated[list[Text], Field(max_length=400)]


class Learning(Closeable):
    """What the page for learning needs; close it."""

    def __init__(
        self, folder: Path, loader: EngineLoader, game_store: GameStore, *, may_train: bool
    ) -> None:
        """`may_train`: may people at the page train a network on this machine?"""
        self._game_store = game_store
        self.births = Births(folder / BORN, allowed=may_train)
        self.own = OwnProblems(folder / PROBLEMS, game_store, loader)
        self.judge = ProblemJudge()
        self._work = LearningWork()
        self._shipped: Mapping[str, Problem] | None = None

    def close(self) -> None:
        """End training and reading games."""
        self._work.close()
        self.births.close()
        self.own.close()

    def shipped(self) -> Mapping[str, Problem]:
        """The problems that come with Tengen, by id."""
        if self._shipped is None:
            self._shipped = by_id(shipped_problems())
        return self._shipped

    def problem(self, id_: str, player: str | None) -> Problem:
        """A problem that comes with Tengen, or one of a player's own; raises HTTPException."""
        found = self.shipped().get(id_)
        if found is None and player is not None:
            found = by_id(self.own.problems(player)).get(id_)
        if found is None:
            raise HTTPException(404, "there is no such problem")
        return found

    async def answered(self, work: Callable[[], Answer]) -> Answer | Refusal:
        """The result of work in a thread, or why it is refused."""
        try:
            return await self._work.do(work)
        except RefusedError as refusal:
            content = {"code": refusal.code, "message": str(refusal), "data": refusal.data}
            return Refusal(content, 409)

    async def games_of(self, player: str) -> list[str]:
        """The games that a player has kept, the latest first."""
        games = await asyncio.wrap_future(self._game_store.games(player))
        return [each.id for each in games]


def router(learning: Learning) -> APIRouter:
    """The page and its API."""
    routes = APIRouter(tags=["learn"], responses=UNREADABLE)

    @routes.get("/learn", include_in_schema=False)
    def page() -> Response:
        return FileResponse(STATIC / "learn.html")

    @routes.get("/api/learn/lessons")
    def all_lessons() -> Json:
        """The lessons with their boards."""
        return lessons_view()

    @routes.post("/api/learn/lessons/{lesson}/{number}", responses=REFUSED, response_model=None)
    async def try_board(
        lesson: Annotated[str, InPath(max_length=40)],
        number: Annotated[int, InPath(ge=1, le=99)],
        tried: Tries,
    ) -> Json | Refusal:
        """The verdict on the last try at a board of a lesson, and the board after it."""
        return await learning.answered(lambda: tried_view(lesson, number, tried.tries))

    @routes.post("/api/learn/capture", responses=REFUSED, response_model=None)
    async def capture(game: CaptureGame) -> Json | Refusal:
        """A game of capture Go, with the opponent's answer."""
        color = parse_color(game.colour)
        return await learning.answered(
            lambda: capture_go.played_view(game.side, game.level, color, game.moves, game.seed)
        )

    _add_problems(routes, learning)
    _add_births(routes, learning)
    return routes


def _add_problems(routes: APIRouter, learning: Learning) -> None:
    @routes.get("/api/learn/problems", responses=REFUSED, response_model=None)
    async def problems() -> Json | Refusal:
        """The problems that come with Tengen, the easiest of each board first."""
        return await learning.answered(
            lambda: {"problems": [summary(each) for each in learning.shipped().values()]}
        )

    @routes.get(
        "/api/learn/problems/{problem}", responses={**REFUSED, **UNKNOWN}, response_model=None
    )
    async def one_problem(problem: ProblemId, player: str | None = None) -> Json | Refusal:
        """A problem, before anything is tried."""
        known = player if player and SESSION_ID.fullmatch(player) else None
        return await learning.answered(lambda: problem_view(learning.problem(problem, known)))

    @routes.post(
        "/api/learn/problems/{problem}", responses={**REFUSED, **UNKNOWN}, response_model=None
    )
    async def try_problem(problem: ProblemId, tried: Tries) -> Json | Refusal:
        """What becomes of tries at a problem."""
        return await learning.answered(
            lambda: learning.judge.tried_view(learning.problem(problem, tried.player), tried.tries)
        )

    @routes.get("/api/learn/players/{player}/problems", responses=REFUSED, response_model=None)
    async def own_problems(player: PlayerId) -> Json | Refusal:
        """A player's own problems, and how many games were not read yet."""
        games = await learning.games_of(player)

        def view() -> Json:
            found = [summary(each) for each in learning.own.problems(player)]
            return {"problems": found, **learning.own.view(player, games)}

        return await learning.answered(view)

    @routes.post("/api/learn/players/{player}/problems", responses=REFUSED, response_model=None)
    async def make_problems(player: PlayerId) -> Json | Refusal:
        """Look for problems in a player's games, in the background."""
        games = await learning.games_of(player)

        def begin() -> Json:
            learning.own.start(player, games)
            return learning.own.view(player, games)

        return await learning.answered(begin)


def _add_births(routes: APIRouter, learning: Learning) -> None:
    births = learning.births

    @routes.get("/api/learn/born", responses=REFUSED, response_model=None)
    async def born() -> Json | Refusal:
        """How training stands."""
        return await learning.answered(births.view)

    @routes.post("/api/learn/born/{act}", responses=REFUSED, response_model=None)
    async def act(act: Literal["start", "stop", "remove"]) -> Json | Refusal:
        """Begin or go on, stop, or remove the run."""

        def work() -> Json:
            {"start": births.start, "stop": births.stop, "remove": births.remove}[act]()
            return births.view()

        return await learning.answered(work)

    @routes.post("/api/learn/born-game", responses=REFUSED, response_model=None)
    async def play(game: BornGame) -> Json | Refusal:
        """A game against the network of a minute, with its answer."""
        color = parse_color(game.colour)
        return await learning.answered(lambda: births.played_view(game.minute, color, game.moves))
