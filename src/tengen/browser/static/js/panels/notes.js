// The comment and the marks of the node shown, editable.

import { button, field, panel, press } from "../lib/controls.js";
import { element, icon } from "../lib/element.js";
import { t } from "../lib/i18n.js";

export const order = 45;

const TOOLS = ["stone", "triangle", "square", "circle", "cross", "label", "setblack", "setwhite", "erase"];

const SETTLE = 500; // milliseconds after the last key until a comment is sent

export function createPanel({ store, actions }) {
  const area = element("textarea", { id: "comment", rows: 4, dir: "auto", maxlength: 20_000, data: { label: "notes.comment" } });
  const tools = element("div", { class: "tools", role: "group", data: { label: "notes.tools" } });
  const buttons = Object.fromEntries(
    TOOLS.map((name) => [name, element("button", {
      type: "button", class: "button icon-only chip", id: `tool-${name}`, data: { label: `tool.${name}`, hint: `tool.${name}` },
      on: { click: () => store.change({ tool: name }) },
    }, icon(name))]),
  );
  tools.append(...Object.values(buttons));
  const turn = button({ text: "edit.turn", kind: "chip", id: "edit-turn", act: () => {
    const { at, position } = store.state;
    actions.send("set_turn", { node: at, colour: position.to_play === "black" ? "white" : "black" });
  } });
  // Stones that each side has taken: they count under territory scoring.
  const captured = Object.fromEntries(["black", "white"].map((colour) =>
    [colour, element("input", { type: "number", min: 0, max: 9999, step: 1, inputmode: "numeric", on: { change: sendCaptured } })]));
  const counts = element("div", { class: "field-pair" },
    ...Object.entries(captured).map(([colour, input]) => field({ label: `edit.captured.${colour}`, id: `captured-${colour}` }, input)));
  const editing = (tool) => ["setblack", "setwhite", "erase"].includes(tool);
  const box = panel({ title: "notes.title", tabs: "analyse review", id: "notes" }, area, tools, turn, counts);
  let node = null; // the node whose comment is in the text area
  let timer = null;

  function sendCaptured() {
    const [byBlack, byWhite] = ["black", "white"].map((colour) => Math.min(9999, Math.max(0, Math.round(Number(captured[colour].value) || 0))));
    actions.send("set_captured", { node: store.state.at, black: byWhite, white: byBlack });
  }

  function send() {
    if (timer === null) return;
    clearTimeout(timer);
    timer = null;
    actions.comment(node, area.value);
  }

  area.addEventListener("input", () => {
    clearTimeout(timer);
    timer = setTimeout(send, SETTLE);
  });
  area.addEventListener("blur", send);

  function show() {
    const { state } = store;
    if (!state.tree) return;
    for (const [name, one] of Object.entries(buttons)) press(one, state.tool === name);
    turn.hidden = !editing(state.tool) || !state.position;
    counts.hidden = turn.hidden;
    if (!turn.hidden) {
      turn.querySelector("span").textContent = t("edit.turn", { colour: t(state.position.to_play) });
      for (const [colour, input] of Object.entries(captured)) {
        if (document.activeElement !== input) input.value = state.position.captures[colour];
      }
    }
    if (state.at !== node) {
      send();
      node = state.at;
    }
    // What is being typed is newer than what the server knows.
    if (timer !== null) return;
    const text = state.tree.byId.get(node)?.comment ?? "";
    if (area.value !== text && !(document.activeElement === area && area.value.trim() === text.trim())) area.value = text;
    area.placeholder = t("notes.empty");
  }

  store.watch(["tree", "at", "tool", "tab", "position", "language"], show);
  return box;
}
