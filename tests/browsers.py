"""Which browser tests look at pages with, and how it is started."""

from __future__ import annotations

import os
import shutil

NAMES = ("chromium", "chromium-browser", "google-chrome")
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
