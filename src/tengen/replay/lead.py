"""The lead: how much the komi that makes a position even differs from its komi."""

from __future__ import annotations

import math
from collections.abc import Generator
from typing import NamedTuple, TypeAlias

from tengen.features.kernels.katago import KOMI_CLIP

_JUMPS = 3  # by the lead that searches expect, while these are large
_LARGE_JUMP = 16.0  # points
_WIDEST = 32.0  # points from there to where the other side is ahead
_STEP = 0.5  # of komi


class Judged(NamedTuple):
    """What a search finds at some komi, for Black."""

    value: float  # win minus loss
    lead: float  # points, as the network expects it


Judging: TypeAlias = Generator[float, Judged, float]


class KomiSearch:
    """Finds the komi at which a position is even, as KataGo does for its training rows.

    `steps` yields the komi to judge next and returns the result.
    """

    def __init__(self, komi: float, area: int, *, in_steps_of_two: bool) -> None:
        """`area` of the board; the counts of area scoring without a button differ by two points."""
        self._komi, self._most = komi, float(area + KOMI_CLIP)
        self._in_steps_of_two = in_steps_of_two
        self._known: dict[float, Judged] = {}

    def steps(self) -> Judging:
        """Jump near the even komi, bracket it, halve the bracket, and interpolate."""
        near = yield from self._jump()
        low, high = yield from self._bracket(near)
        while high - low > _STEP:
            middle = self._rounded((low + high) / 2)
            if (yield from self._value(middle)) > 0:
                low = middle
            else:
                high = middle
        values = (yield from self._value(low)), (yield from self._value(high))
        even = max(low, min(high, _crossing(low, values[0], high, values[1])))
        if self._in_steps_of_two and even != round(even):
            even = yield from self._smoothed(math.floor(even / _STEP) * _STEP)
        return even

    def _jump(self) -> Judging:
        """A komi near the even one, by the leads that the network sees."""
        komi, limit = self._rounded(self._komi), math.inf
        for _ in range(_JUMPS):
            value, lead = yield from self._judge(komi)
            if value * lead <= 0:
                break  # they disagree
            limit = min(limit, abs(lead))
            komi = self._rounded(komi + math.copysign(limit, lead))
            if limit < _LARGE_JUMP:
                break
        return komi

    def _bracket(self, near: float) -> Generator[float, Judged, tuple[float, float]]:
        """Two komi between which the sign of the value changes, where that is found."""
        ahead = (yield from self._value(near)) > 0
        inner, step = near, 1.0
        while True:
            outer = self._rounded(near + step if ahead else near - step)
            if ((yield from self._value(outer)) > 0) != ahead or step >= _WIDEST:
                return (inner, outer) if ahead else (outer, inner)
            inner, step = outer, 2 * step

    def _smoothed(self, low: float) -> Judging:
        """The even komi between `low` and the next step, by values averaged over two points.

        Winners change at every other point of komi only, so the value falls in stairs.
        """
        at = [self._rounded(low + k * _STEP) for k in (-1, 0, 1, 2)]
        for komi in at:
            yield from self._judge(komi)
        values = [self._known[komi].value for komi in at]
        even = _crossing(at[1], (values[0] + values[2]) / 2, at[2], (values[1] + values[3]) / 2)
        return max(at[0], min(at[3], even))

    def _judge(self, komi: float) -> Generator[float, Judged, Judged]:
        if komi not in self._known:
            self._known[komi] = yield komi
        return self._known[komi]

    def _value(self, komi: float) -> Generator[float, Judged, float]:
        return (yield from self._judge(komi)).value

    def _rounded(self, komi: float) -> float:
        return max(-self._most, min(self._most, round(komi / _STEP) * _STEP))


def _crossing(low: float, low_value: float, high: float, high_value: float) -> float:
    """Where the line through two values, which should fall, is 0."""
    if low_value <= high_value:
        return (low + high) / 2
    return low + (high - low) * low_value / (low_value - high_value)
