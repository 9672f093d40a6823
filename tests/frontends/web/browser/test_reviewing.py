"""Reviews in the browser, with a network to which only one point of the board matters."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from playwright.sync_api import Page, expect

from tengen.network.evaluator import Batch, Evaluation
from tengen.network.fake import FakeEvaluator, uniform
from tests.frontends.web.browser.visit import Visit, at_both_sizes
from tests.frontends.web.server import serving

OWN, OTHER = 1, 2  # planes: stones of the side to play, and of the opponent
# Black leaves the centre to White, who leaves it to Black, who takes it.
GAME = "(;GM[1]SZ[9]KM[7]RU[Chinese];B[gc];W[cc];B[ee];W[gg])"


def centre_is_all(batch: Batch) -> Evaluation:
    """Whoever has the centre is ahead by 10 points; everybody would like to play there."""
    n, _, height, width = batch.planes.shape
    middle = batch.planes[:, :, height // 2, width // 2]
    sign = middle[:, OWN] - middle[:, OTHER]
    policy = np.zeros((n, height * width + 1), np.float32)
    policy[:, height // 2 * width + width // 2] = 3
    win = 0.5 + 0.4 * sign
    return uniform(batch)._replace(
        policy=policy,
        value=np.stack([win, 1 - win, 0 * win], 1).astype(np.float32),
        score=(10 * sign).astype(np.float32),
        lead=(10 * sign).astype(np.float32),
    )


@pytest.fixture(scope="module")
def port(tmp_path_factory: pytest.TempPathFactory) -> Iterator[int]:
    with serving(tmp_path_factory.mktemp("games"), FakeEvaluator(centre_is_all)) as port:
        yield port


@at_both_sizes
def test_a_review_shows_mistakes_with_the_better_line_and_is_taken_home(
    visit: Visit, page: Page, tmp_path: Path
) -> None:
    visit.open()
    visit.paste(GAME)
    page.click("#tab-review")
    page.click("#review label:has(input[value=quick])")
    page.click("#review-start")
    worst = page.locator("#review-results .mistakes .turn-row")
    expect(worst).to_have_count(2)
    expect(worst.nth(0)).to_contain_text("Move 1G7better:E5")
    expect(worst.nth(1)).to_contain_text("Move 2C7better:E5")
    worst.nth(1).click()
    expect(page.locator("#move-number")).to_have_text("Move 1 of 4")
    expect(worst.nth(1)).to_have_attribute("aria-pressed", "true")
    expect(page.locator("#board")).to_be_in_viewport(ratio=1)  # where the better line is shown
    expect(page.locator("#graph .slip")).to_have_count(2)
    visit.shoot("review")
    for link, beginning in (("#export-sgf", "(;"), ("#export-html", "<!doctype html>")):
        with page.expect_download() as download:
            page.click(link)
        file = tmp_path / link.strip("#")
        download.value.save_as(file)
        assert file.read_text().lower().startswith(beginning)


@at_both_sizes
def test_after_a_game_one_is_told_what_was_better(visit: Visit, page: Page) -> None:
    visit.open()
    visit.new_game(9, "black")
    visit.point("C3").click()
    expect(page.locator("#status")).to_have_text(re.compile("Your move"))
    page.click("#resign")
    page.click("dialog[open] button[value=yes]")
    expect(page.locator("#status")).to_have_text("You resigned: Tengen wins")
    page.click("#better-ask")
    turn = page.locator("#better-list .turn-row")
    expect(turn).to_contain_text("Move 1C3better:E5")
    visit.shoot("over")
    turn.click()
    expect(page.locator("#tab-review")).to_have_attribute("aria-current", "page")
    expect(visit.point("C3")).to_have_attribute("aria-label", "C3, empty")
    page.click("#tab-play")
    expect(visit.point("C3")).to_have_attribute("aria-label", re.compile("black stone"))
