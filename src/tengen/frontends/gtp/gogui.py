"""Pictures for GoGui of what the network and the search think: by commands, and live by stderr."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from tengen.frontends.gtp.inspection import summary
from tengen.frontends.gtp.protocol import command
from tengen.frontends.gtp.session import Commands, for_search
from tengen.game.color import Color

if TYPE_CHECKING:
    from collections.abc import Iterable

    from tengen.search.result import SearchResult

WHITE, BLACK, RED = (1.0, 1.0, 1.0), (0.0, 0.0, 0.0), (0.9, 0.0, 0.0)
NOTHING = '""'  # GoGui's word for a point without a colour
_COMMANDS = (
    "cboard/Policy/gogui-policy",
    "cboard/Ownership/gogui-ownership",
    "dboard/Influence/gogui-influence",
    "cboard/Win rate/gogui-winrate",
    "gfx/Search/gogui-search",
    "pspairs/Visits/gogui-visits",
    "param/Settings/gogui-param",
    "plist/Final Status List Dead/final_status_list dead",
    "plist/Final Status List Seki/final_status_list seki",
    "string/Final Score/final_score",
    "string/Estimated Score/estimate_score",
    "hstring/Searched Moves/debug_moves",
    "hstring/Show Board/showboard",
    "none/Clear Cache/clear_cache",
)


class GoguiCommands(Commands):
    @command("gogui-analyze_commands")
    def analyze_commands(self) -> str:
        self.session.draws = True  # nobody else asks for this
        return "\n".join(_COMMANDS)

    @command("gogui-policy")
    def policy(self) -> str:
        """Where the network would play, the redder the likelier."""
        found = self._search()
        shape = found.position.height, found.position.width
        shares = found.policy[:-1].reshape(shape) / (found.policy[:-1].max() or 1.0)
        return _rows(
            [NOTHING if share < 0.01 else blend((1.0, 1.0, 0.6), RED, share) for share in row]
            for row in shares.tolist()
        )

    @command("gogui-ownership")
    def ownership(self) -> str:
        """Who will own each point: dark for Black, light for White."""
        owners = _black_ownership(self._search())
        return _rows([blend(WHITE, BLACK, (owner + 1) / 2) for owner in row] for row in owners)

    @command("gogui-influence")
    def influence(self) -> str:
        """The same in numbers from 1, Black's, to -1."""
        return _rows([f"{owner:.2f}" for owner in row] for row in _black_ownership(self._search()))

    @command("gogui-winrate")
    def winrate(self) -> str:
        """The moves that were searched, from red for a loss to green for a win."""
        from tengen.game.geometry import Point

        found = self._search()
        colors = {move.move: blend(RED, (0.0, 0.8, 0.0), move.winrate) for move in found.moves}
        width, height = found.position.size
        return _rows(
            [colors.get(Point(x, y), NOTHING) for x in range(width)] for y in range(height)
        )

    @command("gogui-search")
    def search(self) -> str:
        """The expected line, the moves searched with their visits, and who will own what."""
        return drawing(self._search())

    @command("gogui-visits")
    def visits(self) -> str:
        """The moves that were searched, with their visits."""
        return " ".join(labels_of(self._search()))

    def _search(self) -> SearchResult:
        from tengen.search.request import Wanted

        session = self.session
        color = session.position.to_play
        limits, _ = session.limits_for(color)
        position = for_search(session.position, color)
        return session.search(session.request(position, limits, wanted=Wanted(ownership=True)))


def _black_ownership(found: SearchResult) -> list[list[float]]:
    if found.ownership is None:
        return [[0.0] * found.position.width] * found.position.height
    sign = 1 if found.position.to_play is Color.BLACK else -1
    rows: list[list[float]] = (sign * found.ownership).tolist()
    return rows


def _rows(rows: Iterable[Iterable[str]]) -> str:
    """Values of all points, a line for each row from the top."""
    return "\n".join(" ".join(row) for row in rows)


def blend(low: tuple[float, float, float], high: tuple[float, float, float], share: float) -> str:
    """A colour between two, as #rrggbb."""
    share = min(max(share, 0.0), 1.0)
    mixed = (round(255 * (a + share * (b - a))) for a, b in zip(low, high, strict=True))
    return "#" + "".join(f"{part:02x}" for part in mixed)


def drawing(found: SearchResult) -> str:
    """A search as commands of GoGui's graphics, one a line."""
    from tengen.game.geometry import Point

    text, position = found.position.text, found.position
    lines = [f"TEXT {summary(found)}"]
    if found.ownership is not None:
        owners = _black_ownership(found)
        points = (Point(x, y) for y in range(position.height) for x in range(position.width))
        lines.append(f"INFLUENCE {' '.join(f'{text(p)} {owners[p.y][p.x]:.2f}' for p in points)}")
    color, line = position.to_play, []
    for move in found.pv:
        line.append(f"{color.letter.lower()} {text(move)}")
        color = color.opponent
    if line:
        lines.append(f"VAR {' '.join(line)}")
    if labels := labels_of(found):
        lines.append(f"LABEL {' '.join(labels)}")
    return "\n".join(lines)


def draw_live(found: SearchResult) -> None:
    """Draw a search under way on GoGui's board, by stderr."""
    print(f"gogui-gfx:\n{drawing(found)}\n", file=sys.stderr, flush=True)


def stop_drawing() -> None:
    """Take off what was drawn, before a command ends."""
    print("gogui-gfx: CLEAR", file=sys.stderr, flush=True)


def labels_of(found: SearchResult) -> list[str]:
    """The moves searched with their visits, passes left out."""
    text = found.position.text
    return [f"{text(move.move)} {move.visits}" for move in found.moves if move.move is not None]
