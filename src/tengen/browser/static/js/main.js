// Puts the page together.

import { createActions } from "./game/actions.js";
import { createAnalysisPanel } from "./panels/analysis.js";
import { announceMoves } from "./game/announcer.js";
import { createBoard } from "./board/board.js";
import { connect } from "./game/connection.js";
import { createBetterPanel, createCountPanel } from "./panels/count.js";
import { createKeysDialog } from "./lib/dialogs.js";
import { createFilesPanel, createOpenDialog, showFoot, takeFragment } from "./panels/files.js";
import { createGraphPanel } from "./panels/winrate_graph.js";
import { translateMarkup, useLanguage } from "./lib/i18n.js";
import { KEYS, listenForKeys } from "./game/keyboard.js";
import { changesBy, emptyState } from "./game/server_messages.js";
import { createNewGameDialog } from "./panels/new_game_dialog.js";
import { createNotesPanel } from "./panels/notes.js";
import { noticeError, showBanner } from "./panels/notices.js";
import { createPlayPanel } from "./panels/play.js";
import { showPlayers } from "./panels/players.js";
import { recall, recallObject } from "./lib/local_storage.js";
import { createReviewPanel } from "./panels/review.js";
import { createSettings, createTabs } from "./panels/header.js";
import { soundMoves } from "./game/sounds.js";
import { createStore } from "./lib/store.js";
import { currentTheme } from "./lib/theme.js";
import { createTreePanel } from "./panels/variations.js";
import { createAim, createWalkBar } from "./panels/navigation.js";

await useLanguage();

const part = (id) => document.getElementById(id);

const store = createStore({
  ...emptyState(),
  tab: "play",
  mode: "play",
  tool: "stone",
  layers: recallObject("layers", { candidates: true, ownership: false, policy: false, next: true }),
  hovered: null,
  line: null,
  aimed: null,
  theme: currentTheme(),
  sound: recall("sound", "on") === "on",
});

/** A game says whether it is played or looked at; the tab follows, unless it shows that already. */
function followMode({ mode, you, nodes }) {
  const { tab } = store.state;
  const nothingYet = you === null && nodes.length === 1 && tab === "play";
  if (nothingYet) return store.change({ mode });
  const fits = mode === "play" ? tab === "play" : tab !== "play";
  store.change({ mode, tab: fits ? tab : mode === "play" ? "play" : "analyse" });
  if (store.state.tab === "analyse") actions.analyse(fits ? store.state.analysing : true);
  return undefined;
}

function hear(message) {
  if (message.type === "error") {
    if (message.code === "engine_failed") store.change({ reviewProgress: null });
    return noticeError(message);
  }
  store.change(changesBy(store.state, message));
  if (message.type === "game") followMode(message);
  if (message.type === "welcome") takeFragment(actions);
  return undefined;
}

const connection = connect({ onMessage: hear, onState: (state) => store.change({ connection: state }) });
const actions = createActions(store, connection);

const board = createBoard(part("board"), store, {
  onPoint: (name, touched) => actions.point(name, { mustAim: actions.mustAim(touched, board.cellPixels()) }),
  onHover: actions.hover,
});
const newGame = createNewGameDialog(store, actions);
const opening = createOpenDialog(store, actions);
const keys = createKeysDialog(KEYS);

showPlayers(part("players"), store);
createWalkBar(part("walk"), store, actions);
createAim(part("aim"), store, actions);
part("side").append(
  createPlayPanel(store, actions, newGame.open),
  createCountPanel(store, actions),
  createBetterPanel(store, actions),
  createReviewPanel(store, actions),
  createAnalysisPanel(store, actions),
  createGraphPanel(store, actions),
  createTreePanel(store, actions),
  createNotesPanel(store, actions),
  createFilesPanel(store, opening.open),
);
createTabs(part("tabs"), store, actions);
createSettings(part("settings"), store, () => keys.showModal());
showFoot(store);
showBanner(store);
announceMoves(store);
soundMoves(store);
listenForKeys(store, actions, {
  board: board.focus,
  newGame: newGame.open,
  open: opening.open,
  keys: () => keys.showModal(),
});
window.addEventListener("hashchange", () => takeFragment(actions));
translateMarkup();
document.body.classList.add("ready");
