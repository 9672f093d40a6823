// What the review says, in the language of its reader: from the plain values it holds.

import { isolated, named, resultText, t } from "../lib/i18n.js";

const AS_GOOD = 0.05; // points below which a loss rounds to 0
const HARDLY = 0.005; // of all games, below which a win rate is not told as 0 or 100%

export const points = (count) => t("report.points", { count: Math.round(10 * count) / 10 });
export const moveText = (move) => (move === "pass" ? t("pass") : move);

/** A share in per cent; never rounded to 0% or 100%. */
function share(value) {
  if (value < 1 && value >= 1 - HARDLY) return ">99%";
  if (value > 0 && value < HARDLY) return "<1%";
  return `${Math.round(100 * value)}%`;
}

/** The game: board, rules, result, who reviewed it. */
export function factsText({ width, height, about }) {
  const facts = [`${width}×${height}`, named("rules", about.rules, about.rules), t("play.komi", { komi: about.komi })];
  if (about.handicap) facts.push(t("play.handicap", { count: about.handicap }));
  // A date in Arabic would be read from its end, a name may be in any script.
  facts.push(resultText(about.result), ...[about.date, about.event].filter(Boolean).map(isolated), t("report.by", { network: about.network, count: about.visits }));
  return facts.filter(Boolean).join(" · ");
}

function unfamiliarText({ network, board, rules }) {
  const key = board && rules ? "both" : board ? "board" : "rules";
  const values = { network, board: board?.replace("x", "×"), rules: rules && named("rules", rules, rules) };
  return `${t(`banner.unfamiliar.${key}`, values)} ${t("report.unrated")}`;
}

/** What the review does not cover, or has no grounds for. */
export function remarksText({ broken, missing, unchecked, unfamiliar }) {
  const found = [];
  if (unfamiliar) found.push(unfamiliarText(unfamiliar));
  if (broken) {
    found.push(t("report.broken", { number: broken.number }));
    if (broken.illegal) found.push(named("error.illegal_move", broken.illegal, ""));
  }
  if (missing) found.push(t("report.missing", { count: missing }));
  if (unchecked) found.push(t("report.unchecked", { count: unchecked }));
  return found.filter(Boolean).join(" ");
}

/** Who is ahead, by how much, and with what win rate; "" where that is not known. */
export function standingText({ winrate, lead }) {
  if (lead === undefined) return "";
  if (Math.abs(lead) < AS_GOOD) return t("report.even", { share: share(winrate) });
  const leader = lead > 0 ? "black" : "white";
  return t("report.ahead", {
    colour: t(leader), points: points(Math.abs(lead)), share: share(leader === "black" ? winrate : 1 - winrate),
  });
}

/** The verdict on a move; `mistake` is the loss from which on it is one. */
export function verdictText({ lost, winrateLost, best, move }, mistake) {
  if (lost === undefined) return t("report.notreviewed");
  const values = { best: moveText(best), points: points(lost), share: `${Math.round(100 * winrateLost)}%` };
  if (best === move) return t("report.verdict.best");
  if (lost < AS_GOOD) return t("report.verdict.asgood", values);
  if (lost < mistake) return t("report.verdict.better", values);
  return t(winrateLost >= 0.01 ? "report.verdict.share" : "report.verdict.loses", values);
}

/** What becomes of a try: {text, good}, by the moves that the search of the position looked at. */
export function tryText(step, place, point, mistake) {
  const known = step.tries.find((one) => one.place === place);
  if (!known) return { text: t("report.quiz.unknown", { move: point }), good: null };
  const values = { move: point, points: points(known.lost) };
  if (known.lost >= mistake) return { text: t("report.quiz.bad", values), good: false };
  return { text: t(known.lost < AS_GOOD ? "report.quiz.best" : "report.quiz.good", values), good: true };
}

/** How a side played: {accuracy, summary}, the former null without grounds. */
export function sideText({ moves, mistakes, accuracy, meanLoss }) {
  if (!moves) return { accuracy: null, summary: t("report.side.none") };
  const values = { moves: t("mine.moves", { count: moves }), points: points(meanLoss) };
  if (accuracy === null) {
    return { accuracy: null, summary: t("report.side.unrated", { ...values, mistakes: t("report.possible", { count: mistakes.length }) }) };
  }
  return {
    accuracy: `${Math.round(accuracy)}%`,
    summary: t("report.side.rated", { ...values, mistakes: t("report.mistakes", { count: mistakes.length }) }),
  };
}
