"""`tengen play`: run the server in this process and open the browser."""

from __future__ import annotations

import contextlib
import os
import socket
import sys
import tempfile
import threading
import webbrowser
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from pathlib import Path
from urllib.parse import quote

import uvicorn

from tengen.engine.engine import Engine
from tengen.engine.levels import Level
from tengen.engine.loading import EngineLoader
from tengen.frontends.command_options import PlayOptions
from tengen.frontends.web import limits
from tengen.frontends.web.http.app import make_app
from tengen.frontends.web.http.impatient import server_config
from tengen.frontends.web.http.listening import bound_socket
from tengen.frontends.web.http.security import AccessPolicy, access_policy
from tengen.frontends.web.play.client_messages import NewGame
from tengen.frontends.web.play.game_store import GameStore
from tengen.frontends.web.play.networks import OfferedNetworks
from tengen.game.color import Color
from tengen.game.position import Position
from tengen.network.backends.registry import AUTO
from tengen.network.files.loading import find_network, library
from tengen.network.loaded_network import LoadedNetwork
from tengen.user_folders import DATA_VARIABLE, user_data
from tengen.user_messages import say

MOST_STREAMS = 4
CACHE_MEGABYTES, TREE_MEGABYTES = 128.0, 1024.0
SWITCH_SECONDS = 0.0005  # before a searching thread yields the GIL to those that answer people


def play_in_browser(options: PlayOptions, position: Position, human: Color, level: Level) -> None:
    """Serve until interrupted; a new session begins with a game like this one.

    Raises ValueError for bad options, and what loading the network raises.
    """
    if options.run is not None and not options.run.is_dir():
        raise ValueError(f"{options.run} is not the folder of a run")
    if position.width < limits.SMALLEST_BOARD:
        raise ValueError(f"the board must have at least {limits.SMALLEST_BOARD} lines")
    first_game = NewGame(
        size=position.width,
        colour="black" if human is Color.BLACK else "white",
        level=level.id,
        rules=str(position.rules),
        komi=position.komi,
    )
    find_network(options.model)  # raises before a server is started for nothing
    if options.networks is not None and not options.networks.is_dir():
        raise ValueError(f"{options.networks} is not a folder with networks")

    def make(model: str) -> Engine:
        engine = make_engine(
            model, **options.placement, human_model=options.human_model, first_game=position
        )
        say(f"{engine.name} runs on {engine.device}")
        return engine

    serve(options, first_game, lambda: make(options.model), lambda file: make(str(file)))


def serve(
    options: PlayOptions,
    first_game: NewGame,
    make: Callable[[], Engine],
    make_other: Callable[[Path], Engine] | None = None,
) -> None:
    """Serve with the engine that `make` makes; raises what `make` raises.

    `make_other` makes those of the other networks that are offered.
    """
    access = access_policy(options.host, options.token)
    sys.setswitchinterval(SWITCH_SECONDS)
    with (
        contextlib.closing(bound_socket(options.host, options.port)) as listening,
        _game_store(options) as game_store,
        EngineLoader(make, low_priority=True) as loader,
    ):
        networks = OfferedNetworks(loader, offered_folder(options, access), make_other)
        app = make_app(
            loader, game_store, access, first_game, options.run, networks, options.training
        )
        server = uvicorn.Server(server_config(app))

        def end_if_failed(loading: Future[Engine]) -> None:
            server.should_exit |= loading.exception() is not None

        loader.future.add_done_callback(end_if_failed)
        address = _address(options, access, listening)
        say(f"open {address} to play; Ctrl-C stops the server, games are kept")
        if options.browser:  # some browsers block until they are closed
            threading.Thread(target=webbrowser.open, args=[address], daemon=True).start()
        with contextlib.suppress(KeyboardInterrupt):
            server.run([listening])
        if loader.future.done():
            loader.future.result()  # raises what loading raised


def offered_folder(options: PlayOptions, access: AccessPolicy) -> Path | None:
    """The folder of the networks to choose from: the one named, else those that the user added.

    People on other machines get only what is named.
    """
    if options.networks is not None or access.token:
        return options.networks
    return library()


def make_engine(
    model: str | LoadedNetwork,
    device: str = AUTO,
    precision: str = AUTO,
    human_model: str | None = None,
    first_game: Position | None = None,
) -> Engine:
    """The engine for all sessions; raises what loading the network raises."""
    return Engine(
        model,
        device=device,
        precision=precision,
        streams=min(MOST_STREAMS, os.cpu_count() or 1),
        cache_megabytes=CACHE_MEGABYTES,
        tree_megabytes=TREE_MEGABYTES,
        human_model=human_model,
        first_game=first_game,
    )


@contextlib.contextmanager
def _game_store(options: PlayOptions) -> Iterator[GameStore]:
    """Games are kept in a folder; where it cannot be written to, until the server ends."""
    folder, most_bytes = options.data or user_data(), int(1e6 * options.games_megabytes)
    try:
        game_store = GameStore(folder, most_bytes)
    except OSError as error:
        why = f"{error.filename or folder}: {error.strerror}"
        say(f"games are lost when this ends ({why}); {DATA_VARIABLE} names another folder")
        with (
            tempfile.TemporaryDirectory(prefix="tengen-games-") as temporary,
            GameStore(Path(temporary), most_bytes) as game_store,
        ):
            yield game_store
        return
    with game_store:
        yield game_store


def _address(options: PlayOptions, access: AccessPolicy, listening: socket.socket) -> str:
    host = options.host
    if host in ("0.0.0.0", "::", ""):
        host = socket.gethostname()
    host = f"[{host}]" if ":" in host else host
    port = listening.getsockname()[1]
    token = f"?token={quote(access.token)}" if access.token else ""
    page = "" if options.run is None else "run"
    return f"http://{host}:{port}/{page}{token}"
