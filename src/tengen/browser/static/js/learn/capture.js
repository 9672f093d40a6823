// Capture Go: who captures first wins.

import { choice } from "../lib/controls.js";
import { element } from "../lib/element.js";
import { t } from "../lib/i18n.js";
import { recallObject, remember } from "../lib/local_storage.js";
import { backLink } from "./exercise.js";
import { createGame } from "./game.js";
import { captureTally, noteCapture } from "./progress.js";
import { tell } from "./server.js";

const SIZES = [5, 7, 9];
const LEVELS = ["gentle", "fair", "sharp"];

export function createCapture() {
  const terms = { side: 7, level: "gentle", colour: "black", ...recallObject("learn.capture.terms", {}) };
  const head = element("div", { class: "exercise-head" },
    backLink("#lessons", "lessons.title"), element("h1", { data: { text: "capture.title" } }), element("p", { class: "lead", data: { text: "capture.words" } }));
  const tally = element("p", { class: "facts", id: "capture-tally" });
  let seed = newSeed();

  const game = createGame({
    head, id: "capture", passes: false,
    request: (moves, colour) => tell("capture", { side: terms.side, level: terms.level, colour, moves, seed }),
    verdict({ winner }, colour) {
      if (!winner) return { kind: "", words: t("capture.drawn") };
      return winner === colour ? { kind: "good", words: t("capture.won") } : { kind: "bad", words: t("capture.lost") };
    },
    onOver({ winner }, colour) {
      noteCapture(winner === colour);
      label();
    },
  });

  function newSeed() {
    return Math.floor(Math.random() * 2 ** 31);
  }

  function choose(name, value) {
    terms[name] = value;
    remember("learn.capture.terms", terms);
    seed = newSeed();
    game.begin(terms.colour);
  }

  const chosen = (name, label, values, words) => element("div", { class: "field" },
    element("span", { class: "field-name", data: { text: label } }),
    choice({ name, label, chosen: terms[name], act: (value) => choose(name, value), options: values.map((value) => ({ value, ...words(value) })) }));
  game.settings.append(
    chosen("side", "capture.size", SIZES, (size) => ({ words: `${size}×${size}` })),
    chosen("level", "capture.level", LEVELS, (level) => ({ text: `capture.level.${level}` })),
    chosen("colour", "born.colour", ["black", "white"], (colour) => ({ text: colour })),
    tally);

  function label() {
    game.label();
    tally.textContent = t("capture.tally", captureTally());
  }

  game.begin(terms.colour);
  return { element: game.element, label, repaint: game.repaint };
}
