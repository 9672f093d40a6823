// The texts of the page of a run: one file for each language, on top of the main page's.

import { currentLanguage, onLanguage, t, useLanguage } from "../lib/i18n.js";

let strings = {};

async function load() {
  const answer = await fetch(`/static/languages/run.${currentLanguage()}.json`);
  if (answer.ok) strings = await answer.json();
  for (const node of document.querySelectorAll("[data-run-text]")) node.textContent = text(node.dataset.runText);
  for (const node of document.querySelectorAll("[data-run-label]")) {
    node.setAttribute("aria-label", text(node.dataset.runLabel));
  }
}

/** Show the page in the person's language; call `changed` now and after each change of language. */
export async function begin(changed) {
  await useLanguage();
  await load();
  changed();
  onLanguage(() => load().then(changed));
}

/** In Arabic, what is filled in keeps its own direction: +1.5 must not become 1.5+. */
function isolated(value) {
  return document.documentElement.dir === "rtl" ? `\u2068${value}\u2069` : value;
}

/** The string of a key, `{name}` filled in from values; `otherwise`, or the key, if there is none. */
export function text(key, values = {}, otherwise = undefined) {
  const found = strings[key];
  if (found === undefined) return otherwise ?? t(key, values);
  return found.replace(/\{(\w+)\}/g, (whole, name) => (name in values ? isolated(values[name]) : whole));
}
