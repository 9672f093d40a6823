// Modal dialogs: the common frame, a question to confirm, the list of keys.

import { iconButton } from "./controls.js";
import { element } from "./element.js";
import { t, translateMarkup } from "./i18n.js";

/** A modal dialog with a title and a close button around `content`. */
export function createDialog({ id, title }, ...content) {
  const close = iconButton({ label: "close", picture: "close", kind: "quiet", act: () => dialog.close() });
  const heading = element("h2", { id: `${id}-title`, data: { text: title } });
  const dialog = element(
    "dialog",
    { id, class: "dialog", "aria-labelledby": `${id}-title` },
    element("div", { class: "dialog-head" }, heading, close),
    ...content,
  );
  dialog.addEventListener("click", (event) => {
    if (event.target === dialog) dialog.close();
  });
  document.body.append(dialog);
  return dialog;
}

/** Ask to confirm; resolves to true only when the answer is yes. */
export function ask(question, yes) {
  return new Promise((answer) => {
    const agree = element("button", { class: "button primary", value: "yes", text: t(yes) });
    const decline = element("button", { class: "button plain", value: "no", text: t("cancel") });
    const dialog = element(
      "dialog",
      { class: "dialog small", role: "alertdialog", "aria-label": t(question) },
      element(
        "form",
        { method: "dialog" },
        element("p", { class: "question", text: t(question) }),
        element("div", { class: "dialog-foot" }, decline, agree),
      ),
    );
    dialog.addEventListener("close", () => {
      answer(dialog.returnValue === "yes");
      dialog.remove();
    });
    document.body.append(dialog);
    dialog.showModal();
  });
}

/** The list of keyboard shortcuts. */
export function createKeysDialog(keys) {
  const list = element("dl", { class: "keys" });
  for (const { keys: names, text } of keys) {
    list.append(
      element("dt", { dir: "ltr" }, ...names.map((name) => element("kbd", { text: name }))),
      element("dd", { data: { text } }),
    );
  }
  const dialog = createDialog({ id: "keys", title: "keys.title" }, list);
  translateMarkup();
  return { open: () => dialog.showModal() };
}
