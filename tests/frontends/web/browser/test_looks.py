"""Every page at phone and desktop size, in all languages, light and dark: nothing sticks out."""

from __future__ import annotations

import json
import re
from itertools import product
from pathlib import Path
from typing import Any
from urllib.request import urlopen

import pytest
from playwright.sync_api import Browser, Page, expect

from tengen.browser import STATIC
from tests.frontends.web.browser.test_analysing import GAME
from tests.frontends.web.browser.visit import DESKTOP, LIMIT, PHONE, Visit, visiting

LANGUAGES = {"en": "ltr", "zh-Hant": "ltr", "ar": "rtl"}
SIZES = {"phone": PHONE, "desktop": DESKTOP}


def strings(language: str) -> dict[str, Any]:
    found = json.loads((STATIC / "languages" / f"{language}.json").read_text())
    assert isinstance(found, dict)
    return found


def places(text: str | dict[str, str]) -> set[str]:
    """What is filled into a string; plurals need not all name the count."""
    texts = [text] if isinstance(text, str) else [text["other"]]
    return {name for each in texts for name in re.findall(r"\{(\w+)\}", each)}


def test_all_languages_say_the_same_things() -> None:
    english = strings("en")
    for language in LANGUAGES:
        other = strings(language)
        assert list(other) == list(english)
        for key, text in other.items():
            assert places(text) == places(english[key]), (language, key)


def test_every_string_that_is_asked_for_is_there() -> None:
    folders = ("board", "game", "lib", "page", "panels")
    own = [file for folder in folders for file in (STATIC / "js" / folder).glob("*.js")]
    sources = [file.read_text() for file in [*own, STATIC / "index.html"]]
    asked = re.compile(r"\bt\(\s*\"([a-z_.]+)\"|(?:text|label|hint|title)(?:: |=)\"([a-z_.]+)\"")
    keys = {key for text in sources for pair in asked.findall(text) for key in pair if key}
    assert len(keys) > 100
    assert keys <= set(strings("en"))


def test_each_file_in_the_folder_is_a_panel(port: int) -> None:
    with urlopen(f"http://127.0.0.1:{port}/static/js/panels/index.js") as answer:
        assert answer.headers["Content-Type"].startswith("text/javascript")
        listed = re.findall(
            r'^export \* as (\w+) from "\./(\w+)\.js";$', answer.read().decode(), re.M
        )
    files = {file.stem: file.read_text() for file in (STATIC / "js" / "panels").glob("*.js")}
    assert listed == [(name, name) for name in sorted(files)]
    orders = [re.findall(r"^export const order = (\d+);$", text, re.M) for text in files.values()]
    assert len({order for (order,) in orders}) == len(files)
    assert all("\nexport function createPanel({ store" in text for text in files.values())


@pytest.mark.parametrize(("language", "size"), list(product(LANGUAGES, SIZES)))
def test_pages_fit_and_speak_the_language(
    language: str, size: str, browser: Browser, port: int, screenshots: Path
) -> None:
    dark = language == "zh-Hant"
    with visiting(browser, port, screenshots, SIZES[size], language=language, dark=dark) as visit:
        page = visit.page
        page.goto(f"http://127.0.0.1:{port}/")
        expect(page.locator("html")).to_have_attribute("dir", LANGUAGES[language])
        expect(visit.point("C3")).to_have_attribute("aria-label", re.compile("C3"), timeout=LIMIT)
        name = f"{size}-{language}"
        _look(visit, f"play-{name}", language)
        page.click("#new-game")
        _look(visit, f"new-game-{name}", language)
        page.keyboard.press("Escape")
        page.click("#open-button")
        page.fill("#sgf-text", GAME)
        page.click("#open-text")
        expect(page.locator("#candidates tbody tr").first).to_be_visible()
        _look(visit, f"analyse-{name}", language)
        page.click("#tab-review")
        page.click("#review-start")
        expect(page.locator("#review-results .accuracy")).to_have_count(2)
        _look(visit, f"review-{name}", language)


def _look(visit: Visit, name: str, language: str) -> None:
    visit.shoot(name)
    assert visit.overflow() <= 0
    shown = visit.page.locator("body").inner_text()
    missing = [key for key in strings(language) if "." in key and key in shown.split()]
    assert missing == []


def test_language_theme_and_sound_are_remembered(visit: Visit, page: Page) -> None:
    visit.open()
    page.select_option("#language", "ar")
    expect(page.locator("html")).to_have_attribute("dir", "rtl")
    left = page.locator("#board").bounding_box()
    side = page.locator("#side").bounding_box()
    assert left is not None
    assert side is not None
    assert side["x"] < left["x"]
    for _ in range(2):
        page.click("#theme")  # as the system, light, dark
    page.click("#sound")
    page.reload()
    expect(page.locator("html")).to_have_attribute("lang", "ar")
    expect(page.locator("html")).to_have_attribute("data-theme", "dark")
    expect(page.locator("#sound")).to_have_attribute("aria-pressed", "false")
    # The board is never mirrored: A is on the left.
    first = visit.point("A1").bounding_box()
    last = visit.point("J1").bounding_box()
    assert first is not None
    assert last is not None
    assert first["x"] < last["x"]
