// The foot of the page: the network, the device, the version.

import { element } from "../lib/element.js";
import { t } from "../lib/i18n.js";

export function showFooter(store, openGlossary) {
  const foot = document.getElementById("foot");
  const show = () => {
    const { info, position } = store.state;
    if (!info) return;
    const fact = (key, id, text) => element("span", { class: "fact" }, `${t(key)} `, element("bdi", { id, text }));
    const parts = [
      ["foot.network", "network", position?.network || info.network?.name],
      ["foot.device", "device", info.device],
      ["foot.version", "version", info.version],
    ].filter(([, , known]) => known).map((each) => fact(...each)); // some only once the network is ready
    parts.push(element("button", { type: "button", class: "link", id: "glossary-button", text: t("terms.title"), on: { click: openGlossary } }));
    if (info.run) parts.push(element("a", { href: "/run", text: t("foot.run") }));
    foot.replaceChildren(...parts);
  };
  store.watch(["info", "position", "language"], show);
}
