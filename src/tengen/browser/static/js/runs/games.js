// The latest games of self-play: one replayed move by move, the others as small boards.

import { element, icon } from "../lib/element.js";
import { resultText, signed, t } from "../lib/i18n.js";
import { pointIndex } from "../board/points.js";
import { ask } from "./requests.js";
import { createView } from "../board/view.js";
import { createChart } from "./chart.js";
import { percentage, whole } from "./numbers.js";

const TURN = 520; // milliseconds for a move
const END = 3600; // and for the count at the end, before the next game
const calm = matchMedia("(prefers-reduced-motion: reduce)");

function pictureOf(game, at, owned) {
  const turn = game.turns[at];
  const over = at === game.turns.length - 1;
  return {
    stones: turn.stones,
    last: pointIndex(turn.move, game.width, game.height),
    owner: owned && over ? game.owner : null,
    ownership: owned && !over ? game.ownership?.[at] ?? null : null,
  };
}

function turnWords(game, at) {
  const turn = game.turns[at];
  if (!turn.move) return t("game.start");
  const move = turn.move === "pass" ? t("game.pass") : turn.move;
  return t("game.move", { number: at, colour: t(turn.colour), move });
}

function thoughtWords(game, at) {
  const turn = game.turns[at];
  if (at === game.turns.length - 1) return t("game.counted", { result: resultText(game.result) });
  if (turn.winrate === null) return "";
  const thought = t("game.thought", {
    winrate: percentage(turn.winrate),
    score: signed(turn.score, 1),
    visits: whole(turn.visits),
  });
  return turn.weight ? `${thought} · ${t("game.learned")}` : thought;
}

/** Fill a section. `show(numbers)`: the games there are, the latest first. */
export function createGames(section) {
  const view = createView();
  const heading = element("p", { class: "game-heading" });
  const thought = element("p", { class: "game-thought" });
  const slider = element("input", { type: "range", min: "0", max: "0", value: "0", dir: "ltr", class: "slide" });
  const buttons = Object.fromEntries(
    ["first", "back", "play", "forward", "last"].map((name) => [name, element("button", { type: "button", class: "button icon-only" }, icon(name))]),
  );
  const shading = element("input", { type: "checkbox", checked: true, class: "tick-box" });
  const shadingWords = element("span");
  const chart = createChart({ kind: "share", tone: "tone-win", pick: (at) => seek(at) });
  const shelf = element("div", { class: "shelf", role: "group" });
  section.append(
    element("div", { class: "game" }, view.element, element("div", { class: "game-side" },
      heading, thought,
      element("div", { class: "keys", dir: "ltr" }, ...Object.values(buttons), slider),
      element("label", { class: "tick" }, shading, shadingWords),
      chart.element, shelf,
    )),
  );

  const games = new Map(); // those loaded, by number
  const pictures = new Map(); // small boards, by number
  let numbers = [];
  let game = null;
  let at = 0;
  let playing = !calm.matches;
  let visible = false;
  let next = 0; // time of the next step

  async function load(number) {
    if (!games.has(number)) games.set(number, await ask(`/api/run/games/${number}`));
    return games.get(number);
  }

  async function choose(number, from = 0) {
    const wanted = await load(number);
    if (!wanted) return;
    game = wanted;
    at = Math.min(from, game.turns.length - 1);
    next = performance.now() + TURN;
    label();
    if (game.ownership !== undefined) return;
    const owned = await ask(`/api/run/games/${number}/ownership`);
    wanted.ownership = owned ? owned.points.map((points) => points.map((tenths) => tenths / 10)) : null;
    wanted.judge = owned?.network;
    if (game === wanted) label();
  }

  function seek(wanted) {
    if (!game) return;
    at = Math.max(0, Math.min(game.turns.length - 1, wanted));
    next = performance.now() + 3 * TURN;
    paint();
  }

  function paint() {
    const words = turnWords(game, at);
    const said = thoughtWords(game, at);
    view.show({
      width: game.width,
      height: game.height,
      picture: pictureOf(game, at, shading.checked),
      label: t("game.board", { number: game.number, turn: words }),
    });
    heading.textContent = words;
    thought.textContent = said;
    slider.value = String(at);
    slider.setAttribute("aria-valuetext", said ? `${words}, ${said}` : words);
    chart.point(at);
  }

  /** Update all that depends on the game or the language. */
  function label() {
    for (const [name, button] of Object.entries(buttons)) {
      const key = name === "play" && playing ? "pause" : name;
      button.setAttribute("aria-label", t(`game.${key}`));
      button.title = t(`game.${key}`);
    }
    buttons.play.replaceChildren(icon(playing ? "pause" : "play"));
    slider.setAttribute("aria-label", t("game.slider"));
    shelf.setAttribute("aria-label", t("game.shelf"));
    labelShelf();
    if (!game) return;
    shadingWords.textContent = game.judge === undefined
      ? t("game.shading")
      : t("game.shadingBy", { network: game.judge });
    slider.max = String(game.turns.length - 1);
    chart.show({
      title: t("game.chart"),
      points: winRates(game),
      value: (point) => percentage(point.y),
      where: (point) => t("game.number", { number: point.x }),
      tick: (share) => percentage(share),
      along: (number) => whole(number),
    });
    paint();
  }

  function labelShelf() {
    for (const [number, picture] of pictures) {
      const shown = games.get(number);
      if (!shown) continue;
      const words = t("game.name", { number, result: resultText(shown.result) });
      const end = shown.turns.length - 1;
      const { width, height } = shown;
      picture.view.show({ width, height, picture: { ...pictureOf(shown, end, true), last: null }, label: `${shown.result} · ${words}` }); // named as it is seen, too
      picture.view.element.title = words;
      picture.view.element.setAttribute("aria-pressed", String(shown === game));
      picture.caption.textContent = shown.result;
    }
  }

  async function stock() {
    for (const number of [...pictures.keys()].filter((each) => !numbers.includes(each))) {
      pictures.delete(number);
      if (game?.number !== number) games.delete(number);
    }
    for (const number of numbers) {
      const loaded = await load(number);
      if (!loaded || pictures.has(number)) continue;
      const small = createView({ small: true });
      small.element.addEventListener("click", () => choose(number));
      const caption = element("span", { class: "shelf-result", dir: "ltr" });
      small.element.append(caption);
      pictures.set(number, { view: small, caption });
    }
    shelf.replaceChildren(...numbers.filter((each) => pictures.has(each)).map((each) => pictures.get(each).view.element));
    labelShelf();
  }

  function step(now) {
    requestAnimationFrame(step);
    if (!game || !playing || !visible || now < next) return;
    if (at < game.turns.length - 1) {
      at += 1;
      next = now + (at === game.turns.length - 1 ? END : TURN);
      paint();
      return;
    }
    next = now + END;
    const place = numbers.indexOf(game.number);
    choose(numbers[place <= 0 && numbers[0] !== game.number ? 0 : (place + 1) % numbers.length]);
  }

  function play(wanted) {
    playing = wanted;
    if (playing && game && at === game.turns.length - 1) at = 0;
    next = performance.now();
    label();
  }

  buttons.first.addEventListener("click", () => seek(0));
  buttons.back.addEventListener("click", () => seek(at - 1));
  buttons.play.addEventListener("click", () => play(!playing));
  buttons.forward.addEventListener("click", () => seek(at + 1));
  buttons.last.addEventListener("click", () => seek(Infinity));
  slider.addEventListener("input", () => seek(Number(slider.value)));
  shading.addEventListener("change", () => game && paint());
  new IntersectionObserver(([entry]) => {
    visible = entry.isIntersecting;
  }).observe(view.element);
  requestAnimationFrame(step);

  return {
    label,
    repaint() {
      view.repaint();
      for (const picture of pictures.values()) picture.view.repaint();
    },
    async show(wanted) {
      if (wanted.join() === numbers.join()) return;
      numbers = wanted;
      section.hidden = numbers.length === 0;
      if (!game && numbers.length) await choose(numbers[0]);
      await stock();
    },
  };
}

/** The win rate at each turn; where there was no search, that of the turn before. */
function winRates(game) {
  let before = game.turns.find((turn) => turn.winrate !== null)?.winrate ?? 0.5;
  return game.turns.map((turn, x) => {
    before = turn.winrate ?? before;
    return { x, y: before };
  });
}
