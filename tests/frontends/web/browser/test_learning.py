"""The page for learning, as somebody who never played: lessons, capture Go, problems, a birth."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from tengen.browser import STATIC
from tengen.frontends.web.learn.lessons import lessons
from tengen.frontends.web.learn.problem_play import view_of
from tengen.game.geometry import Point, point_text
from tengen.problems.problem import Problem
from tengen.problems.problem_files import shipped_problems
from tengen.problems.solution import OpponentReply
from tests.frontends.web.browser.test_looks import LANGUAGES, strings
from tests.frontends.web.browser.visit import PHONE, SIZES, Visit, check_access, visiting
from tests.frontends.web.run_folders import born_run
from tests.frontends.web.server import serving

VIEWS = ("lessons", "lesson/eyes/1", "capture", "problems", "born", "words")
DAY = 24 * 3600


@pytest.fixture(params=SIZES)
def learner(
    request: pytest.FixtureRequest, browser: Browser, port: int, screenshots: Path
) -> Iterator[Visit]:
    with visiting(browser, port, screenshots, SIZES[request.param]) as visit:
        yield visit


def go(visit: Visit, view: str) -> None:
    visit.page.goto(f"http://127.0.0.1:{visit.port}/learn#{view}")
    expect(visit.page.locator("body")).to_have_class(re.compile("ready"))


def choose(page: Page, point: str) -> None:
    """Choose a point as a person does, twice where points are close together for a finger."""
    page.locator(f"[data-point={point}]").click()
    aim = page.locator(".stage-aim button")
    if aim.is_visible():
        aim.click()
    answered(page)


def answered(page: Page) -> None:
    """Wait for what the server says of a try."""
    expect(page.locator(".exercise[aria-busy=true]")).to_have_count(0)


def fits(page: Page, selector: str) -> bool:
    """Is it on the screen, without scrolling?"""
    box, size = page.locator(selector).bounding_box(), page.viewport_size
    assert box is not None
    assert size is not None
    return box["y"] >= 0 and box["y"] + box["height"] <= size["height"]


def test_all_ten_lessons_are_played_to_their_end(learner: Visit) -> None:
    page = learner.page
    learner.open()
    page.click("#to-learn")
    expect(page.locator(".lesson-link")).to_have_count(10)
    check_access(page)
    page.click("#lessons-start")
    for number, lesson in enumerate(lessons(), 1):
        for here, board in enumerate(lesson.boards, 1):
            expect(page).to_have_url(re.compile(rf"#lesson/{lesson.id}/{here}$"))
            expect(page.locator(".kicker")).to_have_text(f"Lesson {number}")
            expect(page.locator("#lesson-next")).to_be_hidden()
            for answer in board.solution:
                if answer == "pass":
                    page.click("#lesson-pass")
                elif board.goals[0] == "number":
                    page.get_by_role("button", name=answer, exact=True).click()
                else:
                    choose(page, answer)
                answered(page)
                expect(page.locator("#lesson-told .good")).not_to_be_empty()
            expect(page.locator("#lesson-next")).to_be_focused()
            assert fits(page, "#lesson-next")
            assert fits(page, "#lesson-told")
            assert learner.overflow() <= 0
            page.click("#lesson-next")
    expect(page.locator("#lessons-progress")).to_have_text("All lessons are done. Well done!")
    page.reload()  # what was learned is remembered
    expect(page.locator(".lesson-link.done")).to_have_count(10)
    expect(page.locator("#lessons-start")).to_have_text("Capture Go")


def test_a_wrong_move_is_answered_taken_back_and_helped(learner: Visit) -> None:
    page = learner.page
    go(learner, "lesson/capture/1")
    choose(page, "A1")
    expect(page.locator("#lesson-told")).to_contain_text("Not yet")
    expect(page.locator("#lesson-told")).to_contain_text("White answers C2.")
    expect(page.locator("#lesson-again")).to_be_focused()
    check_access(page)
    page.keyboard.press("Enter")
    expect(page.get_by_label("C2, empty")).to_have_count(1)
    page.click("#lesson-hint")
    expect(page.get_by_label("C2, empty, marked cross")).to_have_count(1)
    choose(page, "C2")
    expect(page.locator("#lesson-told")).to_contain_text("Captured!")
    word = page.locator(".lead .word").first
    word.click()
    expect(page.locator("#bubble")).to_have_text(re.compile("An empty point next to a group"))
    page.keyboard.press("Escape")
    expect(page.locator("#bubble")).to_be_hidden()


def test_every_view_fits_and_speaks_every_language(learner: Visit) -> None:
    page = learner.page
    for view in VIEWS:
        go(learner, view)
        expect(page.locator("main h1, main h2").first).to_be_visible()
        for language, direction in LANGUAGES.items():
            page.select_option("#language", language)
            expect(page.locator("html")).to_have_attribute("lang", language)
            expect(page.locator("html")).to_have_attribute("dir", direction)
            assert learner.overflow() <= 0, (view, language)
            shown = set(page.locator("body").inner_text().split())
            known = strings(f"learn.{language}") | strings(f"terms.{language}") | strings(language)
            assert not {key for key in known if "." in key} & shown, (view, language)
            if language in ("ar", "en") and view != "words":
                learner.shoot(f"learn-{view.replace('/', '-')}-{language}", settle=0)
        page.select_option("#language", "en")
        check_access(page)


def test_capture_go_is_played_and_counted(learner: Visit) -> None:
    """A stone in the corner that is left alone is captured by whoever looks."""
    page = learner.page
    go(learner, "capture")
    page.get_by_label("5×5").locator("..").click()
    page.get_by_label("sharp").locator("..").click()
    expect(page.locator("[data-point]")).to_have_count(25)
    answered(page)
    over = page.locator("#capture-fresh")
    for point in ("A1", "E1", "A5", "E5", "C3", "A2", "B1", "E2", "D1", "A4", "B5", "E4", "D5"):
        if over.is_visible():
            break
        cell = page.locator(f"[data-point={point}]")
        if re.search("empty", cell.get_attribute("aria-label") or "") is None:
            continue
        choose(page, point)
    expect(over).to_be_visible()
    expect(page.locator("#capture-told")).to_contain_text(re.compile("captured first"))
    expect(page.locator("#capture-tally")).to_have_text(re.compile("^Won [01] of 1$"))
    check_access(page)


def first_problem(size: int) -> Problem:
    """An easy one with one move to find, on a board that is larger than what is shown of it."""
    return next(each for each in shipped_problems() if max(each.size) == size and not each.ko)


def solve(page: Page, problem: Problem) -> None:
    height = problem.size.height
    turn = problem.answers
    while True:
        move, reply = next(iter(turn.right.items()))
        choose(page, point_text(move, height))
        if not isinstance(reply, OpponentReply):
            break
        turn = reply.then
    expect(page.locator("#problem-told")).to_contain_text("Solved!")


def test_a_problem_is_failed_solved_and_comes_back(learner: Visit) -> None:
    page = learner.page
    problem = first_problem(19)
    go(learner, f"problem/{problem.id}")
    expect(page.locator("#problem-facts")).to_contain_text(f"19×19 · grade {problem.grade}")
    view = view_of(problem)
    shown = (view.right - view.left + 1) * (view.bottom - view.top + 1)
    expect(page.locator("[data-point]:not([aria-hidden])")).to_have_count(shown)
    check_access(page)
    wrong: Point = next(iter(problem.answers.wrong))
    choose(page, point_text(wrong, 19))
    expect(page.locator("#problem-told .bad")).not_to_be_empty()
    expect(page.locator("#problem-told")).to_contain_text("This one comes back soon.")
    page.click("#problem-again")
    solve(page, problem)
    assert fits(page, "#problem-next")
    page.wait_for_timeout(300)  # until the colours of buttons have changed
    check_access(page)
    noted = json.loads(page.evaluate("localStorage.getItem('tengen.learn.problems')"))
    assert noted[problem.id][0] == 0  # the first try counts, and it failed
    # Solved at the first try it comes back after a day, then after a week.
    for waits in (1, 7):
        noted[problem.id][1] = 0
        page.evaluate(
            "noted => localStorage.setItem('tengen.learn.problems', JSON.stringify(noted))", noted
        )
        page.reload()
        expect(page.locator("#problem-facts")).not_to_be_empty()
        before = page.evaluate("Date.now() / 1000")
        solve(page, problem)
        noted = json.loads(page.evaluate("localStorage.getItem('tengen.learn.problems')"))
        assert noted[problem.id][1] - before == pytest.approx(waits * DAY, abs=60)
    page.click("#problem-whole")
    expect(page.locator("[data-point]:not([aria-hidden])")).to_have_count(361)


def test_grades_are_listed_and_the_next_problem_is_another(learner: Visit) -> None:
    page = learner.page
    go(learner, "problems")
    expect(page.locator(".grade")).to_have_count(5)
    page.get_by_label("9×9", exact=True).locator("..").click()
    of_grade = [each for each in shipped_problems() if max(each.size) == 9 and each.grade == 1]
    expect(page.locator(".grade").first).to_contain_text(f"0 of {len(of_grade)} solved")
    page.click("#grade-1")
    expect(page.locator("#problem-facts")).to_contain_text("9×9 · grade 1")
    first = page.url
    page.click("#problem-next")
    expect(page).not_to_have_url(first)
    page.click("#problem-answer")
    shown = page.get_by_label(re.compile("marked circle"))
    expect(shown).to_have_count(1)
    point = shown.get_attribute("data-point")
    expect(page.locator("#problem-told")).to_contain_text(f"The move is {point}.")
    assert fits(page, "#problem-told")


def test_a_game_on_a_small_board_follows_the_lessons(learner: Visit) -> None:
    page = learner.page
    go(learner, "lessons")
    page.get_by_role("link", name="Play on 5×5").click()
    expect(page.locator("[data-point]")).to_have_count(25)
    expect(page.locator("#status")).to_have_text(re.compile("Your move|Tengen"))
    expect(page.locator("#players")).to_contain_text(strings("en")["level.newcomer"])


def test_the_file_of_words_is_one(port: int) -> None:
    """The page for learning and the game explain words by the same sentences."""
    assert not [key for key in strings("learn.en") if key.startswith(("term", "rules.words."))]
    scripts = [path.read_text() for path in (STATIC / "js" / "learn").glob("*.js")]
    assert not any("const TERMS" in script for script in scripts)


def test_a_network_that_was_born_is_watched_and_played(
    browser: Browser, screenshots: Path, tmp_path: Path
) -> None:
    born_run(tmp_path / "born" / "run")
    with serving(tmp_path) as port:
        for size in SIZES.values():
            with visiting(browser, port, screenshots, size) as learner:
                page = learner.page
                go(learner, "born")
                expect(page.locator("#born-status")).to_have_text("Learned for 20 minutes.")
                expect(page.locator(".born-curves .chart:visible")).to_have_count(2)
                for minute in (1, 5, 20):
                    page.get_by_label(f"Minute {minute}", exact=True).locator("..").click()
                    expect(page.locator("#born-undo")).to_be_disabled()
                    choose(page, "C3")
                    told = re.compile("White (answers|passes).*It gives Black [0-9.]+%", re.S)
                    expect(page.locator("#born-told")).to_have_text(told)
                check_access(page)
                learner.shoot("born", settle=0)
                assert learner.overflow() <= 0
        with visiting(browser, port, screenshots, PHONE, language="ar") as learner:
            go(learner, "born")
            expect(learner.page.locator("#born-status")).to_contain_text("مدة التعلّم")
            assert learner.overflow() <= 0
            learner.page.click("#born-remove")
            learner.page.get_by_role("button", name="أزِل").last.click()
            expect(learner.page.locator("#born-status")).to_have_text("لم يبدأ بعد.")
            expect(learner.page.locator("#born-start")).to_be_visible()


def test_how_far_the_preparation_is_can_be_seen(learner: Visit) -> None:
    """It takes minutes on a slow computer, in which nothing else happens."""
    view: dict[str, object] = {
        "may_train": True,
        "why_not": None,
        "install": "",
        "state": "running",
        "minutes": 0,
        "of": 20,
        "preparing": {"share": 0.25, "minutes": 7.5},
        "trouble": "",
        "run": None,
        "players": [{"minute": minute, "ready": minute == 1} for minute in (1, 5, 20)],
    }
    page, told = learner.page, learner.page.locator("#born-status")
    page.route("**/api/learn/born", lambda route: route.fulfill(json=view))
    go(learner, "born")
    expect(told).to_have_text("Preparing, the first time only: 25%, about 7:30 left.")
    assert page.locator("#born-share").evaluate("bar => bar.value") == 0.25
    for language in LANGUAGES:
        page.select_option("#language", language)
        expect(told).to_contain_text("7:30")
        assert learner.overflow() <= 0
        check_access(page)
    page.select_option("#language", "en")
    view["preparing"] = None
    expect(told).to_have_text("Preparing: this takes some minutes the first time.")
    view["minutes"] = 2.5
    expect(told).to_have_text("Learning: 2.5 of 20 minutes")
    assert page.locator("#born-share").evaluate("bar => bar.value") == 0.125
