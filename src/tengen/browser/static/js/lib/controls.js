// What panels are made of: buttons, toggles, choices, and the frame of a panel.

import { element, icon } from "./element.js";
import { explain } from "./terms.js";

/** A button with words; `hint` adds a tooltip, `picture` an icon. Texts are keys of the language. */
export function button({ text, picture, act, kind = "plain", hint, id, type = "button" }) {
  return element(
    "button",
    { type, id, class: `button ${kind}`, data: hint ? { hint } : {}, on: { click: act } },
    picture ? icon(picture) : null,
    element("span", { data: { text } }),
  );
}

/** A button with an icon only; its name is read aloud and shown as a tooltip. */
export function iconButton({ label, picture, act, kind = "", id }) {
  return element(
    "button",
    { type: "button", id, class: `button icon-only ${kind}`, data: { label, hint: label }, on: { click: act } },
    icon(picture),
  );
}

/** A button that is pressed or not. */
export function toggle({ text, picture, act, id }) {
  const node = button({ text, picture, kind: "chip", id, act });
  node.setAttribute("aria-pressed", "false");
  return node;
}

export function press(node, on) {
  node.setAttribute("aria-pressed", String(Boolean(on)));
}

/** The frame of a panel. `tabs`: the tabs it is shown on, separated by spaces; `term` is explained. */
export function panel({ title, tabs, id, term }, ...children) {
  const words = title ? element("h2", { class: "panel-title", data: { text: title } }) : null;
  const heading = term ? element("div", { class: "with-term" }, words, explain(term, title)) : words;
  return element("section", { class: "panel", id, data: { tabs } }, heading, ...children);
}

/** A group of radio buttons that looks like one control. `options` is [{value, text?, words?}]. */
export function choice({ name, label, options, chosen, act }) {
  const items = options.map(({ value, text, words }) => {
    const input = element("input", { type: "radio", name, value, on: { change: () => act?.(value) } });
    input.checked = value === chosen;
    const span = words !== undefined ? element("span", { text: words }) : element("span", { data: { text } });
    return element("label", { class: "choice-item" }, input, span);
  });
  return element("div", { class: "choice", role: "radiogroup", data: { label } }, ...items);
}

/** A labelled control, in a form; `term` is a Go word to be explained beside the label. */
export function field({ label, id, note, term }, control) {
  control.id ||= id;
  const words = element("label", { for: control.id, data: { text: label } });
  return element(
    "div",
    { class: "field" },
    term ? element("div", { class: "field-head" }, words, explain(term, label)) : words,
    control,
    note ?? null,
  );
}
