"""Game records: any bytes are read, or refused by an SgfError; what is read can be written."""

from __future__ import annotations

from contextlib import suppress
from itertools import islice
from pathlib import Path
from random import Random

from tengen.game.sgf.records import SgfError, SgfGame, read_sgf, save_sgf
from tengen.replay.sgf_games import games_of_sgf
from tests.fuzz.driver import Fuzzer
from tests.fuzz.mutation import changed_bytes

FOLDER = Path(__file__).parents[1] / "data" / "sgf"
LARGEST = 6_000  # bytes of a file to start from
POSITIONS = 60  # of a game that are played through
_PIECES = [
    *(
        "B[aa]",
        "W[bb]",
        "B[]",
        "W[tt]",
        "AB[aa:cc]",
        "AW[dd][ee]",
        "AE[aa]",
        "PL[W]",
        "C[\\]x\\\\]",
    ),
    *("SZ[9]", "SZ[19:3]", "SZ[0]", "KM[6.5]", "KM[375]", "HA[3]", "RU[japanese]", "RE[B+R]"),
    *(
        "CA[UTF-8]",
        "CA[gb2312]",
        "LB[aa:x]",
        "TR[aa]",
        "PB[囲碁]",
        "x[1]",
        "AddBlack[cc]",
        "B[aa]B[bb]",
    ),
]


class SgfFuzzer(Fuzzer):
    name = "sgf"

    def __init__(self) -> None:
        files = sorted(path for path in FOLDER.rglob("*.sgf") if path.stat().st_size < LARGEST)
        self._samples = [path.read_bytes() for path in files]
        assert len(self._samples) > 10

    def make(self, rng: Random) -> bytes:
        """A real file or one of our own, mostly damaged."""
        if rng.random() < 0.5:
            return changed_bytes(rng, rng.choice(self._samples))
        nodes = [
            "".join(rng.choices(_PIECES, k=rng.randrange(4))) for _ in range(rng.randrange(20))
        ]
        text = f"(;SZ[{rng.choice((3, 5, 9))}]"
        for node in nodes:
            text += rng.choice((";", ";", ";", "(;", ")", ");")) + node
        data = f"{text})".encode()
        return changed_bytes(rng, data) if rng.random() < 0.7 else data

    def feed(self, data: bytes) -> int:
        try:
            games = read_sgf(data)
        except SgfError:
            return 1
        for game in games[:3]:
            self._use(game)
        return 1

    def _use(self, game: SgfGame) -> None:
        for node in islice(game.root.main_line(), POSITIONS):
            node.text("C")
        game.player("black")
        try:
            for _ in islice(game.positions(), POSITIONS):
                pass
        except SgfError:
            pass
        with suppress(SgfError):
            games_of_sgf(game, 0)  # to learn from
        written = save_sgf(game)
        (again,) = read_sgf(written)
        assert save_sgf(again) == written
