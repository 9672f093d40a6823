// Go words explained in a bubble, for mouse, finger and keyboard: by a small button beside the word, or by
// the word itself in a text.

import { element } from "./element.js";
import { needStrings, onLanguage, t } from "./i18n.js";

/** All words that are explained: `terms.NAME` in the languages, and `terms.name.NAME`. */
export const TERMS = [
  "liberty", "chain", "atari", "capture", "eye", "alive", "dead", "ko", "threat", "seki", "ladder", "net", "snapback",
  "pass", "area", "dame", "prisoners", "tax", "komi", "handicap", "byoyomi", "rank", "winrate", "lead", "visits",
  "policy", "ownership", "accuracy", "variation", "sgf",
];

const EDGE = 8; // pixels that a bubble stays away from the edges
const MARKED = /\[\[([^|\]]+)\|(\w+)\]\]/;

let bubble = null;
let opener = null; // the button whose bubble is open
let held = false; // it was clicked, not only pointed at

function name(node) {
  node.setAttribute("aria-label", t("terms.what", { term: t(node.dataset.of) }));
}

onLanguage(() => {
  for (const node of document.querySelectorAll(".term")) name(node);
});

function place(node) {
  const at = node.getBoundingClientRect();
  const box = bubble.getBoundingClientRect();
  const left = Math.min(innerWidth - box.width - EDGE, Math.max(EDGE, at.left + at.width / 2 - box.width / 2));
  const below = at.bottom + EDGE;
  const top = below + box.height < innerHeight - EDGE ? below : at.top - box.height - EDGE;
  Object.assign(bubble.style, { left: `${left}px`, top: `${Math.max(EDGE, top)}px` });
}

async function open(node) {
  await needStrings("terms");
  bubble ??= element("div", { class: "bubble", popover: "auto", role: "status", id: "bubble" });
  // Inside the dialog that is open: what is outside of it is not read aloud.
  const host = node.closest("dialog") ?? document.body;
  if (bubble.parentElement !== host) host.append(bubble);
  bubble.textContent = t(`terms.${node.dataset.term}`);
  if (!bubble.matches(":popover-open")) bubble.showPopover();
  opener = node;
  node.setAttribute("aria-expanded", "true");
  bubble.addEventListener("beforetoggle", () => node.setAttribute("aria-expanded", "false"), { once: true });
  place(node);
}

function close() {
  if (bubble?.matches(":popover-open")) bubble.hidePopover();
  opener = null;
  held = false;
}

/** A button that explains `term`; `of` is the key of the word beside it. */
export function explain(term, of) {
  const node = element("button", { type: "button", class: "term", data: { term, of }, "aria-expanded": "false", text: "?" });
  name(node);
  return explaining(node);
}

/** Fill a node with a text of the language in which words are marked: `[[liberties|liberty]]` is a button. */
export function fillWithTerms(node, text) {
  const pieces = [];
  let rest = text;
  for (let found = MARKED.exec(rest); found; found = MARKED.exec(rest)) {
    const [whole, words, term] = found;
    pieces.push(rest.slice(0, found.index),
      explaining(element("button", { type: "button", class: "word", data: { term }, "aria-expanded": "false", text: words })));
    rest = rest.slice(found.index + whole.length);
  }
  node.replaceChildren(...pieces.filter((piece) => piece !== ""), rest);
}

function explaining(node) {
  const wasOpen = () => opener === node && held;
  let before = false;
  node.addEventListener("pointerdown", () => {
    before = wasOpen(); // the bubble closes before the click is heard
  });
  node.addEventListener("click", () => {
    const again = before;
    before = false;
    if (again) return close();
    held = true;
    return open(node).catch(() => {});
  });
  node.addEventListener("pointerenter", (event) => {
    if (event.pointerType === "mouse" && !held) open(node).catch(() => {});
  });
  node.addEventListener("pointerleave", () => {
    if (!held) close();
  });
  return node;
}
