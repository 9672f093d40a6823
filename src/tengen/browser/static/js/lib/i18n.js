// Languages: one JSON file of strings each. Numbers stay in Latin digits, as on every Go board.

import { recall, remember } from "./local_storage.js";

export const LANGUAGES = {
  en: "English",
  "zh-Hans": "简体中文",
  "zh-Hant": "繁體中文",
  ja: "日本語",
  ko: "한국어",
  ar: "العربية",
};
const RIGHT_TO_LEFT = new Set(["ar"]);

let language = "en";
let strings = {};
const prefixes = [""]; // of the files of strings
let plurals = new Intl.PluralRules("en");
const listeners = [];

function preferred() {
  const wanted = [recall("language", null), ...navigator.languages];
  for (const tag of wanted) {
    if (!tag) continue;
    if (tag in LANGUAGES) return tag;
    const base = tag.split("-")[0];
    if (base === "zh") return /-(Hant|TW|HK|MO)\b/i.test(tag) ? "zh-Hant" : "zh-Hans";
    if (base in LANGUAGES) return base;
  }
  return "en";
}

let loadStrings = fetchStrings; // by the file's name, without its ending

async function fetchStrings(file) {
  const answer = await fetch(`/static/languages/${file}.json`);
  if (!answer.ok) throw new Error(`no strings in ${file}`);
  return answer.json();
}

/** Take strings from elsewhere than the server: `load(language)` returns or resolves to them. */
export function stringsFrom(load) {
  loadStrings = load;
}

/** Load the strings of `{page}.{language}.json` too, on top of the common ones. */
export function addStrings(page) {
  prefixes.push(`${page}.`);
}

/** Load the strings of a part of the page that is opened only now, and keep them with the language. */
export async function needStrings(page) {
  const prefix = `${page}.`;
  if (prefixes.includes(prefix)) return;
  const code = language;
  const found = await loadStrings(prefix + code);
  prefixes.push(prefix);
  if (code === language) Object.assign(strings, found);
  else await useLanguage(language);
}

/** Load a language (by default the remembered or the browser's own) and show the page in it. */
export async function useLanguage(code = preferred()) {
  try {
    strings = Object.assign({}, ...(await Promise.all(prefixes.map((prefix) => loadStrings(prefix + code)))));
  } catch {
    return; // keep the language that is shown
  }
  language = code;
  plurals = new Intl.PluralRules(code);
  document.documentElement.lang = code;
  document.documentElement.dir = RIGHT_TO_LEFT.has(code) ? "rtl" : "ltr";
  translateMarkup();
  for (const listener of listeners) listener();
}

/** Load a language and remember it as the person's choice. */
export async function chooseLanguage(code) {
  remember("language", code);
  await useLanguage(code);
}

export function currentLanguage() {
  return language;
}

/** Call back whenever the language has changed. */
export function onLanguage(listener) {
  listeners.push(listener);
}

export function hasText(key) {
  return key in strings;
}

/** The keys that begin so, in the order of the file. */
export function keysOf(prefix) {
  return Object.keys(strings).filter((key) => key.startsWith(prefix));
}

/** The string of this key; `{name}` is filled in from values, `count` chooses the plural. */
export function t(key, values = {}) {
  let text = strings[key] ?? key;
  if (typeof text === "object") text = text[plurals.select(values.count)] ?? text.other;
  return text.replace(/\{(\w+)\}/g, (whole, name) => {
    const value = values[name];
    if (value === undefined) return whole;
    return typeof value === "number" ? number(value) : isolated(value);
  });
}

/** In Arabic, what is filled in keeps its own direction: +1.5 must not become 1.5+. */
export function isolated(value) {
  return RIGHT_TO_LEFT.has(language) ? `\u2068${value}\u2069` : value;
}

const SEPARATORS = { "zh-Hans": "、", "zh-Hant": "、", ja: "、", ar: "، " };

/** Several things, one after the other. */
export function listed(parts) {
  // The mark tells that the whole runs from right to left, whatever it begins with.
  const mark = RIGHT_TO_LEFT.has(language) ? "\u200f" : "";
  return mark + parts.map(isolated).join(SEPARATORS[language] ?? ", ");
}

function locale() {
  return `${language}-u-nu-latn`;
}

export function number(value, digits = 0) {
  return new Intl.NumberFormat(locale(), {
    minimumFractionDigits: digits,
    maximumFractionDigits: Math.max(digits, Number.isInteger(value) ? 0 : digits || 1),
  }).format(value);
}

/** Visits and the like, short enough for a board: 950, 1.2k, 34k. */
export function shortNumber(value) {
  if (value < 1000) return String(Math.round(value));
  if (value < 10_000) return `${(value / 1000).toFixed(1)}k`;
  if (value < 1_000_000) return `${Math.round(value / 1000)}k`;
  return `${(value / 1_000_000).toFixed(1)}M`;
}

/** A share of one as a percentage with one digit, without the sign. */
export function percent(share) {
  return (100 * share).toFixed(1);
}

/** A number with its sign, a true minus, and (for points) one digit. */
export function signed(value, digits = 1) {
  const text = Math.abs(value).toFixed(digits);
  if (Number(text) === 0) return text;
  return (value < 0 ? "−" : "+") + text;
}

/** A day and time, from seconds since 1970. */
export function dateText(seconds) {
  return new Intl.DateTimeFormat(locale(), { dateStyle: "medium", timeStyle: "short" }).format(new Date(1000 * seconds));
}

/** A level as people read it: of the server's list, or so many visits or seconds a move. */
export function levelName(id, info) {
  const [kind, count] = id.split(":");
  if (kind === "visits") return t("level.visits", { count: Number(count) });
  if (kind === "seconds") return t("level.seconds", { count: Number(count) });
  const level = info?.levels?.find((one) => one.id === id);
  return named("level", id, level?.name ?? id);
}

/** "B+3.5" and its like as words; as "You win" where `you`, a colour, is one side of it. */
export function resultText(result, you = null) {
  if (!result) return "";
  if (result === "0" || result === "Draw") return t("result.draw");
  if (result === "Void") return t("result.none");
  const [side, by] = result.split("+");
  if (by === undefined) return result;
  if (side !== "B" && side !== "W") return result;
  const colour = side === "B" ? "black" : "white";
  const personal = you === "black" || you === "white";
  const who = personal ? (you === colour ? "you." : "they.") : "";
  const winner = t(colour);
  if (by === "R" || by === "Resign") return t(`result.${who}resign`, { winner });
  if (by === "T" || by === "Time") return t(`result.${who}time`, { winner });
  const count = Number(by);
  return by === "" || Number.isNaN(count) ? t(`result.${who}wins`, { winner }) : t(`result.${who}points`, { winner, count });
}

/** The translation of a name that the server uses (rules, levels), or `fallback`. */
export function named(prefix, id, fallback) {
  const key = `${prefix}.${id}`;
  return hasText(key) ? t(key) : fallback;
}

/** Translate all marked elements in the document; call it again after adding some. */
export function translateMarkup() {
  for (const node of document.querySelectorAll("[data-text]")) node.textContent = t(node.dataset.text);
  for (const node of document.querySelectorAll("[data-label]")) {
    node.setAttribute("aria-label", t(node.dataset.label));
  }
  for (const node of document.querySelectorAll("[data-hint]")) node.title = t(node.dataset.hint);
}
