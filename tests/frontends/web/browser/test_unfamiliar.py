"""A network that was not trained for a game: what the page says, and what it leaves out."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect

from tengen.engine.engine import Engine
from tengen.frontends.web.http.serve import make_engine
from tengen.network.fake import FakeEvaluator
from tengen.network.loaded_network import LoadedNetwork
from tengen.network.trained_on import trained_on
from tests.frontends.web.browser.visit import SIZES, visiting
from tests.frontends.web.made_up import HALVES
from tests.frontends.web.server import serving

GAME = "(;FF[4]GM[1]SZ[7]KM[6.5]RU[Japanese];B[dd];W[cc];B[ee])"
WORDS = {
    "en": "tengen-9x9 was not trained on 7×7, nor under these rules (Japanese)",
    "zh-Hant": "tengen-9x9 沒有在 7×7 棋盤上、也沒有用這種規則（日本規則）訓練過",
    "ar": "لم تُدرَّب",
}


@pytest.fixture(scope="module")
def nine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[int]:
    """A server whose network was trained on 9x9."""
    known = trained_on({"board_sizes": "9", "rules": "tromp-taylor"})
    evaluator = FakeEvaluator(HALVES.script, name="tengen-9x9")

    def make() -> Engine:
        return make_engine(LoadedNetwork(evaluator, "fake.safetensors", trained_on=known))

    with serving(tmp_path_factory.mktemp("games"), make=make) as port:
        yield port


@pytest.mark.parametrize("size", list(SIZES))
def test_a_banner_says_so_in_all_languages_and_nobody_is_rated(
    size: str, browser: Browser, nine: int, screenshots: Path
) -> None:
    with visiting(browser, nine, screenshots, SIZES[size]) as visit:
        page, banner = visit.page, visit.page.locator("#banner")
        visit.open()
        expect(banner).to_be_empty()
        visit.paste(GAME)
        for language, words in WORDS.items():
            page.select_option("#settings select", language)
            expect(banner).to_contain_text(words)
            expect(banner).to_be_in_viewport(ratio=1)
            assert visit.overflow() <= 0
        page.select_option("#settings select", "en")
        page.click("#tab-review")
        page.click("#review-start")
        expect(page.locator("#unrated")).to_have_text(
            "Not rated: the network was not trained for such games."
        )
        expect(page.locator("#review-results .accuracy")).to_have_count(0)
        expect(page.locator("#review-results")).not_to_contain_text("None worth mentioning")
        visit.shoot("unfamiliar")


def test_levels_have_ranks_on_the_board_they_were_measured_on(
    browser: Browser, nine: int, screenshots: Path
) -> None:
    with visiting(browser, nine, screenshots) as visit:
        page, level = visit.page, visit.page.locator("#new-level option[value=casual]")
        visit.open()
        page.click("#new-game")
        page.click("#new [data-size='9']")
        expect(level).to_have_text("Casual player · about 7 kyu")
        expect(page.get_by_text("Ranks are estimates")).to_be_visible()
        page.click("#new [data-size='13']")
        expect(level).to_have_text("Casual player")
        expect(page.get_by_text("Ranks are estimates")).to_be_hidden()
