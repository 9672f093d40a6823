// The policy of each network of a run on the empty board.

import { element, icon } from "../lib/element.js";
import { signed, t } from "../lib/i18n.js";
import { pointName } from "../board/points.js";
import { watched } from "./requests.js";
import { createView } from "../board/view.js";
import { percentage } from "./numbers.js";

const PACE = 450; // milliseconds per network when playing

/** Fill a section. `show(count)`: the number of networks so far. */
export function createPolicy(section) {
  const view = createView();
  const heading = element("p", { class: "game-heading" });
  const thought = element("p", { class: "game-thought" });
  const slider = element("input", { type: "range", min: "0", max: "0", value: "0", dir: "ltr", class: "slide" });
  const play = element("button", { type: "button", class: "button icon-only" });
  const keys = element("div", { class: "keys", dir: "ltr" }, play, slider);
  section.append(view.element, element("div", { class: "policy-side" }, heading, thought, keys));

  const askPolicies = watched("/api/run/policies");
  let [width, height] = [0, 0];
  let networks = [];
  let wanted = null; // the iteration that is shown; null: the latest
  let timer = null;

  function place() {
    if (wanted === null) return networks.length - 1;
    const found = networks.findIndex((network) => network.step >= wanted);
    return found < 0 ? networks.length - 1 : found;
  }

  function paint() {
    section.hidden = networks.length === 0;
    if (!networks.length) return;
    const network = networks[place()];
    const favourites = network.policy
      .map((chance, index) => ({ chance, index }))
      .sort((one, other) => other.chance - one.chance)
      .slice(0, 3)
      .map(({ chance, index }) => `${pointName(index, width, height)} ${percentage(chance)}`);
    const words = t("policy.network", { step: network.step });
    const said = t("policy.thought", {
      winrate: percentage(network.winrate),
      lead: signed(network.lead, 1),
      pass: percentage(network.pass, 1),
    });
    view.show({
      width,
      height,
      picture: { stones: ".".repeat(width * height), heat: network.policy },
      label: `${words}. ${t("policy.favourites", { moves: favourites.join(", ") })}`,
    });
    heading.textContent = words;
    thought.textContent = said;
    keys.hidden = networks.length < 2;
    slider.max = String(networks.length - 1);
    slider.value = String(place());
    slider.setAttribute("aria-label", t("policy.slider"));
    slider.setAttribute("aria-valuetext", `${words}: ${favourites.join(", ")}`);
    play.setAttribute("aria-label", t(timer ? "policy.pause" : "policy.play"));
    play.replaceChildren(icon(timer ? "pause" : "play"));
  }

  function goTo(index) {
    wanted = index >= networks.length - 1 ? null : networks[Math.max(0, index)].step;
    paint();
  }

  function stop() {
    clearInterval(timer);
    timer = null;
    paint();
  }

  play.addEventListener("click", () => {
    if (timer) return stop();
    if (place() === networks.length - 1) goTo(0);
    timer = setInterval(() => {
      goTo(place() + 1);
      if (wanted === null) stop();
    }, PACE);
    return paint();
  });
  slider.addEventListener("input", () => goTo(Number(slider.value)));

  return {
    label: paint,
    repaint: view.repaint,
    async show(count) {
      if (count === 0 && networks.length === 0) return;
      const answer = await askPolicies();
      if (!answer) return;
      ({ width, height, networks } = answer);
      paint();
    },
  };
}
