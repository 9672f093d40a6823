// The picture that the painter paints, as plain data computed from the state of the page.

import { percent, shortNumber, signed } from "../lib/i18n.js";
import { pathTo } from "../game/tree.js";
import { pointIndex } from "./points.js";

const STONE = { black: "X", white: "O" };
const NOTHING = new Set();
const WEAK_SHARE = 0.02; // of the best move's visits
const MOST_NUMBERS = 500;

function tone(move, best, rank) {
  if (rank === 0) return "best";
  const lost = best.winrate - move.winrate;
  if (lost < 0.01) return "good";
  if (lost < 0.04) return "fair";
  return lost < 0.1 ? "poor" : "bad";
}

/** Candidate moves: the best in its own colour, the others coloured by the win rate they lose. */
export function candidatesOf(moves, size) {
  const best = moves[0];
  return moves.flatMap((move, rank) => {
    const index = pointIndex(move.move, size);
    if (index === null) return [];
    return {
      index,
      move: move.move,
      tone: tone(move, best, rank),
      weight: rank === 0 ? 1 : Math.max(0.84, Math.min(1, 0.84 + (0.2 * move.visits) / (best.visits + 1))),
      // A move that the search hardly looked at has no figures to rely on: a small dot.
      weak: rank > 0 && move.visits < WEAK_SHARE * best.visits,
      lines: rank > 0 && move.visits < WEAK_SHARE * best.visits ? null : [percent(move.winrate), signed(move.lead), shortNumber(move.visits)],
    };
  });
}

/** A line of moves as numbered stones; moves on occupied points are left out. */
function numbered(moves, toPlay, size, stones) {
  const taken = new Set();
  let colour = STONE[toPlay];
  return moves.flatMap((move, i) => {
    const stone = colour;
    colour = colour === "X" ? "O" : "X";
    const index = pointIndex(move, size);
    if (index === null || taken.has(index) || stones[index] !== ".") return [];
    taken.add(index);
    return { index, stone, number: i + 1 };
  });
}

/** The analysis of the node shown, on the tab "analyse" only. */
export function shownAnalysis(state) {
  if (state.tab !== "analyse") return null;
  return state.analyses.get(state.at) ?? null;
}

function shownMoves(state) {
  if (state.tab === "play") {
    const wanted = state.hint?.node === state.at && state.position.phase === "playing";
    return wanted ? state.hint.moves : [];
  }
  return state.layers.candidates ? (shownAnalysis(state)?.moves ?? []) : [];
}

/** The line of numbered stones: of the move pointed at, else the better line of a review. */
function shownLine(state) {
  const { position } = state;
  const size = state.game.size;
  if (state.hovered) {
    const move = shownMoves(state).find((one) => one.move === state.hovered)
      ?? shownAnalysis(state)?.moves.find((one) => one.move === state.hovered);
    if (move) return numbered(move.pv.length ? move.pv : [move.move], position.to_play, size, position.stones);
  }
  if (state.line?.node === position.node) {
    return numbered(state.line.moves, position.to_play, size, position.stones);
  }
  return [];
}

function shownMarks(state, size) {
  const node = state.tree.byId.get(state.at);
  const marks = (node?.marks ?? []).map((mark) => ({ ...mark, index: pointIndex(mark.point, size) }));
  if (state.line?.node === state.at && state.line.played) {
    const index = pointIndex(state.line.played, size);
    if (index !== null && !marks.some((mark) => mark.index === index)) marks.push({ index, kind: "cross" });
  }
  return marks.filter((mark) => mark.index !== null);
}

function shownLines(state, size) {
  return (state.tree.byId.get(state.at)?.lines ?? [])
    .map(({ from, to, arrow }) => ({ from: pointIndex(from, size), to: pointIndex(to, size), arrow }))
    .filter(({ from, to }) => from !== null && to !== null);
}

/** The number of the last move on each point, along the line to the node shown. */
function moveNumbers(state, size) {
  if (state.tab === "play" || !state.layers.numbers) return [];
  const path = pathTo(state.tree, state.at);
  const found = new Map();
  let number = 0;
  for (const id of path) {
    const { move } = state.tree.byId.get(id);
    if (!move) continue;
    number += 1;
    const index = pointIndex(move, size);
    if (index !== null) found.set(index, number);
  }
  return [...found].slice(-MOST_NUMBERS).map(([index, value]) => ({ index, number: value }));
}

/** In a teaching game: a dot for each judged move that is still on the board. */
function judgedMoves(state, size) {
  if (state.tab !== "play" || state.taught.size === 0) return [];
  const tone = (loss) => (loss < 1 ? "good" : loss < 3 ? "fair" : loss < 6 ? "poor" : "bad");
  return [...state.taught.values()].flatMap(({ node, loss }) => {
    const index = pointIndex(state.tree.byId.get(node)?.move, size);
    return index === null ? [] : { index, tone: tone(loss) };
  });
}

function nextMoves(state, size) {
  if (state.tab === "play" || !state.layers.next) return [];
  return (state.tree.children.get(state.at) ?? [])
    .map((id) => pointIndex(state.tree.byId.get(id).move, size))
    .filter((index) => index !== null);
}

function ghost(state, size, pointed, cursor) {
  const name = state.aimed ?? pointed;
  const index = name ? pointIndex(name, size) : cursor;
  if (index === null || index === undefined || state.position.stones[index] !== ".") return null;
  if (!state.aimed && !mayPlay(state)) return null;
  return { index, stone: STONE[state.position.to_play], aimed: Boolean(state.aimed) };
}

/** May a stone be played now? */
export function mayPlay(state) {
  const { position } = state;
  if (!position || state.connection !== "open" || state.tool !== "stone") return false;
  return state.tab !== "play" || (position.phase === "playing" && Boolean(position.can?.play));
}

function deadStones(state, size) {
  if (!state.count || state.tab !== "play") return NOTHING;
  return new Set(state.count.dead.map((point) => pointIndex(point, size)));
}

/** The picture of a state. `pointed` is the point under the mouse, `cursor` the index of the keyboard's. */
export function pictureOf(state, pointed, cursor) {
  const { position } = state;
  const size = state.game.size;
  const analysis = shownAnalysis(state);
  const line = shownLine(state);
  const last = pointIndex(position.last, size);
  return {
    stones: position.stones,
    last,
    fresh: last,
    dead: deadStones(state, size),
    owner: state.count && state.tab === "play" ? state.count.owner : null,
    ownership: analysis && state.layers.ownership ? analysis.ownership : null,
    heat: analysis && state.layers.policy ? analysis.policy : null,
    candidates: candidatesOf(shownMoves(state), size),
    line,
    marks: shownMarks(state, size),
    lines: shownLines(state, size),
    numbers: moveNumbers(state, size),
    ko: pointIndex(position.ko, size),
    dots: judgedMoves(state, size),
    next: nextMoves(state, size),
    ghost: line.length > 0 ? null : ghost(state, size, pointed, cursor),
    cursor,
  };
}
