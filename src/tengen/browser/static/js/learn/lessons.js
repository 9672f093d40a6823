// "Learn to play": the list of lessons, and a board of a lesson.

import { element, icon } from "../lib/element.js";
import { t, translateMarkup } from "../lib/i18n.js";
import { fillWithTerms } from "../lib/terms.js";
import { backLink, createExercise, replyText, sentences } from "./exercise.js";
import { boardsDone, noteBoard } from "./progress.js";
import { ask, tell } from "./server.js";

const GAME_SIZES = [5, 7, 9];
let known = null; // the lessons, as the server told them

async function lessons() {
  known ??= (await ask("lessons")).lessons;
  return known;
}

const leftOf = (lesson) => lesson.boards.length - boardsDone(lesson.id).size;

/** The first board that is not done, of a lesson or of all; null if there is none. */
function nextBoard(all) {
  for (const lesson of all) {
    const done = boardsDone(lesson.id);
    const at = lesson.boards.findIndex((_, index) => !done.has(index + 1));
    if (at >= 0) return `#lesson/${lesson.id}/${at + 1}`;
  }
  return null;
}

export function createLessons() {
  const progress = element("p", { class: "facts", id: "lessons-progress" });
  const start = element("a", { class: "button primary", id: "lessons-start", href: "#lessons" });
  const list = element("ol", { class: "lesson-list" });
  const games = element("div", { class: "acts" },
    element("a", { class: "button plain", href: "#capture", id: "to-capture", data: { text: "then.capture" } }),
    ...GAME_SIZES.map((size) => element("a", { class: "button plain", href: `/#game=${size}`, data: { size } })));
  const trouble = element("p", { class: "verdict bad", role: "status" });
  const box = element("div", { class: "sheet" },
    element("h1", { data: { text: "lessons.title" } }), element("p", { class: "lead", data: { text: "lessons.words" } }),
    element("div", { class: "start" }, start, progress), trouble, list,
    element("h2", { data: { text: "then.title" } }), element("p", { data: { text: "then.words" } }), games);
  let all = [];

  function item(lesson, index) {
    const left = leftOf(lesson);
    const state = left === 0 ? "done" : left < lesson.boards.length ? "begun" : "new";
    const words = { done: () => t("lesson.state.done"), begun: () => t("lesson.state.begun", { count: left }), new: () => "" }[state]();
    const first = nextBoard([lesson]) ?? `#lesson/${lesson.id}/1`;
    return element("li", {}, element("a", { class: `lesson-link ${state}`, href: first },
      element("span", { class: "lesson-number", "aria-hidden": "true" }, state === "done" ? icon("check") : String(index + 1)),
      element("span", { class: "lesson-name", text: t(`lesson.${lesson.id}.title`) }),
      element("span", { class: "lesson-state", text: words })));
  }

  function label() {
    const boards = all.reduce((sum, { boards: { length } }) => sum + length, 0);
    const left = all.reduce((sum, lesson) => sum + leftOf(lesson), 0);
    list.replaceChildren(...all.map(item));
    start.hidden = boards === 0;
    start.textContent = t(left === 0 ? "then.capture" : left === boards ? "lessons.start" : "lessons.continue");
    start.href = nextBoard(all) ?? "#capture";
    progress.textContent = left === 0 && boards ? t("lessons.done") : boards ? t("lessons.progress", { count: boards - left, all: boards }) : "";
    for (const link of games.querySelectorAll("[data-size]")) link.textContent = t("then.game", { size: Number(link.dataset.size) });
  }

  lessons().then((found) => {
    all = found;
    label();
  }, (failure) => {
    trouble.textContent = failure.words();
  });
  return { element: box, label };
}

export function createLesson([id, number]) {
  const here = Number(number) || 1;
  const heading = element("h1", {});
  const kicker = element("p", { class: "kicker" });
  const words = element("p", { class: "lead" });
  const dots = element("ol", { class: "dots" });
  const head = element("div", { class: "exercise-head" },
    backLink("#lessons", "lessons.title"), element("div", { class: "titles" }, kicker, heading), dots, words);
  const choices = element("div", { class: "acts", id: "lesson-choices", role: "group", "aria-labelledby": "lesson-task" });
  const exercise = createExercise({
    head, onPoint: attempt, id: "lesson",
    acts: {
      next: { text: "next", kind: "primary", act: goOn },
      again: { text: "again", kind: "primary", act: again },
      pass: { text: "play.pass", picture: "pass", act: () => attempt("pass") },
      hint: { text: "hint", picture: "bulb", act: hint },
    },
  });
  exercise.more.append(choices);
  const { stage, buttons } = exercise;

  let all = [];
  let lesson = null;
  let board = null; // as the server told it before anything was tried
  let tries = []; // that were right
  let shown = null; // the board that is shown
  let good = null; // the board before a wrong try, which one goes back to
  let verdict = null; // what became of the last try
  let hinted = false;
  let busy = false;

  const key = (what) => `lesson.${id}.${here}.${what}`;
  const done = () => Boolean(verdict?.done);
  const wrong = () => Boolean(verdict && !verdict.right);
  const stays = () => wrong() && verdict.still; // nothing has changed: one may simply go on

  function marks() {
    const tapping = board.goal === "tap";
    const stones = board.marked.map((point) => ({ point, kind: "triangle" }));
    const found = tapping && verdict ? (shown.marked ?? []).map((point) => ({ point, kind: "circle" })) : [];
    const offered = board.offered.map((point) => ({ point, kind: "circle" })).filter(({ point }) => tries.length === 0 && point !== shown.last);
    const hints = hinted && !done() ? [{ point: board.hint, kind: "cross" }] : [];
    const kept = stones.filter(({ point }) => !found.some((one) => one.point === point));
    return [...(board.goal === "number" ? [] : kept), ...found, ...offered, ...hints].filter(({ point }) => point !== "pass");
  }

  function show() {
    if (!board) return;
    const playing = !done() && (!wrong() || stays()) && board.goal !== "number";
    stage.show({ board: shown, marks: marks(), plays: playing });
    fillWithTerms(exercise.task, t(key("task")));
    if (done()) exercise.say("good", t(`said.${verdict.said}`, verdict.values), sentences(replyText(verdict), t(key("done")), hereLast() ? t("lesson.over", { number: all.indexOf(lesson) + 1 }) : ""));
    else if (verdict) {
      const own = verdict.said === "chosen_wrong" ? t(key("wrong")) : "";
      exercise.say(verdict.right ? "good" : "bad", t(`said.${verdict.said}`, verdict.values), sentences(own, replyText(verdict)));
    } else exercise.say("");
    exercise.offer(...(done() ? ["next"] : wrong() && !stays() ? ["again", "hint"] : ["hint", ...(board.goal === "pass" ? ["pass"] : [])]));
    buttons.next.querySelector("span").textContent = t(hereLast() ? (nextLesson() ? "lesson.next" : "finish") : "next");
    choices.hidden = board.goal !== "number" || done();
    if (!choices.hidden) {
      choices.replaceChildren(...board.choices.map((count) => {
        const node = element("button", { type: "button", class: "button plain", text: String(count) });
        node.addEventListener("click", () => attempt(String(count)));
        return node;
      }));
    }
  }

  const hereLast = () => here === lesson.boards.length;
  const nextLesson = () => all[all.indexOf(lesson) + 1] ?? null;

  async function attempt(text) {
    if (busy || !board || done() || (wrong() && !stays())) return;
    busy = true;
    exercise.busy(true);
    try {
      const found = await tell(`lessons/${id}/${here}`, { tries: [...tries, text] });
      hinted = false;
      verdict = found;
      if (found.right) tries.push(text);
      good = found.right ? found : good;
      shown = found.still && !found.right && board.goal !== "tap" ? good : found;
      if (found.done) noteBoard(id, here);
      show();
      label();
      if (found.done) buttons.next.focus();
      else if (!found.right && !found.still) buttons.again.focus();
    } catch (failure) {
      exercise.say("bad", failure.words?.() ?? t("away"));
    } finally {
      busy = false;
      exercise.busy(false);
    }
  }

  function again() {
    [verdict, shown] = [null, good];
    show();
    stage.focus();
  }

  function hint() {
    if (wrong() && !stays()) again();
    hinted = tries.length === 0 && board.goal !== "number" && board.hint !== "pass";
    if (!hinted) exercise.say("", "");
    show();
    if (board.hint === "pass") buttons.pass.focus();
  }

  function goOn() {
    const next = hereLast() ? nextLesson() : lesson;
    location.hash = next ? `#lesson/${next.id}/${hereLast() ? 1 : here + 1}` : "#lessons";
  }

  function label() {
    if (!lesson) return;
    kicker.textContent = t("lesson.number", { number: all.indexOf(lesson) + 1 });
    heading.textContent = t(`lesson.${id}.title`);
    fillWithTerms(words, t(`lesson.${id}.words`));
    words.hidden = here > 1;
    const finished = boardsDone(id);
    dots.replaceChildren(...lesson.boards.map((_, index) => {
      const link = element("a", { href: `#lesson/${id}/${index + 1}`, class: finished.has(index + 1) ? "dot done" : "dot" },
        element("span", { class: "unseen", text: t("lesson.board", { here: index + 1, all: lesson.boards.length }) }));
      if (index + 1 === here) link.setAttribute("aria-current", "step");
      return element("li", {}, link);
    }));
    show();
  }

  lessons().then((found) => {
    all = found;
    lesson = all.find((one) => one.id === id);
    board = lesson?.boards[here - 1];
    if (!board) {
      location.hash = "#lessons";
      return;
    }
    shown = good = board;
    label();
    translateMarkup();
  }, (failure) => exercise.say("bad", failure.words()));
  return { element: exercise.element, label, repaint: stage.repaint };
}
