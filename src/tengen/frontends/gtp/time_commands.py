"""Commands about the clocks."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tengen.frontends.gtp.dispatch import command, parse_float, parse_int
from tengen.frontends.gtp.protocol import GtpError
from tengen.frontends.gtp.session import GtpSession
from tengen.game.color import Color

if TYPE_CHECKING:
    from tengen.search.clock import TimeControl

_KINDS = {
    "none": "",
    "absolute": "MAIN_TIME",
    "byoyomi": "MAIN_TIME PERIOD_TIME PERIODS",
    "canadian": "MAIN_TIME PERIOD_TIME STONES",
    "fischer": "MAIN_TIME INCREMENT",
    "fischer-capped": "MAIN_TIME INCREMENT MAIN_TIME_LIMIT MAX_TIME_PER_MOVE",
}


class TimeCommands:
    """The clocks."""

    def __init__(self, session: GtpSession) -> None:
        self._session = session

    @command()
    def time_settings(self, main_time: float, byo_yomi_time: float, byo_yomi_stones: int) -> None:
        self._session.set_time_control(_canadian(main_time, byo_yomi_time, byo_yomi_stones))

    @command("kgs-time_settings", "kata-time_settings")
    def named_time_settings(self, kind: str, *times: str) -> None:
        self._session.set_time_control(_control(kind.lower(), times))

    @command("kata-list_time_settings")
    def list_time_settings(self) -> str:
        return " ".join(_KINDS)

    @command()
    def time_left(self, color: Color, time: float, stones: int) -> None:
        from tengen.search.clock import set_left

        self._session.set_clock(color, set_left(self._session.clock(color), time, stones))

    @command("kata-debug-print-tc")
    def print_clocks(self) -> str:
        return "\n".join(f"{color.name.title()} {self._session.clock(color)}" for color in Color)


def _control(kind: str, texts: tuple[str, ...]) -> TimeControl:
    """A time control by its name; raises ValueError."""
    from tengen.search.clock import MAX_SECONDS, TimeControl

    if kind not in _KINDS:
        raise GtpError(f"unknown time settings {kind[:40]!r}; known are {', '.join(_KINDS)}")
    if len(texts) < len(_KINDS[kind].split()):
        raise GtpError(f"syntax error: write {kind} {_KINDS[kind]}")
    times = [parse_float(text) for text in texts]
    match kind:
        case "none":
            return TimeControl.none()
        case "absolute":
            return TimeControl.absolute(times[0])
        case "canadian":
            return _canadian(times[0], times[1], parse_int(texts[2]))
        case "byoyomi":
            periods = parse_int(texts[2])
            if periods == 0:
                return TimeControl.absolute(times[0])
            return TimeControl.byo_yomi(times[0], times[1], periods)
        case "fischer":
            return TimeControl.fischer(times[0], times[1])
        case _:
            # Below 0 there is no limit.
            limit, per_move = (time if time >= 0 else MAX_SECONDS for time in times[2:4])
            return TimeControl.fischer(times[0], times[1], max(limit, times[0]), per_move)


def _canadian(main: float, period: float, stones: int) -> TimeControl:
    """Canadian time as GTP writes it: overtime without stones is no time limit at all."""
    from tengen.search.clock import TimeControl

    if stones == 0:
        return TimeControl.none() if period > 0 else TimeControl.absolute(main)
    return TimeControl.canadian(main, period, stones)
