"""GoGui's analyze commands: pictures of what the network and the search think."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tengen.frontends.gtp import settings
from tengen.frontends.gtp.dispatch import command
from tengen.frontends.gtp.gogui_drawing import drawing, labels_of
from tengen.frontends.gtp.position_edits import for_search
from tengen.frontends.gtp.protocol import GtpError
from tengen.frontends.gtp.session import GtpSession
from tengen.game.color import Color

if TYPE_CHECKING:
    from collections.abc import Callable

    from tengen.search.result import SearchResult

_GOGUI_WORDS = {"true": "1", "false": "0"}
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


class GoguiCommands:
    """Pictures for GoGui: rows of colours from the top of the board."""

    def __init__(self, session: GtpSession) -> None:
        self._session = session

    @command("gogui-analyze_commands")
    def analyze_commands(self) -> str:
        self._session.draws = True  # nobody else asks for this
        return "\n".join(_COMMANDS)

    @command("gogui-policy")
    def policy(self) -> str:
        """Where the network would play, the redder the likelier."""
        found = self._search()
        width, best = found.position.width, float(found.policy[:-1].max()) or 1.0

        def shade(x: int, y: int) -> str:
            share = float(found.policy[y * width + x]) / best
            return NOTHING if share < 0.01 else blend((1.0, 1.0, 0.6), (0.9, 0.0, 0.0), share)

        return _board(found, shade)

    @command("gogui-ownership")
    def ownership(self) -> str:
        """Who will own each point: dark for Black, light for White."""
        found = self._search()
        owner = self._black_ownership(found)

        def shade(x: int, y: int) -> str:
            return blend((1.0, 1.0, 1.0), (0.0, 0.0, 0.0), (owner[y][x] + 1) / 2)

        return _board(found, shade)

    @command("gogui-influence")
    def influence(self) -> str:
        """The same in numbers from 1, Black's, to -1."""
        found = self._search()
        owner = self._black_ownership(found)
        return _board(found, lambda x, y: f"{owner[y][x]:.2f}")

    @command("gogui-winrate")
    def winrate(self) -> str:
        """The moves that were searched, from red for a loss to green for a win."""
        from tengen.game.geometry import Point

        found = self._search()
        rates = {move.move: move.winrate for move in found.moves}

        def shade(x: int, y: int) -> str:
            rate = rates.get(Point(x, y))
            return NOTHING if rate is None else blend((0.9, 0.0, 0.0), (0.0, 0.8, 0.0), rate)

        return _board(found, shade)

    @command("gogui-search")
    def search(self) -> str:
        """The expected line, the moves searched with their visits, and who will own what."""
        return drawing(self._search())

    @command("gogui-visits")
    def visits(self) -> str:
        """The moves that were searched, with their visits."""
        found = self._search()
        return " ".join(labels_of(found))

    @command("gogui-param")
    def param(self, name: str | None = None, *value: str) -> str:
        """All settings with their types, or one that is changed."""
        session = self._session
        if name is None:
            return "\n".join(
                f"[{'bool' if value in ('true', 'false') else 'string'}] {known} "
                f"{_GOGUI_WORDS.get(value, value)}"
                for known in settings.NAMES
                for value in [settings.read(session.settings, known)]
            )
        if not value:
            raise GtpError("syntax error: write gogui-param [NAME VALUE]")
        changed = settings.changed(session.settings, name, " ".join(value))
        session.rest()
        session.settings = changed
        return ""

    def _search(self) -> SearchResult:
        from tengen.frontends.gtp.thinking import limits_for
        from tengen.search.request import Wanted

        session = self._session
        color = session.position.to_play
        limits, _ = limits_for(session, color)
        position = for_search(session.position, color)
        return session.search(session.request(position, limits, wanted=Wanted(ownership=True)))

    def _black_ownership(self, found: SearchResult) -> list[list[float]]:
        if found.ownership is None:
            return [[0.0] * found.position.width] * found.position.height
        sign = 1 if found.position.to_play is Color.BLACK else -1
        rows: list[list[float]] = (sign * found.ownership).tolist()
        return rows


def _board(found: SearchResult, value: Callable[[int, int], str]) -> str:
    """Values of all points, a line for each row from the top."""
    position = found.position
    return "\n".join(
        " ".join(value(x, y) for x in range(position.width)) for y in range(position.height)
    )


def blend(low: tuple[float, float, float], high: tuple[float, float, float], share: float) -> str:
    """A colour between two, as #rrggbb."""
    share = min(max(share, 0.0), 1.0)
    mixed = (round(255 * (a + share * (b - a))) for a, b in zip(low, high, strict=True))
    return "#" + "".join(f"{part:02x}" for part in mixed)
