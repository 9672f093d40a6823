// The controls for language and theme, at the head of both pages.

import { element, icon } from "./element.js";
import { chooseLanguage, currentLanguage, LANGUAGES, onLanguage, t } from "./i18n.js";
import { chooseTheme, chosenTheme, onSystemTheme } from "./theme.js";

const ICONS = { system: "contrast", light: "sun", dark: "moon" };

export function languageSelect() {
  const options = Object.entries(LANGUAGES).map(([code, name]) => element("option", { value: code, lang: code, text: name }));
  const select = element("select", { id: "language", class: "language", data: { label: "settings.language" } }, ...options);
  select.addEventListener("change", () => chooseLanguage(select.value));
  const show = () => {
    select.value = currentLanguage();
  };
  onLanguage(show);
  show();
  return select;
}

/** A button that steps through the themes; calls `onTheme` when what is shown may have changed. */
export function themeButton(onTheme) {
  const button = element("button", { type: "button", class: "button icon-only quiet", id: "theme" });
  const show = () => {
    const chosen = chosenTheme();
    button.replaceChildren(icon(ICONS[chosen]));
    button.title = t("settings.theme", { theme: t(`theme.${chosen}`) });
    button.setAttribute("aria-label", button.title);
  };
  button.addEventListener("click", () => {
    const names = Object.keys(ICONS);
    chooseTheme(names[(names.indexOf(chosenTheme()) + 1) % names.length]);
    show();
    onTheme();
  });
  onSystemTheme(onTheme);
  onLanguage(show);
  show();
  return button;
}
