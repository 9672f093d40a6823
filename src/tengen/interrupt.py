"""Signals that end a program: stop gracefully at the first one, and end without a crash."""

from __future__ import annotations

import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from types import FrameType
from typing import NoReturn

from tengen.user_messages import say

# Ctrl-C, `kill`, and a terminal that is closed, which Windows tells of in another way.
INTERRUPT = signal.SIGINT
TERMINATION = tuple(
    getattr(signal, name) for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name)
)


class Terminated(KeyboardInterrupt):
    """The program was told to end; whatever handles Ctrl-C handles this, too."""

    def __init__(self, number: int) -> None:
        super().__init__(signal.Signals(number).name)
        self.number = number


def raise_when_terminated() -> None:
    """Let the first signal that ends a program raise `Terminated`, so that it can clean up.

    A second signal ends it at once: another exception would leave the clean-up half done. A signal
    that is ignored stays so: `nohup` relies on it. Only the main thread may do this.
    """
    _handle_usual(_raise)


def end_silently() -> None:
    """Let signals end the process without a message while it loads or after its work is done."""
    _handle_usual(signal.SIG_DFL)


def _handle_usual(handler: Callable[[int, FrameType | None], object] | signal.Handlers) -> None:
    """Set a handler for the signals that end a program, unless another one is set."""
    if threading.current_thread() is not threading.main_thread():
        return
    usual = signal.SIG_DFL, signal.default_int_handler, _raise, _exit
    for number in (INTERRUPT, *TERMINATION):
        if signal.getsignal(number) in usual:
            signal.signal(number, handler)


def _raise(number: int, _: FrameType | None) -> NoReturn:
    _handle_usual(_exit)
    raise Terminated(number)


def _exit(number: int, _: FrameType | None) -> NoReturn:
    os._exit(128 + number)


def cause_of(error: Exception) -> KeyboardInterrupt | None:
    """The interrupt that an import ended by; native modules make an ImportError of it."""
    seen: BaseException | None = error if isinstance(error, ImportError) else None
    while seen is not None and not isinstance(seen, KeyboardInterrupt):
        seen = seen.__cause__ or seen.__context__
    return seen


def end_at_once(error: KeyboardInterrupt) -> NoReturn:
    """End the process after an interrupt, with the status that shells expect."""
    number = error.number if isinstance(error, Terminated) else INTERRUPT
    end_process(128 + number)


def end_process(status: int = 0) -> NoReturn:
    """End the process now that its work is done and saved.

    Python's orderly end is not waited for: it ends threads, and one that is in the native code of
    a network then crashes the process; freeing compiled networks takes seconds.
    """
    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError, ValueError):
            stream.flush()
    os._exit(status)


@contextmanager
def interruptible(stop: threading.Event, message: str) -> Iterator[None]:
    """Make the first signal to end set `stop` and print a message, if in the main thread."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def handle(number: int, _: FrameType | None) -> None:
        stop.set()
        say(message)
        signal.signal(number, before[number])

    before = {number: signal.getsignal(number) for number in (INTERRUPT, *TERMINATION)}
    if (hang_up := getattr(signal, "SIGHUP", None)) and before[hang_up] is signal.SIG_IGN:
        del before[hang_up]  # `nohup` wants that
    for number in before:
        signal.signal(number, handle)
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
