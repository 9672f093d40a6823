"""The page's server: whatever a client says over its WebSocket, the server makes no mistake."""

from __future__ import annotations

import json
import tempfile
from contextlib import ExitStack
from pathlib import Path
from random import Random
from typing import Any

from websockets.exceptions import ConnectionClosed

from tests.frontends.web.server import Client, serving
from tests.frontends.web.test_fuzz import anything
from tests.fuzz.driver import Fuzzer
from tests.fuzz.mutation import changed_bytes, changed_value

MESSAGES = 40
# What clients may hear about messages that are wrong or not possible now.
_OUR_FAULT = ("server_error", "engine_failed")


class WebFuzzer(Fuzzer):
    name = "web"

    def __init__(self) -> None:
        self._opened = ExitStack()
        folder = self._opened.enter_context(tempfile.TemporaryDirectory())
        self._port = self._opened.enter_context(serving(Path(folder)))
        self._session: str | None = None

    def make(self, rng: Random) -> bytes:
        """Messages in any order, a third of them changed; each is JSON on a line, or no JSON."""
        lines = []
        for number in range(rng.randrange(1, MESSAGES)):
            message: Any = {**anything(rng), "request": number}
            what = rng.random()
            if what < 0.3:
                message = changed_value(rng, message)
            line = json.dumps(message).encode()
            lines.append(changed_bytes(rng, line, 2).replace(b"\n", b" ") if what > 0.9 else line)
        return b"\n".join(lines)

    def feed(self, data: bytes) -> int:
        lines = data.split(b"\n")
        with Client(self._port, self._session) as client:
            for number, line in enumerate(lines):
                text: str | bytes = line
                if number % 7:
                    text = line.decode(errors="replace")
                client.socket.send(text)
            client.say("ping")
            try:
                while (heard := client.next())["type"] != "pong":
                    assert heard.get("code") not in _OUR_FAULT, heard
            except ConnectionClosed as error:
                raise AssertionError(f"the server closed the connection: {error}") from error
            self._session = client.session
        return len(lines)

    def close(self) -> None:
        self._opened.close()
