// The bar under the board: step through the game, and confirm a move chosen by touch.

import { button, iconButton } from "../lib/controls.js";
import { element } from "../lib/element.js";
import { lineThrough } from "../game/tree.js";
import { t } from "../lib/i18n.js";

export function createNavigation(box, store, actions) {
  const step = (way) => iconButton({ label: `walk.${way}`, picture: way, kind: "quiet", act: () => actions.walk(way), id: `walk-${way}` });
  const [first, back, forward, last] = ["first", "back", "forward", "last"].map(step);
  const where = element("span", { class: "walk-where", id: "move-number" });
  box.append(first, back, where, forward, last);

  function show() {
    const { state } = store;
    if (!state.tree || !state.position) return;
    const line = lineThrough(state.tree, state.at);
    const here = line.indexOf(state.at);
    const passed = state.position.last === "pass";
    where.textContent = t(passed ? "walk.passed" : "walk.where", {
      here, all: line.length - 1, colour: t(state.tree.byId.get(state.at)?.colour ?? "black"),
    });
    const still = state.tab === "play" && state.position.phase !== "over";
    box.classList.toggle("still", still);
    for (const node of [first, back]) node.disabled = still || here <= 0;
    for (const node of [forward, last]) node.disabled = still || here >= line.length - 1;
  }

  store.watch(["tree", "at", "position", "tab", "language"], show);
}

export function createAim(box, store, actions) {
  const confirm = button({ text: "aim.play", picture: "check", kind: "primary", act: () => actions.move(store.state.aimed), id: "confirm-aim" });
  const cancel = iconButton({ label: "cancel", picture: "close", kind: "plain", act: () => store.change({ aimed: null }), id: "cancel-aim" });
  box.append(confirm, cancel);
  const show = () => {
    const { aimed } = store.state;
    box.classList.toggle("shown", Boolean(aimed));
    box.inert = !aimed;
    if (aimed) confirm.querySelector("span").textContent = t("aim.play", { point: aimed });
  };
  store.watch(["aimed", "language"], show);
}
