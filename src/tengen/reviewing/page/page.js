"use strict";
(() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  const { width, height, steps } = data;
  const SVG = "http://www.w3.org/2000/svg";
  const COLUMNS = "ABCDEFGHJKLMNOPQRST";
  const COLORS = ["black", "white"];
  const NAMES = { black: "Black", white: "White" };
  const LISTED = 5; // mistakes of a side before one asks for all
  const BAD = 5; // points lost from which on a mistake is shown in red

  const $ = (id) => document.getElementById(id);
  const element = (name, className = "", text = "") => {
    const made = document.createElement(name);
    if (className) made.className = className;
    if (text) made.textContent = text;
    return made;
  };
  const drawn = (name, attributes, parent, text = "") => {
    const made = document.createElementNS(SVG, name);
    for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
    if (text) made.textContent = text;
    parent.append(made);
    return made;
  };
  const stoneOf = (color) => {
    const stone = element("span", `stone ${color}`);
    stone.setAttribute("aria-hidden", "true");
    return stone;
  };
  const points = (number) => {
    const text = number.toFixed(1).replace(/\.0$/, "");
    return `${text} ${text === "1" ? "point" : "points"}`;
  };
  const isMistake = (step) => step.lost !== undefined && step.lost >= data.mistake;

  // Positions: boards[k] lies after k moves.
  const changed = (board, changes) => {
    const next = board.slice();
    for (const [place, stone] of changes) next[place] = stone;
    return next;
  };
  const boards = [changed(new Array(width * height).fill(0), data.start.changes)];
  for (const step of steps) boards.push(changed(boards[boards.length - 1], step.changes));
  const standings = [data.start, ...steps];

  let at = 0; // moves played
  let shown = null; // moves of the better line on the board; null: the game itself

  const mistakeHere = () => (at > 0 && isMistake(steps[at - 1]) ? steps[at - 1] : null);

  // The board

  const CELL = 40;
  const MARGIN = 46;
  const boardWidth = (width - 1) * CELL + 2 * MARGIN;
  const boardHeight = (height - 1) * CELL + 2 * MARGIN;
  const x = (place) => MARGIN + (place % width) * CELL;
  const y = (place) => MARGIN + Math.floor(place / width) * CELL;

  const board = drawn("svg", { viewBox: `0 0 ${boardWidth} ${boardHeight}`, role: "img" }, $("board"));
  const definitions = drawn("defs", {}, board);
  const gradient = (id, stops) => {
    const made = drawn("radialGradient", { id, cx: "36%", cy: "30%", r: "72%" }, definitions);
    for (const [offset, color] of stops) drawn("stop", { offset, "stop-color": color }, made);
  };
  gradient("stone-black", [["0%", "#6a6a6c"], ["45%", "#2a2a2c"], ["100%", "#080809"]]);
  gradient("stone-white", [["0%", "#ffffff"], ["60%", "#f4f2ee"], ["100%", "#cbc7bd"]]);
  drawn("rect", { width: boardWidth, height: boardHeight, fill: "#dcb068" }, board);
  const grid = drawn("g", { stroke: "#4c3a1c", "stroke-width": 1.3, "stroke-linecap": "square" }, board);
  for (let column = 0; column < width; column += 1) {
    drawn("line", { x1: x(column), x2: x(column), y1: MARGIN, y2: boardHeight - MARGIN }, grid);
  }
  for (let row = 0; row < height; row += 1) {
    const level = y(row * width);
    drawn("line", { x1: MARGIN, x2: boardWidth - MARGIN, y1: level, y2: level }, grid);
  }
  for (const star of data.stars) drawn("circle", { cx: x(star), cy: y(star), r: 4, fill: "#4c3a1c" }, board);
  const coordinates = drawn(
    "g",
    { fill: "#3d2e15", "font-size": 15, "text-anchor": "middle", "font-family": "system-ui, sans-serif" },
    board,
  );
  for (let column = 0; column < width; column += 1) {
    for (const level of [19, boardHeight - 8]) {
      drawn("text", { x: x(column), y: level }, coordinates, COLUMNS[column]);
    }
  }
  for (let row = 0; row < height; row += 1) {
    for (const side of [13, boardWidth - 13]) {
      drawn("text", { x: side, y: y(row * width) + 5 }, coordinates, String(height - row));
    }
  }
  const stones = drawn("g", {}, board);
  const marks = drawn("g", { "text-anchor": "middle", "font-family": "system-ui, sans-serif" }, board);

  const inkOn = (stone) => (stone === 1 ? "#ffffff" : "#17130c");

  function drawStones(position) {
    stones.replaceChildren();
    position.forEach((stone, place) => {
      if (!stone) return;
      drawn("circle", { cx: x(place) + 1.2, cy: y(place) + 2.2, r: 18.6, fill: "#000", "fill-opacity": 0.28 }, stones);
      const fill = `url(#stone-${COLORS[stone - 1]})`;
      drawn("circle", { cx: x(place), cy: y(place), r: 18.6, fill }, stones);
    });
  }

  function triangle(place, color) {
    const [left, top] = [x(place), y(place)];
    drawn("circle", { cx: left, cy: top, r: 17, fill: "#dcb068" }, marks);
    drawn(
      "path",
      { d: `M${left} ${top - 13}l12 20.5h-24z`, fill: color === "black" ? "#191817" : "#fbfaf7", stroke: "#191817", "stroke-width": 2 },
      marks,
    );
  }

  function drawGame() {
    const position = boards[at];
    drawStones(position);
    const step = at > 0 ? steps[at - 1] : null;
    if (!step) return;
    if (step.place !== null && position[step.place]) {
      const ink = isMistake(step) ? (position[step.place] === 1 ? "#ff8a80" : "#c01f16") : inkOn(position[step.place]);
      drawn("circle", { cx: x(step.place), cy: y(step.place), r: 8.5, fill: "none", stroke: ink, "stroke-width": 3.4 }, marks);
    }
    if (isMistake(step) && step.bestPlace !== null && !position[step.bestPlace]) triangle(step.bestPlace, step.color);
  }

  function drawLine(step) {
    let position = boards[at - 1];
    const numbers = new Map();
    step.line.slice(0, shown).forEach((move, index) => {
      position = changed(position, move.changes);
      if (move.place !== null) numbers.set(move.place, index + 1);
    });
    drawStones(position);
    for (const [place, number] of numbers) {
      const free = !position[place];
      if (free) drawn("circle", { cx: x(place), cy: y(place), r: 14, fill: "#dcb068" }, marks);
      const ink = free ? "#17130c" : inkOn(position[place]);
      drawn("text", { x: x(place), y: y(place) + 6.5, "font-size": 19, "font-weight": 600, fill: ink }, marks, String(number));
    }
    if (step.place !== null && !position[step.place]) {
      const [left, top] = [x(step.place), y(step.place)];
      drawn("path", { d: `M${left - 9} ${top - 9}l18 18m0 -18l-18 18`, stroke: "#b3261e", "stroke-width": 4, "stroke-linecap": "round" }, marks);
    }
  }

  // The graph: win rate above, lead below, over the moves. One unit is one pixel.

  const GRAPH = { left: 44, right: 12, winrate: [26, 112], lead: [148, 258], height: 282 };
  const DOTTED = 8; // mistakes of a side that have a dot
  const known = standings
    .map((standing, move) => ({ ...standing, move }))
    .filter((one) => one.lead !== undefined);
  const roundUp = (lead) => [5, 10, 20, 30, 50, 75, 100, 150, 200, 300].find((one) => one >= lead) || 400;
  const most = roundUp(Math.max(0, ...known.map((one) => one.lead)));
  const least = -roundUp(Math.max(0, ...known.map((one) => -one.lead)));
  const between = ([top, bottom], share) => top + (bottom - top) * share;
  const winrateY = (winrate) => between(GRAPH.winrate, 1 - winrate);
  const leadY = (lead) => between(GRAPH.lead, (most - lead) / (most - least));
  let graphWidth = 640;
  const span = () => graphWidth - GRAPH.left - GRAPH.right;
  const graphX = (move) => GRAPH.left + (span() * move) / Math.max(1, steps.length);

  const graph = drawn("svg", { role: "img" }, $("graph"));
  let cursor = null;

  // Neighbouring moves that were searched; a review stopped early has gaps.
  function stretches() {
    const found = [];
    for (const one of known) {
      const last = found[found.length - 1];
      if (last && last[last.length - 1].move === one.move - 1) last.push(one);
      else found.push([one]);
    }
    return found;
  }

  function drawGraph() {
    graphWidth = Math.max(260, Math.round($("graph").clientWidth));
    graph.setAttribute("viewBox", `0 0 ${graphWidth} ${GRAPH.height}`);
    graph.replaceChildren();
    const [top, bottom] = GRAPH.winrate;
    for (const stretch of stretches()) {
      const [from, to] = [graphX(stretch[0].move), graphX(stretch[stretch.length - 1].move)];
      drawn("rect", { class: "share-white", x: from, y: top, width: Math.max(1, to - from), height: bottom - top }, graph);
      const line = stretch.map((one) => `L${graphX(one.move).toFixed(1)} ${winrateY(one.winrate).toFixed(1)}`).join("");
      drawn("path", { class: "share-black", d: `M${from} ${bottom}${line}L${to} ${bottom}z` }, graph);
      const lead = stretch.map((one) => `${graphX(one.move).toFixed(1)} ${leadY(one.lead).toFixed(1)}`).join("L");
      drawn("path", { class: "lead-line", d: `M${lead}` }, graph);
    }
    const label = (left, level, text, attributes = {}) => drawn("text", { x: left, y: level, ...attributes }, graph, text);
    label(GRAPH.left, 16, "Black’s win rate", { class: "name" });
    label(GRAPH.left, GRAPH.lead[0] - 10, "Lead in points", { class: "name" });
    for (const share of [0, 0.5, 1]) {
      label(GRAPH.left - 6, winrateY(share) + 4, `${100 * share}%`, { "text-anchor": "end" });
    }
    const apart = (lead) => lead === 0 || Math.abs(leadY(lead) - leadY(0)) > 13;
    for (const lead of [most, 0, least].filter(apart)) {
      const text = lead === 0 ? "even" : `${lead > 0 ? "B" : "W"}+${Math.abs(lead)}`;
      label(GRAPH.left - 6, leadY(lead) + 4, text, { "text-anchor": "end" });
    }
    for (const level of [winrateY(0.5), leadY(0), leadY(most), leadY(least)]) {
      drawn("line", { class: "axis", x1: GRAPH.left, x2: graphWidth - GRAPH.right, y1: level, y2: level }, graph);
    }
    const stride = [5, 10, 20, 50, 100].find((one) => steps.length / one <= span() / 50) || 200;
    for (let move = 0; move <= steps.length; move += stride) {
      label(graphX(move), GRAPH.height - 6, String(move), { "text-anchor": "middle" });
    }
    const dotted = COLORS.flatMap((color) => data.sides[color].mistakes.slice(0, DOTTED));
    for (const number of dotted) {
      const step = steps[number - 1];
      const r = Math.min(7, 2.6 + Math.sqrt(step.lost));
      drawn("circle", { class: `mistake-${step.color}`, cx: graphX(number), cy: leadY(step.lead), r }, graph);
    }
    cursor = drawn("line", { class: "cursor", y1: GRAPH.winrate[0] - 4, y2: GRAPH.lead[1] + 4 }, graph);
    moveCursor();
  }

  function moveCursor() {
    cursor.setAttribute("x1", graphX(at));
    cursor.setAttribute("x2", graphX(at));
  }

  drawGraph();
  graph.setAttribute("aria-label", graphText());
  new ResizeObserver(() => {
    if (Math.abs($("graph").clientWidth - graphWidth) >= 1) drawGraph();
  }).observe($("graph"));

  function graphText() {
    if (!known.length) return "No move was searched.";
    const last = known[known.length - 1];
    const leader = last.lead >= 0 ? "Black" : "White";
    return `Win rate and lead over ${steps.length} moves. At move ${last.move} ${leader} leads by ${points(Math.abs(last.lead))}.`;
  }

  function goByPointer(event) {
    const box = graph.getBoundingClientRect();
    const inside = ((event.clientX - box.left) / box.width) * graphWidth;
    go(Math.round(((inside - GRAPH.left) / span()) * steps.length));
  }
  graph.addEventListener("pointerdown", (event) => {
    graph.setPointerCapture(event.pointerId);
    goByPointer(event);
  });
  graph.addEventListener("pointermove", (event) => {
    if (graph.hasPointerCapture(event.pointerId)) goByPointer(event);
  });

  // Words beside the board

  function tellMove() {
    const step = at > 0 ? steps[at - 1] : null;
    const heading = $("move");
    heading.replaceChildren();
    $("verdict").className = "";
    if (!step) {
      heading.append("The start");
      $("verdict").textContent = "";
    } else {
      heading.append(stoneOf(step.color), `Move ${step.number}: ${NAMES[step.color]} ${step.move}`);
      $("verdict").textContent = step.verdict || "Not reviewed.";
      if (step.verdict) $("verdict").className = isMistake(step) ? (step.lost >= BAD ? "bad" : "slip") : "good";
    }
    const standing = standings[at];
    const [black, white] = standing.taken;
    $("standing").textContent = step ? step.now || "" : "";
    $("taken").textContent = `Captured: ${black} by Black, ${white} by White.`;
    const comment = step ? step.comment : data.comment;
    $("comment").textContent = comment;
    $("comment").hidden = !comment;
  }

  function tellLine() {
    const step = mistakeHere();
    const inLine = shown !== null && step !== null;
    $("line").hidden = !inLine;
    $("better").disabled = !step;
    $("better").setAttribute("aria-pressed", String(inLine));
    if (!inLine) return;
    $("line-title").textContent = `Better for ${NAMES[step.color]} than ${step.move}:`;
    const kept = $("line-moves").contains(document.activeElement);
    $("line-moves").replaceChildren(
      ...step.line.map((move, index) => {
        const button = element("button", "", `${index + 1} ${move.move}`);
        button.type = "button";
        button.setAttribute("aria-label", `Line to ${index + 1}, ${NAMES[move.color]} ${move.move}`);
        button.setAttribute("aria-pressed", String(index + 1 === shown));
        button.addEventListener("click", () => {
          shown = index + 1;
          show();
        });
        const item = element("li");
        item.append(button);
        return item;
      }),
    );
    if (kept && shown) $("line-moves").children[shown - 1].firstChild.focus();
    $("line-standing").textContent = step.then;
  }

  function boardText() {
    const step = at > 0 ? steps[at - 1] : null;
    if (shown !== null && step) {
      const line = step.line.slice(0, shown).map((move) => move.move).join(", ");
      return `Board before move ${step.number}, with the better line ${line || "to come"}`;
    }
    const mark = step && isMistake(step) ? `; the triangle marks the better move ${step.best}` : "";
    return step ? `Board after move ${step.number}, ${NAMES[step.color]} ${step.move}${mark}` : "Board at the start";
  }

  function fillSide(color) {
    const side = data.sides[color];
    const card = $(`side-${color}`);
    const heading = element("h2");
    const name = element("span", "", data.players[color] || NAMES[color]);
    name.dir = "auto";
    heading.append(stoneOf(color), name);
    if (data.players[color]) card.setAttribute("aria-label", `${NAMES[color]}, ${data.players[color]}`);
    card.append(heading);
    if (side.accuracy === null) {
      card.append(element("p", "few", "No move was reviewed."));
      return;
    }
    const accuracy = element("p", "accuracy");
    accuracy.append(element("strong", "", `${Math.round(side.accuracy)}%`), "accuracy");
    card.append(accuracy);
    const many = side.mistakes.length;
    const mistakes = many === 0 ? "no mistakes" : many === 1 ? "one mistake" : `${many} mistakes`;
    card.append(element("p", "few", `${points(side.meanLoss)} lost per move, ${mistakes} in ${side.moves} moves`));
    if (!many) return;
    const list = element("ol", "mistakes");
    list.setAttribute("aria-label", "Biggest mistakes");
    const items = side.mistakes.map((number) => mistakeItem(steps[number - 1]));
    list.append(...items.slice(0, LISTED));
    card.append(list);
    if (many <= LISTED) return;
    const more = element("button", "more", `All ${many} mistakes`);
    more.type = "button";
    more.addEventListener("click", () => {
      list.append(...items.slice(LISTED));
      items[LISTED].firstChild.focus();
      more.remove();
    });
    card.append(more);
  }

  const mistakeButtons = [];

  function mistakeItem(step) {
    const button = element("button");
    button.type = "button";
    button.append(
      element("span", "", `Move ${step.number}: ${step.move}`),
      element("span", "loss", `−${points(step.lost)}`),
      element("span", "instead", `${step.best} was better, by ${Math.round(100 * step.winrateLost)}% of win rate`),
    );
    if (step.winrateLost < 0.01) button.lastChild.textContent = `${step.best} was better`;
    button.addEventListener("click", () => {
      at = step.number;
      shown = step.line.length;
      show();
      if (window.matchMedia("(max-width: 899px)").matches) $("board").scrollIntoView({ block: "start" });
    });
    mistakeButtons.push([button, step.number]);
    const item = element("li");
    item.append(button);
    return item;
  }

  // Going about

  function show() {
    marks.replaceChildren();
    const step = mistakeHere();
    if (!step) shown = null;
    if (shown === null) drawGame();
    else drawLine(step);
    board.setAttribute("aria-label", boardText());
    moveCursor();
    $("slider").value = at;
    $("slider").setAttribute("aria-valuetext", at ? `Move ${at}, ${NAMES[steps[at - 1].color]} ${steps[at - 1].move}` : "Start");
    tellMove();
    tellLine();
    const [atStart, atEnd] = shown === null ? [at === 0, at === steps.length] : [shown === 0, shown === step.line.length];
    $("first").disabled = $("back").disabled = atStart;
    $("last").disabled = $("on").disabled = atEnd;
    $("mistake-back").disabled = nextMistake(-1) === null;
    $("mistake-on").disabled = nextMistake(1) === null;
    for (const [button, number] of mistakeButtons) button.setAttribute("aria-current", String(number === at));
  }

  function go(move) {
    at = Math.min(steps.length, Math.max(0, move));
    shown = null;
    show();
  }

  // Along the game, or along the better line while it is shown.
  function walk(by) {
    if (shown === null) {
      go(at + by);
    } else {
      shown = Math.min(mistakeHere().line.length, Math.max(0, shown + by));
      show();
    }
  }

  function nextMistake(direction) {
    for (let move = at + direction; move >= 1 && move <= steps.length; move += direction) {
      if (isMistake(steps[move - 1])) return move;
    }
    return null;
  }

  function goToMistake(direction) {
    const move = nextMistake(direction);
    if (move !== null) go(move);
  }

  function toggleLine() {
    const step = mistakeHere();
    if (!step) return;
    shown = shown === null ? step.line.length : null;
    show();
  }

  $("first").addEventListener("click", () => walk(-Infinity));
  $("back").addEventListener("click", () => walk(-1));
  $("on").addEventListener("click", () => walk(1));
  $("last").addEventListener("click", () => walk(Infinity));
  $("slider").addEventListener("input", () => go(Number($("slider").value)));
  $("mistake-back").addEventListener("click", () => goToMistake(-1));
  $("mistake-on").addEventListener("click", () => goToMistake(1));
  $("better").addEventListener("click", toggleLine);

  const KEYS = {
    ArrowLeft: () => walk(-1),
    ArrowRight: () => walk(1),
    ArrowUp: () => goToMistake(-1),
    ArrowDown: () => goToMistake(1),
    Home: () => walk(-Infinity),
    End: () => walk(Infinity),
    b: toggleLine,
    Escape: () => go(at),
  };
  document.addEventListener("keydown", (event) => {
    if (event.altKey || event.ctrlKey || event.metaKey) return;
    const action = KEYS[event.key.length === 1 ? event.key.toLowerCase() : event.key];
    if (!action) return;
    event.preventDefault();
    action();
  });

  $("facts").textContent = data.facts.join(" · ");
  $("remarks").textContent = data.remarks.join(" ");
  $("remarks").hidden = !data.remarks.length;
  $("threshold").textContent = points(data.mistake);
  $("slider").max = steps.length;
  for (const color of COLORS) fillSide(color);
  const worst = COLORS.flatMap((color) => data.sides[color].mistakes.slice(0, 1));
  worst.sort((one, other) => steps[other - 1].lost - steps[one - 1].lost);
  go(worst.length ? worst[0] : 0);
})();
