// The game being played: whose move it is, pass, undo, hint, resign, new game.

import { button, panel } from "../lib/controls.js";
import { element } from "../lib/element.js";
import { named, percent, resultText, signed, t } from "../lib/i18n.js";

export const order = 10;

function statusText(state) {
  const { position, game, connection } = state;
  if (!position || !game) return connection === "open" ? "" : t("status.connecting");
  if (game.you === null || position.phase === "free") return t("status.none");
  if (position.phase === "over") return resultText(position.result, game.you) || t("status.over");
  if (position.phase === "counting") {
    return state.count ? t("status.accept", { result: resultText(state.count.result, game.you) }) : t("status.counting");
  }
  if (position.thinking) return t("status.thinking");
  if (hinted(state)[0]?.move === "pass") return t("status.hint", { move: t("pass") });
  if (game.you === "both") return t("status.turn", { colour: t(position.to_play) });
  if (game.you === position.to_play) {
    return t(position.last === "pass" ? "status.passed" : "status.yours", { colour: t(position.to_play) });
  }
  return t("status.theirs");
}

/** The moves to hint at here, best first. */
function hinted({ hint, at, position }) {
  return hint?.node === at && position.phase === "playing" ? hint.moves.slice(0, 3) : [];
}

function termsText({ size, rules, komi, handicap }) {
  const parts = [`${size}×${size}`, named("rules", rules, rules), t("play.komi", { komi })];
  if (handicap > 1) parts.push(t("play.handicap", { count: handicap }));
  return parts.join(" · ");
}

/** The titles of the columns. */
function hintHead() {
  return element("li", { class: "hint-head facts", "aria-hidden": "true" },
    ...["move", "winrate", "lead"].map((name) => element("span", { text: t(`analysis.${name}`) })));
}

function hintRow(move, actions) {
  return element(
    "li",
    {},
    element(
      "button",
      {
        type: "button",
        class: "row-button",
        on: {
          click: () => actions.move(move.move),
          pointerenter: () => actions.hover(move.move),
          pointerleave: () => actions.hover(null),
          focus: () => actions.hover(move.move),
          blur: () => actions.hover(null),
        },
      },
      element("bdi", { class: "point", text: move.move === "pass" ? t("pass") : move.move }),
      element("span", { class: "figure", dir: "ltr", text: `${percent(move.winrate)}%` }),
      element("span", { class: "figure", dir: "ltr", text: signed(move.lead) }),
    ),
  );
}

const moveName = (move) => (move === "pass" ? t("pass") : move);

/** What is known of the person's last move in a teaching game. */
function lastJudged({ taught, tree, at, game }) {
  if (!taught.size || !tree) return null;
  let node = tree.byId.get(at);
  while (node && node.colour !== game.you) node = tree.byId.get(node.parent);
  return node ? (taught.get(node.id) ?? null) : null;
}

export function createPanel({ store, actions, dialogs }) {
  const status = element("p", { class: "status", id: "status" });
  const buttons = {
    pass: button({ text: "play.pass", picture: "pass", hint: "play.pass.hint", act: actions.pass, id: "pass" }),
    undo: button({ text: "play.undo", picture: "undo", hint: "play.undo.hint", act: actions.undo, id: "undo" }),
    hint: button({ text: "play.hint", picture: "bulb", hint: "play.hint.hint", act: actions.hint, id: "hint" }),
    resign: button({ text: "play.resign", picture: "flag", act: actions.resign, id: "resign" }),
  };
  const counting = {
    accept: button({ text: "count.accept", picture: "check", kind: "primary", act: actions.acceptCount, id: "accept" }),
    resume: button({ text: "count.resume", picture: "play", act: actions.resume, id: "resume" }),
  };
  const words = element("p", { class: "words", data: { text: "play.words" } });
  const terms = element("p", { class: "facts", id: "terms" });
  const hints = element("ol", { class: "hints", id: "hints" });
  const lesson = element("p", { class: "words", id: "taught", role: "status" });
  const takeBack = button({ text: "teach.back", picture: "undo", kind: "plain", act: actions.undo, id: "take-back" });
  const start = button({ text: "play.new", picture: "plus", kind: "primary wide", act: dialogs.newGame, id: "new-game" });
  const acts = element("div", { class: "actions" }, ...Object.values(counting), ...Object.values(buttons));
  // On a phone the bar is all that is seen without scrolling: what was lost stands in it.
  const bar = element("div", { id: "play-bar" }, status, element("div", { class: "lesson" }, lesson, takeBack), acts);
  const box = panel({ tabs: "play", id: "play" }, bar, words, hints, start, terms);

  /** A new game is within reach where none is being played, and out of the way of one that is. */
  function placeStart(playing) {
    const place = playing ? box : acts;
    if (start.parentElement === place) return;
    const focused = document.activeElement === start;
    if (playing) box.insertBefore(start, terms);
    else acts.append(start);
    if (focused) start.focus();
  }

  function show() {
    const { state } = store;
    const { position } = state;
    status.textContent = statusText(state);
    status.classList.toggle("busy", Boolean(position?.thinking));
    const playing = position?.phase === "playing" || position?.phase === "counting";
    for (const [name, node] of Object.entries(buttons)) {
      node.disabled = state.connection !== "open" || position?.phase === "free" || !position?.can?.[name];
      node.hidden = position?.phase !== "playing" && node.disabled;
    }
    for (const node of Object.values(counting)) {
      node.hidden = position?.phase !== "counting" || !state.count;
      node.disabled = state.connection !== "open";
    }
    placeStart(playing);
    const played = Boolean(state.game?.you);
    words.hidden = played || !state.game;
    terms.textContent = played ? termsText(state.game) : "";
    terms.hidden = !played;
    const moves = position ? hinted(state) : [];
    buttons.pass.classList.toggle("primary", moves[0]?.move === "pass");
    hints.hidden = moves.length === 0;
    hints.replaceChildren(...(moves.length ? [hintHead()] : []), ...moves.map((move) => hintRow(move, actions)));
    const judged = lastJudged(state);
    const told = Boolean(judged?.told) && playing;
    lesson.hidden = takeBack.hidden = !told;
    buttons.undo.classList.toggle("offered", told);
    lesson.textContent = told
      ? t("teach.lost", { count: Math.round(judged.loss), move: moveName(state.tree.byId.get(judged.node).move), best: moveName(judged.best) }) : "";
    start.classList.toggle("primary", !playing);
    start.classList.toggle("plain", playing);
  }

  store.watch(["position", "game", "hint", "taught", "count", "connection", "at", "language"], show);
  return box;
}
