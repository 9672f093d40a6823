// The page of a training run: polls the server every two seconds and shows what is new.

import { languageSelect, themeButton } from "../lib/appearance.js";
import { element } from "../lib/element.js";
import { addStrings, onLanguage, t, useLanguage } from "../lib/i18n.js";
import { recall, remember } from "../lib/local_storage.js";
import { watched } from "./requests.js";
import { createMeasures, createStrength, createTiles } from "./measurements.js";
import { createGames } from "./games.js";
import { clock, percentage, whole } from "./numbers.js";
import { createPolicy } from "./policy.js";
import { createWorkers } from "./workers.js";

const PAUSE = 2000; // milliseconds between two polls
const PATIENCE = 45; // seconds without news after which a run may have stopped
const AXES = ["step", "minutes", "games"];

const at = (id) => document.getElementById(id);
const askState = watched("/api/run");
const tiles = createTiles(at("tiles"));
const strength = createStrength(at("strength"));
const games = createGames(at("games"));
const policy = createPolicy(at("policy"));
const measures = createMeasures(at("measures"));
const workers = createWorkers(at("workers"));

let state = null;
let connected = true;
let axis = AXES.includes(recall("run.axis", "")) ? recall("run.axis", "") : "step";

function statusOf() {
  if (!connected) return { id: "lost", words: t("status.lost") };
  if (!state?.facts && !state?.written) return { id: "waiting", words: t("status.none") };
  if (state.share !== null && state.share >= 1) return { id: "over", words: t("status.over") };
  if (!state.written) return { id: "waiting", words: t("status.waiting") };
  const age = Date.now() / 1000 - state.written;
  if (age < Math.max(PATIENCE, 3 * iterationSeconds())) return { id: "live", words: t("status.live") };
  return { id: "quiet", words: t("status.quiet", { time: clock(age / 60) }) };
}

function iterationSeconds() {
  const minutes = (state.series.minutes ?? []).filter((value) => value !== null).slice(-9);
  return minutes.length < 2 ? 0 : (60 * (minutes.at(-1) - minutes[0])) / (minutes.length - 1);
}

function showStatus() {
  const { id, words } = statusOf();
  at("status").dataset.status = id;
  if (at("status-words").textContent !== words) at("status-words").textContent = words;
  if (!state) return;
  const { last, facts, share } = state;
  workers.show(state.cluster); // even without news: how long the learner has been silent
  const parts = [];
  if (facts) parts.push(t("fact.board", { width: facts.width, height: facts.height }), facts.model);
  if (last.step !== undefined) parts.push(t("at.step", { step: whole(last.step) }));
  if (last.minutes !== undefined) parts.push(t("at.minutes", { minutes: clock(last.minutes) }));
  at("facts").textContent = parts.join(" · ");
  at("share").hidden = share === null;
  if (share === null) return;
  at("share").value = share;
  at("share").setAttribute("aria-label", t("share", { share: percentage(share) }));
}

function show() {
  showStatus();
  if (!state) return;
  document.title = `${state.name} · Tengen`;
  at("name").textContent = state.name;
  tiles.show(state);
  strength.show(state, axis);
  measures.show(state, axis);
}

function label() {
  for (const input of at("axes").querySelectorAll("input")) input.nextSibling.textContent = t(`axis.${input.value}`);
  games.label();
  policy.label();
  show();
}

function repaint() {
  games.repaint();
  policy.repaint();
}

function buildControls() {
  at("settings").append(languageSelect(), themeButton(repaint));
  at("axes").append(...AXES.map((name) => {
    const input = element("input", { type: "radio", name: "axis", value: name, checked: name === axis });
    input.addEventListener("change", () => {
      axis = name;
      remember("run.axis", name);
      show();
    });
    return element("label", {}, input, element("span"));
  }));
}

async function look() {
  try {
    const news = await askState();
    connected = true;
    if (news) state = news;
    if (news) show();
    else showStatus();
    await Promise.all([games.show(state.games), policy.show(state.networks)]);
  } catch {
    connected = false;
    showStatus();
  }
}

async function keepLooking() {
  for (;;) {
    if (!document.hidden) await look();
    await new Promise((resolve) => setTimeout(resolve, PAUSE));
  }
}

addStrings("run");
buildControls();
onLanguage(label);
await useLanguage();
document.addEventListener("visibilitychange", () => !document.hidden && look());
keepLooking();
