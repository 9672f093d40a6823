// Game records in and out: open, drop, paste, a link's fragment, save.

import { button, panel } from "../lib/controls.js";
import { createDialog } from "../lib/dialogs.js";
import { element, icon } from "../lib/element.js";
import { onLanguage, t } from "../lib/i18n.js";
import { notice } from "./notices.js";

const looksLikeSgf = (text) => /^\s*\(\s*;/.test(text);

/** A file's text; records are often not UTF-8, and the declared encoding is inside. */
async function textOf(file) {
  const bytes = await file.arrayBuffer();
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    const latin = new TextDecoder("latin1").decode(bytes);
    const declared = /CA\s*\[([^\]]+)\]/.exec(latin)?.[1].trim();
    try {
      return new TextDecoder(declared ?? "gb18030").decode(bytes);
    } catch {
      return latin;
    }
  }
}

function openText(text, actions) {
  if (!looksLikeSgf(text)) notice(t("error.not_sgf"));
  else actions.open(text);
}

function openFile(file, actions, limit) {
  if (limit && file.size > limit) notice(t("error.too_large"));
  else textOf(file).then((text) => openText(text, actions));
}

/** A game in the address: #sgf=... It is taken out again, so that a reload keeps what was done. */
export function takeFragment(actions) {
  const found = /^#sgf=(.+)$/s.exec(location.hash);
  if (!found) return;
  history.replaceState(null, "", location.pathname + location.search);
  try {
    openText(decodeURIComponent(found[1].replace(/\+/g, "%20")), actions);
  } catch {
    notice(t("error.not_sgf"));
  }
}

function listenForDrops(actions, limit) {
  const sign = document.getElementById("dropping");
  let depth = 0;
  const show = (on) => {
    depth = on ? depth : 0;
    sign.hidden = !on;
  };
  const wanted = (event) => [...(event.dataTransfer?.types ?? [])].some((type) => type === "Files" || type === "text/plain");
  document.addEventListener("dragenter", (event) => {
    if (!wanted(event)) return;
    depth += 1;
    show(true);
  });
  document.addEventListener("dragleave", () => {
    depth -= 1;
    if (depth <= 0) show(false);
  });
  document.addEventListener("dragover", (event) => {
    if (wanted(event)) event.preventDefault();
  });
  document.addEventListener("drop", (event) => {
    if (!wanted(event)) return;
    event.preventDefault();
    show(false);
    const [file] = event.dataTransfer.files;
    if (file) openFile(file, actions, limit());
    else openText(event.dataTransfer.getData("text/plain"), actions);
  });
}

function listenForPaste(actions) {
  document.addEventListener("paste", (event) => {
    if (event.target.closest?.("input, textarea, select")) return;
    const text = event.clipboardData?.getData("text/plain") ?? "";
    if (looksLikeSgf(text)) actions.open(text);
  });
}

/** The dialog that opens a record: from a file, or pasted. */
export function createOpenDialog(store, actions) {
  const limit = () => store.state.info?.limits?.upload_bytes;
  const picker = element("input", { type: "file", accept: ".sgf,.txt,application/x-go-sgf", id: "sgf-file", class: "unseen", tabindex: "-1", data: { label: "files.choose" } });
  const text = element("textarea", { id: "sgf-text", rows: 6, dir: "ltr", spellcheck: "false", placeholder: "(;GM[1]SZ[9]…" });
  const dialog = createDialog(
    { id: "open", title: "files.open" },
    element("div", { class: "form" },
      element("p", { class: "words", data: { text: "files.words" } }),
      button({ text: "files.choose", picture: "open", kind: "plain wide", act: () => picker.click(), id: "choose-file" }),
      picker,
      element("div", { class: "field" }, element("label", { for: "sgf-text", data: { text: "files.paste" } }), text),
      element("div", { class: "dialog-foot" },
        button({ text: "files.open", kind: "primary wide", id: "open-text", act: () => {
          openText(text.value, actions);
          if (looksLikeSgf(text.value)) dialog.close();
        } }))),
  );
  picker.addEventListener("change", () => {
    if (picker.files.length) openFile(picker.files[0], actions, limit());
    picker.value = "";
    dialog.close();
  });
  listenForDrops(actions, limit);
  listenForPaste(actions);
  return {
    open() {
      text.value = "";
      dialog.showModal();
    },
  };
}

export function createFilesPanel(store, openDialog) {
  const save = element("a", { class: "button plain", id: "save", download: "game.sgf" },
    icon("save"), element("span", { data: { text: "files.save" } }));
  const box = panel({ tabs: "analyse review play", id: "files" },
    element("div", { class: "actions two" },
      button({ text: "files.open", picture: "open", act: openDialog, id: "open-button" }), save));
  store.watch(["session"], (state) => {
    if (state.session) save.href = `/api/sessions/${state.session}/game.sgf`;
  });
  store.watch(["tree"], (state) => {
    const empty = !state.tree || (state.tree.byId.size === 1 && !state.game?.you);
    save.hidden = empty;
    box.firstChild.classList.toggle("two", !empty);
    box.firstChild.classList.toggle("one", empty);
  });
  return box;
}

/** What stands at the foot of the page: the network, the device, the version. */
export function showFoot(store) {
  const foot = document.getElementById("foot");
  const show = () => {
    const { info } = store.state;
    if (!info) return;
    const fact = (key, id, text) => element("span", { class: "fact" }, `${t(key)} `, element("bdi", { id, text: text ?? "–" }));
    const parts = [
      fact("foot.network", "network", info.network?.name),
      fact("foot.device", "device", info.device),
      fact("foot.version", "version", info.version),
    ];
    if (info.run) parts.push(element("a", { href: "/run", text: t("foot.run") }));
    foot.replaceChildren(...parts);
  };
  store.watch(["info"], show);
  onLanguage(show);
}
