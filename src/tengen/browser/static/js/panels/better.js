// After a game against the program: the player's costliest moves, and what was better.

import { button, panel } from "../lib/controls.js";
import { element } from "../lib/element.js";
import { t } from "../lib/i18n.js";
import { mistakeList } from "../page/mistake_list.js";

export const order = 30;

export function createPanel({ store, actions, dialogs }) {
  const words = element("p", { class: "words" });
  const find = button({ text: "better.find", picture: "target", kind: "primary", act: () => askBetter(true), id: "better-find" });
  const askFor = button({ text: "better.ask", picture: "bulb", act: () => askBetter(false), id: "better-ask" });
  const list = element("div", { id: "better-list" });
  const box = panel({ title: "better.title", tabs: "play review", id: "better" },
    words, element("div", { class: "actions two" }, find, askFor), list);
  let asked = null; // the game that is looked through
  let finding = false; // the person wants to find the moves, not to see them
  let found = false; // and they are there as puzzles

  function askBetter(toFind) {
    finding = toFind;
    if (!store.state.better) {
      asked = store.state.game;
      found = false;
      actions.better(stop);
    }
    show();
  }

  function stop() {
    asked = null;
    finding = false;
    show();
  }

  store.watch(["failure"], stop);
  store.watch(["moments"], ({ moments }) => {
    if (!moments?.found || !finding || found || asked !== store.state.game) return;
    found = moments.found.length > 0;
    if (found && moments.due > 0) dialogs.moments();
    else finding = false; // nothing cost much, or it is known: there is nothing to hide
    show();
  });

  function show() {
    const { state } = store;
    const over = state.position?.phase === "over" && ["black", "white"].includes(state.game?.you) && state.tree.byId.size > 1;
    box.hidden = (!over && !state.better) || (state.tab === "review" && Boolean(state.review));
    if (box.hidden) return;
    const hidden = finding && asked === state.game; // what was found is not to be seen yet
    const waiting = asked === state.game && (!state.better || (hidden && !found));
    find.hidden = Boolean(state.better) && !waiting;
    askFor.hidden = Boolean(state.better) && !hidden;
    find.disabled = askFor.disabled = waiting;
    const { done, total } = state.reviewProgress ?? {};
    if (waiting) words.textContent = total ? t("better.progress", { done, total }) : t("better.waiting");
    else if (!state.better) words.textContent = t("better.words");
    else if (hidden && state.better.length) words.textContent = t("better.hidden");
    else words.textContent = t(state.better.length ? "better.found" : state.position?.unfamiliar ? "better.unrated" : "better.none");
    list.replaceChildren(mistakeList(hidden ? [] : (state.better ?? []), state, actions));
  }

  store.watch(["better", "position", "game", "line", "review", "reviewProgress", "tab", "language"], show);
  return box;
}
