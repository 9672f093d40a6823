"""Ctrl-C handling: the first one stops gracefully, the second one at once."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

from tengen.user_messages import say


@contextmanager
def interruptible(stop: threading.Event, message: str) -> Iterator[None]:
    """Make the first SIGINT or SIGTERM set `stop` and print a message, if in the main thread."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def handle(number: int, _: FrameType | None) -> None:
        stop.set()
        say(message)
        signal.signal(number, before[signal.Signals(number)])

    signals = (signal.SIGINT, signal.SIGTERM)
    before = {number: signal.getsignal(number) for number in signals}
    for number in signals:
        signal.signal(number, handle)
    try:
        yield
    finally:
        for number in signals:
            signal.signal(number, before[number])
