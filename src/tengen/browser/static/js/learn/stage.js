// A board to play on in a lesson, a problem or a small game: whole, or the part that matters.

import { geometryOf } from "../board/geometry.js";
import { createPointBoard } from "../board/point_board.js";
import { pointIndex } from "../board/points.js";
import { button } from "../lib/controls.js";
import { element } from "../lib/element.js";
import { t } from "../lib/i18n.js";

const AIM_BELOW = 30; // pixels between points, below which a finger aims before it plays
const BESIDE = 0.62; // cells of wood that are shown beyond a point where the board goes on
const STONE = { black: "X", white: "O" };

/**
 * A board. Calls `onPoint(name)` when a point is chosen. Returns {element, show, focus, repaint};
 * `show({board, marks, view, plays})`: a board as the server tells it, marks by point, the part to show
 * (null: all), and whether a stone may be played now.
 */
export function createStage({ onPoint }) {
  const points = createPointBoard({ onPoint: point });
  const cut = element("div", { class: "stage-cut", dir: "ltr" }, points.element);
  const play = button({ text: "aim.play", picture: "check", kind: "primary", act: confirm });
  const aim = element("div", { class: "stage-aim", hidden: true }, play);
  const box = element("div", { class: "stage" }, cut, aim);
  let shown = null;
  let aimed = null;

  function confirm() {
    const name = aimed;
    aimed = null;
    paint();
    onPoint(name);
  }

  function point(name, touched) {
    if (!shown?.plays) return;
    const free = shown.board.stones[pointIndex(name, shown.board.width, shown.board.height)] === ".";
    if (touched && free && cellPixels() < AIM_BELOW && aimed !== name) {
      aimed = name;
      paint();
    } else {
      aimed = null;
      paint();
      onPoint(name);
    }
  }

  function cellPixels() {
    const { left, right } = whole(shown);
    return cut.clientWidth / (right - left + 2);
  }

  function whole({ board, view }) {
    return view ?? { left: 0, top: 0, right: board.width - 1, bottom: board.height - 1 };
  }

  /** Enlarge the board so that only the part in question is seen; the lines go on beyond it. */
  function crop() {
    const { width, height } = shown.board;
    const { left, top, right, bottom } = whole(shown);
    const { margin } = geometryOf(width, height, 1000);
    const start = (first) => (first === 0 ? 0 : margin + first - BESIDE);
    const end = (last, side) => (last === side - 1 ? side - 1 + 2 * margin : margin + last + BESIDE);
    const [x, y] = [start(left), start(top)];
    const [across, down] = [end(right, width) - x, end(bottom, height) - y];
    const all = [width - 1 + 2 * margin, height - 1 + 2 * margin];
    cut.style.aspectRatio = `${across} / ${down}`;
    box.style.setProperty("--shape", String(across / down));
    Object.assign(points.element.style, {
      inlineSize: `${(100 * all[0]) / across}%`,
      left: `${(-100 * x) / across}%`,
      top: `${(-100 * y) / down}%`,
    });
    cut.classList.toggle("whole", shown.view === null);
  }

  function paint() {
    if (!shown) return;
    const { board, marks = [], plays } = shown;
    const at = (name) => pointIndex(name, board.width, board.height);
    const stone = STONE[board.to_play];
    points.show({
      width: board.width,
      height: board.height,
      label: t("board.label", { size: Math.max(board.width, board.height) }),
      ghost: plays ? stone : null,
      within: whole(shown),
      picture: {
        stones: board.stones,
        last: at(board.last),
        ko: at(board.ko),
        marks: marks.map(({ point: name, ...mark }) => ({ ...mark, index: at(name) })),
        ghost: aimed ? { index: at(aimed), stone, aimed: true } : null,
      },
    });
    aim.hidden = !aimed;
    if (aimed) play.querySelector("span").textContent = t("aim.play", { point: aimed });
  }

  return {
    element: box,
    focus: points.focus,
    repaint: points.repaint,
    show(wanted) {
      shown = { view: null, plays: false, ...wanted };
      aimed = null;
      crop();
      paint();
    },
  };
}
