"""The web server for tests, in a thread of this process, with a network that is made up."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import uvicorn
from websockets.sync.client import ClientConnection, connect

from tengen.closeable import Closeable
from tengen.engine.engine import Engine
from tengen.engine.loading import EngineLoader
from tengen.frontends.web.http.app import make_app
from tengen.frontends.web.http.impatient import server_config
from tengen.frontends.web.http.listening import bound_socket
from tengen.frontends.web.http.security import AccessPolicy
from tengen.frontends.web.http.serve import make_engine
from tengen.frontends.web.play.client_messages import NewGame
from tengen.frontends.web.play.game_store import KEPT_BYTES, GameStore
from tengen.frontends.web.play.networks import OfferedNetworks
from tengen.network.evaluator import Evaluator
from tengen.network.loaded_network import LoadedNetwork
from tests.frontends.web.made_up import HALVES

LIMIT = 20.0  # seconds
FIRST_GAME = NewGame(size=9, colour="black")


@contextmanager
def serving(
    folder: Path,
    evaluator: Evaluator = HALVES,
    access: AccessPolicy | None = None,
    make: Callable[[], Engine] | None = None,
    networks: Path | None = None,
    make_other: Callable[[Path], Engine] | None = None,
    kept_bytes: int = KEPT_BYTES,
) -> Iterator[int]:
    """A server; its port. `make_other` opens the networks of the folder that it offers."""

    def engine() -> Engine:
        return make_engine(LoadedNetwork(evaluator, "fake.bin.gz"))

    with (
        closing(bound_socket("127.0.0.1", 0)) as listening,
        GameStore(folder, kept_bytes) as game_store,
        EngineLoader(make or engine, low_priority=True) as loader,
    ):
        offered = OfferedNetworks(loader, networks, make_other)
        app = make_app(loader, game_store, access or AccessPolicy(), FIRST_GAME, None, offered)
        server = uvicorn.Server(server_config(app))
        thread = threading.Thread(target=server.run, args=[[listening]])
        thread.start()
        try:
            while not server.started:
                assert thread.is_alive()
                time.sleep(0.005)
            if make is None:
                loader.wait()
            yield listening.getsockname()[1]
        finally:
            server.should_exit = True
            thread.join()


class Client(Closeable):
    """A client that says hello, and sorts what it hears."""

    def __init__(
        self,
        port: int,
        session: str | None = None,
        *,
        player: str | None = None,
        patience: float = LIMIT,
        **options: Any,
    ) -> None:
        """`patience`: seconds to wait for each answer."""
        self._patience = patience
        options = {"open_timeout": patience, **options}
        self.socket: ClientConnection = connect(
            f"ws://127.0.0.1:{port}/ws", max_size=None, max_queue=None, legacy=True, **options
        )
        self.say("hello", session=session, player=player)
        self.welcome = self.hear("welcome")
        self.session: str = self.welcome["session"]
        self.game = self.hear("game")
        self.position = self.hear("position")

    def say(self, kind: str, /, **content: Any) -> None:
        self.socket.send(json.dumps({"type": kind, **content}))

    def next(self, timeout: float | None = None) -> dict[str, Any]:
        """The next message, whatever it is."""
        message = json.loads(self.socket.recv(self._patience if timeout is None else timeout))
        assert isinstance(message, dict)
        return message

    def hear(self, *kinds: str) -> dict[str, Any]:
        """The next message of one of these kinds; an error that is not expected is one."""
        end = time.monotonic() + self._patience
        while True:
            message = self.next(max(0.01, end - time.monotonic()))
            if message["type"] in kinds:
                return message
            assert message["type"] != "error", message

    def until(self, enough: Callable[[dict[str, Any]], bool]) -> dict[str, Any]:
        """The next position for which this holds."""
        while not enough(position := self.hear("position")):
            pass
        self.position = position
        return position

    def ask(self, kind: str, answer: str = "position", /, **content: Any) -> dict[str, Any]:
        """Say something, and hear an answer."""
        self.say(kind, **content)
        return self.hear(answer)

    def refused(self, kind: str, /, **content: Any) -> str:
        """Say something that is refused; the code."""
        self.say(kind, request=7, **content)
        error = self.hear("error")
        assert error["request"] == 7
        assert error["message"]
        return str(error["code"])

    def new_game(self, **terms: Any) -> dict[str, Any]:
        usual = {"size": 9, "colour": "black", "level": "beginner", "rules": "chinese"}
        self.say("new_game", **(usual | terms))
        self.game = self.hear("game")
        self.position = self.hear("position")
        return self.position

    def play(self, move: str) -> dict[str, Any]:
        """Play a move, and wait for the opponent's if there is one."""
        self.say("play", move=move)
        return self.until(lambda position: not position["thinking"])

    def settle(self) -> None:
        """Wait until all that was said before has been heard."""
        self.ask("ping", "pong")

    def close(self) -> None:
        self.socket.close()
