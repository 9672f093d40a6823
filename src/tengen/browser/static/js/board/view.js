// A board that is only looked at, at any size.

import { element } from "../lib/element.js";
import { currentTheme } from "../lib/theme.js";
import { geometryOf } from "./geometry.js";
import { BARE, paintBoard, paintPicture } from "./painter.js";

const KEPT_EDGE = 0.54; // cells of wood around a small board, which has no coordinates

/**
 * A board in a frame. `show({width, height, picture, label})` paints it; `repaint()` after a new theme.
 * A small one is a button, and shows no coordinates.
 */
export function createView({ small = false } = {}) {
  const wood = element("canvas");
  const stones = element("canvas");
  const frame = element(small ? "span" : "div", { class: "view", dir: "ltr" }, wood, stones);
  const box = small ? element("button", { type: "button", class: "shelf-game" }, frame) : frame;
  if (!small) box.setAttribute("role", "img");
  let shown = null;
  let brush = null;

  function measure() {
    if (!shown || frame.clientWidth === 0) return;
    const { width, height = width } = shown;
    const { wide, high, margin, cell } = geometryOf(width, height, 1000);
    frame.style.aspectRatio = `${wide} / ${high}`;
    if (small) cropEdges((margin - KEPT_EDGE) * cell / wide);
    brush = paintBoard(wood, stones, { width, height, cssWidth: frame.clientWidth, theme: currentTheme(), coordinates: !small });
    paint();
  }

  /** Enlarge the canvases so that this share of the wood is cut off on each side. */
  function cropEdges(share) {
    const length = `${100 / (1 - 2 * share)}%`;
    const start = `${(-100 * share) / (1 - 2 * share)}%`;
    for (const canvas of [wood, stones]) {
      Object.assign(canvas.style, { inset: "auto", width: length, height: length, left: start, top: start });
    }
  }

  function paint() {
    if (brush) paintPicture(brush, { ...BARE, ...shown.picture });
  }

  new ResizeObserver(measure).observe(frame);
  return {
    element: box,
    repaint: measure,
    show(wanted) {
      const resized = wanted.width !== shown?.width || wanted.height !== shown?.height;
      shown = wanted;
      box.setAttribute("aria-label", wanted.label);
      if (resized) measure();
      else paint();
    },
  };
}
