// Tabs, language, theme, sound and the list of keys: what stands at the head of the page.

import { iconButton, press } from "../lib/controls.js";
import { element, icon } from "../lib/element.js";
import { chooseLanguage, currentLanguage, LANGUAGES, onLanguage, t } from "../lib/i18n.js";
import { remember } from "../lib/local_storage.js";
import { chosenTheme, chooseTheme, currentTheme, onSystemTheme } from "../lib/theme.js";

const TABS = ["play", "analyse", "review"];
const THEMES = ["system", "light", "dark"];
const THEME_ICONS = { system: "contrast", light: "sun", dark: "moon" };

export function createTabs(box, store, actions) {
  const buttons = TABS.map((name) =>
    element("button", { type: "button", class: "tab", id: `tab-${name}`, data: { text: `tab.${name}` }, on: { click: () => actions.show(name) } }),
  );
  box.append(...buttons);
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
  const languages = element("select", { id: "language", class: "language", data: { label: "settings.language" } });
  for (const [code, name] of Object.entries(LANGUAGES)) languages.append(element("option", { value: code, lang: code, text: name }));
  languages.addEventListener("change", () => chooseLanguage(languages.value));

  const theme = element("button", { type: "button", class: "button icon-only quiet", id: "theme" });
  theme.addEventListener("click", () => {
    chooseTheme(THEMES[(THEMES.indexOf(chosenTheme()) + 1) % THEMES.length]);
    store.change({ theme: currentTheme() });
    show();
  });
  onSystemTheme(() => store.change({ theme: currentTheme() }));

  const sound = element("button", { type: "button", class: "button icon-only quiet", id: "sound" });
  sound.addEventListener("click", () => {
    const on = !store.state.sound;
    remember("sound", on ? "on" : "off");
    store.change({ sound: on });
  });

  const keys = iconButton({ label: "settings.keys", picture: "keys", kind: "quiet keys-button", act: openKeys, id: "show-keys" });
  box.append(languages, sound, theme, keys);

  function show() {
    languages.value = currentLanguage();
    const chosen = chosenTheme();
    theme.replaceChildren(icon(THEME_ICONS[chosen]));
    theme.title = t("settings.theme", { theme: t(`theme.${chosen}`) });
    theme.setAttribute("aria-label", theme.title);
    const on = store.state.sound;
    sound.replaceChildren(icon(on ? "sound" : "silent"));
    sound.title = t("settings.sound");
    sound.setAttribute("aria-label", sound.title);
    press(sound, on);
  }

  store.watch(["sound"], show);
  onLanguage(show);
}
