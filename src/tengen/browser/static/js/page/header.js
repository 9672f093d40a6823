// The head of the page: tabs, language, sound, theme, list of keys.

import { languageSelect, themeButton } from "../lib/appearance.js";
import { iconButton, press } from "../lib/controls.js";
import { element, icon } from "../lib/element.js";
import { t } from "../lib/i18n.js";
import { remember } from "../lib/local_storage.js";
import { currentTheme } from "../lib/theme.js";

const TABS = ["play", "analyse", "review"];

export function createTabs(box, store, actions) {
  const buttons = TABS.map((name) =>
    element("button", { type: "button", class: "tab", id: `tab-${name}`, data: { text: `tab.${name}` }, on: { click: () => actions.show(name) } }),
  );
  box.append(...buttons, element("a", { class: "tab", id: "to-learn", href: "/learn", data: { text: "tab.learn" } }));
  store.watch(["tab"], (state) => {
    document.getElementById("table").dataset.tab = state.tab;
    TABS.forEach((name, i) => {
      if (name === state.tab) buttons[i].setAttribute("aria-current", "page");
      else buttons[i].removeAttribute("aria-current");
    });
    for (const part of document.querySelectorAll("[data-tabs]")) {
      part.classList.toggle("elsewhere", !part.dataset.tabs.split(" ").includes(state.tab));
    }
  });
}

export function createSettings(box, store, openKeys) {
  const sound = element("button", { type: "button", class: "button icon-only quiet", id: "sound" });
  sound.addEventListener("click", () => {
    const on = !store.state.sound;
    remember("sound", on ? "on" : "off");
    store.change({ sound: on });
  });
  const keys = iconButton({ label: "settings.keys", picture: "keys", kind: "quiet keys-button", act: openKeys, id: "show-keys" });
  box.append(languageSelect(), sound, themeButton(() => store.change({ theme: currentTheme() })), keys);

  function show() {
    const on = store.state.sound;
    sound.replaceChildren(icon(on ? "sound" : "silent"));
    sound.title = t("settings.sound");
    sound.setAttribute("aria-label", sound.title);
    press(sound, on);
  }

  store.watch(["sound", "language"], show);
}
