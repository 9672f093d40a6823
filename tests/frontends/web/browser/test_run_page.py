"""Watching a run learn, in a browser: it is read, walked through, and goes on by itself."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Browser, Page, ViewportSize, expect

from tengen.cluster.manifest import TRAINING, Manifest, write_manifest
from tengen.frontends.web.runs.serve import RunPage
from tengen.runs.folder import RunFolder
from tengen.runs.store import FolderStore
from tests.frontends.web.browser.visit import DESKTOP, LIMIT, PHONE, Visit, check_access, visiting
from tests.frontends.web.run_folders import OUTSIDER, add_game, add_iteration, lively_run


@pytest.fixture
def folder(tmp_path: Path) -> RunFolder:
    return lively_run(tmp_path / "lively")


@contextmanager
def watching(
    browser: Browser,
    folder: RunFolder,
    screenshots: Path,
    size: ViewportSize = DESKTOP,
    *,
    language: str = "en",
    dark: bool = False,
) -> Iterator[Visit]:
    """Somebody who looks at the page of a run, once all of it is there."""
    with RunPage(folder.path, 0) as served:
        port = urlsplit(served.address).port
        assert port is not None
        with visiting(browser, port, screenshots, size, language=language, dark=dark) as visit:
            visit.page.goto(served.address)
            expect(visit.page.locator("#name")).to_have_text("lively", timeout=LIMIT)
            expect(visit.page.locator("#policy .slide")).to_have_attribute(
                "max", "2", timeout=LIMIT
            )
            yield visit


def test_a_run_is_watched_as_it_goes_on(
    browser: Browser, folder: RunFolder, screenshots: Path
) -> None:
    with watching(browser, folder, screenshots) as visit:
        page = visit.page
        expect(page.locator("#status-words")).to_have_text("learning")
        expect(page.locator("#facts")).to_have_text(re.compile("board 3×3 · b2c32 · iteration 6"))
        expect(page.locator("#strength .chart-level-name")).to_have_text(re.compile(OUTSIDER))
        expect(page.locator("#strength .chart-error")).to_have_count(3)
        small = page.locator("#games .shelf-game")
        expect(small).to_have_count(2, timeout=LIMIT)
        expect(small.first).to_have_text("B+8.5")
        # What is seen on it is part of its name, for those who call it by voice.
        expect(small.first).to_have_accessible_name(re.compile(r"^B\+8\.5 · Game \d+: Black wins"))
        visit.shoot("run")
        check_access(page)
        add_iteration(folder, 7)
        add_game(folder, 99)
        expect(page.locator("#facts")).to_have_text(re.compile("iteration 7"), timeout=LIMIT)
        expect(page.locator("#games .shelf-game")).to_have_count(3, timeout=LIMIT)
        for step in (8, 9, 10):
            add_iteration(folder, step)
        expect(page.locator("#status-words")).to_have_text("finished", timeout=LIMIT)


def test_the_workers_of_a_run_on_several_machines_are_shown(
    browser: Browser, folder: RunFolder, screenshots: Path
) -> None:
    with watching(browser, folder, screenshots) as visit:
        page = visit.page
        expect(page.locator("#workers")).to_be_hidden()
        rates = {"games_rate": 540.0, "evals_rate": 720_000.0, "silent": 1.2, "version": 31}
        workers = (
            {"session": 3, "label": "worker 1", "node": "gpu-1", "state": "playing", **rates},
            {"session": 4, "label": "worker 2", "node": "gpu-2", "state": "lost", "silent": 75},
        )
        manifest = Manifest(TRAINING, version=31, steps=4000, losses=2, workers=workers)
        write_manifest(FolderStore(folder.path), manifest)
        rows = page.locator("#workers tbody tr")
        expect(rows).to_have_count(2, timeout=LIMIT)
        expect(rows.nth(0)).to_have_text(re.compile("worker 1.*gpu-1.*playing.*540.*720k"))
        expect(rows.nth(1)).to_have_text(re.compile("worker 2.*gpu-2.*lost.*1:15"))
        facts = "version 31 of the weights, 4,000 steps · contact lost 2 times"
        expect(page.locator("#workers-facts")).to_have_text(facts)
        visit.shoot("run-workers")


def test_everything_is_reached_by_keyboard(
    browser: Browser, folder: RunFolder, screenshots: Path
) -> None:
    with watching(browser, folder, screenshots) as visit:
        page = visit.page
        elo = page.get_by_role("slider", name="Elo above the first network, with 95% intervals")
        elo.focus()
        page.keyboard.press("Home")
        expect(elo).to_have_attribute("aria-valuetext", "iteration 0: 0 [0, 0]")
        page.keyboard.press("ArrowRight")
        expect(elo).to_have_attribute("aria-valuetext", re.compile(r"^iteration 3: \+1\d\d \["))
        _games_by_keyboard(page)
        network = page.get_by_role("slider", name="Network", exact=True)
        network.focus()
        page.keyboard.press("Home")
        expect(page.locator("#policy .game-heading")).to_have_text("Network of iteration 0")
        page.get_by_role("radio", name="time").focus()
        page.keyboard.press("Space")
        elo.focus()
        page.keyboard.press("End")
        expect(elo).to_have_attribute("aria-valuetext", re.compile("^after 3:00: "))


def _games_by_keyboard(page: Page) -> None:
    page.get_by_role("button", name="Pause", exact=True).press("Enter")
    page.get_by_role("button", name="To the start").press("Enter")
    expect(page.locator("#games .game-heading")).to_have_text("The start")
    page.get_by_role("button", name="One move on").press("Enter")
    expect(page.locator("#games .game-heading")).to_have_text("Move 1: Black A2")
    thought = page.locator("#games .game-thought")
    expect(thought).to_have_text("Black wins 61%, score +3.3, 20 visits")
    page.get_by_role("button", name="To the end").press("Enter")
    expect(thought).to_have_text("Counted: Black wins by 8.5 points")
    expect(page.locator("#games .game > .view")).to_have_attribute(
        "aria-label", re.compile("^Game")
    )


def test_on_a_phone_in_arabic_and_in_the_dark_it_fits(
    browser: Browser, folder: RunFolder, screenshots: Path
) -> None:
    with watching(browser, folder, screenshots, PHONE, language="ar", dark=True) as visit:
        page = visit.page
        expect(page.locator("html")).to_have_attribute("dir", "rtl")
        expect(page.locator("#strength h2")).to_have_text("قوّة اللعب", timeout=LIMIT)
        assert visit.overflow() <= 0
        visit.shoot("run-arabic-dark")
        check_access(page)
        page.select_option("#language", "zh-Hant")
        expect(page.locator("#strength h2")).to_have_text("棋力", timeout=LIMIT)
        assert visit.overflow() <= 0


def test_the_page_comes_back_with_its_server(browser: Browser, folder: RunFolder) -> None:
    with closing(browser.new_context(locale="en")) as context:
        page = context.new_page()
        status = page.locator("#status-words")
        with RunPage(folder.path, 0) as served:
            page.goto(served.address)
            expect(status).to_have_text("learning", timeout=LIMIT)
        expect(status).to_have_text("no connection; trying again", timeout=LIMIT)
        with RunPage(folder.path, urlsplit(served.address).port or 0):
            expect(status).to_have_text("learning", timeout=LIMIT)
