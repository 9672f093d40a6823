"""Random legal traffic: no crash, no hang, every id echoed, no memory lost."""

from __future__ import annotations

import gc
import random
import re
import resource
import time

import pytest

from tengen.frontends.command_options import GtpOptions
from tests.frontends.gtp.client import Client, session

OPTIONS = GtpOptions(seed=0, board_size=5, visits=8, ponder=True, komi=0.5)


class Traffic:
    """A client that does what clients do, at random."""

    def __init__(self, client: Client, seed: int) -> None:
        self._client = client
        self._random = random.Random(seed)
        self._number = 0

    def game(self) -> None:
        """One game with whatever comes to mind."""
        size = self._random.choice((5, 5, 7, 9))
        self._ask(f"boardsize {size}")
        self._ask(f"kata-set-rules {self._random.choice(('tromp-taylor', 'chinese', 'japanese'))}")
        self._ask("clear_board")
        for _ in range(self._random.randrange(5, 40)):
            self._random.choice((self._move, self._own_move, self._analysis, self._other))()
        self._ask("final_score")

    def _ask(self, command: str) -> str:
        self._number += 1
        self._client.send(f"{self._number} {command}\n".encode())
        reply = self._client.reply()
        assert re.match(rf"[=?]{self._number}(?:\s|$)", reply), f"{command}: {reply}"
        return reply

    def _move(self) -> None:
        position = self._client.session.position
        moves = [*position.legal_moves(), None]
        move = self._random.choice(moves)
        color = position.to_play if self._random.random() < 0.9 else position.to_play.opponent
        self._ask(f"play {color.letter.lower()} {position.text(move)}")

    def _own_move(self) -> None:
        color = self._client.session.position.to_play
        verb = self._random.choice(
            ("genmove", "genmove", "kata-genmove_analyze", "lz-genmove_analyze", "kata-search")
        )
        assert "internal error" not in self._ask(f"{verb} {color}")

    def _analysis(self) -> None:
        self._number += 1
        verb = self._random.choice(
            (
                "kata-analyze 1",
                "lz-analyze 1",
                "analyze 1 ownership true",
                "kata-analyze 1 rootInfo 1",
            )
        )
        self._client.send(f"{self._number} {verb}\n".encode())
        assert self._client.lines.next_line() == f"={self._number}"
        for _ in range(self._random.randrange(3)):
            assert self._client.lines.next_line().startswith("info ")
        self._number += 1
        stop = self._random.choice(("name", "undo", "genmove b", "clear_cache", "play w pass"))
        self._client.send(f"{self._number} {stop}\n".encode())
        while line := self._client.lines.next_line():
            assert line.startswith("info ")
        assert re.match(rf"[=?]{self._number}(?:\s|$)", self._client.reply())

    def _other(self) -> None:
        commands = (
            "undo", "gg-undo 2", "showboard", "time_left b 5 0", "time_settings 60 0 0",
            "time_settings 0 1 0", "komi 2.5", "final_status_list dead", "printsgf",
            "kata-raw-nn 0", "nonsense", "play b Z99", "kata-get-params", "set_position b A1 w B2",
            "list_commands",
            "fixed_handicap 2", "clear_cache", "stop", "kata-set-param maxVisits 12",
            "kgs-genmove_cleanup b", "gogui-winrate", "debug_moves", "play_sequence b A1 w A1",
        )  # fmt: skip
        reply = self._ask(self._random.choice(commands))
        assert "internal error" not in reply


@pytest.mark.timeout(120)
def test_ten_games_of_random_traffic() -> None:
    with session(options=OPTIONS) as client:
        for seed in range(10):
            Traffic(client, seed).game()


def _resident_megabytes() -> float:
    gc.collect()
    with open("/proc/self/statm", encoding="ascii") as file:  # noqa: PTH123
        pages = int(file.read().split()[1])
    return pages * resource.getpagesize() / 1e6


@pytest.mark.long
@pytest.mark.timeout(1800)
def test_two_hundred_games_of_random_traffic_lose_no_memory() -> None:
    with session(options=OPTIONS) as client:
        start = time.monotonic()
        megabytes = []
        for seed in range(200):
            Traffic(client, 1000 + seed).game()
            client.lines.forget()
            if seed % 20 == 19:
                megabytes.append((round(time.monotonic() - start), round(_resident_megabytes())))
        print("seconds, MB:", *megabytes)
        warm = next((mb for second, mb in megabytes if second >= 60), megabytes[3][1])
        assert megabytes[-1][1] < warm + 20
