// The graph of win rate and lead over the line through the node shown.

import { lineThrough } from "../game/tree.js";
import { panel } from "../lib/controls.js";
import { drawing, element } from "../lib/element.js";
import { percent, signed, t } from "../lib/i18n.js";
import { oncePerFrame } from "../lib/store.js";

export const order = 60;

const HEIGHT = 150;
const PAD = { top: 12, bottom: 20, left: 42, right: 42 };

/** Runs of neighbouring turns that are known, as [x, y] pairs. */
function runs(points) {
  const found = [];
  let current = null;
  for (const point of points) {
    if (point === null) current = null;
    else {
      if (!current) found.push((current = []));
      current.push(point);
    }
  }
  return found;
}

const path = (points) => points.map(([x, y], i) => `${i ? "L" : "M"}${x.toFixed(1)} ${y.toFixed(1)}`).join("");

function leadScale(values) {
  const most = Math.max(5, ...values.map(Math.abs));
  const step = [5, 10, 20, 50, 100, 200, 400].find((one) => one >= most) ?? most;
  return step;
}

export function createPanel({ store, actions }) {
  const svg = drawing("svg", { class: "graph", height: HEIGHT, role: "img", id: "graph" });
  const readout = element("p", { class: "facts", dir: "auto" });
  const legend = element("p", { class: "legend" },
    element("span", { class: "key win", data: { text: "graph.winrate" } }),
    element("span", { class: "key lead", data: { text: "graph.lead" } }));
  const box = panel({ title: "graph.title", tabs: "analyse review", id: "graph-panel" },
    element("div", { class: "graph-box", dir: "ltr" }, svg), element("div", { class: "graph-foot" }, legend, readout));
  let line = [];
  let width = 0;

  const innerWidth = () => width - PAD.left - PAD.right;
  const xOf = (i) => PAD.left + (line.length > 1 ? (i / (line.length - 1)) * innerWidth() : innerWidth() / 2);
  const yOf = (share) => PAD.top + (1 - share) * (HEIGHT - PAD.top - PAD.bottom);

  function axes(scale) {
    const parts = [];
    for (const share of [0, 0.5, 1]) {
      const y = yOf(share);
      parts.push(drawing("path", { class: share === 0.5 ? "rule middle" : "rule", d: `M${PAD.left} ${y}H${width - PAD.right}` }));
      parts.push(drawing("text", { class: "tick", x: PAD.left - 6, y: y + 3.5, "text-anchor": "end", text: `${100 * share}%` }));
      const points = (2 * share - 1) * scale;
      parts.push(drawing("text", { class: "tick lead", x: width - PAD.right + 6, y: y + 3.5, text: points === 0 ? "0" : signed(points).replace(".0", "") }));
    }
    const every = [5, 10, 20, 50, 100, 200].find((step) => line.length / step <= 8) ?? 500;
    for (let i = every; i < line.length; i += every) {
      parts.push(drawing("text", { class: "tick", x: xOf(i), y: HEIGHT - 4, "text-anchor": i === line.length - 1 ? "end" : "middle", text: String(i) }));
    }
    return parts;
  }

  function curves(known, scale) {
    const parts = [];
    const wins = known.map((point, i) => point && [xOf(i), yOf(point.winrate)]);
    const leads = known.map((point, i) => point && [xOf(i), yOf(Math.min(1, Math.max(0, 0.5 + point.lead / (2 * scale))))]);
    for (const run of runs(wins)) {
      parts.push(drawing("path", { class: "win-area", d: `${path(run)}L${run.at(-1)[0]} ${yOf(0)}L${run[0][0]} ${yOf(0)}Z` }));
      if (run.length === 1) parts.push(drawing("circle", { class: "win-dot", cx: run[0][0], cy: run[0][1], r: 2.5 }));
      else parts.push(drawing("path", { class: "win-line", d: path(run) }));
    }
    for (const run of runs(leads)) {
      if (run.length > 1) parts.push(drawing("path", { class: "lead-line", d: path(run) }));
      else parts.push(drawing("circle", { class: "lead-dot", cx: run[0][0], cy: run[0][1], r: 2 }));
    }
    return parts;
  }

  function mistakes(state, known) {
    if (!state.review) return [];
    const turns = new Map(state.review.turns.map((turn) => [turn.node, turn]));
    return line.flatMap((id, i) => {
      const turn = turns.get(id);
      if (!turn || turn.loss < 2 || !known[i]) return [];
      return drawing("circle", { class: `slip ${turn.loss >= 5 ? "bad" : "poor"}`, cx: xOf(i), cy: yOf(known[i].winrate), r: 4 });
    });
  }

  function tell(state, i) {
    const point = state.graph.get(line[i]);
    if (!point) readout.textContent = "";
    else readout.textContent = t("graph.at", { number: i, winrate: percent(point.winrate), lead: signed(point.lead) });
  }

  function show() {
    const { state } = store;
    if (!state.tree || state.tab === "play" || width === 0) return;
    line = lineThrough(state.tree, state.at);
    const known = line.map((id) => state.graph.get(id) ?? null);
    const scale = leadScale(known.filter(Boolean).map((point) => point.lead));
    const here = line.indexOf(state.at);
    svg.setAttribute("viewBox", `0 0 ${width} ${HEIGHT}`);
    svg.setAttribute("aria-label", t("graph.label", { known: known.filter(Boolean).length, all: line.length }));
    svg.replaceChildren(
      ...axes(scale),
      ...curves(known, scale),
      drawing("path", { class: "here", d: `M${xOf(here)} ${PAD.top}V${HEIGHT - PAD.bottom}` }),
      ...mistakes(state, known),
    );
    tell(state, here);
  }

  function turnAt(event) {
    const at = event.clientX - svg.getBoundingClientRect().left - PAD.left;
    return Math.max(0, Math.min(line.length - 1, Math.round((at / innerWidth()) * (line.length - 1))));
  }

  svg.addEventListener("pointerdown", (event) => {
    svg.setPointerCapture(event.pointerId);
    actions.go(line[turnAt(event)]);
  });
  svg.addEventListener("pointermove", (event) => {
    if (event.buttons) actions.go(line[turnAt(event)]);
    else tell(store.state, turnAt(event));
  });
  svg.addEventListener("pointerleave", () => tell(store.state, line.indexOf(store.state.at)));

  const soon = oncePerFrame(show);
  new ResizeObserver(() => {
    width = Math.round(svg.parentElement.clientWidth);
    soon();
  }).observe(svg.parentElement ?? svg);
  store.watch(["graph", "tree", "at", "tab", "review", "language"], soon);
  return box;
}
