// The workers of a run on several machines: where they are, how fast, and whether they are heard from.

import { element } from "../lib/element.js";
import { t } from "../lib/i18n.js";
import { clock, figures, whole } from "./numbers.js";

const COLUMNS = ["name", "machine", "state", "gamesRate", "evalsRate", "games", "version", "silent"];
const NUMBERS = new Set(["gamesRate", "evalsRate", "games", "version", "silent"]);
const PATIENCE = 15; // seconds without news after which the learner may be lost

function cellsOf(worker) {
  const known = ["starting", "playing", "waiting", "left", "lost"].includes(worker.state);
  return {
    name: worker.label || whole(worker.session),
    machine: worker.node,
    state: known ? t(`workers.${worker.state}`) : worker.state,
    gamesRate: figures(worker.games_rate),
    evalsRate: figures(worker.evals_rate),
    games: whole(worker.games),
    version: whole(worker.version),
    silent: clock(worker.silent / 60),
  };
}

/** Fill a section. `show(cluster)`: null for a run that never was on several machines. */
export function createWorkers(section) {
  const words = element("p", { class: "facts", id: "workers-facts" });
  const head = element("tr");
  const body = element("tbody");
  const table = element("table", { class: "workers" }, element("thead", {}, head), body);
  section.append(words, element("div", { class: "scrolled", tabindex: "0" }, table));

  return {
    show(cluster) {
      section.hidden = !cluster;
      if (!cluster) return;
      const silent = Date.now() / 1000 - cluster.written;
      const parts = [t("workers.version", { version: whole(cluster.version), steps: whole(cluster.steps) })];
      if (cluster.training && silent > PATIENCE) parts.push(t("workers.learnerLost", { time: clock(silent / 60) }));
      if (cluster.losses) parts.push(t("workers.losses", { count: whole(cluster.losses) }));
      if (cluster.aside.length) parts.push(t("workers.aside", { sessions: cluster.aside.join(", ") }));
      words.textContent = parts.join(" · ");
      section.querySelector(".scrolled").setAttribute("aria-label", t("workers.title"));
      head.replaceChildren(...COLUMNS.map((name) =>
        element("th", { scope: "col", class: NUMBERS.has(name) ? "number" : null, text: t(`workers.column.${name}`) })));
      body.replaceChildren(...cluster.workers.map((worker) => {
        const cells = cellsOf(worker);
        return element("tr", { data: { state: worker.state } }, ...COLUMNS.map((name) =>
          element("td", { class: NUMBERS.has(name) ? "number" : null, text: cells[name] })));
      }));
    },
  };
}
