// The measurements of a run: the Elo curve, a small chart for each metric, and tiles with the latest values.

import { element } from "../lib/element.js";
import { named, signed, t } from "../lib/i18n.js";
import { createChart } from "./chart.js";
import { clock, figures, percentage, whole } from "./numbers.js";

/** The metrics by group; a name that ends with / is a prefix. */
const GROUPS = [
  { id: "losses", tone: "tone-loss", kind: "loss", names: ["loss/"] },
  { id: "speed", tone: "tone-speed", kind: "zero", names: ["speed/games", "speed/evals", "speed/samples", "speed/"] },
  { id: "learning", tone: "tone-learn", kind: "zero", names: ["window", "rows", "rate", "steps", "accuracy", "gradient"] },
  { id: "games", tone: "tone-games", kind: "zero", names: ["games/"] },
  { id: "workers", tone: "tone-speed", kind: "zero", names: ["workers/"] },
];
const SHARES = new Set(["accuracy", "games/black wins", "games/draws", "games/at the limit"]);
// Losses shown first: those of the heads that decide games.
const FIRST = ["loss/total", "loss/policy", "loss/value", "loss/score", "loss/ownership"];

function alongText(axis) {
  if (axis === "minutes") return (minutes) => clock(minutes);
  return axis === "games" ? figures : whole;
}

function whereText(axis) {
  return (point) => {
    if (axis === "minutes") return t("at.minutes", { minutes: clock(point.x) });
    return axis === "games" ? t("at.games", { games: whole(point.x) }) : t("at.step", { step: whole(point.x) });
  };
}

function chosen(names, series) {
  const found = [];
  for (const name of names) {
    const fitting = name.endsWith("/") ? Object.keys(series).filter((each) => each.startsWith(name)) : [name];
    for (const each of fitting) if (each in series && !found.includes(each)) found.push(each);
  }
  return [...FIRST.filter((name) => found.includes(name)), ...found.filter((name) => !FIRST.includes(name))];
}

/** The Elo curve. `show(state, axis)`. */
export function createStrength(section) {
  const chart = createChart({ kind: "range", tone: "tone-elo" });
  const nothing = element("p", { class: "nothing" });
  section.append(chart.element, nothing);
  return {
    show(state, axis) {
      const { networks, anchors } = state.ratings;
      const points = networks
        .filter((network) => network.elo !== null && network[axis] !== null)
        .map((network) => ({ x: network[axis], y: network.elo, low: network.low, high: network.high, network }))
        .sort((one, other) => one.x - other.x);
      nothing.textContent = points.length ? "" : t("strength.nothing");
      chart.element.hidden = points.length === 0;
      chart.show({
        title: t("strength.elo"),
        points,
        levels: anchors.filter((anchor) => anchor.elo !== null).map((anchor) => ({
          name: `${anchor.name}  ${signed(anchor.elo, 0)}`,
          y: anchor.elo,
        })),
        value: (point) => `${signed(point.y, 0)} [${signed(point.low, 0)}, ${signed(point.high, 0)}]`,
        where: whereText(axis),
        tick: (elo) => signed(elo, 0),
        along: alongText(axis),
        timed: axis === "minutes",
      });
    },
  };
}

/** A small chart for each metric. `show(state, axis)`. */
export function createMeasures(box) {
  const sections = new Map();

  function sectionOf(group) {
    if (!sections.has(group.id)) {
      const heading = element("h2");
      const grid = element("div", { class: "grid" });
      const section = element("section", { class: "card" }, heading, grid);
      box.append(section);
      sections.set(group.id, { heading, grid, charts: new Map() });
    }
    return sections.get(group.id);
  }

  return {
    show(state, axis) {
      const { series } = state;
      for (const group of GROUPS) {
        const names = chosen(group.names, series);
        if (!names.length) continue;
        const { heading, grid, charts } = sectionOf(group);
        heading.textContent = t(`group.${group.id}`);
        for (const name of names) {
          if (!charts.has(name)) {
            const kind = SHARES.has(name) ? "share" : group.kind;
            charts.set(name, createChart({ kind, tone: group.tone }));
            grid.append(charts.get(name).element);
          }
          const format = SHARES.has(name) ? (share) => percentage(share) : figures;
          charts.get(name).show({
            title: named("measure", name, name.split("/").at(-1).replaceAll("_", " ")),
            points: pointsOf(series, name, axis),
            value: (point) => format(point.y),
            where: whereText(axis),
            tick: format,
            along: alongText(axis),
            timed: axis === "minutes",
          });
        }
      }
    },
  };
}

function pointsOf(series, name, axis) {
  const places = series[axis] ?? series.step;
  const points = series[name].map((y, i) => ({ x: places[i], y }));
  return points.filter((point) => point.y !== null && point.x !== null);
}

const TILES = [
  { id: "elo", value: (state) => latestElo(state), note: (state) => eloNote(state) },
  { id: "games", value: ({ last }) => last.games, format: games },
  { id: "rows", value: ({ last }) => last.rows, format: figures },
  { id: "window", value: ({ last }) => last.window, format: figures },
  { id: "gamesRate", value: ({ last }) => last["speed/games"], format: figures },
  { id: "evalsRate", value: ({ last }) => last["speed/evals"], format: figures },
  { id: "samplesRate", value: ({ last }) => last["speed/samples"], format: figures },
  { id: "rate", value: ({ last }) => last.rate, format: figures },
];

/** All digits, as long as a tile has room. */
function games(count) {
  return count < 1e7 ? whole(count) : figures(count);
}

function rated(state) {
  return state.ratings.networks.filter((network) => network.elo !== null).at(-1);
}

function latestElo(state) {
  const network = rated(state);
  return network ? signed(network.elo, 0) : undefined;
}

function eloNote(state) {
  const network = rated(state);
  return network ? `± ${whole((network.high - network.low) / 2)}` : "";
}

/** Tiles with the latest values. `show(state)`. */
export function createTiles(box) {
  const tiles = TILES.map((tile) => {
    const name = element("dt");
    const value = element("dd", { dir: "ltr" });
    box.append(element("div", { class: "tile" }, name, value));
    return { ...tile, name, shown: value };
  });
  return {
    show(state) {
      for (const tile of tiles) {
        const value = tile.value(state);
        tile.name.textContent = t(`tile.${tile.id}`);
        const words = value === undefined ? "–" : tile.format ? tile.format(value) : value;
        const note = tile.note?.(state);
        tile.shown.replaceChildren(words, ...(note ? [element("small", { text: ` ${note}` })] : []));
      }
    },
  };
}
