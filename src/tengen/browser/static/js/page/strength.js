// A player's strength by the results so far: rank, its uncertainty, its curve, and the next even game.

import { drawing, element } from "../lib/element.js";
import { levelName, listed, number, t } from "../lib/i18n.js";

const WIDTH = 320;
const HEIGHT = 64;

/** A rank as people read it. */
export const rankText = (rank) => t(rank.dan ? "rank.dan" : "rank.kyu", { number: rank.number });

function estimateText({ rank, low, high, games }) {
  if (games === 0) return t("even.new");
  if (!rank) return t("even.unranked", { count: games });
  const range = { rank: rankText(rank), low: rankText(low), high: rankText(high) };
  return `${t("even.rank", range)} ${t("even.games", { count: games })}`;
}

function termsText({ terms }, info) {
  const parts = [levelName(terms.level, info), t("even.colour", { colour: t(terms.colour) }), t("play.komi", { komi: number(terms.komi, 1) })];
  if (terms.handicap > 1) parts.push(t("new.handicap.stones", { count: terms.handicap }));
  return t("even.next", { terms: listed(parts) });
}

/** The estimate after each game as a line, within a band of one deviation. */
function curve(points) {
  const highest = Math.max(...points.map(({ elo, deviation }) => elo + deviation));
  const lowest = Math.min(...points.map(({ elo, deviation }) => elo - deviation));
  const x = (i) => 4 + (i * (WIDTH - 8)) / Math.max(1, points.length - 1);
  const y = (elo) => 4 + ((highest - elo) * (HEIGHT - 8)) / Math.max(1, highest - lowest);
  const line = (values) => values.map((value, i) => `${i ? "L" : "M"}${x(i).toFixed(1)} ${y(value).toFixed(1)}`).join("");
  const upper = points.map(({ elo, deviation }) => elo + deviation);
  const lower = points.map(({ elo, deviation }) => elo - deviation);
  const back = lower.map((value, i) => `L${x(i).toFixed(1)} ${y(value).toFixed(1)}`).reverse().join("");
  return drawing("svg", { class: "strength-curve", viewBox: `0 0 ${WIDTH} ${HEIGHT}`, role: "img", "aria-label": t("even.curve"), dir: "ltr" },
    drawing("path", { class: "strength-band", d: `${line(upper)}${back}Z` }),
    drawing("path", { class: "strength-line", d: line(points.map(({ elo }) => elo)) }));
}

/** The element; `show({size, rules})` asks for what is shown there, `show(null)` hides it. */
export function createStrength(store) {
  const words = element("p", { class: "words", id: "strength" });
  const next = element("p", { class: "facts", id: "even-terms" });
  const figure = element("div");
  const box = element("div", { class: "strength" }, words, figure, next);
  let wanted = null;
  const self = {
    element: box,
    ask: null,
    show(wish) {
      box.hidden = !wish;
      if (!wish) return;
      const key = `${wish.size} ${wish.rules}`;
      if (key !== wanted || store.state.strength === null) {
        wanted = key;
        self.ask?.(wish.size, wish.rules ?? "chinese");
      }
      tell();
    },
  };

  function tell() {
    const { strength, info } = store.state;
    if (!strength || box.hidden) return;
    words.textContent = estimateText(strength);
    next.textContent = termsText(strength, info);
    figure.replaceChildren(...(strength.curve.length > 1 ? [curve(strength.curve)] : []));
  }

  store.watch(["strength", "language"], tell);
  return self;
}
