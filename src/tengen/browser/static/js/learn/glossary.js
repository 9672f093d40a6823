// Words of the game in texts: `[[liberties|liberty]]` is a button that tells what the word means.

import { element } from "../lib/element.js";
import { t } from "../lib/i18n.js";

export const TERMS = [
  "liberty", "chain", "atari", "capture", "ko", "threat", "eye", "alive", "dead", "seki", "territory", "komi", "ladder",
  "net", "snapback", "pass", "dame", "handicap",
];
const MARKED = /\[\[([^|\]]+)\|(\w+)\]\]/;

let tip = null; // one for the page
let told = null; // the button whose word is told

function tooltip() {
  if (tip) return tip;
  tip = element("div", { class: "tip", id: "tip", role: "tooltip", popover: "auto" });
  tip.addEventListener("toggle", (event) => {
    if (event.newState === "closed") told?.removeAttribute("aria-describedby");
  });
  document.body.append(tip);
  return tip;
}

function place(button) {
  const around = button.getBoundingClientRect();
  const { offsetWidth: wide, offsetHeight: high } = tip;
  const left = Math.max(8, Math.min(innerWidth - wide - 8, around.left + around.width / 2 - wide / 2));
  const above = around.top - high - 6;
  tip.style.left = `${left}px`;
  tip.style.top = `${above > 8 ? above : around.bottom + 6}px`;
}

function tellOf(button, term) {
  tooltip().textContent = t(`term.${term}.words`);
  told = button;
  button.setAttribute("aria-describedby", "tip");
  tip.showPopover();
  place(button);
}

function wordButton(words, term) {
  const button = element("button", { type: "button", class: "term", text: words });
  button.addEventListener("click", () => tellOf(button, term));
  button.addEventListener("pointerenter", (event) => {
    if (event.pointerType === "mouse") tellOf(button, term);
  });
  button.addEventListener("pointerleave", () => tip?.hidePopover());
  return button;
}

/** Fill a node with a text of the language in which words are marked. */
export function fillWithTerms(node, text) {
  const pieces = [];
  let rest = text;
  for (let found = MARKED.exec(rest); found; found = MARKED.exec(rest)) {
    pieces.push(rest.slice(0, found.index), wordButton(found[1], found[2]));
    rest = rest.slice(found.index + found[0].length);
  }
  node.replaceChildren(...pieces.filter((piece) => piece !== ""), rest);
}
