// What a person can do, by mouse, touch or keyboard: one function each.

import { mayPlay } from "../board/picture.js";
import { ask } from "../lib/dialogs.js";
import { lineThrough, nextOf, siblingsOf } from "./tree.js";
import { notice, noticeError } from "../page/notices.js";
import { t } from "../lib/i18n.js";
import { pointIndex } from "../board/points.js";

const SETTING = { setblack: "black", setwhite: "white", erase: "empty" }; // tools that edit the position
const AIM_FROM = 13; // on boards of this size and larger, a move by touch is confirmed
const AIM_BELOW = 34; // if points are closer together than this many pixels

/** Where the page scrolls: to the board, at its top. */
export function bringBoard() {
  window.scrollTo(0, 0);
}

export function createActions(store, connection) {
  function refused(error) {
    store.change({ heading: null });
    noticeError(error);
  }

  /** Ask the server for something; `failed` is called if it does not, and people are told why. */
  function send(type, fields, failed = () => {}) {
    const refuse = (error) => {
      refused(error);
      failed();
    };
    if (connection.send(type, fields, refuse)) return;
    notice(t("error.away"));
    failed();
  }

  let lastRecord = null; // that was sent to the server, to choose another game of it

  /** Is a game under way that another one would replace? If so, ask. */
  async function mayReplace() {
    const { position, game, tree } = store.state;
    const underWay = game?.you && (position?.phase === "playing" || position?.phase === "counting");
    if (!underWay || tree.byId.size <= 1 || game.you === "neither") return true;
    return ask("new.replace.ask", "new.replace");
  }

  /** The node shown, or the one asked for last: keys may come faster than answers. */
  const here = () => store.state.heading ?? store.state.at;

  /** Play a move: in the game on the tab "play", elsewhere as a variation. */
  function move(name) {
    const { state } = store;
    store.change({ aimed: null });
    if (state.tab === "play") send("play", { move: name });
    else send("add", { node: here(), move: name });
  }

  function mark(name) {
    const { tool, tree, at } = store.state;
    const marks = tree.byId.get(at)?.marks ?? [];
    const here = marks.find((one) => one.point === name);
    if (here?.kind === tool) send("mark", { node: at, point: name, kind: null });
    else if (tool === "label") send("mark", { node: at, point: name, kind: tool, label: nextLabel(marks) });
    else send("mark", { node: at, point: name, kind: tool });
  }

  /** A stone of the same colour is taken off again. */
  function settingAt(name) {
    const { tool, position, game } = store.state;
    const there = position.stones[pointIndex(name, game.size)];
    return (there === "X" && tool === "setblack") || (there === "O" && tool === "setwhite") ? "empty" : SETTING[tool];
  }

  function nextLabel(marks) {
    const used = new Set(marks.map((one) => one.label));
    return [..."ABCDEFGHIJKLMNOPQRSTUVWXYZ"].find((letter) => !used.has(letter)) ?? "Z";
  }

  /** A point was chosen: play, mark, or toggle a dead group, depending on the tab and the phase. */
  function point(name, { mustAim }) {
    const { state } = store;
    if (!state.position) return;
    if (state.tab !== "play" && state.tool in SETTING) return send("set_up", { node: here(), point: name, stone: settingAt(name) });
    if (state.tab !== "play" && state.tool !== "stone") return mark(name);
    const empty = state.position.stones[pointIndex(name, state.game.size)] === ".";
    if (state.tab === "play" && state.position.phase === "counting") {
      return empty ? undefined : send("mark_dead", { point: name });
    }
    if (!mayPlay(state)) return undefined;
    if (!empty) return store.change({ aimed: null });
    if (mustAim && state.game.size >= AIM_FROM && state.aimed !== name) {
      return store.change({ aimed: name });
    }
    return move(name);
  }

  /** Go to a node; not during a game, and after it the tab becomes "review". */
  function go(node) {
    const { state } = store;
    if (node === null || node === undefined || node === here()) return;
    if (state.tab === "play") {
      if (state.position?.phase !== "over") return;
      show("review");
    }
    store.change({ heading: node });
    send("go", { node });
  }

  const WAYS = {
    first: (tree) => tree.root,
    back: (tree, at) => tree.byId.get(at)?.parent,
    forward: (tree, at) => nextOf(tree, at),
    last: (tree, at) => lineThrough(tree, at).at(-1),
    above: (tree, at) => sibling(tree, at, -1),
    below: (tree, at) => sibling(tree, at, 1),
  };

  function sibling(tree, at, step) {
    const siblings = siblingsOf(tree, at);
    return siblings[siblings.indexOf(at) + step];
  }

  function analyse(on) {
    store.change({ analysing: on });
    send("analyse", { on });
  }

  function show(tab) {
    const before = store.state.tab;
    if (tab === before) return;
    store.change({ tab, hovered: null, aimed: null, line: null, tool: "stone" });
    const mode = tab === "play" ? "play" : "analyse";
    const played = Boolean(store.state.game?.you);
    if (mode !== store.state.mode && (mode === "analyse" || played)) {
      store.change({ mode });
      send("set_mode", { mode });
    }
    if (tab === "analyse") analyse(true);
    else if (store.state.analysing) analyse(false);
  }

  return {
    send,
    move,
    point,
    go,
    show,
    analyse,
    mustAim: (touched, cellPixels) => touched && cellPixels < AIM_BELOW,
    walk: (way) => {
      if (store.state.tree) go(WAYS[way](store.state.tree, here()));
    },
    pass: () => {
      const { state } = store;
      if (state.tab === "play" ? state.position?.can?.pass : state.position) move("pass");
    },
    undo: () => {
      const { state } = store;
      if (state.tab !== "play") go(WAYS.back(state.tree, here()));
      else if (state.position?.can?.undo) send("undo");
    },
    resign: async () => {
      if (store.state.position?.can?.resign && (await ask("play.resign.ask", "play.resign"))) send("resign");
    },
    hint: () => {
      if (store.state.position?.can?.hint) send("hint");
    },
    /** Does nothing during a game, where the key may be hit by accident. */
    toggleAnalysis: () => {
      const { tab, position, analysing } = store.state;
      if (tab === "analyse") analyse(!analysing);
      else if (tab === "review" || position?.phase !== "playing") show("analyse");
    },
    acceptCount: () => send("accept_count"),
    resume: () => send("resume"),
    newGame: async (options) => {
      if (!(await mayReplace())) return;
      store.change({ tab: "play", mode: "play", analysing: false, tool: "stone" });
      send("new_game", options);
    },
    /** A game with even chances, by the usual rules. */
    evenGame(size) {
      return this.newGame({ size, colour: "either", even: true });
    },
    /** Open a record: {sgf}, a text, or {file}, bytes in base64. */
    open: async (record) => {
      const limit = store.state.info?.limits?.upload_bytes;
      if (limit && record.sgf && new Blob([record.sgf]).size > limit) return notice(t("error.too_large"));
      if (!(await mayReplace())) return undefined;
      lastRecord = record;
      return send("open", record);
    },
    /** Open one of the games of the file that was opened last. */
    chooseGame: (number) => lastRecord && send("open", { ...lastRecord, game: number }),
    openGame: async (game) => {
      if (game === store.state.game?.id) bringBoard();
      else if (!(await mayReplace())) return false;
      send("open_game", { game });
      return true;
    },
    remove: async () => {
      const { tree, at } = store.state;
      if (at !== tree.root && (await ask("tree.remove.ask", "tree.remove"))) send("remove", { node: at });
    },
    promote: () => send("promote", { node: here() }),
    /** Play against Tengen from the position shown. */
    playOn: async () => {
      if (!(await mayReplace())) return;
      store.change({ tab: "play", mode: "play", analysing: false, tool: "stone" });
      send("play_on", { node: here() });
    },
    comment: (node, text) => send("comment", { node, text }),
    review: (visits) => {
      if (store.state.analysing) analyse(false);
      send("review", { visits });
    },
    stopReview: () => {
      store.change({ reviewProgress: null });
      send("stop_review");
    },
    better: (failed) => send("better", {}, failed),
    /** Go to the position before a mistake and show the better line. */
    showTurn: (turn) => {
      const { tree } = store.state;
      const parent = tree.byId.get(turn.node)?.parent ?? turn.node;
      if (store.state.tab === "play") show("review");
      bringBoard();
      go(parent);
      const moves = turn.pv.length ? turn.pv : [turn.best];
      store.change({ line: { turn, node: parent, moves, played: turn.move } });
    },
    hover: (name) => {
      if (name !== store.state.hovered) store.change({ hovered: name });
    },
  };
}
