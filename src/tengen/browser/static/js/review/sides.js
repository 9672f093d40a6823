// The cards of the two sides: accuracy, and their biggest mistakes as a list of buttons.

import { element } from "../lib/element.js";
import { t } from "../lib/i18n.js";
import { moveText, points, sideText } from "./words.js";

const LISTED = 5; // mistakes of a side that are listed at first

export const stoneOf = (color) => element("span", { class: `stone ${color}`, "aria-hidden": "true" });

/** Fill the card of a colour. `onMistake(step)` hears which one was chosen; returns [button, number] of each. */
export function fillSide(card, color, data, onMistake) {
  const side = data.sides[color];
  const { accuracy, summary } = sideText(side);
  const name = element("span", { dir: "auto", text: data.players[color] || t(color) });
  card.setAttribute("aria-label", [t(color), data.players[color]].filter(Boolean).join(", "));
  card.replaceChildren(element("h2", {}, stoneOf(color), name));
  if (accuracy !== null) {
    card.append(element("p", { class: "accuracy" }, element("strong", { dir: "ltr", text: accuracy }), t("report.accuracy")));
  }
  card.append(element("p", { class: "few", text: summary }));
  const buttons = side.mistakes.map((number) => [mistakeButton(data.steps[number - 1], onMistake), number]);
  const items = buttons.map(([button]) => element("li", {}, button));
  if (items.length) {
    const list = element("ol", { class: "mistakes", "aria-label": t("report.list") }, ...items.slice(0, LISTED));
    card.append(list);
    if (items.length > LISTED) card.append(moreButton(list, items));
  }
  return buttons;
}

function moreButton(list, items) {
  const more = element("button", { type: "button", class: "more", text: t("report.all", { count: items.length }) });
  more.addEventListener("click", () => {
    list.append(...items.slice(LISTED));
    items[LISTED].firstChild.focus();
    more.remove();
  });
  return more;
}

function mistakeButton(step, onMistake) {
  const values = { best: moveText(step.best), share: `${Math.round(100 * step.winrateLost)}%` };
  const instead = t(step.winrateLost < 0.01 ? "report.instead" : "report.instead.share", values);
  return element("button", { type: "button", on: { click: () => onMistake(step) } },
    element("span", { text: t("report.item", { number: step.number, move: moveText(step.move) }) }),
    element("span", { class: "loss" }, element("span", { dir: "ltr", text: "−" }), points(step.lost)),
    element("span", { class: "instead", text: instead }));
}
