// Problems: the list by board and grade, and a problem.

import { choice } from "../lib/controls.js";
import { element } from "../lib/element.js";
import { levelName, t, translateMarkup } from "../lib/i18n.js";
import { recallObject, remember } from "../lib/local_storage.js";
import { backLink, createExercise, replyText, sentences } from "./exercise.js";
import { LEARNT, noteProblem, player, problemsNoted, standingOf } from "./progress.js";
import { ask, tell } from "./server.js";

const GRADES = [1, 2, 3, 4, 5];
const POLL = 2500; // milliseconds between two looks at how far the server is
let shipped = null; // the problems that come with Tengen, as the server lists them

async function allShipped() {
  shipped ??= (await ask("problems")).problems;
  return shipped;
}

const chosenTerms = () => ({ size: 0, grade: 1, own: false, ...recallObject("learn.problems.terms", {}) });
const keepTerms = (terms) => remember("learn.problems.terms", terms);
const solvedOnce = (noted, { id }) => (noted[id]?.[3] ?? 0) > 0;

/** The problem to solve next of some: one that is due again, else a new one, but not `besides`. */
function nextOf(problems, besides = null) {
  const noted = problemsNoted();
  const others = problems.filter(({ id }) => id !== besides);
  const due = others.filter(({ id }) => standingOf(noted[id]) === "due");
  if (due.length > 0) return due.sort((one, other) => noted[one.id][1] - noted[other.id][1])[0];
  return others.find(({ id }) => standingOf(noted[id]) === "new") ?? null;
}

function ofTerms(problems, { size, grade }) {
  return problems.filter((one) => (size === 0 || one.size === size) && one.grade === grade);
}

export function createProblems() {
  const terms = { ...chosenTerms(), own: false };
  keepTerms(terms);
  const sizes = element("div", { class: "field" });
  const list = element("ul", { class: "grades" });
  const trouble = element("p", { class: "verdict bad", role: "status" });
  const own = createOwn();
  const box = element("div", { class: "sheet" },
    element("h1", { data: { text: "problems.title" } }), element("p", { class: "lead", data: { text: "problems.words" } }),
    sizes, trouble, list, own.element);
  let all = [];

  function start(grade) {
    Object.assign(terms, { grade });
    keepTerms(terms);
    const next = nextOf(ofTerms(all, terms));
    if (next) location.hash = `#problem/${next.id}`;
  }

  function row(grade) {
    const noted = problemsNoted();
    const problems = ofTerms(all, { ...terms, grade });
    const solved = problems.filter((one) => solvedOnce(noted, one)).length;
    const due = problems.filter(({ id }) => standingOf(noted[id]) === "due").length;
    const next = nextOf(problems);
    const go = element("button", { type: "button", class: "button primary", id: `grade-${grade}`, text: t(due > 0 ? "problems.repeat" : "problems.start") });
    go.setAttribute("aria-label", `${go.textContent}: ${t(`problems.grade.${grade}`)}`);
    go.addEventListener("click", () => start(grade));
    go.disabled = !next;
    const facts = sentencesOf(t("problems.solved", { solved, all: problems.length }), due > 0 ? t("problems.due", { count: due }) : "");
    return element("li", { class: "grade" },
      element("span", { class: "grade-name", text: t(`problems.grade.${grade}`) }), element("span", { class: "facts", text: facts }),
      element("progress", { max: Math.max(1, problems.length), value: solved, "aria-label": facts }), go);
  }

  function label() {
    own.label();
    if (all.length === 0) return;
    const known = [...new Set(all.map(({ size }) => size))].sort((one, other) => one - other);
    sizes.replaceChildren(element("span", { class: "field-name", text: t("problems.size") }), choice({
      name: "size", label: "problems.size", chosen: terms.size,
      options: [{ value: 0, text: "problems.size.all" }, ...known.map((size) => ({ value: size, words: `${size}×${size}` }))],
      act(size) {
        terms.size = size;
        keepTerms(terms);
        list.replaceChildren(...GRADES.map(row));
      },
    }));
    list.replaceChildren(...GRADES.map(row));
    translateMarkup();
  }

  allShipped().then((found) => {
    all = found;
    label();
  }, (failure) => {
    trouble.textContent = failure.words();
  });
  return { element: box, label, close: own.close };
}

const sentencesOf = (...texts) => texts.filter(Boolean).join(" · ");

/** Problems out of the player's own games: how many there are, and the way to more. */
function createOwn() {
  const words = element("p", { id: "own-words", role: "status" });
  const make = element("button", { type: "button", class: "button plain", id: "own-make" });
  const solve = element("button", { type: "button", class: "button primary", id: "own-solve", data: { text: "problems.start" } });
  const box = element("section", { class: "own" },
    element("h2", { data: { text: "problems.own.title" } }), element("p", { data: { text: "problems.own.words" } }), words,
    element("div", { class: "acts" }, solve, make));
  let state = null;
  let closed = false;

  async function look() {
    if (!player() || closed) return;
    try {
      state = await ask(`players/${player()}/problems`);
    } catch {
      state = null;
    }
    label();
    if (state?.working && !closed) setTimeout(look, POLL);
  }

  make.addEventListener("click", async () => {
    try {
      await tell(`players/${player()}/problems`);
      await look();
    } catch (failure) {
      words.textContent = failure.words();
    }
  });
  solve.addEventListener("click", () => {
    keepTerms({ ...chosenTerms(), own: true });
    const next = nextOf(state.problems) ?? state.problems[0];
    location.hash = `#problem/${next.id}`;
  });

  function label() {
    const found = state?.problems.length ?? 0;
    const parts = [found > 0 ? t("problems.own.found", { count: found }) : ""];
    if (state?.working) parts.push(t("problems.own.working", { done: state.done, of: state.of }));
    else if (!state || (found === 0 && state.unread === 0)) parts.push(t("problems.own.none"));
    words.textContent = sentencesOf(...parts);
    solve.hidden = found === 0;
    make.hidden = !state || state.working || state.unread === 0;
    if (!make.hidden) make.textContent = t("problems.own.make", { count: state.unread });
  }

  look();
  return {
    element: box,
    label,
    close() {
      closed = true;
    },
  };
}

export function createProblem([id]) {
  const facts = element("p", { class: "facts", id: "problem-facts" });
  const head = element("div", { class: "exercise-head" },
    backLink("#problems", "problems.title"), element("h1", { data: { text: "problem.title" } }), facts);
  const exercise = createExercise({
    head, onPoint: attempt, id: "problem",
    acts: {
      next: { text: "next", kind: "primary", act: goOn },
      again: { text: "again", kind: "primary", act: again },
      answer: { text: "problem.answer", picture: "bulb", act: answer },
      whole: { text: "problem.whole", act: toggleWhole },
    },
  });
  const { stage, buttons } = exercise;
  let problem = null;
  let moves = []; // one's own, since the beginning
  let found = null; // what became of the last one
  let counted = null; // how often it has been solved in a row, once the first try is over
  let answered = false; // the move was shown
  let whole = false;
  let busy = false;
  let missing = false;

  const failed = () => Boolean(found && !found.right && !found.said.startsWith("illegal."));

  function show() {
    if (!problem) {
      exercise.offer();
      if (missing) exercise.say("bad", t("problem.away"));
      return;
    }
    const board = found ?? problem;
    const marks = problem.marked.filter((point) => stoneAt(board, point)).map((point) => ({ point, kind: "triangle" }));
    if (answered && !found) marks.push({ point: problem.hint, kind: "circle", colour: "#0b5f8a" });
    stage.show({ board: { ...board, last: found ? found.last : null }, marks, view: whole ? null : problem.view, plays: !found?.solved });
    const colour = t(problem.to_play);
    exercise.task.textContent = t(`problem.task.${problem.task}`, { colour });
    facts.textContent = sentencesOf(t("problem.facts", { size: problem.size, grade: problem.grade }), t("problem.level", { level: levelName(problem.level) }));
    if (found) {
      const words = [t(`said.${found.said}`), replyText(found)];
      if (found.solved) exercise.say("good", t("problem.solved"), sentences(words[0], laterText()));
      else exercise.say(found.right ? "good" : "bad", words[0], sentences(words[1], failed() ? laterText() : ""));
    } else exercise.say("", answered ? t("problem.shown", { move: problem.hint }) : "");
    exercise.offer(...(found?.solved ? ["next", ...wholeOf()] : failed() ? ["again", "next", "answer", ...wholeOf()] : ["answer", "next", ...wholeOf()]));
    buttons.next.classList.toggle("primary", Boolean(found?.solved));
    buttons.whole.setAttribute("aria-pressed", String(whole));
  }

  const wholeOf = () => (problem.view.right - problem.view.left + 1 < problem.width || problem.view.bottom - problem.view.top + 1 < problem.height ? ["whole"] : []);

  function stoneAt({ stones, width, height }, point) {
    const column = "ABCDEFGHJKLMNOPQRST".indexOf(point[0]);
    return stones[(height - Number(point.slice(1))) * width + column] !== ".";
  }

  function laterText() {
    if (counted === null) return "";
    if (counted >= LEARNT) return t("problem.learnt");
    return t(["problem.soon", "problem.later", "problem.week"][counted]);
  }

  async function attempt(name) {
    if (busy || !problem || found?.solved) return;
    busy = true;
    exercise.busy(true);
    try {
      const told = await tell(`problems/${id}`, { tries: [...moves, name], ...(player() ? { player: player() } : {}) });
      const wasFailed = failed();
      if (told.said.startsWith("illegal.")) {
        exercise.say("bad", t(`said.${told.said}`));
        return;
      }
      moves.push(name);
      found = told;
      const over = told.solved || !told.right;
      if (over && counted === null && !wasFailed) counted = noteProblem(id, told.solved && !answered);
      show();
      if (told.solved) buttons.next.focus();
      else if (!told.right) buttons.again.focus();
    } catch (failure) {
      exercise.say("bad", failure.words?.() ?? t("away"));
    } finally {
      busy = false;
      exercise.busy(false);
    }
  }

  function again() {
    [moves, found, answered] = [[], null, false];
    show();
    stage.focus();
  }

  function answer() {
    if (counted === null) counted = noteProblem(id, false);
    [moves, found, answered] = [[], null, true];
    show();
    stage.focus();
  }

  function toggleWhole() {
    whole = !whole;
    show();
  }

  async function goOn() {
    const terms = chosenTerms();
    try {
      const list = terms.own && player() ? (await ask(`players/${player()}/problems`)).problems : ofTerms(await allShipped(), terms);
      const next = nextOf(list, id);
      location.hash = next ? `#problem/${next.id}` : "#problems";
    } catch (failure) {
      exercise.say("bad", failure.words());
    }
  }

  const asked = player() ? `?player=${player()}` : "";
  ask(`problems/${id}${asked}`).then((told) => {
    problem = told;
    show();
    translateMarkup();
  }, () => {
    missing = true;
    show();
  });
  return { element: exercise.element, label: show, repaint: stage.repaint };
}
