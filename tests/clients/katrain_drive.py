"""KaTrain's own engine, game and nodes at work with our engine, without its window.

A program for an interpreter that has KaTrain: what follows is JSON with the `engine` settings of
KaTrain's configuration that are ours, `altcommand` or `remote_url`, and the number of `moves`;
with `ai`, the settings of its human-style AI that plays them.
Prints one line of JSON: what was analysed, or the moves played, and all errors that KaTrain saw.
"""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Callable
from importlib import import_module
from typing import Any

os.environ |= {"KIVY_NO_ARGS": "1", "KIVY_NO_CONSOLELOG": "1", "KIVY_NO_FILELOG": "1"}
LIMIT = 120.0  # seconds for any one thing
SIZE = 9
VISITS, FAST_VISITS = 20, 5


def drive(
    settings: dict[str, Any], moves: int, ai: list[dict[str, Any]] | None = None
) -> dict[str, Any]:
    constants: Any = import_module("katrain.core.constants")
    base: Any = import_module("katrain.core.base_katrain")
    games: Any = import_module("katrain.core.game")
    engines: Any = import_module("katrain.core.remote_engine")
    errors: list[str] = []

    class Headless(base.KaTrainBase):  # type: ignore[misc]
        """KaTrain with ears for errors, and controls that nobody looks at."""

        controls: Any = None
        pondering = False

        def log(self, message: Any, level: float = constants.OUTPUT_INFO) -> None:
            if level == constants.OUTPUT_ERROR:
                errors.append(str(message))

        def __call__(self, *arguments: Any) -> None:  # a pop-up about a dead engine, for one
            errors.append(str(arguments))

    class Controls:
        def set_status(self, *arguments: Any) -> None:
            pass

    katrain = Headless(force_package_config=True, debug_level=0)
    katrain.controls = Controls()
    config = {
        **katrain.config("engine"),
        "max_visits": VISITS,
        "fast_visits": FAST_VISITS,
        "max_time": 20.0,
        **settings,
    }
    engine = engines.make_engine(katrain, config)
    size = SIZE if ai is None else 19  # its human-style AI complains of others
    properties = {"SZ": size, "KM": 7, "RU": "chinese"}
    game = games.Game(katrain, engine, game_properties=properties)

    def wait(done: Callable[[], bool], what: str) -> None:
        end = time.monotonic() + LIMIT
        while not done():
            if time.monotonic() > end or not engine.check_alive():
                raise SystemExit(f"KaTrain waits in vain for {what}; its errors: {errors}")
            time.sleep(0.01)

    if ai is not None:
        played = [play_as_people(game, ai[k % len(ai)]) for k in range(moves)]
        engine.shutdown(finish=True)
        return {"played": played, "errors": errors}
    analysed = play(game, moves, wait)
    after = extras(game, engine, wait)
    engine.shutdown(finish=True)
    return {"analysed": analysed, **after, "errors": errors}


def play(game: Any, moves: int, wait: Callable[[Callable[[], bool], str], None]) -> int:
    """Let the best moves be played, until the game ends by passes or is long enough."""
    for number in range(moves + 1):
        node = game.current_node
        wait(lambda node=node: node.analysis_complete, f"turn {number}")  # type: ignore[misc]
        check(node)
        if node.is_pass and node.parent and node.parent.is_pass:
            return number + 1
        if number < moves:
            best = node.candidate_moves[0]["move"]
            sgf: Any = import_module("pysgf")
            game.play(sgf.Move.from_gtp(best, player=node.next_player))
    return moves + 1


def play_as_people(game: Any, settings: dict[str, Any]) -> str:
    """Let KaTrain's human-style AI make a move; what it thought of it."""
    ai: Any = import_module("katrain.core.ai")
    _, node = ai.generate_ai_move(game, "ai:human", settings)
    return str(node.ai_thoughts)


def check(node: Any) -> None:
    """What KaTrain shows of a position is there, and makes sense."""
    assert len(node.ownership) == SIZE * SIZE
    assert len(node.policy) == SIZE * SIZE + 1
    assert all(-1 <= owner <= 1 for owner in node.ownership)
    assert node.root_visits >= VISITS
    assert 0 <= node.winrate <= 1
    assert abs(node.score) < 2 * SIZE * SIZE
    assert node.candidate_moves
    assert node.policy_ranking
    assert all(
        len(move["ownership"]) == SIZE * SIZE
        for move in node.analysis["moves"].values()
        if "ownership" in move
    )
    node.comment(sgf=True)  # the text that it writes into game records


def extras(
    game: Any, engine: Any, wait: Callable[[Callable[[], bool], str], None]
) -> dict[str, Any]:
    """What KaTrain can do besides: more visits, all moves, alternatives, a region, pondering."""
    game.undo(4)
    node = game.current_node
    before = node.root_visits
    game.analyze_extra("extra")
    wait(engine.is_idle, "more visits")
    more = node.root_visits
    tried = len(node.analysis["moves"])
    game.analyze_extra("alternative")
    wait(engine.is_idle, "alternatives")
    game.analyze_extra("equalize")
    wait(engine.is_idle, "equal visits")
    game.analyze_extra("sweep")
    wait(engine.is_idle, "a sweep")
    swept = len(node.analysis["moves"])
    game.set_region_of_interest([0, 4, 0, 4])
    node.analyze(engine, region_of_interest=[0, 4, 0, 4])
    wait(engine.is_idle, "a region")
    game.set_region_of_interest([0, 0, 0, 0])
    visits = node.root_visits
    game.analyze_extra("ponder")
    wait(lambda: bool(node.root_visits > max(visits, 200)), "pondering")
    engine.stop_pondering()
    wait(engine.is_idle, "the end of pondering")
    game.analyze_extra("game", visits=VISITS + 5)
    wait(engine.is_idle, "the game again")
    engine.on_new_game()
    return {"before": before, "more": more, "tried": tried, "swept": swept}


if __name__ == "__main__":
    asked = json.loads(sys.argv[1])
    sys.argv = sys.argv[:1]  # KaTrain reads it, too
    print(json.dumps(drive(asked["engine"], asked["moves"], asked.get("ai"))), flush=True)
    os._exit(0)  # its window toolkit has threads of its own
