// What lessons and problems have in common: a board beside words, a verdict, and buttons at the foot.

import { button } from "../lib/controls.js";
import { element, icon } from "../lib/element.js";
import { t } from "../lib/i18n.js";
import { fillWithTerms } from "../lib/terms.js";
import { createStage } from "./stage.js";

/**
 * The frame. `head` is what stands above the words, `acts` are buttons by name: {text, picture?, kind?, act}.
 * Returns {element, stage, say(kind, texts), task, more, buttons, busy(on)}.
 */
export function createExercise({ head, onPoint, acts, id }) {
  const stage = createStage({ onPoint });
  const task = element("p", { class: "task", id: `${id}-task` });
  const verdict = element("p", { class: "verdict" });
  const why = element("p", { class: "why" });
  const told = element("div", { class: "told", role: "status", id: `${id}-told` }, verdict, why);
  const more = element("div", { class: "more" });
  const buttons = Object.fromEntries(Object.entries(acts).map(([name, one]) => [name, button({ ...one, id: `${id}-${name}` })]));
  const foot = element("div", { class: "acts" }, ...Object.values(buttons));
  const words = element("div", { class: "exercise-words" }, told, more, foot);
  const box = element("div", { class: "exercise" }, head, task, element("div", { class: "exercise-board" }, stage.element), words);

  return {
    element: box,
    stage,
    task,
    more,
    buttons,
    /** Say what became of a try: `kind` is "good", "bad", "busy" or "". */
    say(kind, first = "", second = "") {
      verdict.className = `verdict ${kind}`;
      verdict.textContent = first;
      fillWithTerms(why, second);
      if (first) told.scrollIntoView({ block: "nearest" });
    },
    /** Is an answer on its way? What is chosen meanwhile is not heard. */
    busy(on) {
      box.setAttribute("aria-busy", String(on));
    },
    /** Show these buttons alone. */
    offer(...names) {
      for (const [name, node] of Object.entries(buttons)) node.hidden = !names.includes(name);
    },
  };
}

/** The way back to a list, at the head of an exercise. */
export function backLink(href, text) {
  return element("a", { class: "button quiet icon-only back", href, data: { label: text, hint: text } }, icon("back"));
}

/** "White answers D4." or nothing. */
export function replyText({ reply, to_play: next }) {
  if (!reply) return "";
  const colour = t(next === "black" ? "white" : "black");
  return reply === "pass" ? t("reply.pass", { colour }) : t("reply", { colour, point: reply });
}

/** Sentences one after another. */
export function sentences(...texts) {
  return texts.filter(Boolean).join(" ");
}
