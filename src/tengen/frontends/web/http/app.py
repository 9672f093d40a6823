"""The web application: pages, downloads and the WebSocket, behind one access policy."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import ExitStack, asynccontextmanager
from functools import partial
from pathlib import Path
from typing import Annotated, Any

from fastapi import FastAPI, HTTPException, Response, WebSocket
from fastapi import Path as InPath
from fastapi.exceptions import RequestValidationError
from starlette.responses import FileResponse
from starlette.staticfiles import StaticFiles
from starlette.types import Scope

from tengen.browser import STATIC
from tengen.engine.loading import EngineLoader
from tengen.frontends.web.http.bounded_bodies import BoundedBodies
from tengen.frontends.web.http.one_file_at_a_time import OneFileAtATime
from tengen.frontends.web.http.refusals import refuse_invalid
from tengen.frontends.web.http.security import AccessMiddleware, AccessPolicy
from tengen.frontends.web.learn.routes import Learning
from tengen.frontends.web.learn.routes import router as learning_routes
from tengen.frontends.web.play.client_messages import NewGame
from tengen.frontends.web.play.connection import serve_connection
from tengen.frontends.web.play.game_snapshot import restored_game
from tengen.frontends.web.play.game_store import GAME_ID, SESSION_ID, GameKey, GameStore
from tengen.frontends.web.play.networks import OfferedNetworks
from tengen.frontends.web.play.server_messages import info_view
from tengen.frontends.web.play.session import PlaySession
from tengen.frontends.web.play.sessions import PlaySessions
from tengen.game.sgf.records import SgfGame
from tengen.reviewing.annotated_sgf import annotated_sgf
from tengen.reviewing.html_page import html_page, languages
from tengen.reviewing.review import GameReview
from tengen.runs.folder import RunFolder

SessionId = Annotated[str, InPath(pattern=f"^{SESSION_ID.pattern}$")]
GameId = Annotated[str, InPath(pattern=f"^{GAME_ID.pattern}$")]
NOT_FOUND: dict[int | str, dict[str, Any]] = {404: {"description": "There is no such game."}}
PANELS = "js/panels"
SGF, HTML = "application/x-go-sgf; charset=utf-8", "text/html; charset=utf-8"


def make_app(
    loader: EngineLoader,
    game_store: GameStore,
    access: AccessPolicy,
    first_game: NewGame,
    run_folder: Path | None = None,
    networks: OfferedNetworks | None = None,
    may_train: bool | None = None,
) -> FastAPI:
    """The application; the caller closes what it passes in, but for the offered networks.

    `may_train`: may people train a network at the page? By default those at this machine alone.
    """
    offered = networks or OfferedNetworks(loader)
    trainable = access.token is None if may_train is None else may_train
    opened = ExitStack()
    learning = opened.enter_context(
        Learning(game_store.folder, loader, game_store, may_train=trainable)
    )
    sessions = PlaySessions(offered, game_store, first_game)
    downloads = OneFileAtATime()

    def info() -> dict[str, Any]:
        return info_view(loader, run_folder is not None, offered.names())

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        telling = asyncio.create_task(tell())
        yield
        telling.cancel()
        sessions.close()
        await asyncio.to_thread(opened.close)

    async def tell() -> None:
        await asyncio.to_thread(loader.wait)
        if loader.ready:
            sessions.network_ready(info())

    app = FastAPI(title="Tengen", lifespan=lifespan, docs_url=None, redoc_url=None)
    app.add_exception_handler(RequestValidationError, refuse_invalid)
    app.add_middleware(BoundedBodies)
    app.add_middleware(AccessMiddleware, access=access)

    @app.get("/", include_in_schema=False)
    def page() -> Response:
        return FileResponse(STATIC / "index.html")

    @app.get("/service_worker.js", include_in_schema=False)
    def service_worker() -> Response:
        """A script that may answer for the whole site, therefore not below /static."""
        headers = {"Cache-Control": "no-cache"}
        path = STATIC / "service_worker.js"
        return FileResponse(path, media_type="text/javascript", headers=headers)

    @app.get("/api/info")
    async def about() -> dict[str, Any]:
        """Version, network, levels, rules and limits of this server."""
        return info()

    @app.get("/api/sessions/{id_}/game.sgf", responses=NOT_FOUND)
    async def game_record(id_: SessionId) -> Response:
        """The game of a session."""
        async with downloads.turn():
            found = await sessions.look_up(id_)
            if found is None:
                raise HTTPException(404, "there is no such game")
            return _download(found.game.tree.sgf(), SGF, "game.sgf")

    @app.get("/api/players/{player}/games/{game}.sgf", responses=NOT_FOUND)
    async def kept_game(player: SessionId, game: GameId) -> Response:
        """A game that a player has kept."""
        async with downloads.turn():
            saved = await asyncio.to_thread(game_store.load_game, GameKey(player, game))
            found = None if saved is None else await asyncio.to_thread(restored_game, saved)
            if found is None:
                raise HTTPException(404, "there is no such game")
            return _download(found.tree.sgf(), SGF, f"{game}.sgf")

    @app.get("/api/sessions/{id_}/review.sgf", responses=NOT_FOUND)
    async def annotated_game(id_: SessionId) -> Response:
        """The game of a session, annotated by its review."""
        return _download(await reviewed(id_, annotated_sgf), SGF, "review.sgf")

    @app.get("/api/sessions/{id_}/review.html", responses=NOT_FOUND)
    async def review_page(id_: SessionId, language: str | None = None) -> Response:
        """The review of a session's game as one HTML file, in a language or the browser's own."""
        if language is not None and language not in languages():
            raise HTTPException(422, f"there is no such language; there are {languages()}")
        write = partial(html_page, language=language)
        return _download(await reviewed(id_, write), HTML, "review.html")

    async def reviewed(id_: str, write: Callable[[SgfGame, GameReview], str]) -> bytes:
        content = None
        async with downloads.turn():
            found = await sessions.look_up(id_)
            if isinstance(found, PlaySession):
                content = await asyncio.to_thread(found.reviews.written, write)
        if content is None:
            raise HTTPException(404, "there is no review of this game")
        return content

    @app.websocket("/ws")
    async def connection(socket: WebSocket) -> None:
        await serve_connection(socket, sessions, info)

    app.include_router(learning_routes(learning))
    if run_folder is not None:
        from tengen.frontends.web.runs.network_outputs import NetworkOutputs
        from tengen.frontends.web.runs.routes import router

        run = RunFolder(run_folder)
        app.include_router(router(run, opened.enter_context(NetworkOutputs(run))))

    @app.get(f"/static/{PANELS}/index.js", include_in_schema=False)
    def panel_index() -> Response:
        """A JavaScript module that exports all panels: a new file in the folder needs no list."""
        panels = sorted(file.stem for file in (STATIC / PANELS).glob("*.js"))
        lines = [f'export * as {name} from "./{name}.js";\n' for name in panels]
        headers = {"Cache-Control": "no-cache"}
        return Response("".join(lines), media_type="text/javascript", headers=headers)

    app.mount("/static", _Static(directory=STATIC), name="static")
    return app


def _download(content: bytes, kind: str, name: str) -> Response:
    """A file to save, not to show: text of a game must not run in our origin."""
    headers = {
        "Content-Disposition": f'attachment; filename="{name}"',
        "Content-Security-Policy": "sandbox",
        "Cache-Control": "no-store",
    }
    return Response(content, media_type=kind, headers=headers)


class _Static(StaticFiles):
    """Static files that browsers revalidate each time, so that a new version is seen at once."""

    async def get_response(self, path: str, scope: Scope) -> Response:
        response = await super().get_response(path, scope)
        response.headers["Cache-Control"] = "no-cache"
        return response
