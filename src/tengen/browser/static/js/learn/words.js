// The words of the game and the rule sets, a sentence each.

import { element } from "../lib/element.js";
import { keysOf, t } from "../lib/i18n.js";
import { TERMS } from "../lib/terms.js";

const RULES = "rules.words."; // keys of sentences about rule sets begin so

function list(names, nameOf, wordsOf) {
  return element("dl", { class: "words-list" }, ...names.map((name) => element("div", {},
    element("dt", { data: { text: nameOf(name) } }), element("dd", { data: { text: wordsOf(name) } }))));
}

export function createWords() {
  const terms = list(TERMS, (name) => `terms.name.${name}`, (name) => `terms.${name}`);
  const rules = list(keysOf(RULES).map((key) => key.slice(RULES.length)), (name) => `rules.${name}`, (name) => RULES + name);
  const box = element("div", { class: "sheet" },
    element("h1", { data: { text: "words.title" } }), element("p", { class: "lead", data: { text: "words.words" } }), terms,
    element("h2", { data: { text: "words.rules" } }), element("p", { data: { text: "words.rules.words" } }), rules);
  return {
    element: box,
    label() {
      const named = (row) => t(row.firstChild.dataset.text);
      const sorted = [...terms.children].sort((one, other) => named(one).localeCompare(named(other), document.documentElement.lang));
      terms.replaceChildren(...sorted);
    },
  };
}
