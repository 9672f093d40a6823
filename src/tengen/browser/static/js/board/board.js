// The board of the page: two canvases, and over them a grid of labelled points for mouse, touch and keys.

import { element } from "../lib/element.js";
import { t } from "../lib/i18n.js";
import { oncePerFrame } from "../lib/store.js";
import { currentTheme } from "../lib/theme.js";
import { cellsAcross, marginOf } from "./geometry.js";
import { paintBoard, paintPicture } from "./painter.js";
import { pictureOf } from "./picture.js";
import { pointIndex, pointName } from "./points.js";

const WHEEL_STEP = 60; // pixels that the wheel turns for one move
const SETTLING = 130; // milliseconds in which a new stone appears
const calm = matchMedia("(prefers-reduced-motion: reduce)");

function pointLabel(index, state) {
  const { stones, last, ko } = state.position;
  const size = state.game.size;
  const point = pointName(index, size);
  const what = { X: "board.black", O: "board.white", ".": "board.empty" }[stones[index]];
  let label = t(what, { point });
  if (pointIndex(last, size) === index) label = t("board.last", { label });
  if (pointIndex(ko, size) === index) label = t("board.ko", { label });
  if (state.count && state.tab === "play") {
    const owner = { X: "board.owned.black", O: "board.owned.white" }[state.count.owner[index]];
    if (state.count.dead.includes(point)) label = t("board.dead", { label });
    if (owner) label = t(owner, { label });
  }
  const mark = state.tree.byId.get(state.at)?.marks?.find((one) => one.point === point);
  if (mark) label = t("board.marked", { label, mark: mark.kind === "label" ? mark.label : t(`mark.${mark.kind}`) });
  return label;
}

/**
 * Build the board in `box`. Calls `onPoint(name, touched)` when a point is chosen and `onHover(name)`
 * when the pointer enters one (null: leaves the board), `onWheel(way)` when the wheel is turned over it,
 * `onLiberties(name)` when a group's liberties are asked for. Returns {focus, cellPixels}.
 */
export function createBoard(box, store, { onPoint, onHover, onWheel, onLiberties }) {
  const wood = element("canvas", { class: "board-wood", "aria-hidden": "true" });
  const stones = element("canvas", { class: "board-stones", "aria-hidden": "true" });
  const grid = element("div", { class: "board-grid", role: "grid", id: "grid" });
  box.append(wood, stones, grid);

  let size = 0;
  let cells = [];
  let brush = null;
  let pointed = null;
  let cursor = null;
  let home = 0; // where the cursor will be when the board gets the focus
  let arrival = { node: null, since: -Infinity };

  function build(newSize) {
    size = newSize;
    const from = `${((marginOf(size) - 0.5) / cellsAcross(size)) * 100}%`;
    Object.assign(grid.style, { inset: from, gridTemplateRows: `repeat(${size}, 1fr)` });
    cells = [];
    const rows = [];
    for (let y = 0; y < size; y += 1) {
      const row = element("div", { role: "row", class: "board-row" });
      row.style.gridTemplateColumns = `repeat(${size}, 1fr)`;
      for (let x = 0; x < size; x += 1) {
        const name = pointName(y * size + x, size);
        const cell = element("div", { role: "gridcell", tabindex: "-1", data: { point: name } });
        cells.push(cell);
        row.append(cell);
      }
      rows.push(row);
    }
    grid.replaceChildren(...rows);
    home = Math.floor(cells.length / 2);
    cells[home].tabIndex = 0;
    cursor = null;
    measure();
  }

  function measure() {
    if (box.clientWidth === 0 || size === 0) return;
    brush = paintBoard(wood, stones, { width: size, cssWidth: box.clientWidth, theme: currentTheme(), coordinates: store.state.layers.coordinates });
    requestPaint();
  }

  const requestPaint = oncePerFrame(paint);

  function paint(now) {
    const { state } = store;
    if (!brush || !state.position || !state.game || state.position.stones.length !== size * size) return;
    const settled = calm.matches ? 1 : Math.min(1, (now - arrival.since) / SETTLING);
    paintPicture(brush, pictureOf(state, pointed, cursor), Math.max(0, settled));
    if (settled < 1) requestPaint();
  }

  function label() {
    const { state } = store;
    if (!state.game || !state.position || state.position.stones.length !== cells.length) return;
    grid.setAttribute("aria-label", t("board.label", { size }));
    cells.forEach((cell, index) => {
      const words = pointLabel(index, state);
      if (cell.getAttribute("aria-label") !== words) cell.setAttribute("aria-label", words);
    });
  }

  function show(state) {
    if (!state.game || !state.position) return;
    if (state.game.size !== size) build(state.game.size);
    if (state.position.node !== arrival.node) {
      const known = arrival.node !== null;
      const added = known && state.tree.byId.get(state.position.node)?.parent === arrival.node;
      arrival = { node: state.position.node, since: added ? performance.now() : -Infinity };
    }
    requestPaint();
  }

  function cellAt(event) {
    return event.target.closest?.("[data-point]") ?? null;
  }

  function point(name) {
    if (name === pointed) return;
    pointed = name;
    onHover(name);
    requestPaint();
  }

  grid.addEventListener("pointermove", (event) => {
    if (event.pointerType !== "touch") point(cellAt(event)?.dataset.point ?? null);
  });
  grid.addEventListener("pointerleave", () => point(null));
  // The mouse must not move the focus here: arrow keys would then stop walking the game.
  grid.addEventListener("mousedown", (event) => event.preventDefault());
  grid.addEventListener("click", (event) => {
    const cell = cellAt(event);
    if (cell) onPoint(cell.dataset.point, event.pointerType === "touch");
  });

  function moveCursor(index) {
    cells[home].tabIndex = -1;
    home = index;
    cursor = index;
    cells[index].tabIndex = 0;
    cells[index].focus({ preventScroll: false });
    requestPaint();
  }

  const STEPS = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };
  grid.addEventListener("keydown", (event) => {
    if (event.altKey || event.ctrlKey || event.metaKey || event.shiftKey) return;
    if (event.key in STEPS) {
      const [dx, dy] = STEPS[event.key];
      const x = Math.min(size - 1, Math.max(0, (home % size) + dx));
      const y = Math.min(size - 1, Math.max(0, Math.floor(home / size) + dy));
      moveCursor(y * size + x);
    } else if (event.key === "Enter") onPoint(pointName(home, size), false);
    else if (event.key.toLowerCase() === "l") onLiberties(pointName(home, size));
    else if (event.key === "Escape") document.activeElement.blur();
    else return;
    event.preventDefault();
    event.stopPropagation();
  });
  grid.addEventListener("focusin", (event) => {
    const index = cells.indexOf(event.target);
    if (index < 0) return;
    cells[home].tabIndex = -1;
    home = index;
    cells[home].tabIndex = 0;
    cursor = index;
    onHover(pointName(index, size));
    requestPaint();
  });
  grid.addEventListener("focusout", () => {
    cursor = null;
    onHover(null);
    requestPaint();
  });

  store.watch(
    ["game", "position", "count", "analyses", "hint", "layers", "tab", "hovered", "line", "taught", "aimed", "tree", "tool", "connection"],
    show,
  );
  store.watch(["game", "position", "count", "tab", "tree", "language"], label);
  store.watch(["theme"], measure);
  let withCoordinates = store.state.layers.coordinates;
  store.watch(["layers"], ({ layers }) => {
    if (layers.coordinates === withCoordinates) return;
    withCoordinates = layers.coordinates;
    measure();
  });
  let turned = 0;
  box.addEventListener("wheel", (event) => {
    if (store.state.tab === "play" || event.ctrlKey || event.deltaY === 0) return;
    event.preventDefault();
    turned += event.deltaMode === 0 ? event.deltaY / WHEEL_STEP : Math.sign(event.deltaY);
    const steps = Math.trunc(turned);
    turned -= steps;
    for (let i = 0; i < Math.min(5, Math.abs(steps)); i += 1) onWheel(steps > 0 ? "forward" : "back");
  }, { passive: false });
  new ResizeObserver(measure).observe(box);

  return {
    focus: () => cells[home]?.focus(),
    cellPixels: () => box.clientWidth / cellsAcross(size),
  };
}
