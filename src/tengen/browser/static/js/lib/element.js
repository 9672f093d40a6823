// Builds DOM nodes. Text is never parsed as markup.

const SVG = "http://www.w3.org/2000/svg";

function apply(node, properties) {
  for (const [name, value] of Object.entries(properties)) {
    if (value === undefined || value === null || value === false) continue;
    if (name === "text") node.textContent = value;
    else if (name === "on") {
      for (const [event, act] of Object.entries(value)) node.addEventListener(event, act);
    } else if (name === "data") Object.assign(node.dataset, value);
    else node.setAttribute(name, value === true ? "" : String(value));
  }
}

/** An HTML element: attributes, plus `text`, `on: {event: act}` and `data: {name: value}`. */
export function element(tag, properties = {}, ...children) {
  const node = document.createElement(tag);
  apply(node, properties);
  node.append(...children.filter((child) => child !== null && child !== undefined));
  return node;
}

/** Load a style sheet of a part of the page that is opened only now; done when it holds. */
export function needStyle(address) {
  if (document.querySelector(`link[href="${address}"]`)) return Promise.resolve();
  return new Promise((done, failed) => {
    const link = element("link", { rel: "stylesheet", href: address, on: { load: done, error: failed } });
    document.head.append(link);
  });
}

/** The same for SVG. */
export function drawing(tag, properties = {}, ...children) {
  const node = document.createElementNS(SVG, tag);
  apply(node, properties);
  node.append(...children);
  return node;
}

const ICONS = {
  play: ["M8 5.5v13l10.5-6.5z"],
  pause: ["M8 5v14M16 5v14"],
  first: ["M6 5v14", "M18 5l-9 7 9 7z"],
  back: ["M15 5l-8 7 8 7"],
  forward: ["M9 5l8 7-8 7"],
  last: ["M18 5v14", "M6 5l9 7-9 7z"],
  sun: [
    "M12 8a4 4 0 1 0 0 8 4 4 0 0 0 0-8z",
    "M12 2v2.5M12 19.5V22M2 12h2.5M19.5 12H22M5 5l1.8 1.8M17.2 17.2 19 19M19 5l-1.8 1.8M6.8 17.2 5 19",
  ],
  moon: ["M20 14.5A8.5 8.5 0 0 1 9.5 4 8.5 8.5 0 1 0 20 14.5z"],
  contrast: ["M12 3a9 9 0 1 0 0 18 9 9 0 0 0 0-18z", "M12 3v18M12 8h6.8M12 13h8.4M12 18h5.4"],
  sound: ["M4 9.5v5h3.5L12 19V5L7.5 9.5z", "M15.5 9a4.2 4.2 0 0 1 0 6M18 6.5a8 8 0 0 1 0 11"],
  silent: ["M4 9.5v5h3.5L12 19V5L7.5 9.5z", "M16 9.5l5 5M21 9.5l-5 5"],
  keys: ["M3 7h18v10H3z", "M6.5 10.5h.01M10 10.5h.01M13.5 10.5h.01M17 10.5h.01M8 14h8"],
  open: ["M3 18V6h6l2 2.5h10V18z"],
  save: ["M12 4v11M7.5 11l4.5 4.5 4.5-4.5M4 19.5h16"],
  bin: ["M5 7h14M10 7V4.5h4V7M7 7l1 13h8l1-13"],
  pen: ["M4 20l1-4.5L16 4.5l3.5 3.5L8.5 19z", "M14 6.5l3.5 3.5"],
  target: ["M12 4a8 8 0 1 0 0 16 8 8 0 0 0 0-16z", "M12 9a3 3 0 1 0 0 6 3 3 0 0 0 0-6z"],
  games: ["M4 4h7v7H4zM13 4h7v7h-7zM4 13h7v7H4zM13 13h7v7h-7z"],
  setblack: ["M10 4a6.5 6.5 0 1 0 0 13 6.5 6.5 0 0 0 0-13z", "M19 15v6M16 18h6"],
  setwhite: ["M10 4a6.5 6.5 0 1 0 0 13 6.5 6.5 0 0 0 0-13z", "M19 15v6M16 18h6"],
  erase: ["M10 20h10", "M5 15l8.5-9.5 5.5 5L10.5 20H8.5z", "M9 10.5l5.5 5"],
  share: ["M14 4h6v6M20 4l-9 9", "M18 13v6.5H4.5V6H11"],
  picture: ["M3.5 5h17v14h-17z", "M3.5 16l5-5 4 4 3-3 5 5", "M15.5 8.5h.01"],
  down: ["M12 5v14M6 13l6 6 6-6"],
  up: ["M12 19V5M6 11l6-6 6 6"],
  plus: ["M12 5v14M5 12h14"],
  bulb: ["M9.5 18h5M10.5 21h3", "M12 3a6.3 6.3 0 0 0-3.6 11.4V16h7.2v-1.6A6.3 6.3 0 0 0 12 3z"],
  undo: ["M8 5 4 9l4 4", "M4 9h10a5.5 5.5 0 0 1 0 11h-4"],
  flag: ["M6 21V4M6 4.5h12l-3 4 3 4H6"],
  pass: ["M4 12h15M13 6l6 6-6 6"],
  check: ["M5 12.5l4.5 4.5L19 7.5"],
  close: ["M6 6l12 12M18 6 6 18"],
  triangle: ["M12 5l7.5 13.5h-15z"],
  square: ["M5.5 5.5h13v13h-13z"],
  circle: ["M12 5a7 7 0 1 0 0 14 7 7 0 0 0 0-14z"],
  cross: ["M5.5 5.5l13 13M18.5 5.5l-13 13"],
  stone: ["M12 4a8 8 0 1 0 0 16 8 8 0 0 0 0-16z"],
  label: ["M6 19 12 5l6 14M8.3 14h7.4"],
};

/** A line icon, hidden from screen readers: the control around it needs a label. */
export function icon(name) {
  const paths = ICONS[name].map((d) => drawing("path", { d }));
  return drawing("svg", { class: `icon icon-${name}`, viewBox: "0 0 24 24", "aria-hidden": "true" }, ...paths);
}
