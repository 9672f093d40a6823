// Ways to open a game record: the dialog, drag and drop, paste, and the fragment of the address.

import { button } from "../lib/controls.js";
import { createDialog } from "../lib/dialogs.js";
import { element } from "../lib/element.js";
import { resultText, t, translateMarkup } from "../lib/i18n.js";
import { notice } from "../page/notices.js";

const looksLikeSgf = (text) => /\(\s*;/.test(text);

/** The bytes of a file in base64: the server finds out their encoding. */
function base64Of(file) {
  return new Promise((done, failed) => {
    const reader = new FileReader();
    reader.addEventListener("load", () => done(reader.result.slice(reader.result.indexOf(",") + 1)));
    reader.addEventListener("error", () => failed(reader.error));
    reader.readAsDataURL(file);
  });
}

async function openText(text, actions) {
  if (!looksLikeSgf(text)) notice(t("error.not_sgf"));
  else await actions.open({ sgf: text });
}

async function openFile(file, actions, limit) {
  if (limit && file.size > limit) return notice(t("error.too_large"));
  try {
    return await actions.open({ file: await base64Of(file) });
  } catch {
    return notice(t("error.unreadable"));
  }
}

function gameButton(game, number, choose) {
  const names = `${game.black || t("black")} – ${game.white || t("white")}`;
  const facts = [game.event, game.date, resultText(game.result), t("mine.moves", { count: game.moves })];
  return element("li", {},
    element("button", { type: "button", class: "row-button", on: { click: () => choose(number) } },
      element("span", { class: "turn-number", text: String(number + 1) }),
      element("span", { class: "file-game" },
        element("bdi", { class: "point", text: names }),
        element("span", { class: "facts", dir: "auto", text: facts.filter(Boolean).join(" · ") }))));
}

/** Ask which game of a file to open, whenever the server says that there are several. */
function createGameChooser(store, actions) {
  const list = element("ol", { class: "file-games" });
  const dialog = createDialog({ id: "file-games", title: "files.several" },
    element("p", { class: "words", data: { text: "files.several.words" } }), list);
  store.watch(["file_games"], (state) => {
    if (!state.file_games) return;
    const choose = (number) => {
      dialog.close();
      actions.chooseGame(number);
    };
    list.replaceChildren(...state.file_games.games.map((game, number) => gameButton(game, number, choose)));
    translateMarkup();
    if (!dialog.open) dialog.showModal();
  });
}

/**
 * Open the game in the address, #sgf=..., or begin an even one on a board of so many lines, #game=9; and remove it
 * there, so that a reload keeps later changes.
 */
export function openFragment(actions) {
  const [, what, found] = /^#(sgf|game)=(.+)$/s.exec(location.hash) ?? [];
  if (!found) return;
  history.replaceState(null, "", location.pathname + location.search);
  if (what === "game") {
    if (/^\d{1,2}$/.test(found)) actions.evenGame(Number(found));
    return;
  }
  try {
    openText(decodeURIComponent(found.replace(/\+/g, "%20")), actions);
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
    if (looksLikeSgf(text)) actions.open({ sgf: text });
  });
}

/** The dialog that opens a record from a file or from pasted text. */
export function createOpenDialog(store, actions) {
  const limit = () => store.state.info?.limits?.upload_bytes;
  const picker = element("input", { type: "file", accept: ".sgf,.txt,.mgt,application/x-go-sgf,text/plain", id: "sgf-file", class: "unseen", tabindex: "-1", data: { label: "files.choose" } });
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
  createGameChooser(store, actions);
  return {
    open() {
      text.value = "";
      dialog.showModal();
    },
  };
}
