// The dialog with all kept games: open, rename, delete, download.

import { createView } from "../board/view.js";
import { pointIndex } from "../board/points.js";
import { button, iconButton } from "../lib/controls.js";
import { ask, createDialog } from "../lib/dialogs.js";
import { element, icon } from "../lib/element.js";
import { dateText, levelName, resultText, t, translateMarkup } from "../lib/i18n.js";

/** Who played: "You – Beginner", or the names in a record. */
export function playersText(game, info) {
  const name = (colour) => {
    if (game.you === colour) return t("players.you");
    if (game.you && game.you !== "both" && game.level) return levelName(game.level, info);
    return game.players[colour] || t(colour);
  };
  return `${name("black")} – ${name("white")}`;
}

function stateText(game) {
  const result = resultText(game.result, game.you);
  if (game.current) return [result, t("mine.current")].filter(Boolean).join(" · ");
  return result || t(game.under_way ? "mine.underway" : "mine.open");
}

/** The dialog; `open()` asks the server for the list first. */
export function createMyGames(store, actions) {
  const list = element("ul", { class: "my-games", id: "my-games" });
  const words = element("p", { class: "words", id: "my-games-words" });
  const dialog = createDialog({ id: "mine", title: "mine.title" }, words, list);
  dialog.classList.add("large");

  async function openGame(game, tab) {
    if (!(await actions.openGame(game.id))) return;
    dialog.close();
    store.change({ afterGame: tab });
  }

  function rename(game, title) {
    const input = element("input", { type: "text", maxlength: 100, value: game.name || "", dir: "auto", "aria-label": t("mine.name") });
    const save = () => actions.send("rename_game", { game: game.id, name: input.value });
    input.addEventListener("keydown", (event) => {
      event.stopPropagation();
      if (event.key === "Enter") save();
      else if (event.key === "Escape") {
        event.preventDefault();
        show();
      }
    });
    title.replaceChildren(input, button({ text: "mine.rename.save", kind: "plain", act: save }));
    translateMarkup();
    input.focus();
  }

  async function remove(game) {
    if (await ask("mine.delete.ask", "mine.delete")) actions.send("delete_game", { game: game.id });
  }

  function row(game) {
    const { info, player } = store.state;
    const view = createView({ small: true });
    const names = playersText(game, info);
    const resumes = game.under_way;
    view.show({ width: game.size, picture: { stones: game.stones, last: pointIndex(null, game.size) }, label: t(resumes ? "mine.resume.label" : "mine.open.label", { names }) });
    view.element.addEventListener("click", () => openGame(game, resumes ? "play" : "review"));
    const title = element("div", { class: "game-title" }, element("bdi", { class: "point", text: game.name || names }));
    const facts = [game.name ? names : null, `${game.size}×${game.size}`, t("mine.moves", { count: game.moves }), dateText(game.changed)];
    const small = (label, picture, act) => iconButton({ label, picture, kind: "quiet", act });
    const download = element("a", { class: "button icon-only quiet", href: `/api/players/${player}/games/${game.id}.sgf`, download: `${game.id}.sgf`, data: { label: "mine.download", hint: "mine.download" } }, icon("save"));
    const acts = [
      button({ text: resumes ? "mine.resume" : "mine.show", kind: game.current ? "plain" : "primary", act: () => openGame(game, resumes ? "play" : "review") }),
      resumes || game.moves === 0 ? null : button({ text: "tab.review", kind: "plain", act: () => openGame(game, "review") }),
      small("mine.rename", "pen", () => rename(game, title)),
      download,
      game.current ? null : small("mine.delete", "bin", () => remove(game)),
    ];
    return element("li", { class: "my-game", data: { game: game.id } },
      view.element,
      element("div", { class: "my-game-words" },
        title,
        element("span", { class: "facts", text: facts.filter(Boolean).join(" · ") }),
        element("span", { class: "game-state", text: stateText(game) }),
        element("div", { class: "my-game-acts" }, ...acts)));
  }

  function show() {
    const found = store.state.games;
    if (!found || !dialog.open) return;
    list.replaceChildren(...found.games.map(row));
    const { megabytes, nearly_full: full } = found.room;
    words.textContent = t(full ? "mine.full" : found.games.length ? "mine.words" : "mine.none", { megabytes });
    words.classList.toggle("warning", full);
    translateMarkup();
  }

  store.watch(["games", "language"], show);
  return {
    open() {
      dialog.showModal();
      actions.send("games");
      show();
    },
  };
}
