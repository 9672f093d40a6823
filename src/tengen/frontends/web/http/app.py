"""The web application: pages, downloads and the WebSocket, behind one access."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Annotated, Any

from fastapi import FastAPI, HTTPException, Request, Response, WebSocket
from fastapi import Path as InPath
from starlette.responses import FileResponse, PlainTextResponse
from starlette.staticfiles import StaticFiles
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from tengen.browser import STATIC
from tengen.frontends.web.http.connection import serve_connection
from tengen.frontends.web.http.info import info_view
from tengen.frontends.web.http.security import COOKIE, HEADERS, AccessPolicy
from tengen.frontends.web.play.autosave import SESSION_ID, Autosave
from tengen.frontends.web.play.engine_room import EngineRoom
from tengen.frontends.web.play.messages import NewGame
from tengen.frontends.web.play.session import Session
from tengen.frontends.web.play.sessions import Sessions
from tengen.frontends.web.play.table import Table

SessionId = Annotated[str, InPath(pattern=f"^{SESSION_ID.pattern}$")]
NOT_THERE: dict[int | str, dict[str, Any]] = {404: {"description": "There is no such game."}}
PANELS = "js/panels"
SGF, HTML = "application/x-go-sgf; charset=utf-8", "text/html; charset=utf-8"


def make_app(
    room: EngineRoom,
    autosave: Autosave,
    access: AccessPolicy,
    first_game: NewGame,
    run_folder: Path | None = None,
) -> FastAPI:
    """An application that serves these; whoever made them closes them."""
    sessions = Sessions(room, autosave, first_game)

    def info() -> dict[str, Any]:
        return info_view(room, run_folder is not None)

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        loop = asyncio.get_running_loop()

        def tell() -> None:
            if room.ready:
                sessions.network_ready(info())

        room.loading.future.add_done_callback(lambda _: _on_loop(loop, tell))
        yield
        sessions.close()

    app = FastAPI(title="Tengen", lifespan=lifespan, docs_url=None, redoc_url=None)
    app.state.sessions = sessions
    app.add_middleware(_Guard, access=access)

    @app.get("/", include_in_schema=False)
    def page() -> Response:
        return FileResponse(STATIC / "index.html")

    @app.get("/api/info")
    async def about() -> dict[str, Any]:
        """What this server is and has."""
        return info()

    @app.get("/api/sessions/{id_}/game.sgf", responses=NOT_THERE)
    async def game(id_: SessionId) -> Response:
        """One's own game."""
        found = await sessions.look_up(id_)
        if found is None:
            raise HTTPException(404, "there is no such game")
        table = found if isinstance(found, Table) else found.table
        return _download(table.tree.sgf(), SGF, "game.sgf")

    @app.get("/api/sessions/{id_}/review.sgf", responses=NOT_THERE)
    async def annotated_game(id_: SessionId) -> Response:
        """One's own game with its review."""
        content = await asyncio.to_thread((await reviewed(id_)).reviews.sgf)
        return _download(_there(content), SGF, "review.sgf")

    @app.get("/api/sessions/{id_}/review.html", responses=NOT_THERE)
    async def review_page(id_: SessionId) -> Response:
        """The review of one's own game, as a page of its own."""
        content = await asyncio.to_thread((await reviewed(id_)).reviews.html)
        return _download(_there(content).encode(), HTML, "review.html")

    async def reviewed(id_: str) -> Session:
        found = await sessions.look_up(id_)
        if not isinstance(found, Session):
            raise HTTPException(404, "there is no review of this game")
        return found

    @app.websocket("/ws")
    async def converse(socket: WebSocket) -> None:
        await serve_connection(socket, sessions, info)

    if run_folder is not None:
        from tengen.frontends.web.runs.page import router

        app.include_router(router(run_folder))

        @app.get("/run", include_in_schema=False)
        def run_page() -> Response:
            return FileResponse(STATIC / "run.html")

    @app.get(f"/static/{PANELS}/index.js", include_in_schema=False)
    def panel_index() -> Response:
        """A JavaScript module that exports all panels: a new file in the folder needs no list."""
        panels = sorted(file.stem for file in (STATIC / PANELS).glob("*.js"))
        lines = [f'export * as {name} from "./{name}.js";\n' for name in panels]
        headers = {"Cache-Control": "no-cache"}
        return Response("".join(lines), media_type="text/javascript", headers=headers)

    app.mount("/static", _Static(directory=STATIC), name="static")
    return app


def _on_loop(loop: asyncio.AbstractEventLoop, callback: Callable[[], None]) -> None:
    if not loop.is_closed():
        loop.call_soon_threadsafe(callback)


def _there(content: Any) -> Any:
    if content is None:
        raise HTTPException(404, "there is no review of this game")
    return content


def _download(content: bytes, kind: str, name: str) -> Response:
    """A file to be kept, not shown: what people wrote into a game is never part of our pages."""
    headers = {
        "Content-Disposition": f'attachment; filename="{name}"',
        "Content-Security-Policy": "sandbox",
        "Cache-Control": "no-store",
    }
    return Response(content, media_type=kind, headers=headers)


class _Static(StaticFiles):
    """Files that browsers ask for again each time: a new version must be seen at once."""

    async def get_response(self, path: str, scope: Scope) -> Response:
        response = await super().get_response(path, scope)
        response.headers["Cache-Control"] = "no-cache"
        return response


class _Guard:
    """Lets in who may come in, and adds to each answer what browsers should mind."""

    def __init__(self, app: ASGIApp, access: AccessPolicy) -> None:
        self._app, self._access = app, access

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] not in ("http", "websocket"):
            await self._app(scope, receive, send)
            return
        visitor = Request({**scope, "type": "http"})
        refusal = self._access.why_refused(visitor)
        if scope["type"] == "websocket":
            if refusal is None:
                await self._app(scope, receive, send)
            else:
                await WebSocket(scope, receive, send).close(1008, refusal)
            return
        with_headers = self._with_headers(send, self._access.knows_token(visitor))
        if refusal is None:
            await self._app(scope, receive, with_headers)
        else:
            await PlainTextResponse(f"{refusal}\n", 403)(scope, receive, with_headers)

    def _with_headers(self, send: Send, knows_token: bool) -> Callable[[Message], Awaitable[None]]:
        async def wrapped(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = list(message.get("headers", ()))
                there = {name.lower() for name, _ in headers}
                headers += [
                    (name.lower().encode(), value.encode())
                    for name, value in HEADERS.items()
                    if name.lower().encode() not in there
                ]
                if knows_token:
                    cookie = f"{COOKIE}={self._access.token}; Path=/; HttpOnly; SameSite=Strict"
                    headers.append((b"set-cookie", cookie.encode()))
                message = {**message, "headers": headers}
            await send(message)

        return wrapped
