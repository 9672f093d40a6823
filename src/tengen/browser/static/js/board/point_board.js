// A board of its own whose points can be chosen: for puzzles, away from the game of the page.

import { element } from "../lib/element.js";
import { t } from "../lib/i18n.js";
import { createGrid, markedLabel } from "./grid.js";
import { pointIndex, pointName } from "./points.js";
import { createView } from "./view.js";

const WORDS = { X: "board.black", O: "board.white", ".": "board.empty" };

/**
 * A board. Calls `onPoint(name, touched)` when a point is chosen. Returns {element, repaint, show, focus,
 * cellPixels}; `show({width, height, picture, label, ghost, within})` paints it: `ghost` is the stone that
 * would be played, "X" or "O", null where none may be; `within` the part that can be reached, if not all.
 */
export function createPointBoard({ onPoint }) {
  const view = createView();
  view.element.setAttribute("aria-hidden", "true");
  const grid = createGrid({ onPoint, onPointed: point, onCursor: move });
  const box = element("div", { class: "point-board", dir: "ltr" }, view.element, grid.element);
  let shown = null;
  let pointed = null;
  let cursor = null;

  function point(name) {
    if (name === pointed) return;
    pointed = name;
    paint();
  }

  function move(index) {
    if (index === cursor) return;
    cursor = index;
    paint();
  }

  function ghost({ width, height, picture, ghost: stone }) {
    const index = pointed ? pointIndex(pointed, width, height) : cursor;
    if (picture.ghost) return picture.ghost;
    const free = index !== null && picture.stones[index] === "." && !picture.marks?.some((mark) => mark.index === index && mark.fill);
    return stone && free ? { index, stone } : null;
  }

  function paint() {
    if (shown) view.show({ ...shown, picture: { ...shown.picture, cursor, ghost: ghost(shown) } });
  }

  function words(index) {
    const { width, height, picture } = shown;
    let label = t(WORDS[picture.stones[index]], { point: pointName(index, width, height) });
    if (picture.last === index) label = t("board.last", { label });
    if (picture.ko === index) label = t("board.ko", { label });
    return markedLabel(label, picture.marks?.find((one) => one.index === index));
  }

  return {
    element: box,
    repaint: view.repaint,
    focus: grid.focus,
    cellPixels: () => box.clientWidth / ((shown?.width ?? 9) + 1),
    show(wanted) {
      const { width, height = width } = wanted;
      const resized = width !== shown?.width || height !== shown?.height;
      shown = { ...wanted, height };
      if (resized) grid.build(width, height);
      if (wanted.within) grid.limit(wanted.within);
      paint();
      grid.label(wanted.label, words);
    },
  };
}
