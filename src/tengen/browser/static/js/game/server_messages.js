// How messages of the server change the state. Most are just stored under their type.

import { treeOf, withNode, withoutNode, withVisit } from "./tree.js";

const KEPT_ANALYSES = 500;

/** The state before the server has said anything. */
export function emptyState() {
  return {
    connection: "connecting",
    session: null,
    player: null,
    info: null,
    game: null,
    tree: null,
    at: null,
    heading: null, // node that was asked for and has not been answered yet
    position: null,
    heardAt: 0,
    count: null,
    analyses: new Map(),
    graph: new Map(),
    hint: null,
    review: null,
    reviewProgress: null,
    better: null,
    analysing: false,
    games: null,
    strength: null,
    moments: null, // how many of the player's turns are due as puzzles
    moment: null,
    tried: null,
    moment_answer: null,
    failure: null,
    taught: new Map(), // what moves lost, by node, in a teaching game
    file_games: null,
  };
}

function game(state, message) {
  const tree = treeOf(message.nodes);
  return {
    game: message,
    tree: withVisit(tree, message.at),
    at: message.at,
    heading: null,
    count: null,
    hint: null,
    review: null,
    reviewProgress: null,
    better: null,
    taught: new Map(),
    line: null,
    hovered: null,
    analyses: new Map(),
    graph: new Map(),
  };
}

function position(state, message) {
  const moved = message.node !== state.at;
  const counted = message.phase === "counting" || message.phase === "over";
  return {
    position: message,
    heardAt: performance.now(),
    at: message.node,
    heading: message.node === state.heading ? null : state.heading,
    tree: state.tree && withVisit(state.tree, message.node),
    count: counted ? state.count : null,
    hint: moved ? null : state.hint,
    hovered: moved ? null : state.hovered,
    line: state.line && state.line.node === message.node ? state.line : null,
    aimed: null,
  };
}

function analysis(state, message) {
  const analyses = new Map(state.analyses);
  analyses.delete(message.node);
  analyses.set(message.node, message);
  if (analyses.size > KEPT_ANALYSES) analyses.delete(analyses.keys().next().value);
  return { analyses };
}

function graph(state, message) {
  const known = new Map(state.graph);
  for (const point of message.points) known.set(point.node, point);
  return { graph: known };
}

/** After an undo, the review of the game is out of date; after removing a variation it is not. */
function removed(state, message) {
  const tree = withoutNode(state.tree, message.node);
  return state.position?.phase === "free" ? { tree } : { tree, review: null, better: null };
}

const HANDLERS = {
  welcome: (state, message) => ({ session: message.session, player: message.player, info: message.info }),
  info: (state, message) => ({ info: { ...state.info, ...message, type: undefined } }),
  game,
  position,
  analysis,
  graph,
  taught: (state, message) => ({ taught: new Map(state.taught).set(message.node, message) }),
  node: (state, { type, ...node }) => ({ tree: withNode(state.tree, node) }),
  removed,
  hint: (state, message) => ({ hint: { node: message.node ?? state.at, moves: message.moves } }),
  review_progress: (state, message) => ({ reviewProgress: message }),
  review: (state, message) => ({ review: message, reviewProgress: null }),
  better: (state, message) => ({ better: message.turns, reviewProgress: null }),
};

/** The parts of the state that a message changes. */
export function changesBy(state, message) {
  const handler = HANDLERS[message.type];
  return handler ? handler(state, message) : { [message.type]: message };
}
