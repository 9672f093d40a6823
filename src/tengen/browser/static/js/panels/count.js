// The count at the end of a game: dead stones, areas, the result.

import { panel } from "../lib/controls.js";
import { element } from "../lib/element.js";
import { number, resultText, t } from "../lib/i18n.js";
import { explain } from "../lib/terms.js";

export const order = 20;

const EXPLAINED = ["area", "prisoners", "tax", "komi"];

/** The name of a row, with a button that explains it where beginners need one. */
function rowName(key) {
  const name = key.replace("count.", "");
  if (!EXPLAINED.includes(name)) return t(key);
  return element("span", { class: "with-term" }, t(key), explain(name, key));
}

function countTable(count) {
  const cell = (value) => element("td", { dir: "ltr", text: value === undefined ? "" : number(value, value % 1 ? 1 : 0) });
  const row = (key, black, white, kind) =>
    element("tr", { class: kind ?? "" }, element("th", { scope: "row" }, rowName(key)), cell(black), cell(white));
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

export function createPanel({ store }) {
  const words = element("p", { class: "words" });
  const wordsRow = element("div", { class: "with-term" }, words, explain("dead", "count.dead"));
  const result = element("p", { class: "result", id: "result" });
  const table = element("div", { id: "count-table" });
  const box = panel({ title: "count.title", tabs: "play", id: "count" }, wordsRow, table, result);

  function show() {
    const { state } = store;
    const { count, position } = state;
    box.hidden = !count;
    if (!count) return;
    const counting = position?.phase === "counting";
    words.textContent = t("count.words");
    wordsRow.hidden = !counting;
    table.replaceChildren(countTable(count));
    result.textContent = resultText(count.result, state.game?.you);
  }

  store.watch(["count", "position", "language"], show);
  return box;
}
