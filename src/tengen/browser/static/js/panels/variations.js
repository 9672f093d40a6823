// The tree of variations, on a canvas that paints only what is in view.

import { button, iconButton, panel } from "../lib/controls.js";
import { element } from "../lib/element.js";
import { layout, pathTo } from "../game/tree.js";
import { t } from "../lib/i18n.js";
import { moveText } from "../page/mistake_list.js";

export const order = 70;

const STEP = 24;
const RADIUS = 8;
const EDGE = 16;

const colour = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

function paintEdge(context, from, to) {
  context.beginPath();
  context.moveTo(from.x, from.y);
  if (to.y > from.y) context.lineTo(from.x, to.y - STEP);
  context.lineTo(to.x, to.y);
  context.stroke();
}

function paintNode(context, place, node, { here, onPath }) {
  context.globalAlpha = onPath ? 1 : 0.75;
  context.beginPath();
  if (node.colour === null || node.colour === undefined) context.rect(place.x - 5, place.y - 5, 10, 10);
  else context.arc(place.x, place.y, RADIUS, 0, 2 * Math.PI);
  context.fillStyle = node.colour === "black" ? "#1b1b1e" : node.colour === "white" ? "#fbfaf6" : colour("--soft-ink");
  context.strokeStyle = node.colour === "white" ? "#6d675c" : "#8d867a";
  context.lineWidth = 1;
  context.fill();
  context.stroke();
  context.globalAlpha = 1;
  if (node.comment || node.marks?.length) {
    context.beginPath();
    context.arc(place.x + RADIUS - 1, place.y - RADIUS + 1, 3, 0, 2 * Math.PI);
    context.fillStyle = colour("--amber");
    context.fill();
  }
  if (here) {
    context.beginPath();
    context.arc(place.x, place.y, RADIUS + 3, 0, 2 * Math.PI);
    context.strokeStyle = colour("--accent");
    context.lineWidth = 2.5;
    context.stroke();
  }
}

export function createPanel({ store, actions }) {
  const canvas = element("canvas", { class: "tree-canvas", role: "img" });
  const room = element("div", { class: "tree-room" });
  const scroller = element("div", { class: "tree", id: "tree", dir: "ltr", tabindex: "-1" }, canvas, room);
  const branches = element("div", { class: "chips", id: "branches", role: "group", data: { label: "tree.branches" } });
  const box = panel({ tabs: "analyse review", id: "tree-panel" },
    element("div", { class: "panel-head spread" },
      element("h2", { class: "panel-title", data: { text: "tree.title" } }),
      element("span", { class: "row-end" },
        iconButton({ label: "tree.promote", picture: "up", kind: "quiet", act: actions.promote, id: "promote" }),
        iconButton({ label: "tree.remove", picture: "bin", kind: "quiet", act: actions.remove, id: "remove" }))),
    scroller, branches,
    button({ text: "play.here", picture: "play", kind: "plain wide", act: actions.playOn, id: "play-on" }));
  let drawn = { places: new Map(), columns: 0, lanes: 0 };
  let drawnTree = null;

  const placeOf = (id) => {
    const { column, lane } = drawn.places.get(id);
    return { x: EDGE + column * STEP, y: EDGE + lane * STEP };
  };

  function paint() {
    const { state } = store;
    if (!state.tree || scroller.clientWidth === 0) return;
    const pixel = window.devicePixelRatio || 1;
    const { clientWidth: width, clientHeight: height, scrollLeft, scrollTop } = scroller;
    canvas.width = width * pixel;
    canvas.height = height * pixel;
    canvas.style.width = `${width}px`;
    canvas.style.height = `${height}px`;
    const context = canvas.getContext("2d");
    context.setTransform(pixel, 0, 0, pixel, -scrollLeft * pixel, -scrollTop * pixel);
    const inView = ({ x, y }) =>
      x > scrollLeft - 2 * STEP && x < scrollLeft + width + 2 * STEP && y > scrollTop - STEP && y < scrollTop + height + STEP;
    const path = new Set(pathTo(state.tree, state.at));
    const visible = [...drawn.places.keys()].filter((id) => inView(placeOf(id)));
    context.lineWidth = 1.5;
    for (const id of visible) {
      const parent = state.tree.byId.get(id).parent;
      if (!drawn.places.has(parent)) continue;
      context.strokeStyle = path.has(id) ? colour("--accent") : colour("--line-strong");
      paintEdge(context, placeOf(parent), placeOf(id));
    }
    for (const id of visible) {
      paintNode(context, placeOf(id), state.tree.byId.get(id), { here: id === state.at, onPath: path.has(id) });
    }
  }

  function follow() {
    if (!drawn.places.has(store.state.at)) return;
    const { x, y } = placeOf(store.state.at);
    const { scrollLeft, scrollTop, clientWidth, clientHeight } = scroller;
    if (x < scrollLeft + 2 * STEP || x > scrollLeft + clientWidth - 2 * STEP) scroller.scrollLeft = x - clientWidth / 2;
    if (y < scrollTop + STEP || y > scrollTop + clientHeight - STEP) scroller.scrollTop = y - clientHeight / 2;
  }

  /** The children of the node as buttons, for keyboards and screen readers. */
  function showBranches(state) {
    const ways = state.tree.children.get(state.at) ?? [];
    branches.hidden = ways.length < 2;
    branches.replaceChildren(...ways.map((id, i) => {
      const node = state.tree.byId.get(id);
      return element("button", {
        type: "button", class: "button chip", on: { click: () => actions.go(id) },
        "aria-label": t("tree.branch", { number: i + 1, move: moveText(node.move ?? "") }),
      }, element("bdi", { text: `${i + 1} · ${moveText(node.move ?? "")}` }));
    }));
  }

  function show() {
    const { state } = store;
    if (!state.tree || state.tab === "play") return;
    if (state.tree.byId !== drawnTree) {
      drawnTree = state.tree.byId;
      drawn = layout(state.tree);
      room.style.width = `${2 * EDGE + Math.max(0, drawn.columns - 1) * STEP}px`;
      room.style.height = `${2 * EDGE + Math.max(0, drawn.lanes - 1) * STEP}px`;
    }
    canvas.setAttribute("aria-label", t("tree.label", { count: drawn.places.size - 1 }));
    box.querySelector("#remove").disabled = state.at === state.tree.root;
    const path = pathTo(state.tree, state.at);
    const main = path.every((id, i) => i === 0 || state.tree.children.get(path[i - 1])[0] === id);
    box.querySelector("#promote").disabled = main || Boolean(state.game?.you);
    box.querySelector("#play-on").disabled = state.connection !== "open";
    showBranches(state);
    follow();
    paint();
  }

  scroller.addEventListener("scroll", paint);
  scroller.addEventListener("click", (event) => {
    const frame = scroller.getBoundingClientRect();
    const column = Math.round((event.clientX - frame.left + scroller.scrollLeft - EDGE) / STEP);
    const lane = Math.round((event.clientY - frame.top + scroller.scrollTop - EDGE) / STEP);
    for (const [id, place] of drawn.places) {
      if (place.column === column && place.lane === lane) return actions.go(id);
    }
    return undefined;
  });
  new ResizeObserver(show).observe(scroller);
  store.watch(["tree", "at", "tab", "theme", "language", "game", "connection"], show);
  return box;
}
