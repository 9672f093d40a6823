// The page: state, connection, board, and the parts around them.
//
// A new panel touches these files:
//   panels/NAME.js          exports `order` (its place from the top) and `createPanel({ store, actions,
//                           dialogs })`, which returns an element. It shows `store.state` and asks the server
//                           by `actions.send(type, fields)`.
//   css/panels.css          its styles
//   languages/*.json        its texts, in every language
//   frontends/web/play/requests/  its message, as a method that does what the message asks for. An answer
//                           {"type": NAME, ...} is found in `store.state.NAME`.
// What is large and seldom opened is loaded on demand, with texts and styles of its own: see `onDemand`.

import { createBoard } from "./board/board.js";
import { bringBoard, createActions } from "./game/actions.js";
import { announceMoves } from "./game/announcer.js";
import { connect } from "./game/connection.js";
import { KEYS, listenForKeys } from "./game/keyboard.js";
import { changesBy, emptyState } from "./game/server_messages.js";
import { soundMoves } from "./game/sounds.js";
import { createKeysDialog } from "./lib/dialogs.js";
import { needStyle } from "./lib/element.js";
import { currentLanguage, needStrings, onLanguage, t, translateMarkup, useLanguage } from "./lib/i18n.js";
import { recall, recallObject } from "./lib/local_storage.js";
import { createStore } from "./lib/store.js";
import { currentTheme } from "./lib/theme.js";
import { showFooter } from "./page/footer.js";
import { createSettings, createTabs } from "./page/header.js";
import { createAim, createNavigation } from "./page/navigation.js";
import { createMyGames } from "./page/my_games.js";
import { createNewGameDialog } from "./page/new_game_dialog.js";
import { notice, noticeError, showBanner } from "./page/notices.js";
import { createOpenDialog, openFragment } from "./page/open_dialog.js";
import { showPlayers } from "./page/players.js";
import * as panels from "./panels/index.js"; // written by the server: each file in panels/

await useLanguage();

const part = (id) => document.getElementById(id);

const store = createStore({
  ...emptyState(),
  tab: "play",
  mode: "play",
  tool: "stone",
  layers: recallObject("layers", { candidates: true, ownership: false, policy: false, next: true, numbers: false, coordinates: true }),
  hovered: null,
  line: null,
  aimed: null,
  afterGame: null,
  theme: currentTheme(),
  language: currentLanguage(),
  sound: recall("sound", "on") === "on",
});

onLanguage(() => store.change({ language: currentLanguage() }));

/** Switch to the tab that fits a new game: being played or looked at. */
function followMode({ mode }) {
  const { tab } = store.state;
  const fits = mode === "play" ? tab === "play" : tab !== "play";
  store.change({ mode, tab: fits ? tab : mode === "play" ? "play" : "analyse" });
  if (store.state.tab === "analyse") actions.analyse(fits ? store.state.analysing : true);
}

/** After opening one of one's own games: the tab that was asked for. */
function followGame(message) {
  followMode(message);
  const wanted = store.state.afterGame;
  store.change({ afterGame: null });
  if (wanted && wanted !== store.state.tab) actions.show(wanted);
}

const SHOWN_EVERY = 240; // milliseconds between two pictures of a live analysis: people read no faster
let unshown = null; // messages of an analysis that wait for the next picture
const waiting = new Map(); // the latest of each kind and node

/** Store a message of a live analysis, together with those that come shortly after it. */
function receiveLive(message) {
  const key = message.type === "analysis" ? `analysis ${message.node}` : `graph ${message.points.map((one) => one.node)}`;
  waiting.set(key, message);
  if (unshown !== null) return;
  const show = () => {
    let { state } = store;
    const pieces = {};
    for (const one of waiting.values()) {
      Object.assign(pieces, changesBy(state, one));
      state = { ...state, ...pieces };
    }
    waiting.clear();
    store.change(pieces);
  };
  show();
  unshown = setTimeout(() => {
    unshown = null;
    if (waiting.size > 0) receiveLive(waiting.values().next().value);
  }, SHOWN_EVERY);
}

function receive(message) {
  if (message.type === "analysis" || message.type === "graph") return receiveLive(message);
  if (message.type === "game" || message.type === "removed") waiting.clear();
  if (message.type === "error") {
    if (message.code === "engine_failed") store.change({ reviewProgress: null, failure: message });
    return noticeError(message);
  }
  const another = message.type === "game" && message.id !== store.state.game?.id;
  store.change(changesBy(store.state, message));
  if (message.type === "game") followGame(message);
  if (another) bringBoard();
  if (message.type === "welcome") {
    openFragment(actions);
    if (message.room.nearly_full) notice(t("mine.full", { megabytes: message.room.megabytes }));
  }
  return undefined;
}

const connection = connect({ onMessage: receive, onState: (state) => store.change({ connection: state }) });
const actions = createActions(store, connection);

const board = createBoard(part("board"), store, {
  onPoint: (name, touched) => actions.point(name, { mustAim: actions.mustAim(touched, board.cellPixels()) }),
  onHover: actions.hover,
  onWheel: actions.walk,
  onLiberties: (point) => actions.send("liberties", { point }),
});

/** A dialog whose code, texts and styles are loaded when it is opened for the first time. */
function onDemand(name, make) {
  let dialog = null;
  return async () => {
    try {
      await Promise.all([needStrings(name), needStyle(`/static/css/${name}.css`)]);
      dialog ??= await make();
    } catch (error) {
      console.error(error);
      return notice(t("error.away"));
    }
    return dialog.open();
  };
}

const dialogs = {
  newGame: createNewGameDialog(store, actions).open,
  open: createOpenDialog(store, actions).open,
  keys: createKeysDialog(KEYS).open,
  games: createMyGames(store, actions).open,
  terms: onDemand("terms", async () => (await import("./terms/glossary.js")).createGlossary(store)),
  moments: onDemand("moments", async () => (await import("./moments/dialog.js")).createMomentsDialog(store, actions)),
};

showPlayers(part("players"), store);
createNavigation(part("walk"), store, actions);
createAim(part("aim"), store, actions);
part("side").append(
  ...Object.values(panels)
    .sort((one, other) => one.order - other.order)
    .map(({ createPanel }) => createPanel({ store, actions, dialogs })),
);
createTabs(part("tabs"), store, actions);
createSettings(part("settings"), store, dialogs.keys);
showFooter(store, dialogs.terms);
showBanner(store);
announceMoves(store);
soundMoves(store);
listenForKeys(store, actions, { board: board.focus, ...dialogs });
window.addEventListener("hashchange", () => openFragment(actions));
translateMarkup();
document.body.classList.add("ready");
// Once the page has settled: so that it can be installed, and says so when its server is away.
setTimeout(() => navigator.serviceWorker?.register("/service_worker.js").catch(() => {}), 1500);
