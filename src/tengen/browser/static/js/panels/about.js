// What a record says about itself: event, date, place, result.

import { panel } from "../lib/controls.js";
import { element } from "../lib/element.js";
import { resultText, t } from "../lib/i18n.js";

export const order = 44;

const FACTS = ["game", "event", "round", "date", "place", "result", "annotator", "comment"];

export function createPanel({ store }) {
  const list = element("dl", { class: "about" });
  const box = panel({ title: "about.title", tabs: "analyse review", id: "about" }, list);

  function show() {
    const { about, you } = store.state.game ?? {};
    const told = FACTS.filter((fact) => about?.[fact]);
    box.hidden = Boolean(you) || told.length === 0;
    if (box.hidden) return;
    list.replaceChildren(...told.flatMap((fact) => [
      element("dt", { text: t(`about.${fact}`) }),
      element("dd", { dir: "auto", text: fact === "result" ? resultText(about.result) : about[fact] }),
    ]));
  }

  store.watch(["game", "language"], show);
  return box;
}
