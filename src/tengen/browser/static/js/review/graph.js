// Win rate above, lead below, over the moves of the game; one unit is one pixel.

import { drawing } from "../lib/element.js";
import { t } from "../lib/i18n.js";

const LAYOUT = { left: 44, right: 12, winrate: [26, 112], lead: [148, 258], height: 282 };
const DOTTED = 8; // mistakes of a side that have a dot
const DIGIT = 7.2; // pixels that a digit of a label is wide, about
const COLORS = ["black", "white"];

const roundUp = (lead) => [5, 10, 20, 30, 50, 75, 100, 150, 200, 300].find((one) => one >= lead) || 400;
const between = ([top, bottom], share) => top + (bottom - top) * share;
const winrateY = (winrate) => between(LAYOUT.winrate, 1 - winrate);

/** Runs of neighbouring moves that were searched; a review stopped early has gaps. */
function stretches(known) {
  const found = [];
  for (const one of known) {
    const last = found.at(-1);
    if (last && last.at(-1).move === one.move - 1) last.push(one);
    else found.push([one]);
  }
  return found;
}

/**
 * The graph of a review in `box`. Calls `onMove(number)` when somebody clicks or drags.
 * Returns {known, draw, setLabel, moveTo}: the standings that are drawn, by move; draws everything,
 * once there are words; the text for screen readers; the cursor.
 */
export function createGraph(box, { start, steps, sides }, onMove) {
  const known = [start, ...steps]
    .map((standing, move) => ({ ...standing, move }))
    .filter((one) => one.lead !== undefined);
  const most = roundUp(Math.max(0, ...known.map((one) => one.lead)));
  const least = -roundUp(Math.max(0, ...known.map((one) => -one.lead)));
  const leadY = (lead) => between(LAYOUT.lead, (most - lead) / (most - least));
  const graph = drawing("svg", { role: "img" });
  box.append(graph);
  let width = 640;
  let at = 0;
  let cursor = null;

  const span = () => width - LAYOUT.left - LAYOUT.right;
  const x = (move) => LAYOUT.left + (span() * move) / Math.max(1, steps.length);

  function add(name, attributes) {
    graph.append(drawing(name, attributes));
    return graph.lastChild;
  }

  function drawCurves() {
    const [top, bottom] = LAYOUT.winrate;
    for (const stretch of stretches(known)) {
      const [from, to] = [x(stretch[0].move), x(stretch.at(-1).move)];
      add("rect", { class: "share-white", x: from, y: top, width: Math.max(1, to - from), height: bottom - top });
      const line = stretch.map((one) => `L${x(one.move).toFixed(1)} ${winrateY(one.winrate).toFixed(1)}`).join("");
      add("path", { class: "share-black", d: `M${from} ${bottom}${line}L${to} ${bottom}z` });
      const lead = stretch.map((one) => `${x(one.move).toFixed(1)} ${leadY(one.lead).toFixed(1)}`).join("L");
      add("path", { class: "lead-line", d: `M${lead}` });
    }
  }

  function drawAxes() {
    const label = (left, level, text, attributes) => add("text", { x: left, y: level, text, ...attributes });
    const end = { "text-anchor": "end" };
    label(LAYOUT.left, 16, t("report.graph.winrate"), { class: "name" });
    label(LAYOUT.left, LAYOUT.lead[0] - 10, t("report.graph.lead"), { class: "name" });
    for (const share of [0, 0.5, 1]) label(LAYOUT.left - 6, winrateY(share) + 4, `${100 * share}%`, end);
    const apart = (lead) => lead === 0 || Math.abs(leadY(lead) - leadY(0)) > 13;
    for (const lead of [most, 0, least].filter(apart)) {
      const text = lead === 0 ? "0" : `+${Math.abs(lead)}`;
      label(LAYOUT.left - 6, leadY(lead) + 4, text, end);
      if (lead === 0) continue;
      const cx = LAYOUT.left - 12 - DIGIT * text.length;
      add("circle", { class: `side-${lead > 0 ? "black" : "white"}`, cx, cy: leadY(lead), r: 4 });
    }
    for (const level of [winrateY(0.5), leadY(0), leadY(most), leadY(least)]) {
      add("line", { class: "axis", x1: LAYOUT.left, x2: width - LAYOUT.right, y1: level, y2: level });
    }
    const stride = [5, 10, 20, 50, 100].find((one) => steps.length / one <= span() / 50) || 200;
    for (let move = 0; move <= steps.length; move += stride) {
      label(x(move), LAYOUT.height - 6, String(move), { "text-anchor": "middle" });
    }
  }

  function draw() {
    width = Math.max(260, Math.round(box.clientWidth));
    graph.setAttribute("viewBox", `0 0 ${width} ${LAYOUT.height}`);
    graph.replaceChildren();
    drawCurves();
    drawAxes();
    for (const number of COLORS.flatMap((color) => sides[color].mistakes.slice(0, DOTTED))) {
      const { color, lead, lost } = steps[number - 1];
      add("circle", { class: `mistake-${color}`, cx: x(number), cy: leadY(lead), r: Math.min(7, 2.6 + Math.sqrt(lost)) });
    }
    cursor = add("line", { class: "cursor", y1: LAYOUT.winrate[0] - 4, y2: LAYOUT.lead[1] + 4 });
    moveTo(at);
  }

  function moveTo(move) {
    at = move;
    cursor.setAttribute("x1", x(at));
    cursor.setAttribute("x2", x(at));
  }

  function goByPointer(event) {
    const frame = graph.getBoundingClientRect();
    const inside = ((event.clientX - frame.left) / frame.width) * width;
    onMove(Math.round(((inside - LAYOUT.left) / span()) * steps.length));
  }

  graph.addEventListener("pointerdown", (event) => {
    graph.setPointerCapture(event.pointerId);
    goByPointer(event);
  });
  graph.addEventListener("pointermove", (event) => {
    if (graph.hasPointerCapture(event.pointerId)) goByPointer(event);
  });
  new ResizeObserver(() => {
    if (cursor && Math.abs(box.clientWidth - width) >= 1) draw();
  }).observe(box);
  return { known, draw, moveTo, setLabel: (text) => graph.setAttribute("aria-label", text) };
}
