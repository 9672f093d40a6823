// Paints a board and a picture of what lies on it (plain data, see picture.js) onto two canvases.

import { geometryOf } from "./geometry.js";
import { stoneSprites } from "./stones.js";
import { paintWood, woodColour } from "./wood.js";

const TONES = { best: "#63d0d6", good: "#9cdb86", fair: "#f1d15f", poor: "#f2a65a", bad: "#ef8875" };
const INK = "#15130f";
const CURSOR = "#0b5f8a";

/** A picture with nothing on it but stones: what a picture leaves out is taken from here. */
export const BARE = {
  last: null,
  fresh: null,
  dead: new Set(),
  owner: null,
  ownership: null,
  heat: null,
  candidates: [],
  line: [],
  marks: [],
  lines: [],
  numbers: [],
  ko: null,
  dots: [],
  next: [],
  ghost: null,
  cursor: null,
};

/**
 * Paint the empty board on the canvas `wood`, `cssWidth` CSS pixels wide. Returns the brush with which
 * `paintPicture` paints on the canvas `stones` above it: context, geometry in device pixels, sprites.
 */
export function paintBoard(wood, stones, { width, height = width, cssWidth, theme, coordinates = true, pixel = window.devicePixelRatio || 1 }) {
  const geometry = geometryOf(width, height, Math.round(cssWidth * pixel));
  for (const canvas of [wood, stones]) {
    canvas.width = geometry.wide;
    canvas.height = geometry.high;
  }
  paintWood(wood.getContext("2d"), geometry, { pixel, theme, coordinates });
  return { ...geometry, context: stones.getContext("2d"), pixel, sprites: stoneSprites(geometry.cell), wood: woodColour(theme) };
}

function circle(brush, index, radius) {
  brush.context.beginPath();
  brush.context.arc(brush.x(index), brush.y(index), radius, 0, 2 * Math.PI);
}

/** Edges lie on whole pixels: neighbours then meet without a seam. */
function square(brush, index, side) {
  const [left, right] = [brush.x(index) - side / 2, brush.x(index) + side / 2].map(Math.round);
  const [top, bottom] = [brush.y(index) - side / 2, brush.y(index) + side / 2].map(Math.round);
  brush.context.fillRect(left, top, right - left, bottom - top);
}

function text(brush, index, words, { pixels, weight = 600, dy = 0 }) {
  const { context } = brush;
  context.font = `${weight} ${pixels}px system-ui, sans-serif`;
  context.textAlign = "center";
  context.textBaseline = "middle";
  context.fillText(words, brush.x(index), brush.y(index) + dy + pixels * 0.04);
}

function stamp(brush, image, index, scale = 1, shift = 0) {
  const side = brush.sprites.side * scale;
  brush.context.drawImage(
    image, brush.x(index) - side / 2 + shift * 0.6, brush.y(index) - side / 2 + shift, side, side,
  );
}

let cloud = null;

/** Ownership as a soft shade: an image of one pixel per point, enlarged smoothly. */
function paintOwnership(brush, ownership) {
  const { context, width, height, cell, margin } = brush;
  cloud ??= document.createElement("canvas");
  cloud.width = width;
  cloud.height = height;
  const small = cloud.getContext("2d");
  const image = small.createImageData(width, height);
  for (let i = 0; i < width * height; i += 1) {
    const shade = ownership[i] > 0 ? 0 : 255;
    image.data.set([shade, shade, shade, 150 * Math.min(1, Math.abs(ownership[i])) ** 1.3], 4 * i);
  }
  small.putImageData(image, 0, 0);
  context.imageSmoothingEnabled = true;
  const from = (margin - 0.5) * cell;
  context.drawImage(cloud, from, from, width * cell, height * cell);
}

/** Mark stones that the other side owns with a small square in its colour. */
function paintLostStones(brush, { ownership, stones }) {
  for (let i = 0; i < stones.length; i += 1) {
    const value = ownership[i];
    const lost = (stones[i] === "X" && value < -0.25) || (stones[i] === "O" && value > 0.25);
    if (!lost) continue;
    brush.context.fillStyle = value > 0 ? "#111111" : "#ffffff";
    square(brush, i, brush.cell * 0.36 * Math.min(1, Math.abs(value)));
  }
}

function paintHeat(brush, { heat, stones, candidates }) {
  const busy = new Set(candidates.map((candidate) => candidate.index));
  for (let i = 0; i < stones.length; i += 1) {
    if (stones[i] !== "." || heat[i] < 0.002) continue;
    brush.context.fillStyle = `rgba(151, 25, 120, ${Math.min(0.8, 0.08 + Math.sqrt(heat[i]) * 0.85)})`;
    square(brush, i, brush.cell * 0.92);
    if (heat[i] >= 0.01 && brush.cell > 26 * brush.pixel && !busy.has(i)) {
      brush.context.fillStyle = heat[i] > 0.14 ? "#ffffff" : INK;
      text(brush, i, String(Math.round(100 * heat[i])), { pixels: brush.cell * 0.33, weight: 500 });
    }
  }
}

/** Tint each point in its owner's colour. */
function paintAreas(brush, owner) {
  for (let i = 0; i < owner.length; i += 1) {
    if (owner[i] === ".") continue;
    brush.context.fillStyle = owner[i] === "X" ? "rgba(10, 10, 14, 0.3)" : "rgba(255, 255, 255, 0.42)";
    square(brush, i, brush.cell);
  }
}

/** Mark territory and dead stones with a square in the owner's colour. */
function paintTerritory(brush, { owner, stones, dead }) {
  for (let i = 0; i < owner.length; i += 1) {
    if (owner[i] === "." || (stones[i] !== "." && !dead.has(i))) continue;
    brush.context.fillStyle = owner[i] === "X" ? "#101013" : "#ffffff";
    square(brush, i, brush.cell * 0.3);
  }
}

function paintStones(brush, { stones, dead, fresh }, settled) {
  const { context, sprites, cell } = brush;
  const arriving = settled < 1 ? fresh : null;
  for (let i = 0; i < stones.length; i += 1) {
    if (stones[i] === "." || dead.has(i)) continue;
    if (i !== arriving) stamp(brush, sprites.shadow, i, 1, cell * 0.06);
  }
  for (let i = 0; i < stones.length; i += 1) {
    if (stones[i] === ".") continue;
    context.globalAlpha = dead.has(i) ? 0.45 : 1;
    if (i === arriving) {
      context.globalAlpha *= settled;
      stamp(brush, sprites.shadow, i, 1, cell * (0.06 + 0.1 * (1 - settled)));
      stamp(brush, sprites[stones[i]], i, 1 + 0.1 * (1 - settled));
    } else stamp(brush, sprites[stones[i]], i);
  }
  context.globalAlpha = 1;
}

function paintGhost(brush, { index, stone, aimed }) {
  brush.context.globalAlpha = aimed ? 0.8 : 0.5;
  stamp(brush, brush.sprites[stone], index);
  brush.context.globalAlpha = 1;
  if (!aimed) return;
  const { context } = brush;
  context.strokeStyle = CURSOR;
  context.lineWidth = Math.max(2, 2 * brush.pixel);
  context.setLineDash([4 * brush.pixel, 3 * brush.pixel]);
  context.beginPath();
  context.moveTo(brush.x(index), 0);
  context.lineTo(brush.x(index), brush.high);
  context.moveTo(0, brush.y(index));
  context.lineTo(brush.wide, brush.y(index));
  context.stroke();
  context.setLineDash([]);
}

function paintCandidate(brush, candidate) {
  const { context, cell, pixel } = brush;
  context.globalAlpha = candidate.weight;
  context.fillStyle = TONES[candidate.tone];
  circle(brush, candidate.index, cell * (candidate.weak ? 0.3 : 0.475));
  context.fill();
  context.globalAlpha = 1;
  if (candidate.tone === "best") {
    context.strokeStyle = "#0a4a63";
    context.lineWidth = Math.max(1.5, 1.5 * pixel);
    context.stroke();
  }
  if (!candidate.lines) return;
  context.fillStyle = INK;
  if (cell > 38 * pixel) {
    text(brush, candidate.index, candidate.lines[0], { pixels: cell * 0.29, weight: 700, dy: -cell * 0.23 });
    text(brush, candidate.index, candidate.lines[1], { pixels: cell * 0.23, weight: 500, dy: cell * 0.03 });
    text(brush, candidate.index, candidate.lines[2], { pixels: cell * 0.21, weight: 500, dy: cell * 0.25 });
  } else if (cell > 26 * pixel) {
    text(brush, candidate.index, candidate.lines[0], { pixels: cell * 0.36, weight: 700, dy: -cell * 0.15 });
    text(brush, candidate.index, candidate.lines[1], { pixels: cell * 0.29, weight: 550, dy: cell * 0.19 });
  } else if (cell > 14 * pixel) {
    text(brush, candidate.index, String(Math.round(Number(candidate.lines[0]))), { pixels: cell * 0.48, weight: 700 });
  }
}

function paintLine(brush, line) {
  for (const { index, stone, number } of line) {
    stamp(brush, brush.sprites.shadow, index, 1, brush.cell * 0.05);
    stamp(brush, brush.sprites[stone], index);
    brush.context.fillStyle = stone === "X" ? "#ffffff" : INK;
    text(brush, index, String(number), { pixels: brush.cell * (number > 9 ? 0.42 : 0.5), weight: 700 });
  }
}

function paintShape(brush, { index, kind, fill }) {
  const { context, cell } = brush;
  const x = brush.x(index);
  const y = brush.y(index);
  const r = cell * 0.27;
  context.beginPath();
  if (kind === "triangle") {
    context.moveTo(x, y - r * 1.1);
    context.lineTo(x + r, y + r * 0.7);
    context.lineTo(x - r, y + r * 0.7);
    context.closePath();
  } else if (kind === "square") context.rect(x - r * 0.85, y - r * 0.85, r * 1.7, r * 1.7);
  else if (kind === "circle") context.arc(x, y, r, 0, 2 * Math.PI);
  else {
    context.moveTo(x - r * 0.85, y - r * 0.85);
    context.lineTo(x + r * 0.85, y + r * 0.85);
    context.moveTo(x + r * 0.85, y - r * 0.85);
    context.lineTo(x - r * 0.85, y + r * 0.85);
  }
  if (fill) context.fill();
  context.stroke();
}

/** Marks: {index, kind, label?}; `colour` and `fill` make one stand out. */
function paintMarks(brush, { marks, stones }) {
  const { context, cell, pixel } = brush;
  for (const mark of marks) {
    const onBlack = stones[mark.index] === "X";
    const colour = mark.colour ?? (onBlack ? "#ffffff" : INK);
    context.strokeStyle = colour;
    context.lineWidth = mark.colour ? cell * 0.09 : Math.max(1.5 * pixel, cell * 0.055);
    if (stones[mark.index] === "." && (mark.kind === "label" || mark.fill) && !mark.onFigure) {
      // The lines of the board must not run through the mark.
      context.fillStyle = brush.wood;
      circle(brush, mark.index, cell * 0.36);
      context.fill();
    }
    context.fillStyle = mark.fill ?? colour;
    if (mark.kind !== "label") {
      paintShape(brush, mark);
      continue;
    }
    const pixels = cell * (mark.label.length > 2 ? 0.34 : 0.52);
    text(brush, mark.index, mark.label.slice(0, 4), { pixels });
  }
}

function paintLast(brush, { last, stones, marks, line }) {
  if (last === null || stones[last] === "." || line.some((one) => one.index === last)) return;
  if (marks.some((mark) => mark.index === last)) return;
  brush.context.strokeStyle = stones[last] === "X" ? "#ffffff" : INK;
  brush.context.lineWidth = Math.max(1.5 * brush.pixel, brush.cell * 0.06);
  circle(brush, last, brush.cell * 0.22);
  brush.context.stroke();
}

/** Arrows and lines: {from, to, arrow}, indices of points. */
function paintLines(brush, lines) {
  const { context, cell, pixel } = brush;
  for (const { from, to, arrow } of lines) {
    const [x1, y1, x2, y2] = [brush.x(from), brush.y(from), brush.x(to), brush.y(to)];
    const angle = Math.atan2(y2 - y1, x2 - x1);
    const ways = [["#ffffff", 0.17], ["#0b5f8a", 0.1]]; // a light edge, to be seen on black and on wood
    for (const [colour, share] of ways) {
      context.strokeStyle = colour;
      context.lineWidth = Math.max(2 * pixel, cell * share);
      context.lineCap = "round";
      context.beginPath();
      context.moveTo(x1, y1);
      context.lineTo(x2, y2);
      if (arrow) {
        for (const turn of [2.6, -2.6]) {
          context.moveTo(x2, y2);
          context.lineTo(x2 + cell * 0.34 * Math.cos(angle + turn), y2 + cell * 0.34 * Math.sin(angle + turn));
        }
      }
      context.stroke();
    }
    context.lineCap = "butt";
  }
}

/** Quiet feedback on moves: {index, tone}, a dot at the edge of a stone, the larger the worse. */
function paintDots(brush, { dots, stones }) {
  const { context, cell, pixel } = brush;
  for (const { index, tone } of dots) {
    if (stones[index] === ".") continue;
    context.beginPath();
    const radius = cell * { good: 0.08, fair: 0.11, poor: 0.14, bad: 0.18 }[tone];
    context.arc(brush.x(index) + cell * 0.26, brush.y(index) + cell * 0.26, radius, 0, 2 * Math.PI);
    context.fillStyle = TONES[tone];
    context.fill();
    context.strokeStyle = INK;
    context.lineWidth = Math.max(1, pixel);
    context.stroke();
  }
}

/** The point where ko forbids to play. */
function paintKo(brush, { ko, stones }) {
  if (ko === null || stones[ko] !== ".") return;
  const { context, cell, pixel } = brush;
  const r = cell * 0.24;
  context.strokeStyle = INK;
  context.lineWidth = Math.max(1.5 * pixel, cell * 0.06);
  context.strokeRect(brush.x(ko) - r, brush.y(ko) - r, 2 * r, 2 * r);
}

/** Move numbers on stones: {index, number}. */
function paintNumbers(brush, { numbers, stones, marks }) {
  const marked = new Set(marks.map((mark) => mark.index));
  for (const { index, number } of numbers) {
    if (stones[index] === "." || marked.has(index)) continue;
    brush.context.fillStyle = stones[index] === "X" ? "#ffffff" : INK;
    text(brush, index, String(number), { pixels: brush.cell * (number > 99 ? 0.34 : number > 9 ? 0.42 : 0.48), weight: 650 });
  }
}

function paintNext(brush, next) {
  brush.context.strokeStyle = CURSOR;
  brush.context.lineWidth = Math.max(1.5 * brush.pixel, brush.cell * 0.05);
  for (const index of next) {
    circle(brush, index, brush.cell * 0.44);
    brush.context.stroke();
  }
}

function paintCursor(brush, index) {
  const { context, cell, pixel } = brush;
  const r = cell * 0.5;
  context.lineWidth = Math.max(2.5 * pixel, cell * 0.07);
  for (const [colour, grow] of [["#ffffff", context.lineWidth * 0.7], [CURSOR, 0]]) {
    context.strokeStyle = colour;
    context.strokeRect(brush.x(index) - r - grow, brush.y(index) - r - grow, 2 * (r + grow), 2 * (r + grow));
  }
}

/** Paint everything that lies on the wood. `settled` goes from 0 to 1 while a new stone appears. */
export function paintPicture(brush, picture, settled = 1) {
  brush.context.clearRect(0, 0, brush.wide, brush.high);
  if (picture.ownership) paintOwnership(brush, picture.ownership);
  if (picture.heat) paintHeat(brush, picture);
  if (picture.owner) paintAreas(brush, picture.owner);
  paintStones(brush, picture, settled);
  if (picture.ownership) paintLostStones(brush, picture);
  if (picture.owner) paintTerritory(brush, picture);
  if (picture.line.length === 0) {
    const marked = new Set(picture.marks.map((mark) => mark.index));
    for (const candidate of [...picture.candidates].reverse()) {
      // The figures of a candidate would cover the mark on its point.
      paintCandidate(brush, marked.has(candidate.index) ? { ...candidate, lines: null } : candidate);
    }
    paintNext(brush, picture.next);
  }
  paintKo(brush, picture);
  paintDots(brush, picture);
  paintLines(brush, picture.lines);
  paintMarks(brush, picture);
  if (picture.numbers.length > 0 && picture.line.length === 0) paintNumbers(brush, picture);
  else paintLast(brush, picture);
  paintLine(brush, picture.line);
  if (picture.ghost) paintGhost(brush, picture.ghost);
  if (picture.cursor !== null) paintCursor(brush, picture.cursor);
}
