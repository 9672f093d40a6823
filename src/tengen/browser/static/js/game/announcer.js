// Announces moves and results to screen readers through a polite live region.

import { resultText, t } from "../lib/i18n.js";

function sentence(state, before) {
  const { position } = state;
  if (position.phase === "over" && before?.phase !== "over") return resultText(position.result);
  if (position.phase === "counting" && before?.phase !== "counting") return t("say.counting");
  if (position.node === before?.node) return null;
  const number = position.move_number;
  if (position.last === null) return t("say.start");
  const colour = t(state.tree?.byId.get(position.node)?.colour ?? "black");
  if (position.last === "pass") return t("say.pass", { colour, number });
  return t("say.move", { colour, number, point: position.last });
}

/** Announce every new position. */
export function announceMoves(store) {
  const region = document.getElementById("announcements");
  let before = null;
  store.watch(["position"], (state) => {
    if (!state.position) return;
    const text = sentence(state, before);
    before = state.position;
    if (!text) return;
    const line = document.createElement("p");
    line.textContent = text;
    region.append(line);
    while (region.children.length > 4) region.firstChild.remove();
  });
}
