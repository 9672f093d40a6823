// 'Your moments' as puzzles: find a better move than the one that was played; Tengen answers.

import { createPointBoard } from "../board/point_board.js";
import { pointIndex } from "../board/points.js";
import { button, iconButton } from "../lib/controls.js";
import { createDialog } from "../lib/dialogs.js";
import { element } from "../lib/element.js";
import { dateText, number, t, translateMarkup } from "../lib/i18n.js";
import { playersText } from "../page/my_games.js";
import { moveText } from "../page/mistake_list.js";
import { backText, whyText } from "./words.js";

const STONE = { black: "X", white: "O" };
const AIM_BELOW = 30; // pixels between points, below which a finger aims before it plays
const RETURNS = ["moments.return.day", "moments.return.week", "moments.return.never"]; // by how often it was solved

/** The dialog; `open()` asks the server for the first puzzle. */
export function createMomentsDialog(store, actions) {
  const facts = element("p", { class: "facts", id: "moment-facts" });
  const task = element("p", { class: "words", id: "moment-task" });
  const verdict = element("p", { class: "status", id: "moment-verdict" });
  const why = element("p", { id: "moment-why" });
  const returns = element("p", { class: "facts", id: "moment-returns" });
  const told = element("div", { class: "moment-told", role: "status" }, verdict, why, returns);
  const board = createPointBoard({ onPoint: point });
  const where = element("span", { class: "walk-where" });
  const walk = element("div", { class: "walk" },
    iconButton({ label: "walk.back", picture: "back", kind: "quiet", act: () => step(-1) }), where,
    iconButton({ label: "walk.forward", picture: "forward", kind: "quiet", act: () => step(1) }));
  const buttons = {
    play: button({ text: "aim.play", kind: "primary", act: () => attempt(aimed), id: "moment-play" }),
    next: button({ text: "moments.next", kind: "primary", act: ask, id: "moment-next" }),
    again: button({ text: "moments.again", act: again, id: "moment-again" }),
    answer: button({ text: "moments.answer", picture: "bulb", act: showAnswer, id: "moment-answer" }),
    forget: button({ text: "moments.forget", picture: "bin", kind: "quiet", act: forget, id: "moment-forget" }),
    close: button({ text: "close", kind: "primary", act: () => dialog.close(), id: "moment-close" }),
  };
  const words = element("div", { class: "moment-words" }, facts, task, told, walk,
    element("div", { class: "moment-acts" }, ...Object.values(buttons)));
  const dialog = createDialog({ id: "moments-dialog", title: "moments.title" },
    element("div", { class: "moment" }, element("div", { class: "moment-board" }, board.element), words));
  dialog.classList.add("wide");

  let puzzle = null; // as the server told it; null: there is none
  let found = null; // the judgement of a try, or the answer
  let first = true; // nothing was tried yet: the next try counts
  let shown = 0; // moves of the line that are shown
  let aimed = null;
  let waiting = false;

  function send(type, fields) {
    waiting = true;
    show();
    actions.send(type, fields, () => {
      waiting = false;
      show();
    });
  }

  function ask() {
    puzzle = found = aimed = null;
    send("moment", {});
  }

  function point(name, touched) {
    if (!puzzle || found || waiting || puzzle.stones[pointIndex(name, puzzle.size)] !== ".") return;
    if (touched && board.cellPixels() < AIM_BELOW && aimed !== name) {
      aimed = name;
      show();
    } else attempt(name);
  }

  function attempt(name) {
    aimed = null;
    send("try_moment", { moment: puzzle.id, move: name });
  }

  function again() {
    found = null;
    show();
    board.focus();
  }

  function showAnswer() {
    send("answer_moment", { moment: puzzle.id });
  }

  function forget() {
    send("forget_moment", { moment: puzzle.id });
    ask();
  }

  function step(by) {
    shown = Math.min(found.line.length, Math.max(1, shown + by));
    show();
  }

  function picture() {
    const { size, stones, last, ko, played } = puzzle;
    const at = (name) => pointIndex(name, size);
    if (found) {
      const line = found.line.slice(0, shown);
      const now = line.at(-1)?.stones ?? stones;
      const marks = new Map(line.map(({ move }, i) => [at(move), { index: at(move), kind: "label", label: String(i + 1) }]));
      return { stones: now, marks: [...marks.values()].filter(({ index }) => index !== null) };
    }
    const cross = at(played);
    return {
      stones,
      last: at(last),
      ko: at(ko),
      marks: cross !== null && stones[cross] === "." ? [{ index: cross, kind: "cross" }] : [],
      ghost: aimed ? { index: at(aimed), stone: STONE[puzzle.to_play], aimed: true } : null,
    };
  }

  function showBoard() {
    board.element.hidden = !puzzle;
    if (!puzzle) return;
    const ghost = found || waiting ? null : STONE[puzzle.to_play];
    board.show({ width: puzzle.size, picture: picture(), label: t("board.label", { size: puzzle.size }), ghost });
  }

  function showWords() {
    const { info, moments } = store.state;
    facts.hidden = !puzzle;
    task.hidden = !puzzle || Boolean(found);
    if (puzzle) {
      const names = playersText(puzzle.game, info);
      const parts = [names, t("turn.number", { number: puzzle.number }), dateText(puzzle.found)];
      facts.textContent = parts.join(" · ");
      task.textContent = t("moments.task", {
        colour: t(puzzle.to_play), move: moveText(puzzle.played), points: t("moments.points", { count: Math.round(puzzle.loss) }),
      });
    }
    const empty = !puzzle && !waiting;
    const kind = found?.type === "tried" ? (found.good ? "good" : "bad") : null;
    verdict.className = `status ${kind ?? ""} ${waiting ? "busy" : ""}`;
    verdict.textContent = waiting ? t("moments.waiting") : empty ? t("moments.none") : kind ? t(`moments.${kind}`) : "";
    why.textContent = found ? whyText(found, puzzle) : empty && moments ? backText(moments) : "";
    returns.textContent = found?.counts ? t(RETURNS[found.good ? puzzle.step : 0]) : "";
    walk.hidden = !found || found.line.length < 2;
    where.textContent = found ? `${number(shown)} / ${number(found.line.length)}` : "";
  }

  function showButtons() {
    const solved = found?.good;
    const wanted = {
      play: puzzle && aimed,
      next: found && (solved || found.type === "moment_answer"),
      again: found && !solved && found.type === "tried",
      answer: puzzle && !solved && found?.type !== "moment_answer",
      forget: Boolean(puzzle),
      close: !puzzle && !waiting,
    };
    for (const [name, node] of Object.entries(buttons)) {
      node.hidden = !wanted[name];
      node.disabled = waiting;
    }
    if (aimed) buttons.play.querySelector("span").textContent = t("aim.play", { point: aimed });
  }

  function show() {
    if (!dialog.open) return;
    translateMarkup();
    showBoard();
    showWords();
    showButtons();
  }

  store.watch(["moment"], ({ moment }) => {
    if (!moment || !dialog.open) return;
    [puzzle, found, first, shown, aimed, waiting] = [moment.moment, null, true, 0, null, false];
    show();
    if (puzzle) board.focus();
    else buttons.close.focus();
  });

  function judged(message) {
    if (!message || !puzzle || message.id !== puzzle.id || !dialog.open) return;
    found = { ...message, counts: first };
    first = false;
    shown = message.type === "tried" ? Math.min(2, message.line.length) : message.line.length;
    waiting = false;
    show();
    (found.good || message.type === "moment_answer" ? buttons.next : buttons.again).focus();
  }
  store.watch(["tried"], ({ tried }) => judged(tried));
  store.watch(["moment_answer"], ({ moment_answer: answer }) => judged(answer));
  function stop() {
    if (!waiting) return;
    waiting = false;
    show();
  }
  store.watch(["failure"], stop);
  store.watch(["connection"], ({ connection }) => connection !== "open" && stop());
  store.watch(["language", "info"], show);
  store.watch(["theme"], board.repaint);
  return {
    open() {
      dialog.showModal();
      ask();
    },
  };
}
