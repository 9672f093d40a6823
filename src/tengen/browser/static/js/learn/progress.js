// What somebody has learned, kept in the browser: boards of lessons, problems, games of capture Go.

import { recall, recallObject, remember } from "../lib/local_storage.js";

const DAY = 24 * 3600; // seconds
const SOON = 10 * 60;
const WAITS = [SOON, DAY, 7 * DAY]; // until a problem comes back, by how often it was solved in a row
export const LEARNT = WAITS.length;

/** The id under which this browser's games are kept, or null before the first one. */
export function player() {
  const id = recall("player", null);
  return /^[0-9a-f]{32}$/.test(id ?? "") ? id : null;
}

// Lessons

export function boardsDone(lesson) {
  return new Set(recallObject("learn.lessons", {})[lesson] ?? []);
}

export function noteBoard(lesson, number) {
  const all = recallObject("learn.lessons", {});
  all[lesson] = [...new Set([...(all[lesson] ?? []), number])].sort((one, other) => one - other);
  remember("learn.lessons", all);
}

// Problems: {id: [times solved in a row, seconds since 1970 when it comes back, tries, solved at the first try]}

const now = () => Math.round(Date.now() / 1000);

export function problemsNoted() {
  return recallObject("learn.problems", {});
}

/** Note the first try at a problem; returns how often it has been solved in a row now. */
export function noteProblem(id, solved) {
  const all = problemsNoted();
  const [row = 0, , tries = 0, right = 0] = all[id] ?? [];
  const next = solved ? Math.min(LEARNT, row + 1) : 0;
  all[id] = [next, now() + (WAITS[next] ?? 0), tries + 1, right + (solved ? 1 : 0)];
  remember("learn.problems", all);
  return next;
}

/** Is it known, was it failed and is due again, or is it new? "new", "due", "later" or "learnt". */
export function standingOf(noted) {
  if (!noted) return "new";
  if (noted[0] >= LEARNT) return "learnt";
  return noted[1] <= now() ? "due" : "later";
}

// Capture Go

export function captureTally() {
  return recallObject("learn.capture", { won: 0, played: 0 });
}

export function noteCapture(won) {
  const tally = captureTally();
  remember("learn.capture", { won: tally.won + (won ? 1 : 0), played: tally.played + 1 });
}
