// Points of the board: names such as D4, and their place in strings that run from the top row.

const LETTERS = "ABCDEFGHJKLMNOPQRST";

export function columnName(column) {
  return LETTERS[column];
}

/** The name of a place in a board string. */
export function pointName(index, size) {
  return LETTERS[index % size] + (size - Math.floor(index / size));
}

/** The place of a point in a board string; null for a pass or anything off the board. */
export function pointIndex(name, size) {
  if (!name || name === "pass") return null;
  const column = LETTERS.indexOf(name[0].toUpperCase());
  const row = size - Number(name.slice(1));
  if (column < 0 || column >= size || !(row >= 0 && row < size)) return null;
  return row * size + column;
}

/** The marked points of an empty board, as places. */
export function starPoints(size) {
  if (size < 7) return size % 2 ? [((size - 1) / 2) * (size + 1)] : [];
  const near = size < 13 ? 2 : 3;
  const far = size - 1 - near;
  const middle = (size - 1) / 2;
  const lines = size % 2 && size >= 15 ? [near, middle, far] : [near, far];
  const points = lines.flatMap((y) => lines.map((x) => y * size + x));
  if (size % 2 && size < 15) points.push(middle * size + middle);
  return points;
}
