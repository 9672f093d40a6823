// The pictures of a review for the board's painter: a move of the game, and the better line.

const SIGNS = [".", "X", "O"];
const RED = { onBlack: "#ff8a80", onWhite: "#c01f16", onWood: "#b3261e" };
const GREEN = "#1d7a3a";
const FILLS = { black: "#191817", white: "#fbfaf7" };

/** The board after some changes: [index, 0 nothing, 1 black, 2 white] each. */
function changed(stones, changes) {
  const next = [...stones];
  for (const [index, stone] of changes) next[index] = SIGNS[stone];
  return next;
}

/** The boards of the game: the start, then one after each move. */
export function boardsOf({ width, height, start, steps }) {
  const boards = [changed(".".repeat(width * height), start.changes)];
  for (const step of steps) boards.push(changed(boards.at(-1), step.changes));
  return boards;
}

/** The board after a move; a mistake is marked in red, and a triangle is where it should have gone. */
export function gamePicture(stones, step, isMistake) {
  if (!step || !isMistake) return { stones, last: step?.place ?? null };
  const marks = [];
  if (step.place !== null && stones[step.place] !== ".") {
    const colour = stones[step.place] === "X" ? RED.onBlack : RED.onWhite;
    marks.push({ index: step.place, kind: "circle", colour });
  }
  if (step.bestPlace !== null && stones[step.bestPlace] === ".") {
    marks.push({ index: step.bestPlace, kind: "triangle", fill: FILLS[step.color] });
  }
  return { stones, marks };
}

/** The board before a mistake: where was played, and what was tried instead. */
export function triedPicture(before, step, tried) {
  const marks = [];
  if (step.place !== null && before[step.place] === ".") marks.push({ index: step.place, kind: "cross" });
  if (tried) {
    const colour = tried.good === null ? undefined : tried.good ? GREEN : RED.onWood;
    marks.push({ index: tried.place, kind: "circle", fill: FILLS[step.color], colour });
  }
  return { stones: before, marks };
}

/** The board before a mistake with the first `count` moves of the better line, numbered. */
export function linePicture(before, step, count) {
  let stones = before;
  const marks = new Map();
  step.line.slice(0, count).forEach((move, i) => {
    stones = changed(stones, move.changes);
    if (move.place !== null) marks.set(move.place, { index: move.place, kind: "label", label: String(i + 1) });
  });
  if (step.place !== null && stones[step.place] === "." && !marks.has(step.place)) {
    marks.set(step.place, { index: step.place, kind: "cross", colour: RED.onWood });
  }
  return { stones, marks: [...marks.values()] };
}
