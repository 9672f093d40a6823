// Why a move is good or bad, in one sentence: from what the server found, and nothing else.

import { t } from "../lib/i18n.js";
import { moveText } from "../page/mistake_list.js";

const OTHER = { black: "white", white: "black" };
const HOUR = 3600;
const WORTH_TELLING = 0.5; // points
const points = (count) => t("moments.points", { count });

/** The sentence about a try or an answer. */
export function whyText({ type, good, why, move, line, played }, { to_play: mover }) {
  const better = type === "moment_answer" || good;
  const values = {
    move: moveText(move ?? line[0].move),
    played: moveText(played),
    gain: points(why?.gain ?? 0),
    count: why?.stones ?? 0,
    at: why?.at,
    other: why?.other,
    side: t(better ? mover : OTHER[mover]),
    loser: t(better ? OTHER[mover] : mover),
  };
  if (better && !(why?.gain >= WORTH_TELLING)) return t("moments.why.same", values);
  return t(`moments.${better ? "why" : "then"}.${why.kind}`, values);
}

/** When the next puzzle comes back, and how many are learnt. */
export function backText({ next, learnt }) {
  const parts = [];
  if (next !== null) {
    const hours = Math.ceil(next / HOUR);
    parts.push(hours < 48 ? t("moments.back.hours", { count: hours }) : t("moments.back.days", { count: Math.round(hours / 24) }));
  }
  if (learnt > 0) parts.push(t("moments.learnt", { count: learnt }));
  return parts.join(" ");
}
