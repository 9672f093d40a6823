// Points of the board: names such as D4, and their index in strings that run from the top row.

const LETTERS = "ABCDEFGHJKLMNOPQRST";

export function columnName(column) {
  return LETTERS[column];
}

/** The name of a point, from its index. */
export function pointName(index, width, height = width) {
  return LETTERS[index % width] + (height - Math.floor(index / width));
}

/** The index of a point; null for a pass or anything off the board. */
export function pointIndex(name, width, height = width) {
  if (!name || name === "pass") return null;
  const column = LETTERS.indexOf(name[0].toUpperCase());
  const row = height - Number(name.slice(1));
  if (column < 0 || column >= width || !(row >= 0 && row < height)) return null;
  return row * width + column;
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
