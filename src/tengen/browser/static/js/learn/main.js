// The page for learning: lessons, problems, a network that is born, and the words of the game. What is
// shown follows the fragment of the address, so that the browser's own buttons walk through it.

import { languageSelect, themeButton } from "../lib/appearance.js";
import { element } from "../lib/element.js";
import { addStrings, onLanguage, t, translateMarkup, useLanguage } from "../lib/i18n.js";
import { createBorn } from "./born.js";
import { createCapture } from "./capture.js";
import { createLesson, createLessons } from "./lessons.js";
import { createProblem, createProblems } from "./problems.js";
import { createWords } from "./words.js";

const PARTS = ["lessons", "problems", "born", "words"];
// By the first word of the fragment: the part that it belongs to, and what makes the view. A view is
// {element, label?, repaint?, close?}; `label` writes its texts in the page's language.
const VIEWS = {
  lessons: ["lessons", createLessons],
  lesson: ["lessons", createLesson],
  capture: ["lessons", createCapture],
  problems: ["problems", createProblems],
  problem: ["problems", createProblem],
  born: ["born", createBorn],
  words: ["words", createWords],
};

const content = document.getElementById("content");
const links = new Map();
let view = null;

function label() {
  translateMarkup();
  view?.label?.();
}

function show({ first = false } = {}) {
  const [word, ...rest] = location.hash.slice(1).split("/").map(decodeURIComponent);
  const [part, create] = VIEWS[word] ?? VIEWS.lessons;
  view?.close?.();
  view = create(rest);
  content.replaceChildren(view.element);
  for (const [name, link] of links) {
    if (name === part) link.setAttribute("aria-current", "page");
    else link.removeAttribute("aria-current");
  }
  document.title = `${t(`nav.${part}`)} · Tengen`;
  label();
  if (!first) {
    window.scrollTo(0, 0);
    content.focus({ preventScroll: true });
  }
}

function buildHeader() {
  for (const name of PARTS) {
    links.set(name, element("a", { class: "tab", href: `#${name}`, id: `part-${name}`, data: { text: `nav.${name}` } }));
  }
  const play = element("a", { class: "tab", href: "/", id: "to-play", data: { text: "nav.play" } });
  document.getElementById("parts").append(...links.values(), play);
  document.getElementById("settings").append(languageSelect(), themeButton(() => view?.repaint?.()));
}

addStrings("terms");
addStrings("learn");
buildHeader();
onLanguage(label);
await useLanguage();
window.addEventListener("hashchange", () => {
  if (location.hash !== "#content") show(); // the link to skip the header
});
show({ first: true });
document.body.classList.add("ready");
