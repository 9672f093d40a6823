// The players' cards: name, captures, clock, whose turn it is.

import { clockFace, elapsedFor } from "../game/clock.js";
import { element } from "../lib/element.js";
import { levelName, t } from "../lib/i18n.js";

const SIDES = ["black", "white"];

function nameOf(state, colour) {
  const { game, info } = state;
  if (game.you === colour) return t("players.you");
  if (game.level && game.you && game.you !== "both") return levelName(game.level, info);
  return game.players?.[colour] || t(colour);
}

/** The rank that a record tells of a player, or "". */
function rankOf(game, colour) {
  return game.you ? "" : (game.about?.[`${colour}_rank`] ?? "");
}

function card(colour) {
  const other = colour === "black" ? "white" : "black";
  const parts = {
    name: element("span", { class: "player-name", dir: "auto" }),
    captured: element("span", { class: "player-captured", role: "img" }),
    prisoners: element("bdi"),
    clock: element("span", { class: "player-clock", dir: "ltr", role: "timer" }),
  };
  parts.captured.append(element("span", { class: `pebble tiny ${other}` }), parts.prisoners);
  const box = element(
    "div",
    { class: "player", data: { colour } },
    element("span", { class: `pebble ${colour}`, "aria-hidden": "true" }),
    element("span", { class: "player-words" },
      parts.name, element("span", { class: "player-facts" }, parts.captured, parts.clock)),
  );
  return { box, ...parts };
}

/** Build the cards and keep their clocks running. */
export function showPlayers(box, store) {
  const cards = { black: card("black"), white: card("white") };
  box.append(cards.black.box, cards.white.box);

  function show() {
    const { state } = store;
    if (!state.game || !state.position) return;
    const { position } = state;
    for (const colour of SIDES) {
      const one = cards[colour];
      const rank = rankOf(state.game, colour);
      one.name.textContent = rank ? `${nameOf(state, colour)} (${rank})` : nameOf(state, colour);
      one.name.title = one.name.textContent;
      one.prisoners.textContent = String(position.captures[colour]);
      one.captured.title = t("players.captured", { count: position.captures[colour] });
      one.captured.setAttribute("aria-label", one.captured.title);
      const turn = position.to_play === colour && position.phase !== "over" && position.phase !== "counting";
      one.box.classList.toggle("turn", turn);
      one.box.classList.toggle("thinking", turn && position.thinking);
      if (turn) one.box.setAttribute("aria-current", "true");
      else one.box.removeAttribute("aria-current");
    }
    tick();
  }

  function tick() {
    const { state } = store;
    const clock = state.position?.clock;
    for (const colour of SIDES) {
      const node = cards[colour].clock;
      node.hidden = !clock;
      if (!clock) continue;
      const { text, urgent } = clockFace(clock[colour], elapsedFor(state, colour));
      if (node.textContent !== text) node.textContent = text;
      node.classList.toggle("urgent", urgent && clock.running === colour);
    }
  }

  store.watch(["game", "position", "info", "connection", "language"], show);
  setInterval(tick, 200);
}
