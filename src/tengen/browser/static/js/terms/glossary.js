// All Go words of the page with their explanations, as a dialog.

import { createDialog } from "../lib/dialogs.js";
import { element } from "../lib/element.js";
import { t, translateMarkup } from "../lib/i18n.js";
import { TERMS } from "../lib/terms.js";

export function createGlossary(store) {
  const list = element("dl", { class: "glossary" });
  const dialog = createDialog({ id: "glossary", title: "terms.title" }, list);
  dialog.classList.add("large");

  function show() {
    list.replaceChildren(...TERMS.flatMap((term) =>
      [element("dt", { text: t(`terms.name.${term}`) }), element("dd", { text: t(`terms.${term}`) })]));
    translateMarkup();
  }

  store.watch(["language"], show);
  return {
    open() {
      show();
      dialog.showModal();
    },
  };
}
