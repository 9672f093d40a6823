// Live analysis: start and pause, win rate, candidate moves, what is drawn on the board.

import { shownAnalysis } from "../board/picture.js";
import { field, panel, press, toggle } from "../lib/controls.js";
import { element, icon } from "../lib/element.js";
import { number, percent, shortNumber, signed, t } from "../lib/i18n.js";
import { remember } from "../lib/local_storage.js";
import { oncePerFrame } from "../lib/store.js";
import { moveText } from "../page/mistake_list.js";

export const order = 50;

const LAYERS = ["candidates", "ownership", "policy", "next", "numbers", "coordinates"];
const COLUMNS = ["move", "winrate", "lead", "visits", "prior"];

function winBar() {
  const black = element("span", { class: "win-black" });
  const words = element("span", { class: "win-words black-words", dir: "ltr" });
  const other = element("span", { class: "win-words white-words", dir: "ltr" });
  const box = element("div", { class: "win-bar", role: "img", dir: "ltr" }, black, words, other);
  return {
    box,
    show(winrate) {
      black.style.inlineSize = `${100 * winrate}%`;
      words.textContent = `${percent(winrate)}%`;
      other.textContent = `${percent(1 - winrate)}%`;
      box.setAttribute("aria-label", t("analysis.winbar", { black: percent(winrate) }));
    },
  };
}

function candidateRow(actions) {
  const cells = COLUMNS.map((name) => element("td", { class: name, dir: "ltr" }));
  const play = element("button", { type: "button", class: "point-button", on: { click: () => actions.move(row.dataset.move) } });
  cells[0].append(play);
  const row = element("tr", {
    on: {
      pointerenter: () => actions.hover(row.dataset.move),
      pointerleave: () => actions.hover(null),
      focusin: () => actions.hover(row.dataset.move),
      focusout: () => actions.hover(null),
    },
  }, ...cells);
  return { row, cells, play };
}

/** The moves in the order of the rows shown; new ones last. */
function inShownOrder(moves, rows) {
  const place = new Map(rows.map(({ row }, i) => [row.dataset.move, i]));
  const at = (move) => place.get(move.move) ?? rows.length;
  return [...moves].sort((one, other) => at(one) - at(other));
}

/** A table whose rows are reused: one rebuilt many times a second could not be clicked. */
function candidateTable(actions) {
  const heads = COLUMNS.map((name) => element("th", { scope: "col", class: name, data: { text: `analysis.${name}`, hint: `analysis.${name}.hint` } }));
  const body = element("tbody");
  const rows = [];
  const box = element("table", { class: "candidates", id: "candidates" }, element("thead", {}, element("tr", {}, ...heads)), body);
  return {
    box,
    show(found) {
      // Rows must not move while the pointer is on them.
      const moves = body.matches(":hover") ? inShownOrder(found, rows) : found;
      while (rows.length < moves.length) {
        rows.push(candidateRow(actions));
        body.append(rows.at(-1).row);
      }
      rows.forEach(({ row, cells, play }, i) => {
        const move = moves[i];
        row.hidden = !move;
        if (!move) {
          delete row.dataset.move;
          return;
        }
        row.dataset.move = move.move;
        play.textContent = moveText(move.move);
        play.setAttribute("aria-label", t("analysis.play", { move: moveText(move.move) }));
        const texts = [null, percent(move.winrate), signed(move.lead), shortNumber(move.visits), percent(move.prior)];
        texts.forEach((text, column) => {
          if (text !== null) cells[column].textContent = text;
        });
      });
    },
  };
}

export function createPanel({ store, actions }) {
  const startStop = element("button", { type: "button", class: "button primary", id: "analyse", on: { click: actions.toggleAnalysis } });
  const facts = element("p", { class: "facts", id: "analysis-facts" });
  const bar = winBar();
  const table = candidateTable(actions);
  const empty = element("p", { class: "words" });
  const layers = element("div", { class: "chips", role: "group", data: { label: "layers.label" } });
  const chips = Object.fromEntries(
    LAYERS.map((name) => [name, toggle({ text: `layers.${name}`, id: `layer-${name}`, act: () => {
      const wanted = { ...store.state.layers, [name]: !store.state.layers[name] };
      remember("layers", wanted);
      store.change({ layers: wanted });
    } })]),
  );
  layers.append(...Object.values(chips));
  const networks = element("select", { on: { change: () => actions.send("use_network", { network: networks.value || null }) } });
  const networkField = field({ label: "analysis.network", id: "analysis-network" }, networks);

  function showNetworks({ info, game }) {
    networkField.hidden = !info?.networks?.length;
    const option = (value, text) => {
      const node = element("option", { value, text });
      node.selected = value === (game?.network ?? "");
      return node;
    };
    networks.replaceChildren(option("", info?.network?.name || "Tengen"), ...(info?.networks ?? []).map((name) => option(name, name)));
  }

  store.watch(["info", "game"], showNetworks);
  const box = panel(
    { title: "analysis.title", tabs: "analyse", id: "analysis" },
    element("div", { class: "panel-head" }, startStop, facts),
    bar.box,
    layers,
    empty,
    element("div", { class: "scroll" }, table.box),
    networkField,
  );

  function factsText(state, analysis) {
    if (!analysis) return "";
    const parts = [t("analysis.visitcount", { count: analysis.visits })];
    if (state.analysing && analysis.speed > 0) parts.push(t("analysis.speed", { speed: number(Math.round(analysis.speed)) }));
    const leader = analysis.lead >= 0 ? "black" : "white";
    parts.push(t("analysis.leads", { colour: t(leader), points: number(Math.abs(analysis.lead), 1) }));
    return parts.join(" · ");
  }

  function show() {
    const { state } = store;
    if (state.tab !== "analyse") return;
    const analysis = shownAnalysis(state);
    startStop.replaceChildren(icon(state.analysing ? "pause" : "play"), t(state.analysing ? "analysis.pause" : "analysis.start"));
    startStop.disabled = state.connection !== "open";
    facts.textContent = factsText(state, analysis);
    bar.box.hidden = !analysis;
    table.box.hidden = !analysis;
    empty.hidden = Boolean(analysis);
    empty.textContent = t(state.analysing ? (state.info?.ready ? "analysis.waiting" : "banner.warming") : "analysis.paused");
    for (const [name, chip] of Object.entries(chips)) press(chip, state.layers[name]);
    if (!analysis) return;
    bar.show(analysis.winrate);
    table.show(analysis.moves);
  }

  const soon = oncePerFrame(show);
  store.watch(["analyses", "at", "analysing", "layers", "tab", "connection", "info", "language"], soon);
  return box;
}
