// The review of a game as a page of its own: one file, which works without a server.

import { createView } from "../board/view.js";
import { element } from "../lib/element.js";
import { onSystemTheme } from "../lib/theme.js";
import { boardsOf, gamePicture, linePicture } from "./board_pictures.js";
import { createGraph } from "./graph.js";

const data = JSON.parse(document.getElementById("data").textContent);
const { width, height, steps } = data;
const COLORS = ["black", "white"];
const NAMES = { black: "Black", white: "White" };
const LISTED = 5; // mistakes of a side that are listed at first
const BAD = 5; // points lost from which a mistake is shown in red

const $ = (id) => document.getElementById(id);
const stoneOf = (color) => element("span", { class: `stone ${color}`, "aria-hidden": "true" });
const points = (number) => {
  const text = number.toFixed(1).replace(/\.0$/, "");
  return `${text} ${text === "1" ? "point" : "points"}`;
};
const isMistake = (step) => step.lost !== undefined && step.lost >= data.mistake;

const boards = boardsOf(data);
let at = 0; // moves played
let shown = null; // moves of the better line on the board; null: the game itself

const lastStep = () => (at > 0 ? steps[at - 1] : null);
const mistakeHere = () => (lastStep() && isMistake(lastStep()) ? lastStep() : null);

const board = createView();
$("board").append(board.element);
onSystemTheme(board.repaint);
const graph = createGraph($("graph"), data, go);
graph.setLabel(graphText());

function graphText() {
  const last = graph.known.at(-1);
  if (!last) return "No move was searched.";
  const leader = last.lead >= 0 ? "Black" : "White";
  return `Win rate and lead over ${steps.length} moves. At move ${last.move} ${leader} leads by ${points(Math.abs(last.lead))}.`;
}

// The text next to the board

function tellMove() {
  const step = lastStep();
  const heading = $("move");
  $("verdict").className = "";
  if (!step) {
    heading.replaceChildren("The start");
    $("verdict").textContent = "";
  } else {
    heading.replaceChildren(stoneOf(step.color), `Move ${step.number}: ${NAMES[step.color]} ${step.move}`);
    $("verdict").textContent = step.verdict || "Not reviewed.";
    if (step.verdict) $("verdict").className = isMistake(step) ? (step.lost >= BAD ? "bad" : "slip") : "good";
  }
  const [black, white] = (step ?? data.start).taken;
  $("standing").textContent = step?.now ?? "";
  $("taken").textContent = `Captured: ${black} by Black, ${white} by White.`;
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
  $("line-title").textContent = `Better for ${NAMES[step.color]} than ${step.move}:`;
  const kept = $("line-moves").contains(document.activeElement);
  $("line-moves").replaceChildren(...step.line.map((move, i) => element("li", {}, lineButton(move, i + 1))));
  if (kept && shown) $("line-moves").children[shown - 1].firstChild.focus();
  $("line-standing").textContent = step.then;
}

function lineButton(move, number) {
  return element("button", {
    type: "button",
    text: `${number} ${move.move}`,
    "aria-label": `Line to ${number}, ${NAMES[move.color]} ${move.move}`,
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
  if (shown !== null && step) {
    const line = step.line.slice(0, shown).map((move) => move.move).join(", ");
    return `Board before move ${step.number}, with the better line ${line || "to come"}`;
  }
  const mark = step && isMistake(step) ? `; the triangle marks the better move ${step.best}` : "";
  return step ? `Board after move ${step.number}, ${NAMES[step.color]} ${step.move}${mark}` : "Board at the start";
}

function fillSide(color) {
  const side = data.sides[color];
  const card = $(`side-${color}`);
  const name = element("span", { dir: "auto", text: data.players[color] || NAMES[color] });
  if (data.players[color]) card.setAttribute("aria-label", `${NAMES[color]}, ${data.players[color]}`);
  card.append(element("h2", {}, stoneOf(color), name));
  if (!side.moves) {
    card.append(element("p", { class: "few", text: "No move was reviewed." }));
    return;
  }
  const many = side.mistakes.length;
  if (side.accuracy === null) {
    const found = many === 1 ? "One possible mistake" : many ? `${many} possible mistakes` : "Not rated:";
    card.append(element("p", { class: "few", text: `${found} ${many ? "in " : ""}${side.moves} moves` }));
  } else {
    const mistakes = many === 0 ? "no mistakes" : many === 1 ? "one mistake" : `${many} mistakes`;
    card.append(
      element("p", { class: "accuracy" }, element("strong", { text: `${Math.round(side.accuracy)}%` }), "accuracy"),
      element("p", { class: "few", text: `${points(side.meanLoss)} lost per move, ${mistakes} in ${side.moves} moves` }),
    );
  }
  if (!many) return;
  const items = side.mistakes.map((number) => element("li", {}, mistakeButton(steps[number - 1])));
  const list = element("ol", { class: "mistakes", "aria-label": "Biggest mistakes" }, ...items.slice(0, LISTED));
  card.append(list);
  if (many <= LISTED) return;
  const more = element("button", { type: "button", class: "more", text: `All ${many} mistakes` });
  more.addEventListener("click", () => {
    list.append(...items.slice(LISTED));
    items[LISTED].firstChild.focus();
    more.remove();
  });
  card.append(more);
}

const mistakeButtons = [];

function mistakeButton(step) {
  const share = step.winrateLost < 0.01 ? "" : `, by ${Math.round(100 * step.winrateLost)}% of win rate`;
  const button = element(
    "button",
    { type: "button" },
    element("span", { text: `Move ${step.number}: ${step.move}` }),
    element("span", { class: "loss", text: `−${points(step.lost)}` }),
    element("span", { class: "instead", text: `${step.best} was better${share}` }),
  );
  button.addEventListener("click", () => {
    at = step.number;
    shown = step.line.length;
    show();
    if (window.matchMedia("(max-width: 899px)").matches) $("board").scrollIntoView({ block: "start" });
  });
  mistakeButtons.push([button, step.number]);
  return button;
}

// Moving through the game

function show() {
  const step = mistakeHere();
  if (!step) shown = null;
  const picture = shown === null ? gamePicture(boards[at], lastStep(), step !== null) : linePicture(boards[at - 1], step, shown);
  board.show({ width, height, picture, label: boardText() });
  graph.moveTo(at);
  $("slider").value = at;
  $("slider").setAttribute("aria-valuetext", at ? `Move ${at}, ${NAMES[lastStep().color]} ${lastStep().move}` : "Start");
  tellMove();
  tellLine();
  const [atStart, atEnd] = shown === null ? [at === 0, at === steps.length] : [shown === 0, shown === step.line.length];
  $("first").disabled = $("back").disabled = atStart;
  $("last").disabled = $("on").disabled = atEnd;
  $("mistake-back").disabled = nextMistake(-1) === null;
  $("mistake-on").disabled = nextMistake(1) === null;
  for (const [button, number] of mistakeButtons) button.setAttribute("aria-current", String(number === at));
}

function go(move) {
  at = Math.min(steps.length, Math.max(0, move));
  shown = null;
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

function toggleLine() {
  const step = mistakeHere();
  if (!step) return;
  shown = shown === null ? step.line.length : null;
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

const KEYS = {
  ArrowLeft: () => walk(-1),
  ArrowRight: () => walk(1),
  ArrowUp: () => goToMistake(-1),
  ArrowDown: () => goToMistake(1),
  Home: () => walk(-Infinity),
  End: () => walk(Infinity),
  b: toggleLine,
  Escape: () => go(at),
};
document.addEventListener("keydown", (event) => {
  if (event.altKey || event.ctrlKey || event.metaKey) return;
  const action = KEYS[event.key.length === 1 ? event.key.toLowerCase() : event.key];
  if (!action) return;
  event.preventDefault();
  action();
});

$("facts").textContent = data.facts.join(" · ");
$("remarks").textContent = data.remarks.join(" ");
$("remarks").hidden = !data.remarks.length;
$("threshold").textContent = points(data.mistake);
$("slider").max = steps.length;
for (const color of COLORS) fillSide(color);
const worst = COLORS.flatMap((color) => data.sides[color].mistakes.slice(0, 1));
worst.sort((one, other) => steps[other - 1].lost - steps[one - 1].lost);
go(worst.length ? worst[0] : 0);
