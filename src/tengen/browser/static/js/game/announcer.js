// Announces moves and results to screen readers through a polite live region.

import { pointIndex } from "../board/points.js";
import { listed, resultText, t } from "../lib/i18n.js";

function sentence(state, before) {
  const { position } = state;
  if (position.phase === "over" && before?.phase !== "over") return resultText(position.result, state.game?.you);
  if (position.phase === "counting" && before?.phase !== "counting") return t("say.counting");
  if (position.node === before?.node) return null;
  const number = position.move_number;
  if (position.last === null) return t("say.start");
  const colour = t(state.tree?.byId.get(position.node)?.colour ?? "black");
  if (position.last === "pass") return t("say.pass", { colour, number });
  const parts = [t("say.move", { colour, number, point: position.last })];
  const next = state.tree?.byId.get(position.node)?.parent === before?.node;
  const taken = next ? total(position) - total(before) : 0;
  if (taken > 0) parts.push(t("say.captured", { count: taken }));
  if (position.atari?.length) parts.push(t("say.atari", { points: listed(position.atari) }));
  return parts.join(". ");
}

const total = ({ captures }) => captures.black + captures.white;

/** Announce every new position. */
export function announceMoves(store) {
  const region = document.getElementById("announcements");
  let before = null;
  store.watch(["position"], (state) => {
    if (!state.position) return;
    const text = sentence(state, before);
    before = state.position;
    if (text) say(text);
  });
  store.watch(["liberties"], ({ liberties, position, game }) => {
    if (!liberties || !position) return;
    const stone = position.stones[pointIndex(liberties.point, game.size)];
    const label = t({ X: "board.black", O: "board.white" }[stone] ?? "board.empty", { point: liberties.point });
    say(stone === "." ? label : t("say.liberties", { label, count: liberties.liberties }));
  });

  function say(text) {
    const line = document.createElement("p");
    line.textContent = text;
    region.append(line);
    while (region.children.length > 4) region.firstChild.remove();
  }
}
