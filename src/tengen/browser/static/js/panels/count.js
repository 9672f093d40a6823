// The count at the end of a game: dead stones, areas, the result.

import { button, panel } from "../lib/controls.js";
import { element } from "../lib/element.js";
import { number, resultText, t } from "../lib/i18n.js";

export const order = 20;

function countTable(count) {
  const cell = (value) => element("td", { dir: "ltr", text: value === undefined ? "" : number(value, value % 1 ? 1 : 0) });
  const row = (key, black, white, kind) =>
    element("tr", { class: kind ?? "" }, element("th", { scope: "row", text: t(key) }), cell(black), cell(white));
  const { black, white } = count;
  const head = (colour) =>
    element("th", { scope: "col" }, element("span", { class: `pebble small ${colour}`, "aria-hidden": "true" }), t(colour));
  return element(
    "table",
    { class: "count" },
    element("thead", {}, element("tr", {}, element("td"), head("black"), head("white"))),
    element(
      "tbody",
      {},
      ...["stones", "area", "prisoners", "tax", "komi"]
        .filter((name) => black[name] || white[name])
        .map((name) => row(`count.${name}`, black[name], white[name])),
      row("count.total", black.total, white.total, "total"),
    ),
  );
}

export function createPanel({ store, actions }) {
  const words = element("p", { class: "words" });
  const result = element("p", { class: "result", id: "result" });
  const table = element("div", { id: "count-table" });
  const accept = button({ text: "count.accept", picture: "check", kind: "primary", act: actions.acceptCount, id: "accept" });
  const resume = button({ text: "count.resume", act: actions.resume, id: "resume" });
  const choices = element("div", { class: "actions two" }, accept, resume);
  const box = panel({ title: "count.title", tabs: "play", id: "count" }, words, table, result, choices);

  function show() {
    const { state } = store;
    const { count, position } = state;
    box.hidden = !count;
    if (!count) return;
    const counting = position?.phase === "counting";
    words.textContent = t("count.words");
    words.hidden = !counting;
    choices.hidden = !counting;
    accept.disabled = state.connection !== "open";
    resume.disabled = state.connection !== "open";
    table.replaceChildren(countTable(count));
    result.textContent = resultText(count.result, state.game?.you);
  }

  store.watch(["count", "position", "connection", "language"], show);
  return box;
}
