// After a game against the program: the player's costliest moves, and what was better.

import { button, panel } from "../lib/controls.js";
import { element } from "../lib/element.js";
import { t } from "../lib/i18n.js";
import { mistakeList } from "../page/mistake_list.js";

export const order = 30;

export function createPanel({ store, actions }) {
  const words = element("p", { class: "words" });
  const askFor = button({ text: "better.ask", picture: "bulb", act: askBetter, id: "better-ask" });
  const list = element("div", { id: "better-list" });
  const box = panel({ title: "better.title", tabs: "play review", id: "better" }, words, askFor, list);
  let asked = null;

  function askBetter() {
    asked = store.state.game;
    actions.better();
    show();
  }

  function show() {
    const { state } = store;
    const over = state.position?.phase === "over" && state.game?.you && state.game.you !== "both";
    box.hidden = (!over && !state.better) || (state.tab === "review" && Boolean(state.review));
    if (box.hidden) return;
    const waiting = asked === state.game && !state.better;
    askFor.hidden = Boolean(state.better);
    askFor.disabled = waiting;
    const { done, total } = state.reviewProgress ?? {};
    if (waiting) words.textContent = total ? t("better.progress", { done, total }) : t("better.waiting");
    else if (!state.better) words.textContent = t("better.words");
    else words.textContent = t(state.better.length ? "better.found" : state.position?.unfamiliar ? "better.unrated" : "better.none");
    list.replaceChildren(mistakeList(state.better ?? [], state, actions));
  }

  store.watch(["better", "position", "game", "line", "review", "reviewProgress", "tab", "language"], show);
  return box;
}
