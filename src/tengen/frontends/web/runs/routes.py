"""The HTTP API of the page of a run, answered from the run's folder alone.

Nothing is written. No text of a client reaches the file system: games are requested by number, and
only numbers of files that were listed are answered.
"""

from __future__ import annotations

import hashlib
import json
import threading
from typing import Annotated, Any

from fastapi import APIRouter, Header, HTTPException, Response
from fastapi import Path as InPath
from fastapi.responses import FileResponse

from tengen.browser import STATIC
from tengen.frontends.web.runs.network_outputs import NetworkOutputs
from tengen.frontends.web.runs.run_state import (
    RunState,
    SampleGame,
    game_data,
    game_files,
    load_game,
)
from tengen.game.sgf.records import SgfError
from tengen.runs.folder import RunFolder

GameNumber = Annotated[int, InPath(ge=0, lt=10**18)]
Seen = Annotated[str | None, Header(alias="If-None-Match")]
NO_GAME: dict[int | str, dict[str, Any]] = {404: {"description": "There is no such game."}}


def router(run: RunFolder, networks: NetworkOutputs) -> APIRouter:
    """The page of a run, and its API; the caller closes the outputs of its networks."""
    state = RunState(run)
    lock = threading.Lock()
    routes = APIRouter(tags=["run"])

    @routes.get("/run", include_in_schema=False)
    def page() -> Response:
        return FileResponse(STATIC / "run.html")

    @routes.get("/api/run")
    def whole_state(if_none_match: Seen = None) -> Response:
        """The state of the run: settings, metrics, ratings, and the numbers of its games."""
        with lock:
            state.refresh()
            content = state.state()
        return _answer(content, if_none_match)

    @routes.get("/api/run/policies")
    def policies(if_none_match: Seen = None) -> Response:
        """The policy of each kept network on the empty board, as far as computed."""
        with lock:
            state.refresh()
            facts = state.facts
        known = networks.on_empty_board(facts) if facts else []
        width, height = (facts.width, facts.height) if facts else (None, None)
        return _answer({"width": width, "height": height, "networks": known}, if_none_match)

    @routes.get("/api/run/games/{number}", responses=NO_GAME)
    def game(number: GameNumber) -> Response:
        """A sample game, position by position."""
        return _answer(game_data(_sample(run, number), number))

    @routes.get("/api/run/games/{number}/ownership", responses=NO_GAME)
    def ownership(number: GameNumber) -> Response:
        """The ownership at each position by the latest network; null if there is none."""
        owned = networks.ownership(number, _sample(run, number).positions)
        return _answer(owned._asdict() if owned else None)

    return routes


def _sample(run: RunFolder, number: int) -> SampleGame:
    """A game of the folder; raises HTTPException if it is missing or incomplete."""
    path = game_files(run).get(number)
    if path is None:
        raise HTTPException(404, f"there is no game {number}; older ones are removed")
    try:
        return load_game(path)
    except SgfError:
        raise HTTPException(404, f"game {number} is damaged, or not written yet") from None


def _answer(content: object, seen: str | None = None) -> Response:
    """JSON with an ETag; 304 if the client has this version."""
    body = json.dumps(content, allow_nan=False, separators=(",", ":")).encode()
    tag = f'"{hashlib.sha256(body).hexdigest()[:32]}"'
    headers = {"ETag": tag, "Cache-Control": "no-cache"}
    if seen is not None and tag in seen:
        return Response(status_code=304, headers=headers)
    return Response(body, media_type="application/json", headers=headers)
