"""A bot behind HTTP: a server that sends the moves of a game gets a move back.

    python examples/bot_server.py --port 8080 --level casual
    curl -d '{"size": 9, "moves": ["E5", "C3"]}' http://127.0.0.1:8080

All games share one engine and its batches. For OGS, CGOS and KGS use `tengen gtp`: see the page
about clients.
"""

from __future__ import annotations

import argparse
import json
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from tengen import Engine, IllegalMoveError, Position
from tengen.engine.levels import level_named


class Bot(ThreadingHTTPServer):
    """Serves until it is shut down; its level decides how strong it plays."""

    def __init__(self, port: int, engine: Engine, level: str) -> None:
        super().__init__(("127.0.0.1", port), Handler)
        self.engine, self.level = engine, level_named(level)

    def answer(self, query: dict[str, Any]) -> dict[str, Any]:
        """The bot's move in a game; raises ValueError for a game that cannot be."""
        position = Position(query.get("size", 19), query.get("rules", "chinese"))
        position = position.play_all(query.get("moves", []))
        decision = self.engine.genmove(position, self.level, seed=position.move_number)
        return {"move": decision.text, "black_winrate": decision.result.black_winrate}


class Handler(BaseHTTPRequestHandler):
    server: Bot

    def do_POST(self) -> None:
        try:
            length = min(int(self.headers.get("Content-Length", 0)), 100_000)
            status, answer = 200, self.server.answer(json.loads(self.rfile.read(length)))
        except (ValueError, TypeError, AttributeError, IllegalMoveError) as error:
            status, answer = 400, {"error": str(error)}
        self.send_response(status)
        self.end_headers()
        self.wfile.write(json.dumps(answer).encode())


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--port", type=int, default=8080)
    parser.add_argument("--level", default="casual")
    arguments = parser.parse_args()
    with Engine() as engine, Bot(arguments.port, engine, arguments.level) as bot:
        bot.serve_forever()
