// The words of the game and the rule sets, a sentence each.

import { element } from "../lib/element.js";
import { t } from "../lib/i18n.js";
import { TERMS } from "./glossary.js";

const RULES = [
  "chinese", "japanese", "tromp-taylor", "aga", "new-zealand", "ing", "chinese-ogs", "stone-scoring", "aga-button",
  "ancient-territory",
];

function list(names, nameOf, wordsOf) {
  return element("dl", { class: "words-list" }, ...names.map((name) => element("div", {},
    element("dt", { data: { text: nameOf(name) } }), element("dd", { data: { text: wordsOf(name) } }))));
}

export function createWords() {
  const terms = list(TERMS, (name) => `term.${name}`, (name) => `term.${name}.words`);
  const rules = list(RULES, (name) => `rules.${name}`, (name) => `rules.words.${name}`);
  const heading = element("h2", { data: { text: "words.rules" } });
  const box = element("div", { class: "sheet" },
    element("h1", { data: { text: "words.title" } }), element("p", { class: "lead", data: { text: "words.words" } }), terms,
    heading, element("p", { data: { text: "words.rules.words" } }), rules);
  return {
    element: box,
    label() {
      const terms_ = [...terms.children].sort((one, other) => t(one.firstChild.dataset.text).localeCompare(t(other.firstChild.dataset.text), document.documentElement.lang));
      terms.replaceChildren(...terms_);
    },
  };
}
