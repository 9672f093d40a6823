// A small game on a board of its own, for which the server knows the rules and the answers: the page
// keeps the moves, and asks anew after each.

import { element } from "../lib/element.js";
import { t } from "../lib/i18n.js";
import { createExercise, replyText, sentences } from "./exercise.js";

const SHOWN = 350; // milliseconds between one's own move and the answer

/**
 * A game. `request(moves)` asks the server for the board after some moves; `verdict(state)` says of a
 * board that is over {kind, words}. Returns {element, begin(colour), label, repaint, settings}.
 */
export function createGame({ head, id, request, verdict, onOver = () => {}, passes = false, told = () => "" }) {
  const exercise = createExercise({
    head, id, onPoint: play,
    acts: {
      fresh: { text: "capture.new", kind: "primary", act: () => begin(colour) },
      undo: { text: "capture.undo", picture: "undo", act: undo },
      pass: { text: "play.pass", picture: "pass", act: () => play("pass") },
    },
  });
  const settings = element("div", { class: "game-settings" });
  exercise.more.append(settings);
  const { stage } = exercise;
  let state = null; // the board, as the server told it
  let before = []; // boards before one's own moves, to go back to
  let colour = "black";
  let busy = false;
  let trouble = "";
  let round = 0; // so that an answer for an earlier game is left alone

  function show() {
    if (!state) return;
    const over = Boolean(state.over);
    exercise.busy(busy);
    stage.show({ board: state, plays: !over && !busy });
    exercise.task.textContent = t("you.are", { colour: t(colour) });
    if (trouble) exercise.say("bad", trouble);
    else if (over) {
      const { kind, words } = verdict(state, colour);
      exercise.say(kind, words, replyText(state));
    } else exercise.say("", busy ? "" : sentences(replyText(state), t("capture.turn")), told(state));
    exercise.offer(...(over ? ["fresh", "undo"] : ["undo", ...(passes ? ["pass"] : [])]));
    exercise.buttons.undo.disabled = busy || before.length === 0;
  }

  async function ask(moves) {
    const mine = ++round;
    busy = true;
    trouble = "";
    show();
    try {
      const found = await request(moves, colour);
      if (mine !== round) return false;
      if (found.reply && found.moves.length > 1) {
        state = { ...found.before, moves, over: false };
        show();
        await new Promise((resolve) => setTimeout(resolve, SHOWN));
        if (mine !== round) return false;
      }
      state = found;
      return true;
    } catch (failure) {
      if (mine === round) trouble = failure.words?.() ?? t("away");
      return false;
    } finally {
      if (mine === round) {
        busy = false;
        show();
      }
    }
  }

  async function play(name) {
    if (busy || !state || state.over) return;
    const from = state;
    if (await ask([...state.moves, name])) {
      before.push(from);
      show();
      if (state.over) {
        onOver(state, colour);
        show();
        exercise.buttons.fresh.focus();
      }
    }
  }

  function undo() {
    if (busy || before.length === 0) return;
    state = before.pop();
    trouble = "";
    show();
    stage.focus();
  }

  async function begin(chosen) {
    [colour, before] = [chosen, []];
    await ask([]);
  }

  return { element: exercise.element, begin, label: show, repaint: stage.repaint, settings, show };
}
