// The empty board: wood with its grain, lines, star points and coordinates, on a canvas.

import { columnName, starPoints } from "./points.js";

/** From the edge of the wood to the first line, in cells: room for half a stone and a coordinate. */
export function marginOf(size) {
  if (size <= 9) return 0.8;
  return size <= 13 ? 0.95 : 1.16;
}

/** How many cells wide the wood is. */
export function cellsAcross(size) {
  return size - 1 + 2 * marginOf(size);
}

const WOOD = {
  light: { near: "#e9c27a", middle: "#deb064", far: "#d9a755", grain: "96, 58, 14", line: "#4d3410", text: "#4a3110" },
  dark: { near: "#cf9f56", middle: "#c2924a", far: "#b98841", grain: "62, 34, 6", line: "#33210a", text: "#2b1b07" },
};

/** The colour of the wood on average. */
export function woodColour(theme) {
  return WOOD[theme].middle;
}

/** Numbers that look random and are the same at every painting. */
function grainNumbers(seed) {
  let value = seed;
  return () => {
    value = (value * 1664525 + 1013904223) >>> 0;
    return value / 2 ** 32;
  };
}

function paintGrain(context, side, rgb) {
  const random = grainNumbers(20160309);
  const streaks = 150;
  for (let i = 0; i < streaks; i += 1) {
    const x = (i + random()) * (side / streaks);
    const sway = (random() - 0.5) * side * 0.035;
    context.beginPath();
    context.moveTo(x, 0);
    context.bezierCurveTo(x + sway, side * 0.3, x - sway, side * 0.65, x + sway * 0.6, side);
    context.strokeStyle = `rgba(${rgb}, ${0.02 + random() * 0.06})`;
    context.lineWidth = (0.4 + random() * 2.2) * (side / 700);
    context.stroke();
  }
}

function paintLines(context, { size, at, pixel, colour }) {
  context.strokeStyle = colour;
  const first = at(0);
  const last = at(size - 1);
  for (let i = 0; i < size; i += 1) {
    const edge = i === 0 || i === size - 1;
    context.lineWidth = edge ? Math.max(2, 1.6 * pixel) : Math.max(1, pixel);
    const place = Math.round(at(i)) + (Math.round(context.lineWidth) % 2 ? 0.5 : 0);
    context.beginPath();
    context.moveTo(place, first);
    context.lineTo(place, last);
    context.moveTo(first, place);
    context.lineTo(last, place);
    context.stroke();
  }
}

function paintCoordinates(context, { size, at, cell, side, pixel, colour }) {
  const room = (marginOf(size) - 0.47) * cell;
  const letter = Math.max(8 * pixel, Math.min(14 * pixel, room * 0.78, cell * 0.5));
  context.fillStyle = colour;
  context.font = `500 ${letter}px system-ui, sans-serif`;
  context.textAlign = "center";
  context.textBaseline = "middle";
  const near = room * 0.53;
  for (let i = 0; i < size; i += 1) {
    context.fillText(columnName(i), at(i), near);
    context.fillText(columnName(i), at(i), side - near);
    context.fillText(String(size - i), near, at(i));
    context.fillText(String(size - i), side - near, at(i));
  }
}

/** Paint the empty board of `size` over a square of `side` device pixels. */
export function paintWood(context, { size, side, pixel, theme }) {
  const colours = WOOD[theme];
  const cell = side / cellsAcross(size);
  const at = (i) => (i + marginOf(size)) * cell;
  const wash = context.createLinearGradient(0, 0, side, side);
  wash.addColorStop(0, colours.near);
  wash.addColorStop(1, colours.far);
  context.fillStyle = wash;
  context.fillRect(0, 0, side, side);
  paintGrain(context, side, colours.grain);
  paintLines(context, { size, at, pixel, colour: colours.line });
  context.fillStyle = colours.line;
  for (const point of starPoints(size)) {
    context.beginPath();
    context.arc(at(point % size), at(Math.floor(point / size)), Math.max(2 * pixel, cell * 0.085), 0, 2 * Math.PI);
    context.fill();
  }
  paintCoordinates(context, { size, at, cell, side, pixel, colour: colours.text });
}
