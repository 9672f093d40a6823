// "Watch it be born": a network learns 5x5 from nothing; its curve, and games against what it was.

import { button, choice } from "../lib/controls.js";
import { ask as confirmed } from "../lib/dialogs.js";
import { element, needStyle } from "../lib/element.js";
import { number, percent, resultText, signed, t, translateMarkup } from "../lib/i18n.js";
import { createChart } from "../runs/chart.js";
import { clock, figures } from "../runs/numbers.js";
import { createGame } from "./game.js";
import { ask, tell } from "./server.js";

const POLL = 2000; // milliseconds between two looks while it learns
const KOMI = 10.5;

export function createBorn() {
  const status = element("p", { class: "status", role: "status", id: "born-status" });
  const share = element("progress", { max: 1, value: 0, id: "born-share", data: { label: "born.title" } });
  const facts = element("p", { class: "facts" });
  const trouble = element("p", { class: "verdict bad", id: "born-trouble" });
  const why = element("p", { class: "words", id: "born-why" });
  const install = element("code", { class: "command", dir: "ltr", id: "born-install" });
  const acts = {
    start: button({ text: "born.start", kind: "primary", act: () => act("start"), id: "born-start" }),
    stop: button({ text: "born.stop", act: () => act("stop"), id: "born-stop" }),
    remove: button({ text: "born.remove", picture: "bin", kind: "quiet", act: remove, id: "born-remove" }),
  };
  const strength = createChart({ kind: "range", tone: "tone-elo" });
  const loss = createChart({ kind: "loss", tone: "tone-loss" });
  const none = element("p", { class: "facts", data: { text: "born.no_curve" } });
  const play = element("section", { class: "born-play", hidden: true });
  const box = element("div", { class: "sheet wide" },
    element("h1", { data: { text: "born.title" } }), element("p", { class: "lead", data: { text: "born.words" } }),
    status, share, facts, trouble, why, install, element("div", { class: "acts" }, ...Object.values(acts)),
    element("div", { class: "born-curves" }, none, strength.element, loss.element), play);
  let state = null;
  let closed = false;
  let waiting = null;
  let busy = false;
  let lost = "";

  const minutesText = (minutes) => number(Math.round(10 * minutes) / 10, minutes < 10 ? 1 : 0);

  function show() {
    status.textContent = lost || (state ? statusText() : t("waiting"));
    if (!state) return;
    share.hidden = state.state === "none";
    share.value = isPreparing() ? (state.preparing?.share ?? 0) : Math.min(1, state.minutes / state.of);
    facts.textContent = state.run?.last.games ? t("born.games", { count: state.run.last.games }) : "";
    trouble.textContent = state.trouble ? t("born.trouble", { what: state.trouble }) : "";
    why.textContent = state.why_not && state.state !== "running" ? t(`born.${state.why_not}`) : "";
    install.textContent = state.why_not === "torch" ? state.install : "";
    install.hidden = !install.textContent;
    acts.start.hidden = !state.may_train || state.state === "running" || state.state === "ended";
    acts.start.querySelector("span").textContent = t(state.state === "stopped" ? "born.resume" : "born.start");
    acts.stop.hidden = state.state !== "running" || !state.may_train;
    acts.remove.hidden = !state.may_train || state.state === "running" || state.state === "none";
    for (const node of Object.values(acts)) node.disabled = busy;
    showCurves();
    showPlay();
  }

  const isPreparing = () => state.state === "running" && state.minutes === 0;

  function statusText() {
    const values = { minutes: minutesText(state.minutes), of: number(state.of) };
    if (isPreparing()) {
      const { preparing } = state;
      if (!preparing) return t("born.state.preparing");
      return t("born.state.compiling", { percent: number(Math.round(100 * preparing.share)), left: clock(preparing.minutes) });
    }
    return t(`born.state.${state.state}`, values);
  }

  function showCurves() {
    const series = state.run?.series ?? {};
    const rated = (state.run?.ratings.networks ?? []).filter(({ elo, minutes }) => elo !== null && minutes !== null)
      .map(({ minutes: x, elo: y, low, high }) => ({ x, y, low, high })).sort((one, other) => one.x - other.x);
    const lossAt = (series["loss/total"] ?? []).map((y, i) => ({ x: series.minutes?.[i] ?? null, y })).filter(({ x, y }) => x !== null && y !== null);
    const common = { along: clock, timed: true, where: ({ x }) => t("born.at", { minutes: clock(x) }) };
    strength.element.hidden = rated.length < 2;
    loss.element.hidden = lossAt.length < 2;
    none.hidden = state.state === "none" || rated.length >= 2 || lossAt.length >= 2;
    strength.show({
      ...common, title: t("born.strength"), points: rated, tick: (elo) => signed(elo, 0),
      value: ({ y, low, high }) => `${signed(y, 0)} [${signed(low, 0)}, ${signed(high, 0)}]`,
    });
    loss.show({ ...common, title: t("born.loss"), points: lossAt, tick: figures, value: ({ y }) => figures(y) });
  }

  // Games

  const terms = { minute: 1, colour: "black" };
  const game = createGame({
    head: element("div", { class: "exercise-head" }, element("h2", { data: { text: "born.play.title" } }), element("p", { id: "born-play-words" })),
    id: "born", passes: true,
    request: (moves, colour) => tell("born-game", { minute: terms.minute, colour, moves }),
    verdict: ({ winner, result }, colour) => ({ kind: winner === colour ? "good" : winner ? "bad" : "", words: resultText(result, colour) }),
    told: ({ winrate }) => (typeof winrate === "number" ? t("born.winrate", { percent: percent(winrate) }) : ""),
  });
  const minutes = element("div", { class: "field" });
  const colours = element("div", { class: "field" });
  game.settings.append(minutes, colours);
  play.append(game.element);
  let begun = false;

  function showPlay() {
    const ready = state.players.filter((one) => one.ready);
    play.hidden = ready.length === 0;
    if (play.hidden) {
      begun = false;
      return;
    }
    const drawn = state.players.map(({ minute, ready: is }) => `${minute}${is}`).join() + document.documentElement.lang;
    if (minutes.dataset.drawn !== drawn) {
      minutes.dataset.drawn = drawn;
      minutes.replaceChildren(choice({
        name: "minute", label: "born.play.title", chosen: terms.minute, act: (minute) => choose({ minute }),
        options: state.players.map(({ minute, ready: is }) => ({ value: minute, words: t("born.minute", { count: minute }) + (is ? "" : ` (${t("born.not_yet")})`) })),
      }));
      for (const [i, input] of minutes.querySelectorAll("input").entries()) input.disabled = !state.players[i].ready;
      colours.replaceChildren(element("span", { class: "field-name", text: t("born.colour") }), choice({
        name: "colour", label: "born.colour", chosen: terms.colour, act: (colour) => choose({ colour }),
        options: ["black", "white"].map((colour) => ({ value: colour, text: colour })),
      }));
      translateMarkup();
    }
    document.getElementById("born-play-words").textContent = t("born.play.words", { komi: number(KOMI, 1) });
    if (!begun) {
      begun = true;
      game.begin(terms.colour);
    }
  }

  function choose(changed) {
    Object.assign(terms, changed);
    game.begin(terms.colour);
  }

  // The server

  async function look() {
    clearTimeout(waiting);
    try {
      state = await ask("born");
      lost = "";
    } catch (failure) {
      lost = failure.words?.() ?? t("away");
    }
    if (closed) return;
    show();
    if (lost || state.state === "running") waiting = setTimeout(look, POLL);
  }

  async function act(name) {
    if (busy) return;
    busy = true;
    show();
    try {
      state = await tell(`born/${name}`);
      lost = "";
    } catch (failure) {
      lost = failure.words();
    }
    busy = false;
    if (closed) return;
    show();
    waiting = setTimeout(look, POLL);
  }

  async function remove() {
    if (await confirmed("born.remove.ask", "born.remove.yes")) act("remove");
  }

  needStyle("/static/css/charts.css").catch(() => {});
  look();
  return {
    element: box,
    label() {
      if (state) show();
      game.label();
    },
    repaint: game.repaint,
    close() {
      closed = true;
      clearTimeout(waiting);
    },
  };
}
