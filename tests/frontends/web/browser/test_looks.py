"""Every page at phone and desktop size, in all languages, light and dark: nothing sticks out."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any
from urllib.request import urlopen

import pytest
from playwright.sync_api import Browser, Page, expect

from tengen.browser import STATIC
from tengen.game.rules import NAMED
from tests.frontends.web.browser.test_analysing import GAME
from tests.frontends.web.browser.visit import DESKTOP, NARROW, Visit, visiting

LANGUAGES = {
    "en": "ltr",
    "zh-Hans": "ltr",
    "zh-Hant": "ltr",
    "ja": "ltr",
    "ko": "ltr",
    "ar": "rtl",
}
PLURALS = {"en": {"one", "other"}, "ar": {"zero", "one", "two", "few", "many", "other"}}
LOOKS = {"phone": NARROW, "desktop": DESKTOP}
NAMES = {"Tengen", "Tromp-Taylor"}  # which no language translates


def strings(language: str) -> dict[str, Any]:
    found = json.loads((STATIC / "languages" / f"{language}.json").read_text())
    assert isinstance(found, dict)
    return found


def places(text: str | dict[str, str]) -> set[str]:
    """What is filled into a string; plurals need not all name the count."""
    texts = [text] if isinstance(text, str) else [text["other"]]
    return {name for each in texts for name in re.findall(r"\{(\w+)\}", each)}


@pytest.mark.parametrize("page", ["", "run.", "moments.", "report.", "terms.", "learn."])
def test_all_languages_say_the_same_things(page: str) -> None:
    english = strings(f"{page}en")
    files = {file.name for file in (STATIC / "languages").glob("*.json")}
    assert {f"{page}{language}.json" for language in LANGUAGES} <= files
    for language in LANGUAGES:
        other = strings(f"{page}{language}")
        assert sorted(other) == sorted(english)
        for key, text in other.items():
            assert places(text) == places(english[key]), (language, key)
            plural = isinstance(text, dict)
            assert plural == isinstance(english[key], dict), (language, key)
            if plural:
                assert set(text) == PLURALS.get(language, {"other"}), (language, key)
            told = " ".join(text.values()) if isinstance(text, dict) else text
            assert told.strip(), (language, key)
            if language != "en" and re.search(r"[a-z]{3}", re.sub(r"\{\w+\}", "", told)):
                assert text != english[key] or text in NAMES, (language, key)
    # Which languages there are is written in the page once.
    listed = re.findall(r'^  "?([\w-]+)"?: "', (STATIC / "js/lib/i18n.js").read_text(), re.M)
    assert listed == list(LANGUAGES)


def test_every_rule_set_has_a_sentence_and_every_word_an_explanation() -> None:
    glossary = (STATIC / "js/lib/terms.js").read_text()
    listed = re.findall(r'"([a-z]+)"', glossary.split("const TERMS = [")[1].split("]")[0])
    assert len(listed) >= 20
    for language in LANGUAGES:
        known = strings(f"terms.{language}")
        for name in NAMED:
            assert f"rules.words.{name}" in known, (language, name)
        for term in listed:
            assert {f"terms.{term}", f"terms.name.{term}"} <= set(known), (language, term)
    sources = [file.read_text() for file in (STATIC / "js").glob("**/*.js")]
    asked = {name for text in sources for name in re.findall(r'\bexplain\("(\w+)"', text)}
    asked |= {name for text in sources for name in re.findall(r'\bterm: "(\w+)"', text)}
    assert {"komi", "rank", "dead", "accuracy"} <= asked <= set(listed)


def test_words_that_are_chosen_among_differ() -> None:
    for language in LANGUAGES:
        known = strings(language)
        for prefix in ("level.", "rules.", "tab.", "review.quick review.normal review.deep"):
            names = [
                text
                for key, text in known.items()
                if key in prefix.split() or (prefix.endswith(".") and key.startswith(prefix))
            ]
            texts = [str(name) for name in names]
            assert len(set(texts)) == len(texts), (language, prefix)
        assert known["new.level"] != known["count.tax"]
    taiwan = " ".join(map(str, strings("zh-Hant").values()))
    assert "網路" not in taiwan.replace("神經網路", "")


def test_every_string_that_is_asked_for_is_there() -> None:
    folders = ("board", "game", "lib", "moments", "page", "panels")
    own = [file for folder in folders for file in (STATIC / "js" / folder).glob("*.js")]
    sources = [file.read_text() for file in [*own, STATIC / "index.html"]]
    asked = re.compile(r"\bt\(\s*\"([a-z_.]+)\"|(?:text|label|hint|title)(?:: |=)\"([a-z_.]+)\"")
    keys = {key for text in sources for pair in asked.findall(text) for key in pair if key}
    assert len(keys) > 100
    assert keys <= set(strings("en")) | set(strings("moments.en"))


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


@pytest.mark.parametrize("size", list(LOOKS))
def test_pages_fit_and_speak_every_language(
    size: str, browser: Browser, port: int, screenshots: Path
) -> None:
    with visiting(browser, port, screenshots, LOOKS[size], dark=size == "phone") as visit:
        page = visit.page
        visit.open()

        def look(name: str) -> None:
            for language, direction in LANGUAGES.items():
                page.eval_on_selector(
                    "#language",
                    "(select, chosen) => { select.value = chosen;"
                    " select.dispatchEvent(new Event('change')); }",
                    language,
                )
                expect(page.locator("html")).to_have_attribute("lang", language)
                expect(page.locator("html")).to_have_attribute("dir", direction)
                _look(visit, f"{name}-{size}-{language}", language)

        look("play")
        page.click("#new-game")
        look("new-game")
        page.keyboard.press("Escape")
        page.click("#open-button")
        page.fill("#sgf-text", GAME)
        page.click("#open-text")
        expect(page.locator("#candidates tbody tr").first).to_be_visible()
        look("analyse")
        page.click("#tab-review")
        page.click("#review-start")
        expect(page.locator("#review-results .accuracy")).to_have_count(2)
        look("review")
        page.click("#my-games-button")
        look("my-games")


def test_words_while_the_server_is_away_run_in_their_direction(
    browser: Browser, port: int, screenshots: Path
) -> None:
    for locale, direction in {"ar": "rtl", "ja": "ltr"}.items():
        with visiting(browser, port, screenshots, NARROW, language=locale) as visit:
            visit.page.goto(f"http://127.0.0.1:{port}/static/away.html")
            expect(visit.page.locator("html")).to_have_attribute("dir", direction)
            command = visit.page.locator("kbd:visible")
            expect(command).to_have_text("tengen play")
            # One line, from left to right, in every language.
            assert command.evaluate("node => node.getClientRects().length") == 1
            assert command.evaluate("node => getComputedStyle(node).direction") == "ltr"


def test_the_first_language_is_the_browsers(browser: Browser, port: int, screenshots: Path) -> None:
    wanted = {"zh-TW": "zh-Hant", "zh-CN": "zh-Hans", "ja-JP": "ja", "ko": "ko", "fr": "en"}
    for locale, language in wanted.items():
        with visiting(browser, port, screenshots, language=locale) as visit:
            visit.page.goto(f"http://127.0.0.1:{port}/")
            expect(visit.page.locator("html")).to_have_attribute("lang", language)
            expect(visit.page.locator("body")).to_have_class(re.compile("ready"))


def _look(visit: Visit, name: str, language: str) -> None:
    if language in ("en", "ar"):  # pictures take most of the time
        visit.shoot(name, settle=0)
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
