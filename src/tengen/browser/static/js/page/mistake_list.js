// Moves that lost points, as a list of buttons: for the review and the end of a game.

import { element } from "../lib/element.js";
import { t } from "../lib/i18n.js";

export function moveText(move) {
  return move === "pass" ? t("pass") : move;
}

function severity(loss) {
  if (loss >= 5) return "bad";
  return loss >= 2 ? "poor" : "fair";
}

function turnButton(turn, state, actions) {
  return element(
    "button",
    {
      type: "button",
      class: "row-button turn-row",
      "aria-pressed": String(state.line?.turn === turn),
      on: { click: () => actions.showTurn(turn) },
    },
    element("span", { class: "turn-number", text: t("turn.number", { number: turn.move_number }) }),
    element("span", { class: "turn-moves" },
      element("bdi", { class: "point", text: moveText(turn.move) }),
      element("span", { class: "turn-arrow", text: t("turn.better") }),
      element("bdi", { class: "point good", text: moveText(turn.best) })),
    element("span", { class: `loss ${severity(turn.loss)}`, dir: "ltr", text: `−${turn.loss.toFixed(1)}` }),
  );
}

/** A list of buttons; each goes to its position and shows the better line there. */
export function mistakeList(turns, state, actions) {
  return element(
    "ol",
    { class: "turns" },
    ...turns.map((turn) => element("li", {}, turnButton(turn, state, actions))),
  );
}
