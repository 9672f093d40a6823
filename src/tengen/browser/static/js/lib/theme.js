// Light and dark: as the system is set, unless a person chose.

import { recall, remember } from "./local_storage.js";

const dark = matchMedia("(prefers-color-scheme: dark)");

/** "light" or "dark", as shown now. */
export function currentTheme() {
  return document.documentElement.dataset.theme ?? (dark.matches ? "dark" : "light");
}

export function chosenTheme() {
  const choice = recall("theme", "system");
  return choice === "light" || choice === "dark" ? choice : "system";
}

/** Show a theme: "light", "dark", or "system" to follow the system again. */
export function chooseTheme(theme) {
  remember("theme", theme === "system" ? null : theme);
  if (theme === "system") delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = theme;
}

/** Call back when the system's setting changes. */
export function onSystemTheme(act) {
  dark.addEventListener("change", act);
}
