// The review of the game: start, progress, accuracy, biggest mistakes, downloads.

import { button, choice, panel } from "../lib/controls.js";
import { element } from "../lib/element.js";
import { currentLanguage, number, t } from "../lib/i18n.js";
import { mistakeList } from "../page/mistake_list.js";

export const order = 40;

const DEPTHS = { quick: 50, normal: 200, deep: 800 };
const SHOWN = 5;
const SIDES = ["black", "white"];

function accuracyRow(review) {
  if (review.unfamiliar) return element("p", { class: "words", id: "unrated", text: t("review.unrated") });
  return element(
    "div",
    { class: "accuracies" },
    ...SIDES.map((colour) => {
      const share = review.accuracy?.[colour];
      const known = typeof share === "number";
      const meter = element("span", { class: "meter-fill" });
      meter.style.inlineSize = known ? `${share}%` : "0";
      return element(
        "div",
        { class: "accuracy" },
        element("span", { class: `pebble small ${colour}`, "aria-hidden": "true" }),
        element("span", { class: "accuracy-words" },
          element("span", { text: t("review.accuracy", { colour: t(colour) }) }),
          element("strong", { dir: "ltr", text: known ? `${number(share, 1)}%` : "–" })),
        element("span", { class: "meter", "aria-hidden": "true" }, meter),
      );
    }),
  );
}

function mistakesOf(review, colour) {
  const turns = new Map(review.turns.map((turn) => [turn.node, turn]));
  return (review.mistakes[colour] ?? []).map((id) => turns.get(id)).filter(Boolean).slice(0, SHOWN);
}

export function createPanel({ store, actions }) {
  let depth = "normal";
  const words = element("p", { class: "words" });
  const depths = choice({
    name: "depth", label: "review.depth", chosen: depth, act: (value) => { depth = value; },
    options: Object.keys(DEPTHS).map((value) => ({ value, text: `review.${value}` })),
  });
  const start = button({ text: "review.start", kind: "primary wide", id: "review-start",
    act: () => actions.review(Math.min(DEPTHS[depth], store.state.info?.limits?.visits ?? DEPTHS[depth])) });
  const bar = element("progress", { id: "review-progress", data: { label: "review.progress" } });
  const done = element("span", { class: "facts", dir: "ltr" });
  const progress = element("div", { class: "progress" }, bar, done,
    button({ text: "review.stop", act: actions.stopReview, id: "review-stop" }));
  const results = element("div", { id: "review-results", class: "review-results" });
  const box = panel({ title: "review.title", tabs: "review", id: "review" }, words, progress, results, depths, start);

  function exportLinks(session) {
    const link = (id, file, text, query = "") =>
      element("a", { class: "button plain", id, href: `/api/sessions/${session}/${file}${query}`, download: file, text: t(text) });
    return element("div", { class: "actions two" },
      link("export-sgf", "review.sgf", "review.sgf"),
      link("export-html", "review.html", "review.html", `?language=${currentLanguage()}`));
  }

  function mistakes(state, colour) {
    const turns = mistakesOf(state.review, colour);
    const none = state.review.unfamiliar ? "review.none.unrated" : "review.none";
    return element("div", { class: "mistakes" },
      element("h3", { text: t("review.mistakes", { colour: t(colour) }) }),
      turns.length ? mistakeList(turns, state, actions) : element("p", { class: "words", text: t(none) }));
  }

  function show() {
    const { state } = store;
    if (!state.tree) return;
    const running = state.reviewProgress;
    const moves = state.tree.byId.size - 1;
    progress.hidden = !running;
    if (running) {
      bar.max = running.total || 1;
      bar.value = running.done;
      done.textContent = `${running.done} / ${running.total}`;
    }
    words.hidden = Boolean(state.review || running);
    words.textContent = t(moves > 0 ? "review.words" : "review.empty");
    depths.hidden = Boolean(running) || moves === 0;
    start.hidden = Boolean(running);
    start.disabled = moves === 0 || state.connection !== "open" || !state.info?.ready;
    results.hidden = !state.review;
    start.classList.toggle("primary", !state.review);
    start.querySelector("span").textContent = t(state.review ? "review.again" : "review.start");
    if (state.review) {
      results.replaceChildren(
        accuracyRow(state.review), ...SIDES.map((colour) => mistakes(state, colour)), exportLinks(state.session),
      );
    }
  }

  store.watch(["review", "reviewProgress", "tree", "session", "connection", "info", "line", "language"], show);
  return box;
}
