// A board that is only looked at: wood below, stones and shades above, at any size.

import { brushFor, paintPicture } from "./board_painter.js";
import { element } from "./element.js";
import { stoneSprites } from "./stones.js";
import { currentTheme } from "./theme.js";
import { cellsAcross, marginOf, paintWood } from "./wood.js";

const PLAIN = {
  last: null,
  fresh: null,
  dead: new Set(),
  owner: null,
  ownership: null,
  heat: null,
  candidates: [],
  line: [],
  marks: [],
  next: [],
  ghost: null,
  cursor: null,
};

/**
 * A board in a box. `show({size, picture, label})` paints it; `repaint()` after a new theme.
 * A small one is a button, and shows no coordinates.
 */
export function createView({ small = false } = {}) {
  const wood = element("canvas", { class: "view-wood" });
  const stones = element("canvas", { class: "view-stones" });
  const frame = element(small ? "span" : "div", { class: "view", dir: "ltr" }, wood, stones);
  const box = small ? element("button", { type: "button", class: "shelf-game" }, frame) : frame;
  if (!small) box.setAttribute("role", "img");
  let shown = null;
  let brush = null;

  function measure() {
    if (!shown || frame.clientWidth === 0) return;
    const pixel = window.devicePixelRatio || 1;
    const side = Math.round(frame.clientWidth * pixel);
    const { size } = shown;
    for (const canvas of [wood, stones]) {
      canvas.width = side;
      canvas.height = side;
    }
    if (small) crop(size);
    paintWood(wood.getContext("2d"), { size, side, pixel, theme: currentTheme() });
    const sprites = stoneSprites(side / cellsAcross(size));
    brush = brushFor(stones.getContext("2d"), { size, side, pixel, sprites });
    paint();
  }

  /** Leave the edge with its coordinates out. */
  function crop(size) {
    const edge = (marginOf(size) - 0.54) / cellsAcross(size);
    const style = { inset: "auto", width: `${100 / (1 - 2 * edge)}%`, height: `${100 / (1 - 2 * edge)}%` };
    style.left = `${(-100 * edge) / (1 - 2 * edge)}%`;
    style.top = style.left;
    for (const canvas of [wood, stones]) Object.assign(canvas.style, style);
  }

  function paint() {
    if (brush) paintPicture(brush, { ...PLAIN, ...shown.picture });
  }

  new ResizeObserver(measure).observe(frame);
  return {
    element: box,
    repaint: measure,
    show(wanted) {
      const anew = wanted.size !== shown?.size;
      shown = wanted;
      box.setAttribute("aria-label", wanted.label);
      if (anew) measure();
      else paint();
    },
  };
}
