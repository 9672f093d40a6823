// The points of a board as a grid over its picture: for the mouse, fingers, keys and screen readers.

import { element } from "../lib/element.js";
import { t } from "../lib/i18n.js";
import { geometryOf } from "./geometry.js";
import { pointName } from "./points.js";

const STEPS = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };

/** What a point is called, with the mark on it if there is one. */
export function markedLabel(label, mark) {
  if (!mark) return label;
  return t("board.marked", { label, mark: mark.kind === "label" ? mark.label : t(`mark.${mark.kind}`) });
}

/**
 * A grid. Calls `onPoint(name, touched)` when a point is chosen, `onPointed(name)` when the mouse enters
 * one (null: leaves the board), `onCursor(index)` when the keyboard's cursor moves (null: leaves it);
 * `keys` are actions of their own, by key, with the point's name. It is one stop of the tab key.
 * Returns {element, build(width, height), limit(box), label(words, wordsOf), cells, focus}.
 */
export function createGrid({ onPoint, onPointed = () => {}, onCursor = () => {}, keys = {} }) {
  const grid = element("div", { class: "board-grid", role: "grid" });
  let [width, height] = [0, 0];
  let cells = [];
  let home = 0; // where the cursor will be when the board gets the focus
  let inside = null; // the part that can be reached: {left, top, right, bottom}

  const nameOf = (index) => pointName(index, width, height);
  const nameAt = (event) => event.target.closest?.("[data-point]")?.dataset.point ?? null;

  function build(newWidth, newHeight = newWidth) {
    [width, height] = [newWidth, newHeight];
    const { margin } = geometryOf(width, height, 1000);
    const [across, down] = [width - 1 + 2 * margin, height - 1 + 2 * margin];
    const share = (cellsFromEdge, all) => `${(100 * cellsFromEdge) / all}%`;
    grid.style.inset = `${share(margin - 0.5, down)} ${share(margin - 0.5, across)}`;
    grid.style.gridTemplateRows = `repeat(${height}, 1fr)`;
    cells = [];
    const rows = [];
    for (let y = 0; y < height; y += 1) {
      const row = element("div", { role: "row", class: "board-row" });
      row.style.gridTemplateColumns = `repeat(${width}, 1fr)`;
      for (let x = 0; x < width; x += 1) {
        const cell = element("div", { role: "gridcell", tabindex: "-1", data: { point: nameOf(y * width + x) } });
        cells.push(cell);
        row.append(cell);
      }
      rows.push(row);
    }
    grid.replaceChildren(...rows);
    home = Math.floor(cells.length / 2);
    cells[home].tabIndex = 0;
    inside = { left: 0, top: 0, right: width - 1, bottom: height - 1 };
    onCursor(null);
  }

  /** Let only a part of the board be reached, where only that is seen. */
  function limit(box) {
    if (Object.keys(box).every((side) => box[side] === inside[side])) return;
    inside = box;
    const show = (node, seen) => (seen ? node.removeAttribute("aria-hidden") : node.setAttribute("aria-hidden", "true"));
    [...grid.children].forEach((row, y) => {
      const reached = y >= box.top && y <= box.bottom;
      show(row, reached);
      [...row.children].forEach((cell, x) => show(cell, reached && x >= box.left && x <= box.right));
    });
    settle(Math.round((box.top + box.bottom) / 2) * width + Math.round((box.left + box.right) / 2));
  }

  /** Call the grid something, and each point what `wordsOf(index)` says. */
  function label(words, wordsOf) {
    grid.setAttribute("aria-label", words);
    cells.forEach((cell, index) => {
      const text = wordsOf(index);
      if (cell.getAttribute("aria-label") !== text) cell.setAttribute("aria-label", text);
    });
  }

  function settle(index) {
    cells[home].tabIndex = -1;
    home = index;
    cells[home].tabIndex = 0;
  }

  grid.addEventListener("pointermove", (event) => {
    if (event.pointerType !== "touch") onPointed(nameAt(event));
  });
  grid.addEventListener("pointerleave", () => onPointed(null));
  // The mouse must not move the focus here: arrow keys would then stop walking the game.
  grid.addEventListener("mousedown", (event) => event.preventDefault());
  grid.addEventListener("click", (event) => {
    const name = nameAt(event);
    if (name) onPoint(name, event.pointerType === "touch");
  });
  grid.addEventListener("keydown", (event) => {
    if (event.altKey || event.ctrlKey || event.metaKey || event.shiftKey) return;
    const own = keys[event.key.toLowerCase()];
    if (event.key in STEPS) {
      const [dx, dy] = STEPS[event.key];
      const x = Math.min(inside.right, Math.max(inside.left, (home % width) + dx));
      const y = Math.min(inside.bottom, Math.max(inside.top, Math.floor(home / width) + dy));
      settle(y * width + x);
      cells[home].focus({ preventScroll: false });
      onCursor(home);
    } else if (event.key === "Enter") onPoint(nameOf(home), false);
    else if (own) own(nameOf(home));
    else if (event.key === "Escape" && !grid.closest("dialog")) document.activeElement.blur(); // it closes a dialog
    else return;
    event.preventDefault();
    event.stopPropagation();
  });
  grid.addEventListener("focusin", (event) => {
    const index = cells.indexOf(event.target);
    if (index < 0) return;
    settle(index);
    // Whoever came by mouse is not shown a cursor.
    onCursor(event.target.matches(":focus-visible") ? index : null);
  });
  grid.addEventListener("focusout", () => onCursor(null));

  return { element: grid, build, limit, label, focus: () => cells[home]?.focus(), cells: () => cells };
}
