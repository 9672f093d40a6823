// Open and save game records.

import { button, panel } from "../lib/controls.js";
import { element, icon } from "../lib/element.js";

export const order = 90;

export function createPanel({ store, dialogs }) {
  const save = element("a", { class: "button plain", id: "save", download: "game.sgf" },
    icon("save"), element("span", { data: { text: "files.save" } }));
  const box = panel({ tabs: "analyse review play", id: "files" },
    element("div", { class: "actions two" },
      button({ text: "files.open", picture: "open", act: dialogs.open, id: "open-button" }), save),
    button({ text: "mine.title", picture: "games", kind: "plain wide", act: dialogs.games, id: "my-games-button" }));
  store.watch(["session"], (state) => {
    if (state.session) save.href = `/api/sessions/${state.session}/game.sgf`;
  });
  store.watch(["tree"], (state) => {
    const empty = !state.tree || (state.tree.byId.size === 1 && !state.game?.you);
    save.hidden = empty;
    box.firstChild.classList.toggle("two", !empty);
    box.firstChild.classList.toggle("one", empty);
  });
  return box;
}
