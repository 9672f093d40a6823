// The board of the page: two canvases, and over them a grid of labelled points for mouse, touch and keys.

import { element } from "../lib/element.js";
import { t } from "../lib/i18n.js";
import { oncePerFrame } from "../lib/store.js";
import { currentTheme } from "../lib/theme.js";
import { cellsAcross } from "./geometry.js";
import { createGrid, markedLabel } from "./grid.js";
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
  return markedLabel(label, state.tree.byId.get(state.at)?.marks?.find((one) => one.point === point));
}

/**
 * Build the board in `box`. Calls `onPoint(name, touched)` when a point is chosen and `onHover(name)`
 * when the pointer enters one (null: leaves the board), `onWheel(way)` when the wheel is turned over it,
 * `onLiberties(name)` when a group's liberties are asked for. Returns {focus, cellPixels}.
 */
export function createBoard(box, store, { onPoint, onHover, onWheel, onLiberties }) {
  const wood = element("canvas", { class: "board-wood", "aria-hidden": "true" });
  const stones = element("canvas", { class: "board-stones", "aria-hidden": "true" });
  let size = 0;
  let brush = null;
  let pointed = null;
  let cursor = null;
  let arrival = { node: null, since: -Infinity };
  const grid = createGrid({ onPoint, onPointed: point, onCursor: moveCursor, keys: { l: onLiberties } });
  grid.element.id = "grid";
  box.append(wood, stones, grid.element);

  function point(name) {
    if (name === pointed) return;
    pointed = name;
    onHover(name);
    requestPaint();
  }

  function moveCursor(index) {
    if (index === cursor) return;
    cursor = index;
    onHover(index === null ? null : pointName(index, size));
    requestPaint();
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
    if (!state.game || !state.position || state.position.stones.length !== size * size) return;
    grid.label(t("board.label", { size }), (index) => pointLabel(index, state));
  }

  function show(state) {
    if (!state.game || !state.position) return;
    if (state.game.size !== size) {
      size = state.game.size;
      grid.build(size);
      measure();
    }
    if (state.position.node !== arrival.node) {
      const known = arrival.node !== null;
      const added = known && state.tree.byId.get(state.position.node)?.parent === arrival.node;
      arrival = { node: state.position.node, since: added ? performance.now() : -Infinity };
    }
    requestPaint();
  }

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
    focus: grid.focus,
    cellPixels: () => box.clientWidth / cellsAcross(size),
  };
}
