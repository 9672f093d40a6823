"""Which browser tests look at pages with, and how it is started."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from playwright.sync_api import Browser

NAMES = ("chromium", "chromium-browser", "google-chrome")
PATIENCE = 60_000  # milliseconds: what takes longer hangs, however busy the machine is
ARGUMENTS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]


def installed_browser() -> str | None:
    """The one that TENGEN_BROWSER names, or Chromium where it usually is."""
    chosen = os.environ.get("TENGEN_BROWSER")
    return chosen or next(filter(None, map(shutil.which, NAMES)), None)


@contextmanager
def running_browser() -> Iterator[Browser]:
    """A browser; what needs it is skipped where there is none.

    Only as long as it is needed: Playwright keeps an event loop on this thread.
    """
    executable = installed_browser()
    if executable is None:
        pytest.skip("no browser is installed: apt install chromium")
    playwright = pytest.importorskip("playwright.sync_api", reason="Playwright is not installed")
    playwright.expect.set_options(timeout=PATIENCE)
    with playwright.sync_playwright() as running:
        launched = running.chromium.launch(executable_path=executable, args=ARGUMENTS)
        yield launched
        launched.close()
