"""Serve the page of a run while it trains: on loopback only, in a thread of its own."""

from __future__ import annotations

import asyncio
import os
import threading
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import uvicorn
from fastapi import FastAPI, Response
from fastapi.responses import RedirectResponse
from fastapi.staticfiles import StaticFiles

from tengen.browser import STATIC
from tengen.closeable import Closeable
from tengen.frontends.loopback import LOOPBACK
from tengen.frontends.web.http.impatient import server_config
from tengen.frontends.web.http.listening import listening_socket
from tengen.frontends.web.http.security import AccessMiddleware, access_policy
from tengen.frontends.web.runs.network_outputs import NetworkOutputs
from tengen.frontends.web.runs.routes import router
from tengen.runs.folder import RunFolder


def run_app(folder: Path) -> FastAPI:
    """The page of the run in a folder, and nothing else."""
    run = RunFolder(folder)
    networks = NetworkOutputs(run)

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        yield
        await asyncio.to_thread(networks.close)

    app = FastAPI(openapi_url=None, lifespan=lifespan)
    app.add_middleware(AccessMiddleware, access=access_policy(LOOPBACK, None))
    app.include_router(router(run, networks))
    app.mount("/static", StaticFiles(directory=STATIC))

    @app.get("/")
    def first() -> Response:
        return RedirectResponse("/run")

    return app


class RunPage(Closeable):
    """The page of a run, served until it is closed."""

    def __init__(self, folder: Path, port: int) -> None:
        """Start to serve; port 0 is any free one. Raises ValueError if the port is taken."""
        try:  # from now on connections are accepted
            self._socket = listening_socket((LOOPBACK, port))
        except OSError as error:
            what = f"cannot serve at port {port} ({os.strerror(error.errno or 0)})"
            raise ValueError(f"{what}; try another, such as --serve {port + 1}") from None
        self.address = f"http://{LOOPBACK}:{self._socket.getsockname()[1]}/run"
        self._server = uvicorn.Server(server_config(run_app(folder)))
        self._thread = threading.Thread(
            target=self._server.run, args=[[self._socket]], name="page of the run", daemon=True
        )
        self._thread.start()

    def close(self) -> None:
        """Stop; open requests are answered first."""
        self._server.should_exit = True
        self._thread.join(timeout=5)
        self._socket.close()
