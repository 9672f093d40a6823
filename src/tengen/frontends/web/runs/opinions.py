"""What the kept networks of a run think: of the empty board through time, and of games."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from tengen.frontends.web.runs.series import short
from tengen.frontends.web.runs.state import RunFacts, Stamp, network_files, stamp_of
from tengen.game.color import Color
from tengen.game.position import Position
from tengen.network.backends.registry import CPU, open_evaluator
from tengen.network.evaluator import Evaluator, encode, evaluate
from tengen.network.files.tengen_format import load_network_file
from tengen.runs.folder import RunFolder

MOST_NETWORKS = 128  # whose opinions are shown
KEPT_GAMES = 32  # whose ownership is remembered
BATCH = 32


class Ownership(NamedTuple):
    """What a network thinks of each point of each position of a game."""

    network: int  # its iteration
    points: list[list[int]]  # tenths, 10: surely Black's


class Opinions:
    """Asks one network at a time, on the CPU, in a thread of its own, only if somebody watches."""

    def __init__(self, folder: RunFolder) -> None:
        self._folder = folder
        self._worker = ThreadPoolExecutor(1, thread_name_prefix="opinions")
        self._under_way: Future[None] | None = None
        self._known: dict[tuple[int, Stamp], dict[str, Any] | None] = {}
        self._asked: RunFacts | None = None  # about which board
        self._latest: tuple[int, Stamp, Evaluator] | None = None
        self._games: OrderedDict[tuple[int, int], Ownership] = OrderedDict()

    def of_empty_board(self, facts: RunFacts) -> list[dict[str, Any]]:
        """What is known by now, in the order of iterations; more is being found out."""
        if self._asked is None or _board(self._asked) != _board(facts):
            self._asked, self._known = facts, {}
        wanted = self._wanted()
        known = dict(self._known)
        if any(each not in known for each in wanted) and not self._is_at_work():
            self._go_on(facts)
        found = [known.get(each) for each in sorted(wanted)]
        return [opinion for opinion in found if opinion is not None]

    def of_game(self, number: int, positions: Sequence[Position]) -> Ownership | None:
        """The latest network's ownership for Black; None if no network can be asked. Waits."""
        with suppress(RuntimeError):
            return self._worker.submit(self._of_game, number, positions).result()
        return None

    def _is_at_work(self) -> bool:
        return self._under_way is not None and not self._under_way.done()

    def _wanted(self) -> dict[tuple[int, Stamp], Path]:
        """The networks to ask, the most telling first: the last, the first, the middle ..."""
        files = list(network_files(self._folder).items())
        stride = 1
        while len(files) > MOST_NETWORKS * stride:
            stride *= 2
        places = range(0, len(files), stride)
        order = sorted(places, key=lambda place: -(place & -place) if place else -len(files))
        chosen = [files[place] for place in [len(files) - 1, *order]] if files else []
        stamps = {number: stamp_of(path) for number, path in chosen}
        return {(number, stamp): path for number, path in chosen if (stamp := stamps[number])}

    def _go_on(self, facts: RunFacts) -> None:
        with suppress(RuntimeError):  # the program is about to end
            self._under_way = self._worker.submit(self._find_out, facts)

    def _find_out(self, facts: RunFacts) -> None:
        """Ask one network that was not asked yet; then somebody's game may have its turn."""
        wanted, known = self._wanted(), self._known
        fresh = next((each for each in wanted if each not in known), None)
        if fresh is None or self._asked is not facts:
            for gone in known.keys() - wanted.keys():
                del known[gone]
            return
        known[fresh] = self._of_empty_board(fresh[0], wanted[fresh], facts)
        self._go_on(facts)

    def _of_empty_board(self, number: int, path: Path, facts: RunFacts) -> dict[str, Any] | None:
        try:
            evaluator = open_evaluator(load_network_file(path), CPU)
            empty = Position(facts.side, facts.rules, facts.komi)
            opinion = evaluate(evaluator, encode(evaluator.features, [empty]))
        except Exception:  # a file from elsewhere fails in many ways, and none may end the thread
            return None
        chances = np.exp(opinion.policy[0] - opinion.policy[0].max(), dtype=np.float64)
        chances /= chances.sum()
        win, _, no_result = opinion.value[0]
        return {
            "step": number,
            "policy": [round(float(chance), 4) for chance in chances[:-1]],
            "pass": round(float(chances[-1]), 4),
            "winrate": short(float(win + no_result / 2)),  # of Black
            "lead": short(float(opinion.lead[0])),
        }

    def _of_game(self, number: int, positions: Sequence[Position]) -> Ownership | None:
        found = max(self._wanted().items(), default=None)
        if found is None:
            return None
        (network, stamp), path = found
        if (number, network) in self._games:
            self._games.move_to_end((number, network))
            return self._games[number, network]
        try:
            evaluator = self._opened(network, stamp, path)
            points = [
                owned
                for first in range(0, len(positions), BATCH)
                for owned in _owned(evaluator, positions[first : first + BATCH])
            ]
        except Exception:  # as above
            return None
        self._games[number, network] = Ownership(network, points)
        while len(self._games) > KEPT_GAMES:
            self._games.popitem(last=False)
        return self._games[number, network]

    def _opened(self, number: int, stamp: Stamp, path: Path) -> Evaluator:
        """The network that games are shown to; it stays open until there is a later one."""
        if self._latest is None or self._latest[:2] != (number, stamp):
            evaluator = open_evaluator(load_network_file(path), CPU)
            self._latest = number, stamp, evaluator
        return self._latest[2]


def _owned(evaluator: Evaluator, positions: Sequence[Position]) -> list[list[int]]:
    """Tenths for Black, row by row."""
    opinion = evaluate(evaluator, encode(evaluator.features, positions))
    signs = [1 if position.to_play is Color.BLACK else -1 for position in positions]
    tenths = np.rint(10 * opinion.ownership * np.array(signs)[:, None, None]).astype(int)
    owned: list[list[int]] = tenths.reshape(len(positions), -1).tolist()
    return owned


def _board(facts: RunFacts) -> tuple[int, str, float]:
    return facts.side, facts.rules, facts.komi
