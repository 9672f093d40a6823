// Points of the board: names such as D4, and their index in strings that run from the top row.

const LETTERS = "ABCDEFGHJKLMNOPQRST";

export function columnName(column) {
  return LETTERS[column];
}

/** The name of a point, from its index on a square board. */
export function pointName(index, size) {
  return LETTERS[index % size] + (size - Math.floor(index / size));
}

/** The index of a point; null for a pass or anything off the board. */
export function pointIndex(name, size) {
  if (!name || name === "pass") return null;
  const column = LETTERS.indexOf(name[0].toUpperCase());
  const row = size - Number(name.slice(1));
  if (column < 0 || column >= size || !(row >= 0 && row < size)) return null;
  return row * size + column;
}

/** The lines that star points lie on, in one direction. */
function starLines(size) {
  if (size < 7) return [];
  const near = size < 13 ? 2 : 3;
  const far = size - 1 - near;
  return size % 2 && size >= 15 ? [near, (size - 1) / 2, far] : [near, far];
}

/** The indices of the star points; boards of odd sides have one in the centre. */
export function starPoints(width, height = width) {
  const columns = starLines(width);
  const points = starLines(height).flatMap((y) => columns.map((x) => y * width + x));
  if (width % 2 && height % 2) points.push((width * height - 1) / 2);
  return [...new Set(points)];
}
