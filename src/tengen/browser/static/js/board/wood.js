// The empty board: wood with its grain, lines, star points and coordinates, on a canvas.

import { columnName, starPoints } from "./points.js";

const WOOD = {
  light: { near: "#e9c27a", middle: "#deb064", far: "#d9a755", grain: "96, 58, 14", line: "#4d3410", text: "#4a3110" },
  dark: { near: "#cf9f56", middle: "#c2924a", far: "#b98841", grain: "62, 34, 6", line: "#33210a", text: "#2b1b07" },
};

/** The average colour of the wood. */
export function woodColour(theme) {
  return WOOD[theme].middle;
}

/** A pseudo-random generator with a fixed seed, so that the grain is the same at every painting. */
function grainNumbers(seed) {
  let value = seed;
  return () => {
    value = (value * 1664525 + 1013904223) >>> 0;
    return value / 2 ** 32;
  };
}

function paintGrain(context, { wide, high }, rgb) {
  const random = grainNumbers(20160309);
  const streaks = 150;
  for (let i = 0; i < streaks; i += 1) {
    const x = (i + random()) * (wide / streaks);
    const sway = (random() - 0.5) * wide * 0.035;
    context.beginPath();
    context.moveTo(x, 0);
    context.bezierCurveTo(x + sway, high * 0.3, x - sway, high * 0.65, x + sway * 0.6, high);
    context.strokeStyle = `rgba(${rgb}, ${0.02 + random() * 0.06})`;
    context.lineWidth = (0.4 + random() * 2.2) * (wide / 700);
    context.stroke();
  }
}

/** Lines in one direction: `count` of them, each from `at(0)` to `at(length - 1)`. */
function paintLines(context, { at, pixel, count, length, draw }) {
  for (let i = 0; i < count; i += 1) {
    const edge = i === 0 || i === count - 1;
    context.lineWidth = edge ? Math.max(2, 1.6 * pixel) : Math.max(1, pixel);
    const place = Math.round(at(i)) + (Math.round(context.lineWidth) % 2 ? 0.5 : 0);
    context.beginPath();
    draw(place, at(0), at(length - 1));
    context.stroke();
  }
}

function paintGrid(context, { width, height, at }, pixel) {
  const draw = (x1, y1, x2, y2) => {
    context.moveTo(x1, y1);
    context.lineTo(x2, y2);
  };
  paintLines(context, { at, pixel, count: width, length: height, draw: (x, from, to) => draw(x, from, x, to) });
  paintLines(context, { at, pixel, count: height, length: width, draw: (y, from, to) => draw(from, y, to, y) });
}

function paintCoordinates(context, { width, height, at, cell, margin, wide, high }, pixel) {
  const room = (margin - 0.47) * cell;
  const letter = Math.max(8 * pixel, Math.min(14 * pixel, room * 0.78, cell * 0.5));
  context.font = `500 ${letter}px system-ui, sans-serif`;
  context.textAlign = "center";
  context.textBaseline = "middle";
  const near = room * 0.53;
  for (let column = 0; column < width; column += 1) {
    for (const y of [near, high - near]) context.fillText(columnName(column), at(column), y);
  }
  for (let row = 0; row < height; row += 1) {
    for (const x of [near, wide - near]) context.fillText(String(height - row), x, at(row));
  }
}

/** Paint the empty board over the whole canvas. */
export function paintWood(context, geometry, { pixel, theme, coordinates }) {
  const colours = WOOD[theme];
  const { width, height, cell, wide, high, x, y } = geometry;
  const wash = context.createLinearGradient(0, 0, wide, high);
  wash.addColorStop(0, colours.near);
  wash.addColorStop(1, colours.far);
  context.fillStyle = wash;
  context.fillRect(0, 0, wide, high);
  paintGrain(context, geometry, colours.grain);
  context.strokeStyle = colours.line;
  paintGrid(context, geometry, pixel);
  context.fillStyle = colours.line;
  for (const point of starPoints(width, height)) {
    context.beginPath();
    context.arc(x(point), y(point), Math.max(2 * pixel, cell * 0.085), 0, 2 * Math.PI);
    context.fill();
  }
  context.fillStyle = colours.text;
  if (coordinates) paintCoordinates(context, geometry, pixel);
}
