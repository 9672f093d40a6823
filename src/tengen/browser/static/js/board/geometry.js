// Where the lines and points of a board lie on its canvas, in device pixels.

/** From the edge of the wood to the first line, in cells: room for half a stone and a coordinate. */
export function marginOf(size) {
  if (size <= 9) return 0.8;
  return size <= 13 ? 0.95 : 1.16;
}

/** How many cells wide the wood of a square board is. */
export function cellsAcross(size) {
  return size - 1 + 2 * marginOf(size);
}

/** The geometry of a board of `width` by `height` points whose wood is `wide` pixels wide. */
export function geometryOf(width, height, wide) {
  const margin = marginOf(Math.max(width, height));
  const cell = wide / (width - 1 + 2 * margin);
  const at = (line) => (line + margin) * cell;
  return {
    width,
    height,
    margin,
    cell,
    wide,
    high: Math.round((height - 1 + 2 * margin) * cell),
    at,
    x: (index) => at(index % width),
    y: (index) => at(Math.floor(index / width)),
  };
}
