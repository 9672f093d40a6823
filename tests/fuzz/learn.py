"""The page for learning: whatever is asked for over HTTP, the server makes no mistake."""

from __future__ import annotations

import json
import tempfile
from contextlib import ExitStack, closing
from http.client import HTTPConnection
from pathlib import Path
from random import Random
from typing import Any

from tengen.frontends.web.learn.capture_go import LEVELS, SIDES
from tengen.frontends.web.learn.lessons import lessons
from tengen.problems.problem_files import shipped_problems
from tests.frontends.web.server import serving
from tests.fuzz.driver import Fuzzer
from tests.fuzz.mutation import changed_bytes, changed_value

JSON = {"Content-Type": "application/json"}
REQUESTS = 12
PLAYER = 32 * "a"
_POINTS = [f"{column}{row}" for column in "ABCDE" for row in range(1, 6)]


class LearnFuzzer(Fuzzer):
    name = "learn"

    def __init__(self) -> None:
        self._opened = ExitStack()
        folder = self._opened.enter_context(tempfile.TemporaryDirectory())
        self._port = self._opened.enter_context(serving(Path(folder)))
        self._problems = [each.id for each in shipped_problems()]

    def make(self, rng: Random) -> bytes:
        """Requests, each as a line of JSON: the path, and a body, a third of them changed."""
        lines = []
        for _ in range(rng.randrange(1, REQUESTS)):
            path, body = self._request(rng)
            if rng.random() < 0.3:
                body = changed_value(rng, body)
            if rng.random() < 0.1:
                path = changed_bytes(rng, path.encode(), 1).decode("latin-1")
            content = json.dumps(body)
            if rng.random() < 0.1:
                content = changed_bytes(rng, content.encode(), 2).decode("latin-1")
            lines.append(json.dumps([path, content]))
        return "\n".join(lines).encode()

    def _request(self, rng: Random) -> tuple[str, Any]:
        moves = [rng.choice([*_POINTS, "pass"]) for _ in range(rng.randrange(8))]
        lesson = rng.choice(lessons())
        board = rng.randint(1, len(lesson.boards))
        solution = list(lesson.boards[board - 1].solution)
        colour, minute = rng.choice(("black", "white")), rng.choice((0, 1, 5, 20))
        capture = {"side": rng.choice(SIDES), "level": rng.choice(LEVELS).id, "seed": 1}
        return rng.choice(
            (
                (f"lessons/{lesson.id}/{board}", {"tries": solution}),
                (f"lessons/{lesson.id}/{board}", {"tries": moves}),
                ("capture", capture | {"colour": colour, "moves": moves}),
                ("born-game", {"minute": minute, "colour": colour, "moves": moves}),
                (f"problems/{rng.choice(self._problems)}", {"tries": moves, "player": PLAYER}),
                (f"players/{PLAYER}/problems", {}),
            )
        )

    def feed(self, data: bytes) -> int:
        lines = data.splitlines()
        with closing(HTTPConnection("127.0.0.1", self._port, timeout=60)) as connection:
            for line in lines:
                path, content = json.loads(line)
                path = "".join(sign for sign in path if "!" < sign < "\x7f")
                if path.startswith("born/"):
                    continue  # nothing is trained here
                connection.request("POST", f"/api/learn/{path}", content.encode(), JSON)
                answer = connection.getresponse()
                said = answer.read()
                assert answer.status < 500, (answer.status, said, line)
        return len(lines)

    def close(self) -> None:
        self._opened.close()
