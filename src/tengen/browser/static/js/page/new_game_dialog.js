// The dialog for a new game. It begins with the choices of the last time.

import { button, choice, field } from "../lib/controls.js";
import { createDialog } from "../lib/dialogs.js";
import { element } from "../lib/element.js";
import { hasText, named, needStrings, t, translateMarkup } from "../lib/i18n.js";
import { recallObject, remember } from "../lib/local_storage.js";
import { createStrength, rankText } from "./strength.js";

const USUAL = {
  size: 9,
  colour: "random",
  level: "even",
  visits: 800,
  seconds: 5,
  network: "",
  teach: "",
  rules: null,
  komi: "",
  handicap: 0,
  clock: "none",
  main: 10,
  period: 30,
  periods: 3,
};
const CLOCKS = {
  none: null,
  quick: { main: 60, period: 10, periods: 3 },
  normal: { main: 600, period: 30, periods: 3 },
  slow: { main: 1800, period: 30, periods: 5 },
};
const TEACH_POINTS = [2, 5, 10];
const QUICK_SIZES = [5, 7, 9, 13, 19];

/** How many handicap stones have a place: the corners from 7 on, edges and centre on odd boards. */
function mostHandicap(size) {
  if (size < 7) return 0;
  return size % 2 && size > 7 ? 9 : 4;
}

/** A level's name, with its rank on boards of this size where that is known. */
function levelText({ id, name, ranks }, size) {
  const rank = ranks?.[size];
  const words = named("level", id, name);
  if (!rank) return words;
  return t("new.rated", { name: words, rank: rankText(rank) });
}

function option(value, text, chosen) {
  const node = element("option", { value, text });
  node.selected = String(value) === String(chosen);
  return node;
}

function numberInput({ name, min, max, step, label }) {
  return element("input", { type: "number", name, min, max, step, inputmode: "decimal", data: { label } });
}

export function createNewGameDialog(store, actions) {
  const wish = recallObject("new_game", USUAL);

  const sizeRange = element("input", { type: "range", min: 5, max: 19, step: 1, name: "size" });
  const sizeText = element("output", { dir: "ltr", class: "size-text", for: "new-size" });
  const quick = element("div", { class: "chips", role: "group", data: { label: "new.sizes" } });
  for (const size of QUICK_SIZES) {
    quick.append(
      element("button", {
        type: "button", class: "button chip", dir: "ltr", text: `${size}×${size}`, data: { size },
        on: { click: () => chooseSize(size) },
      }),
    );
  }
  const colours = choice({
    name: "colour",
    label: "new.colour",
    chosen: wish.colour,
    options: [
      { value: "black", text: "black" },
      { value: "white", text: "white" },
      { value: "random", text: "new.random" },
      { value: "neither", text: "new.neither" },
      { value: "both", text: "new.both" },
    ],
    act: (value) => {
      wish.colour = value;
      show();
    },
  });
  const levels = element("select", { name: "level", on: { change: () => { wish.level = levels.value; show(); } } });
  const visits = numberInput({ name: "visits", min: 1, max: 100_000, step: 1 });
  const seconds = numberInput({ name: "seconds", min: 0.1, max: 300, step: 0.1 });
  visits.value = wish.visits;
  seconds.value = wish.seconds;
  const networks = element("select", { name: "network", on: { change: () => { wish.network = networks.value; } } });
  const teach = element("select", { name: "teach", on: { change: () => { wish.teach = teach.value; } } });
  const strength = createStrength(store);
  const rules = element("select", { name: "rules", on: { change: () => { wish.rules = rules.value; show(); } } });
  const komi = numberInput({ name: "komi", min: -150, max: 150, step: 0.5 });
  const handicap = element("select", { name: "handicap" });
  const clock = element("select", { name: "clock", on: { change: () => { wish.clock = clock.value; show(); } } });
  const own = element("div", { class: "own-clock" });
  const ownFields = ["main", "period", "periods"].map((name) => {
    const input = numberInput({ name, min: name === "periods" ? 0 : name === "main" ? 0 : 1, max: 600, step: 1 });
    input.value = wish[name];
    return field({ label: `new.clock.${name}`, id: `new-${name}` }, input);
  });
  own.append(...ownFields);
  const ruleWords = element("p", { class: "facts", id: "rules-words" });
  const ratedNote = element("p", { class: "facts", data: { text: "new.rated.note" } });
  const levelField = field({ label: "new.level", id: "new-level", term: "rank" }, levels);
  const visitsField = field({ label: "new.visits", id: "new-visits" }, visits);
  const secondsField = field({ label: "new.seconds", id: "new-seconds" }, seconds);
  const teachField = field({ label: "new.teach", id: "new-teach" }, teach);
  const networkField = field({ label: "new.network", id: "new-network" }, networks);
  const handicapField = field({ label: "new.handicap", id: "new-handicap", term: "handicap" }, handicap);
  const komiField = field({ label: "new.komi", id: "new-komi", term: "komi" }, komi);
  const form = element(
    "form",
    { method: "dialog", class: "form" },
    element("div", { class: "field" },
      element("label", { for: "new-size" }, element("span", { data: { text: "new.size" } }), sizeText),
      sizeRange, quick),
    element("div", { class: "field" }, element("span", { class: "label", data: { text: "new.colour" } }), colours),
    levelField,
    strength.element,
    ratedNote,
    visitsField,
    secondsField,
    networkField,
    teachField,
    element("div", { class: "field-pair" },
      field({ label: "new.rules", id: "new-rules" }, rules), komiField,
      handicapField, field({ label: "new.clock", id: "new-clock", term: "byoyomi" }, clock)),
    own,
    ruleWords,
    element("div", { class: "dialog-foot" },
      button({ text: "new.start", kind: "primary wide", type: "submit", id: "start-game" })),
  );
  sizeRange.id = "new-size";
  const dialog = createDialog({ id: "new", title: "new.title" }, form);

  function chooseSize(size) {
    wish.size = size;
    show();
  }
  sizeRange.addEventListener("input", () => chooseSize(Number(sizeRange.value)));

  function show() {
    const { info } = store.state;
    sizeRange.value = wish.size;
    sizeText.textContent = `${wish.size} × ${wish.size}`;
    for (const chip of quick.children) chip.setAttribute("aria-pressed", String(Number(chip.dataset.size) === wish.size));
    const both = wish.colour === "both";
    const alone = wish.colour === "neither";
    const known = [...(info?.levels ?? []).map((one) => one.id), "even", "visits", "seconds"];
    const level = alone && wish.level === "even" ? "full" : known.includes(wish.level) ? wish.level : "even";
    levels.replaceChildren(
      ...(alone ? [] : [option("even", t("new.even"), level)]),
      ...(info?.levels ?? []).map((one) => option(one.id, levelText(one, wish.size), level)),
      option("visits", t("new.visits"), level),
      option("seconds", t("new.seconds"), level),
    );
    const even = level === "even" && !both;
    ratedNote.hidden = both || !(info?.levels ?? []).some(({ ranks }) => ranks?.[wish.size]);
    levelField.hidden = both;
    visitsField.hidden = both || level !== "visits";
    secondsField.hidden = both || level !== "seconds";
    teachField.hidden = both || alone;
    teach.replaceChildren(option("", t("new.teach.off"), wish.teach), ...TEACH_POINTS.map((n) => option(n, t("new.teach.points", { count: n }), wish.teach)));
    networkField.hidden = !info?.networks?.length;
    networks.replaceChildren(option("", info?.network?.name || "Tengen", wish.network),
      ...(info?.networks ?? []).map((name) => option(name, name, wish.network)));
    strength.show(even ? wish : null);
    komiField.hidden = even;
    handicapField.hidden = even;
    const rule = wish.rules ?? info?.rules?.[0]?.id;
    rules.replaceChildren(...(info?.rules ?? []).map((one) => option(one.id, named("rules", one.id, one.name), rule)));
    const sentence = `rules.words.${rules.value}`;
    ruleWords.textContent = hasText(sentence) ? t(sentence) : "";
    komi.placeholder = t("new.komi.usual", { komi: info?.rules?.find((one) => one.id === rules.value)?.komi ?? "" });
    const most = mostHandicap(wish.size);
    const stones = Math.min(Number(handicap.value || wish.handicap), most);
    handicap.replaceChildren(option(0, t("new.handicap.none"), stones));
    for (let n = 2; n <= most; n += 1) handicap.append(option(n, t("new.handicap.stones", { count: n }), stones));
    clock.replaceChildren(...[...Object.keys(CLOCKS), "own"].map((name) => option(name, t(`new.clock.${name}`), wish.clock)));
    own.hidden = wish.clock !== "own";
  }

  function chosenClock(data) {
    if (wish.clock !== "own") return CLOCKS[wish.clock] ?? null;
    return { main: 60 * Number(data.get("main")), period: Number(data.get("period")), periods: Number(data.get("periods")) };
  }

  form.addEventListener("submit", () => {
    const data = new FormData(form);
    const picked = data.get("colour");
    const even = data.get("level") === "even" && picked !== "both";
    const drawn = even ? "either" : Math.random() < 0.5 ? "black" : "white";
    const colour = picked === "random" ? drawn : picked;
    const own = { visits: () => `visits:${Number(data.get("visits"))}`, seconds: () => `seconds:${Number(data.get("seconds"))}` };
    const level = even || colour === "both" ? null : (own[data.get("level")]?.() ?? data.get("level"));
    const number = data.get("komi").trim();
    Object.assign(wish, Object.fromEntries(data), { size: Number(data.get("size")), komi: "" });
    remember("new_game", wish);
    actions.newGame({
      size: wish.size,
      colour,
      level,
      even,
      network: data.get("network") || null,
      teach: data.get("teach") && colour !== "both" && colour !== "neither" ? Number(data.get("teach")) : null,
      rules: data.get("rules"),
      komi: even || number === "" ? null : Number(number),
      handicap: even ? 0 : Number(data.get("handicap")),
      clock: chosenClock(data),
    });
  });

  store.watch(["info", "language"], show);
  return {
    open() {
      translateMarkup();
      strength.ask = (size, rules) => actions.send("strength", { size, rules });
      store.change({ strength: null }); // games may have been played since
      show();
      dialog.showModal();
      needStrings("terms").then(show, () => {}); // without them there are no sentences about rules
    },
  };
}
