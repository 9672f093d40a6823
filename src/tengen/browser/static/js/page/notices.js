// Short messages that disappear, and the banner that stays while the server is away.

import { element } from "../lib/element.js";
import { hasText, named, t } from "../lib/i18n.js";

const SHOWN_FOR = 6000;

let timer = null;
let box = null;

/** The box of notices, inside the dialog that is open: what is outside of it is not read aloud. */
function boxOnTop() {
  box ??= document.getElementById("notices");
  const host = [...document.querySelectorAll("dialog[open]")].at(-1) ?? document.body;
  if (box.parentElement !== host) host.append(box);
  return box;
}

/** Show a message for a few seconds, in the place of the one before; above dialogs, too. */
export function notice(text) {
  clearTimeout(timer);
  const top = boxOnTop();
  top.replaceChildren(element("p", { class: "notice", dir: "auto", text }));
  // The top layer is the only place above modal dialogs, and the last that enters it is on top.
  if (top.matches(":popover-open")) top.hidePopover();
  top.showPopover();
  timer = setTimeout(() => {
    top.replaceChildren();
    if (top.matches(":popover-open")) top.hidePopover();
  }, SHOWN_FOR);
}

/** Show why the server refused something, translated where its code is known. */
export function noticeError(error) {
  const reasons = [`error.${error.code}.${error.data?.reason}`, `error.${error.code}`];
  const known = reasons.find(hasText);
  notice(known ? t(known, error.data) : error.message);
}

/** What the network was not trained on of the game that is shown, or "". */
function unfamiliarText({ network, board, rules }) {
  const key = board && rules ? "both" : board ? "board" : "rules";
  const values = { network, board: board?.replace("x", "×"), rules: rules && named("rules", rules, rules) };
  return t(`banner.unfamiliar.${key}`, values);
}

/** Show a banner while there is no connection, the network is being loaded, or is not to be relied on. */
export function showBanner(store) {
  const banner = document.getElementById("banner");
  const show = () => {
    const { connection, info, position } = store.state;
    let key = null;
    if (connection === "away") key = "banner.away";
    if (connection === "forbidden") key = "banner.forbidden";
    if (connection === "open" && info && !info.ready) key = "banner.warming";
    const unfamiliar = key ? null : position?.unfamiliar;
    const text = unfamiliar ? unfamiliarText(unfamiliar) : key ? t(key) : "";
    if (banner.textContent !== text) banner.textContent = text;
    banner.dataset.kind = unfamiliar ? "banner.unfamiliar" : key ?? "";
  };
  store.watch(["connection", "info", "position", "language"], show);
}
