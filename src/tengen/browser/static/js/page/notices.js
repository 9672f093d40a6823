// Short messages that disappear, and the banner that stays while the server is away.

import { element } from "../lib/element.js";
import { hasText, t } from "../lib/i18n.js";

const SHOWN_FOR = 6000;

/** Show a message for a few seconds. */
export function notice(text) {
  const box = document.getElementById("notices");
  const line = element("p", { class: "notice", dir: "auto", text });
  box.append(line);
  while (box.children.length > 3) box.firstChild.remove();
  setTimeout(() => line.remove(), SHOWN_FOR);
}

/** Show why the server refused something, translated where its code is known. */
export function noticeError(error) {
  const reasons = [`error.${error.code}.${error.data?.reason}`, `error.${error.code}`];
  const known = reasons.find(hasText);
  notice(known ? t(known, { message: error.message }) : error.message);
}

/** Show a banner while there is no connection or the network is being loaded. */
export function showBanner(store) {
  const banner = document.getElementById("banner");
  const show = () => {
    const { connection, info } = store.state;
    let key = null;
    if (connection === "away") key = "banner.away";
    if (connection === "forbidden") key = "banner.forbidden";
    if (connection === "open" && info && !info.ready) key = "banner.warming";
    banner.textContent = key ? t(key) : "";
    banner.dataset.kind = key ?? "";
  };
  store.watch(["connection", "info", "language"], show);
}
