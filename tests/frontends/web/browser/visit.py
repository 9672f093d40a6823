"""Somebody's visit to the page: what they do with it, and what must never happen meanwhile."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Locator, Page, ViewportSize, expect

DESKTOP = ViewportSize(width=1280, height=800)
PHONE = ViewportSize(width=390, height=664)
NARROW = ViewportSize(width=360, height=740)  # as narrow as phones in use are
SIZES = {"phone": PHONE, "desktop": DESKTOP}
at_both_sizes = pytest.mark.parametrize("visit", list(SIZES), indirect=True)
LIMIT = 20_000.0  # milliseconds
OVERFLOW = """async () => {  // once a change of the screen's size has been drawn
  for (let i = 0; i < 2; i++) await new Promise(requestAnimationFrame);
  return document.documentElement.scrollWidth - innerWidth;
}"""
CONTRAST = (Path(__file__).parent / "contrast.js").read_text()
NAMELESS = """() => [...document.querySelectorAll('button, a[href], input, select, textarea, '
    + '[role=grid], [role=img], [role=radiogroup], [role=group], nav, dialog[open]')]
  .filter(node => node.checkVisibility({visibilityProperty: true}))
  .filter(node => !node.closest('[aria-hidden=true]'))
  .filter(node => !(node.getAttribute('aria-label') || node.textContent.trim()
    || node.labels?.length || node.getAttribute('aria-labelledby')))
  .map(node => node.outerHTML.slice(0, 120))"""


class Visit:
    """One tab."""

    def __init__(self, page: Page, port: int, screenshots: Path) -> None:
        self.page, self.port, self._screenshots = page, port, screenshots
        self.errors: list[str] = []
        page.set_default_timeout(LIMIT)
        page.on("pageerror", lambda error: self.errors.append(str(error)))
        page.on(
            "console",
            lambda said: self.errors.append(said.text) if said.type == "error" else None,
        )

    def open(self, fragment: str = "") -> None:
        self.page.goto(f"http://127.0.0.1:{self.port}/{fragment}")
        expect(self.point("C3")).to_have_attribute("aria-label", "C3, empty", timeout=LIMIT)

    def point(self, name: str) -> Locator:
        return self.page.locator(f"[data-point={name}]")

    def stones(self) -> tuple[int, int]:
        """How many black and white stones a screen reader would find."""
        labels = self.page.locator("[data-point]").evaluate_all(
            "cells => cells.map(cell => cell.getAttribute('aria-label'))"
        )
        black = sum("black stone" in label for label in labels)
        return black, sum("white stone" in label for label in labels)

    def new_game(self, size: int, colour: str, komi: str = "", level: str = "beginner") -> None:
        """Begin a game by way of the dialog."""
        page = self.page
        page.click("#new-game")
        page.click(f"#new [data-size='{size}']")
        page.click(f"#new label:has(input[value={colour}])")
        if colour != "both":
            page.select_option("#new-level", level)
        page.fill("#new-komi", komi)
        page.click("#start-game")
        expect(page.locator("[data-point]")).to_have_count(size * size)

    def play(self, *moves: str) -> None:
        """Click points one after the other, each once the one before is shown."""
        for move in moves:
            self.point(move).click()
            expect(self.point(move)).to_have_attribute("aria-label", _last_move(move))

    def paste(self, sgf: str) -> None:
        """Open a record by way of the dialog."""
        self.page.locator("#open-button").click()
        self.page.fill("#sgf-text", sgf)
        self.page.click("#open-text")
        expect(self.page.locator("#tab-analyse")).to_have_attribute("aria-current", "page")
        expect(self.page.locator("#board")).to_be_in_viewport(ratio=1)

    def shoot(self, name: str, settle: float = 250) -> None:
        """Keep a picture of what is seen now, or once stones have settled."""
        self.page.wait_for_timeout(settle)
        device = "desktop" if self._width() == DESKTOP["width"] else "phone"
        self.page.screenshot(path=self._screenshots / f"{name}-{device}.png", full_page=True)

    def overflow(self) -> int:
        """How many pixels the page is wider than the screen, also if that is a narrower phone's."""
        width, here = self._width(), self._overflow_here()
        if not NARROW["width"] < width <= PHONE["width"]:
            return here
        size = self.page.viewport_size
        assert size is not None
        self.page.set_viewport_size({**size, "width": NARROW["width"]})
        narrower = self._overflow_here()
        self.page.set_viewport_size(size)
        return max(here, narrower)

    def _overflow_here(self) -> int:
        return int(self.page.evaluate(OVERFLOW))

    def _width(self) -> int:
        size = self.page.viewport_size
        assert size is not None
        return size["width"]


def _last_move(point: str) -> re.Pattern[str]:
    return re.compile(rf"^{point}, (black|white) stone, last move")


@contextmanager
def visiting(
    browser: Browser,
    port: int,
    screenshots: Path,
    size: ViewportSize = DESKTOP,
    *,
    language: str = "en",
    dark: bool = False,
) -> Iterator[Visit]:
    """A new visitor, whose browser remembers nothing; at the end no error may have been shown."""
    context = browser.new_context(
        viewport=size,
        locale=language,
        color_scheme="dark" if dark else "light",
        has_touch=size is not DESKTOP,
        accept_downloads=True,
    )
    try:
        visit = Visit(context.new_page(), port, screenshots)
        yield visit
        assert visit.errors == []
    finally:
        context.close()


def assert_uncovered(board: Locator, bar: Locator) -> None:
    """No point of the board is under the bar of actions."""
    edge, top = board.bounding_box(), bar.bounding_box()
    assert edge is not None
    assert top is not None
    assert edge["y"] + edge["height"] <= top["y"] + 1


def check_access(page: Page) -> None:
    """Text has contrast, controls have names, ids are unique; axe-core agrees where it is there."""
    assert page.evaluate(CONTRAST) == []
    assert page.evaluate(NAMELESS) == []
    doubled = page.evaluate(
        "() => { const ids = [...document.querySelectorAll('[id]')].map(one => one.id);"
        " return ids.filter((id, i) => ids.indexOf(id) !== i); }"
    )
    assert doubled == []
    axe = os.environ.get("TENGEN_AXE")  # the path of axe.min.js
    if axe:
        page.evaluate(Path(axe).read_text())
        found = page.evaluate("() => axe.run()")["violations"]
        assert [(each["id"], [node["html"] for node in each["nodes"]]) for each in found] == []
