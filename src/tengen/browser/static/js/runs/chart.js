// Line charts as SVG: curves, error bars, named levels, and a reading point moved by pointer or arrow
// keys. To a screen reader a chart is a slider over its points.

import { drawing, element } from "../lib/element.js";
import { progressScale, scaleOf } from "./axis_scale.js";

const MOST_BARS = 48; // with more points their error bars become a band
const MOST_DOTS = 48;
const LETTER = 6.3; // width of a digit on an axis, in pixels

/**
 * A chart in a figure, as high as its style says. Fixed: `kind` of scale, `tone` (a class).
 * `show(content)`: {title, points: [{x, y, low?, high?}], levels: [{name, y}], value(point): text
 * of a reading, where(point): text of its place, tick(y), along(x): texts of the axes,
 * timed: whether x are minutes}.
 * Calls `pick(index)` for the point that somebody clicked or moved to; `point(index)` moves the reading.
 */
export function createChart({ kind, tone = "", pick = null }) {
  const title = element("span", { class: "chart-title" });
  const value = element("span", { class: "chart-value", dir: "ltr" });
  const where = element("span", { class: "chart-where" });
  const picture = drawing("svg", { class: "chart-picture", "aria-hidden": "true" });
  const surface = element("div", { class: "chart-surface", role: "slider", tabindex: "0", dir: "ltr" }, picture);
  const caption = element("figcaption", {}, title, element("span", { class: "chart-reading" }, value, where));
  const figure = element("figure", { class: `chart ${tone}` }, caption, surface);

  let content = null;
  let frame = null; // the scales of the last drawing
  let reading = null; // the point that is read; null: the last
  let mark = null; // the drawn mark of the reading

  function shown() {
    return reading === null ? content.points.length - 1 : Math.min(reading, content.points.length - 1);
  }

  function draw() {
    const { clientWidth: width, clientHeight: height } = surface;
    if (!content || width === 0 || height === 0) return;
    frame = layOut(content, { width, height, kind });
    picture.setAttribute("viewBox", `0 0 ${width} ${height}`);
    mark = drawing("g", { class: "chart-mark" });
    picture.replaceChildren(
      ...axes(content, frame), ...levelLines(content, frame), ...curve(content, frame), ...levelNames(content, frame), mark,
    );
    read();
  }

  function read() {
    const { points } = content;
    const at = shown();
    surface.setAttribute("aria-label", content.title);
    surface.setAttribute("aria-valuemin", "0");
    surface.setAttribute("aria-valuemax", String(Math.max(0, points.length - 1)));
    surface.setAttribute("aria-valuenow", String(Math.max(0, at)));
    title.textContent = content.title;
    if (at < 0) {
      value.textContent = "–";
      where.textContent = "";
      surface.setAttribute("aria-valuetext", "–");
      return;
    }
    value.textContent = content.value(points[at]);
    where.textContent = reading === null ? "" : content.where(points[at]);
    surface.setAttribute("aria-valuetext", `${content.where(points[at])}: ${content.value(points[at])}`);
    if (!frame || !mark) return;
    const x = frame.x(points[at].x);
    const y = frame.y(points[at].y);
    const line = { x1: x, x2: x, y1: frame.top, y2: frame.bottom, class: "chart-cross" };
    mark.replaceChildren(
      ...(reading === null ? [] : [drawing("line", line)]),
      drawing("circle", { cx: x, cy: y, r: 3.5, class: "chart-dot-read" }),
    );
  }

  function lookAt(index, picked) {
    reading = index === null ? null : Math.max(0, Math.min(content.points.length - 1, index));
    read();
    if (picked && pick && reading !== null) pick(reading);
  }

  function nearest(event) {
    const x = event.clientX - surface.getBoundingClientRect().left;
    const far = content.points.map((point) => Math.abs(frame.x(point.x) - x));
    return far.indexOf(Math.min(...far));
  }

  surface.addEventListener("pointermove", (event) => {
    if (!content?.points.length || !frame) return;
    if (pick && event.buttons === 0) return;
    lookAt(nearest(event), true);
  });
  surface.addEventListener("pointerdown", (event) => {
    if (content?.points.length && frame) lookAt(nearest(event), true);
  });
  surface.addEventListener("pointerleave", () => {
    if (content && !pick && document.activeElement !== surface) lookAt(null, false);
  });
  surface.addEventListener("blur", () => {
    if (content && !pick) lookAt(null, false);
  });
  surface.addEventListener("keydown", (event) => {
    if (!content?.points.length || event.altKey || event.ctrlKey || event.metaKey) return;
    const last = content.points.length - 1;
    const stride = Math.max(1, Math.round(last / 10));
    const steps = { ArrowLeft: -1, ArrowDown: -1, ArrowRight: 1, ArrowUp: 1, PageDown: -stride, PageUp: stride };
    if (event.key in steps) lookAt(shown() + steps[event.key], true);
    else if (event.key === "Home") lookAt(0, true);
    else if (event.key === "End") lookAt(last, true);
    else if (event.key === "Escape" && !pick) lookAt(null, false);
    else return;
    event.preventDefault();
    event.stopPropagation();
  });
  new ResizeObserver(draw).observe(surface);

  return {
    element: figure,
    show(wanted) {
      content = { levels: [], ...wanted };
      figure.classList.toggle("chart-empty", content.points.length === 0);
      if (frame) draw();
      else requestAnimationFrame(draw);
      read();
    },
    point: (index) => content && lookAt(index, false),
  };
}

function layOut(content, { width, height, kind }) {
  const top = 8;
  const bottom = height - 20;
  const values = content.points.flatMap((point) => [point.y, point.low ?? point.y, point.high ?? point.y]);
  const vertical = scaleOf([...values, ...content.levels.map((level) => level.y)], kind, height > 200 ? 7 : 4);
  const left = 8 + LETTER * Math.max(1, ...vertical.ticks.map((tick) => content.tick(tick).length));
  const right = width - 8;
  const horizontal = progressScale(content.points.map((point) => point.x), Math.max(2, Math.floor(width / 90)), content.timed);
  return {
    top,
    bottom,
    left,
    right,
    rows: vertical.ticks,
    columns: horizontal.ticks,
    x: (value) => left + horizontal.place(value) * (right - left),
    y: (value) => bottom - vertical.place(value) * (bottom - top),
  };
}

function axes(content, frame) {
  const { top, bottom, left, right } = frame;
  const rows = frame.rows.filter((tick) => frame.y(tick) >= top - 1 && frame.y(tick) <= bottom + 1);
  const columns = frame.columns.filter((tick) => frame.x(tick) >= left - 1 && frame.x(tick) <= right + 1);
  return [
    ...rows.map((tick) =>
      drawing("line", { x1: left, x2: right, y1: frame.y(tick), y2: frame.y(tick), class: "chart-grid" })),
    ...rows.map((tick) =>
      drawing("text", { x: left - 6, y: frame.y(tick) + 4, class: "chart-tick chart-tick-y", text: content.tick(tick) })),
    drawing("line", { x1: left, x2: right, y1: bottom, y2: bottom, class: "chart-base" }),
    ...columns.map((tick) => {
      const words = content.along(tick);
      const half = (words.length * LETTER) / 2;
      const x = Math.max(left + half - 4, Math.min(right - half + 2, frame.x(tick)));
      return drawing("text", { x, y: bottom + 15, class: "chart-tick chart-tick-x", text: words });
    }),
  ];
}

function levelLines(content, frame) {
  return content.levels.map((level) => {
    const y = frame.y(level.y);
    return drawing("line", { x1: frame.left, x2: frame.right, y1: y, y2: y, class: "chart-level" });
  });
}

/** The names of levels: above their lines; where two are close, one below; a third at the right end. */
function levelNames(content, frame) {
  const room = Math.floor((frame.right - frame.left) / LETTER) - 8;
  const places = content.levels.map((level) => ({ name: level.name, y: frame.y(level.y) }));
  places.sort((one, other) => one.y - other.y);
  return places.map(({ name, y }, i) => {
    const close = i > 0 && y - places[i - 1].y < 18;
    const closer = i > 1 && y - places[i - 2].y < 30;
    const place = closer ? { x: frame.right - 4, class: "chart-level-name chart-level-end" } : { x: frame.left + 8, class: "chart-level-name" };
    const below = close || y < frame.top + 12;
    return drawing("text", { ...place, y: below ? y + 14 : y - 5, text: shortened(name, room) });
  });
}

function shortened(words, room) {
  if (words.length <= room) return words;
  const end = words.slice(-Math.floor(room / 3)); // which tells visits and rating
  return `${words.slice(0, room - end.length - 1)}…${end}`;
}

function curve(content, frame) {
  const { points } = content;
  if (!points.length) return [];
  const at = points.map((point) => `${frame.x(point.x).toFixed(1)},${frame.y(point.y).toFixed(1)}`);
  const parts = [drawing("polyline", { points: at.join(" "), class: "chart-line" })];
  const uncertain = points.filter((point) => point.low !== undefined);
  if (uncertain.length > MOST_BARS) parts.unshift(band(uncertain, frame));
  else parts.unshift(...uncertain.map((point) => bar(point, frame)));
  if (!uncertain.length) {
    const ends = [`${frame.x(points[0].x)},${frame.bottom}`, `${frame.x(points[points.length - 1].x)},${frame.bottom}`];
    parts.unshift(drawing("polygon", { points: [ends[0], ...at, ends[1]].join(" "), class: "chart-area" }));
  }
  if (points.length <= MOST_DOTS && (uncertain.length || points.length < 4)) {
    parts.push(...points.map((point) => drawing("circle", { cx: frame.x(point.x), cy: frame.y(point.y), r: 2.6, class: "chart-dot" })));
  }
  return parts;
}

function bar(point, frame) {
  const [x, low, high] = [frame.x(point.x), frame.y(point.low), frame.y(point.high)];
  const d = `M${x} ${low}V${high}M${x - 3} ${low}h6M${x - 3} ${high}h6`;
  return drawing("path", { d, class: "chart-error" });
}

function band(points, frame) {
  const upper = points.map((point) => `${frame.x(point.x)},${frame.y(point.high)}`);
  const lower = points.map((point) => `${frame.x(point.x)},${frame.y(point.low)}`).reverse();
  return drawing("polygon", { points: [...upper, ...lower].join(" "), class: "chart-band" });
}
