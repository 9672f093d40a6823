// Pictures of the board to keep: of one position, and of a game that plays itself.

import { animatedPng } from "../lib/apng.js";
import { currentTheme } from "../lib/theme.js";
import { BARE, paintBoard, paintPicture } from "./painter.js";
import { pointIndex } from "./points.js";

const STILL = 900; // pixels wide
const MOVING = 420;
const MOVE_TIME = 700; // milliseconds that a move is shown
const LAST_TIME = 4000;

function easel(size, width, coordinates) {
  const [wood, stones, whole] = [0, 1, 2].map(() => document.createElement("canvas"));
  const brush = paintBoard(wood, stones, { width: size, cssWidth: width, theme: currentTheme(), coordinates, pixel: 1 });
  whole.width = wood.width;
  whole.height = wood.height;
  const context = whole.getContext("2d");
  return {
    brush,
    whole,
    paint(picture) {
      paintPicture(brush, { ...BARE, ...picture });
      context.drawImage(wood, 0, 0);
      context.drawImage(stones, 0, 0);
    },
  };
}

const blobOf = (canvas) => new Promise((done) => canvas.toBlob(done, "image/png"));

/** The picture of a position as a PNG file. */
export async function stillPicture(size, picture, coordinates) {
  const { whole, paint } = easel(size, STILL, coordinates);
  paint({ ...picture, cursor: null, ghost: null, candidates: [], next: [] });
  return blobOf(whole);
}

/** The part of the canvas around points that differ between two boards, in pixels. */
function changedPart(brush, size, before, after) {
  const points = [];
  for (let i = 0; i < after.stones.length; i += 1) if (before.stones[i] !== after.stones[i]) points.push(i);
  for (const last of [before.last, after.last]) if (last !== null) points.push(last);
  if (points.length === 0) points.push(0);
  const columns = points.map((i) => brush.x(i));
  const rows = points.map((i) => brush.y(i));
  const room = 0.75 * brush.cell;
  const left = Math.max(0, Math.floor(Math.min(...columns) - room));
  const top = Math.max(0, Math.floor(Math.min(...rows) - room));
  const right = Math.min(brush.wide, Math.ceil(Math.max(...columns) + room));
  const bottom = Math.min(brush.high, Math.ceil(Math.max(...rows) + room));
  return { left, top, width: right - left, height: bottom - top };
}

/** A game as an animated PNG file. `boards`: [{stones, last}], texts and names of points. */
export async function movingPicture(size, boards, coordinates) {
  const { brush, whole, paint } = easel(size, MOVING, coordinates);
  const part = document.createElement("canvas");
  const frames = [];
  let before = null;
  for (const [i, { stones, last }] of boards.entries()) {
    const board = { stones, last: pointIndex(last, size) };
    paint(board);
    const milliseconds = i === boards.length - 1 ? LAST_TIME : MOVE_TIME;
    if (before === null) frames.push({ blob: await blobOf(whole), x: 0, y: 0, milliseconds });
    else {
      const { left, top, width, height } = changedPart(brush, size, before, board);
      part.width = width;
      part.height = height;
      part.getContext("2d").drawImage(whole, left, top, width, height, 0, 0, width, height);
      frames.push({ blob: await blobOf(part), x: left, y: top, milliseconds });
    }
    before = board;
  }
  return animatedPng(frames);
}
