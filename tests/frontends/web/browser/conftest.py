"""A browser for the whole package, and a page of its own for each test.

Everything is skipped where no browser is installed; TENGEN_BROWSER names another than Chromium's
usual places. Screenshots go to build/screenshots, or to where TENGEN_SCREENSHOTS says.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page

from tests.browsers import running_browser
from tests.frontends.web.browser.visit import SIZES, Visit, visiting


@pytest.fixture(scope="package")
def browser() -> Iterator[Browser]:
    with running_browser() as browser:
        yield browser


@pytest.fixture(scope="session")
def screenshots() -> Path:
    folder = Path(os.environ.get("TENGEN_SCREENSHOTS") or "build/screenshots")
    folder.mkdir(parents=True, exist_ok=True)
    return folder


@pytest.fixture
def visit(
    request: pytest.FixtureRequest, browser: Browser, port: int, screenshots: Path
) -> Iterator[Visit]:
    """Somebody who looks at the page in English, on a desktop unless a test asks for more."""
    size = SIZES[getattr(request, "param", "desktop")]
    with visiting(browser, port, screenshots, size) as visit:
        yield visit


@pytest.fixture
def page(visit: Visit) -> Page:
    return visit.page
