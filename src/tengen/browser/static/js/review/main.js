// The review of a game as a page of its own: one file, which works without a server.

import { createPointBoard } from "../board/point_board.js";
import { pointIndex, pointName } from "../board/points.js";
import { languageSelect } from "../lib/appearance.js";
import { element, icon } from "../lib/element.js";
import { listed, onLanguage, stringsFrom, t, useLanguage } from "../lib/i18n.js";
import { onSystemTheme } from "../lib/theme.js";
import { boardsOf, gamePicture, linePicture, triedPicture } from "./board_pictures.js";
import { createGraph } from "./graph.js";
import { fillSide, stoneOf } from "./sides.js";
import { factsText, moveText, points, remarksText, standingText, tryText, verdictText } from "./words.js";

const data = JSON.parse(document.getElementById("data").textContent);
const { width, height, steps } = data;
const COLORS = ["black", "white"];
const STONE = { black: "X", white: "O" };
const BAD = 5; // points lost from which a mistake is shown in red

const $ = (id) => document.getElementById(id);
const isMistake = (step) => step.lost !== undefined && step.lost >= data.mistake;

const boards = boardsOf(data);
let at = 0; // moves played
let shown = null; // moves of the better line on the board; null: the game itself
let quiz = false; // are better moves hidden, to be found?
let tried = null; // the point that was tried last at this mistake: {place, text, good}
let mistakeButtons = [];

const lastStep = () => (at > 0 ? steps[at - 1] : null);
const mistakeHere = () => (lastStep() && isMistake(lastStep()) ? lastStep() : null);
const asked = () => (quiz && shown === null ? mistakeHere() : null);

const board = createPointBoard({ onPoint: tryPoint });
let graph = null;

// The text next to the board

function tellMove() {
  const step = lastStep();
  const question = asked();
  const [heading, verdict] = [$("move"), $("verdict")];
  verdict.className = "";
  if (question) {
    heading.replaceChildren(stoneOf(question.color), t("report.quiz.title", { number: question.number, colour: t(question.color) }));
    verdict.textContent = tried?.text ?? t("report.quiz.task", { move: moveText(question.move), points: points(question.lost) });
    if (tried && tried.good !== null) verdict.className = tried.good ? "good" : "bad";
  } else if (step) {
    heading.replaceChildren(stoneOf(step.color), t("report.heading", { number: step.number, colour: t(step.color), move: moveText(step.move) }));
    verdict.textContent = verdictText(step, data.mistake);
    if (step.lost !== undefined) verdict.className = isMistake(step) ? (step.lost >= BAD ? "bad" : "slip") : "good";
  } else {
    heading.replaceChildren(t("report.start"));
    verdict.textContent = "";
  }
  const [black, white] = (step ?? data.start).taken;
  $("standing").textContent = step && !question ? standingText(step) : "";
  $("taken").textContent = t("report.taken", { black, white });
  const comment = (step ?? data).comment;
  $("comment").textContent = comment;
  $("comment").hidden = !comment;
}

function tellLine() {
  const step = mistakeHere();
  const inLine = shown !== null && step !== null;
  $("line").hidden = !inLine;
  $("better").disabled = !step;
  $("better").setAttribute("aria-pressed", String(inLine));
  if (!inLine) return;
  $("line-title").textContent = t("report.better.for", { colour: t(step.color), move: moveText(step.move) });
  const kept = $("line-moves").contains(document.activeElement);
  $("line-moves").replaceChildren(...step.line.map((move, i) => element("li", {}, lineButton(move, i + 1))));
  if (kept && shown) $("line-moves").children[shown - 1].firstChild.focus();
  $("line-standing").textContent = standingText(step.then);
}

function lineButton(move, number) {
  return element("button", {
    type: "button",
    text: `${number} ${moveText(move.move)}`,
    "aria-label": t("report.line.to", { number, colour: t(move.color), move: moveText(move.move) }),
    "aria-pressed": String(number === shown),
    on: {
      click: () => {
        shown = number;
        show();
      },
    },
  });
}

function boardText() {
  const step = lastStep();
  if (!step) return t("report.board.start");
  if (asked()) return t("report.board.before", { number: step.number });
  if (shown !== null) {
    const line = step.line.slice(0, shown).map((move) => moveText(move.move));
    return line.length ? t("report.board.line", { number: step.number, line: listed(line) }) : t("report.board.before", { number: step.number });
  }
  const values = { number: step.number, colour: t(step.color), move: moveText(step.move), best: moveText(step.best ?? "") };
  return t(isMistake(step) ? "report.board.mistake" : "report.board.after", values);
}

function graphText() {
  const last = graph.known.at(-1);
  if (!last) return t("report.graph.none");
  const leader = last.lead >= 0 ? "black" : "white";
  return t("report.graph.label", {
    moves: t("mine.moves", { count: steps.length }), number: last.move, colour: t(leader), points: points(Math.abs(last.lead)),
  });
}

/** Everything that is said once: in another language it is said anew. */
function tellGame() {
  const names = COLORS.map((color) => data.players[color] || t(color));
  const title = data.file || names.join(" – ");
  $("title").textContent = title;
  document.title = `${title} · ${t("report.review")}`;
  $("facts").textContent = factsText(data);
  $("remarks").textContent = remarksText(data.left);
  $("remarks").hidden = !$("remarks").textContent;
  $("note").textContent = t("report.note", { points: points(data.mistake) });
  for (const color of COLORS) $(`legend-${color}`).textContent = t("report.legend", { colour: t(color) });
  mistakeButtons = COLORS.flatMap((color) => fillSide($(`side-${color}`), color, data, goToLine));
  for (const node of document.querySelectorAll("[data-label]:not([data-hint])")) node.title = t(node.dataset.label);
  graph.draw();
  graph.setLabel(graphText());
  show();
}

// Moving through the game

function show() {
  const step = mistakeHere();
  if (!step) shown = null;
  const question = asked();
  let picture = gamePicture(boards[at], lastStep(), step !== null);
  if (question) picture = triedPicture(boards[at - 1], question, tried);
  else if (shown !== null) picture = linePicture(boards[at - 1], step, shown);
  board.show({ width, height, picture, label: boardText(), ghost: question ? STONE[question.color] : null });
  board.element.classList.toggle("asking", question !== null);
  document.body.classList.toggle("quiz", quiz);
  graph.moveTo(at);
  $("slider").value = at;
  const last = lastStep();
  $("slider").setAttribute("aria-valuetext", last ? t("report.heading", { number: at, colour: t(last.color), move: moveText(last.move) }) : t("report.start"));
  tellMove();
  tellLine();
  const [atStart, atEnd] = shown === null ? [at === 0, at === steps.length] : [shown === 0, shown === step.line.length];
  $("first").disabled = $("back").disabled = atStart;
  $("last").disabled = $("on").disabled = atEnd;
  $("mistake-back").disabled = nextMistake(-1) === null;
  $("mistake-on").disabled = nextMistake(1) === null;
  $("quiz").setAttribute("aria-pressed", String(quiz));
  $("quiz").disabled = mistakeButtons.length === 0;
  for (const [button, number] of mistakeButtons) button.setAttribute("aria-current", String(number === at));
}

function go(move) {
  at = Math.min(steps.length, Math.max(0, move));
  shown = tried = null;
  show();
}

// Along the game, or along the better line while it is shown.
function walk(by) {
  if (shown === null) {
    go(at + by);
  } else {
    shown = Math.min(mistakeHere().line.length, Math.max(0, shown + by));
    show();
  }
}

function nextMistake(direction) {
  for (let move = at + direction; move >= 1 && move <= steps.length; move += direction) {
    if (isMistake(steps[move - 1])) return move;
  }
  return null;
}

function goToMistake(direction) {
  const move = nextMistake(direction);
  if (move !== null) go(move);
}

/** From the list of mistakes: the better line, or the question. */
function goToLine(step) {
  go(step.number);
  if (!quiz) shown = step.line.length;
  show();
  bringBoard();
}

/** On a narrow screen: the board to the top, with what is said about it below. */
function bringBoard() {
  if (window.matchMedia("(max-width: 899px)").matches) $("board").scrollIntoView({ block: "start" });
}

function toggleLine() {
  const step = mistakeHere();
  if (!step) return;
  shown = shown === null ? step.line.length : null;
  show();
}

function toggleQuiz() {
  quiz = !quiz;
  shown = tried = null;
  const first = mistakeHere() ? at : nextMistake(1) ?? nextMistake(-1);
  if (quiz && first !== null) at = first;
  show();
  if (quiz) bringBoard();
}

function tryPoint(name) {
  const question = asked();
  const place = pointIndex(name, width, height);
  if (!question || boards[at - 1][place] !== ".") return;
  tried = { place, ...tryText(question, place, pointName(place, width, height), data.mistake) };
  show();
}

$("first").addEventListener("click", () => walk(-Infinity));
$("back").addEventListener("click", () => walk(-1));
$("on").addEventListener("click", () => walk(1));
$("last").addEventListener("click", () => walk(Infinity));
$("slider").addEventListener("input", () => go(Number($("slider").value)));
$("mistake-back").addEventListener("click", () => goToMistake(-1));
$("mistake-on").addEventListener("click", () => goToMistake(1));
$("better").addEventListener("click", toggleLine);
$("quiz").addEventListener("click", toggleQuiz);

const KEYS = {
  ArrowLeft: () => walk(-1),
  ArrowRight: () => walk(1),
  ArrowUp: () => goToMistake(-1),
  ArrowDown: () => goToMistake(1),
  Home: () => walk(-Infinity),
  End: () => walk(Infinity),
  b: toggleLine,
  t: toggleQuiz,
  Escape: () => go(at),
};
document.addEventListener("keydown", (event) => {
  if (event.altKey || event.ctrlKey || event.metaKey || event.target.closest?.("select")) return;
  const action = KEYS[event.key.length === 1 ? event.key.toLowerCase() : event.key];
  if (!action) return;
  event.preventDefault();
  action();
});

function begin() {
  $("board").append(board.element);
  $("choose-language").append(languageSelect());
  for (const node of document.querySelectorAll("[data-icon]")) node.prepend(icon(node.dataset.icon));
  onSystemTheme(board.repaint);
  graph = createGraph($("graph"), data, go);
  $("slider").max = steps.length;
  const worst = COLORS.flatMap((color) => data.sides[color].mistakes.slice(0, 1));
  worst.sort((one, other) => steps[other - 1].lost - steps[one - 1].lost);
  at = worst.length ? worst[0] : 0;
  onLanguage(tellGame);
}

stringsFrom((code) => data.strings[code]);
begin();
useLanguage(data.language ?? undefined);
