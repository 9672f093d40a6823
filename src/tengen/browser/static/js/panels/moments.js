// How many of the player's costliest turns are due as puzzles, and the way to them.

import { button, panel } from "../lib/controls.js";
import { element } from "../lib/element.js";
import { t } from "../lib/i18n.js";

export const order = 12;

export function createPanel({ store, dialogs }) {
  const words = element("p", { class: "words", id: "moments-words" });
  const start = button({ text: "moments.start", picture: "target", act: dialogs.moments, id: "moments-start" });
  const box = panel({ title: "moments.title", tabs: "play review", id: "moments" }, words, start);

  function show() {
    const { moments, connection, info, position, game } = store.state;
    const playing = game?.you && (position?.phase === "playing" || position?.phase === "counting");
    box.hidden = !moments || moments.due + moments.later === 0 || Boolean(playing && position.move_number > 0);
    if (box.hidden) return;
    words.textContent = moments.due > 0 ? t("moments.due", { count: moments.due }) : t("moments.later", { count: moments.later });
    start.hidden = moments.due === 0;
    start.disabled = connection !== "open" || !info?.ready;
  }

  store.watch(["moments", "connection", "info", "position", "game", "language"], show);
  return box;
}
