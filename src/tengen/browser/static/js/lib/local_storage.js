// What the browser keeps where that is allowed: a person's choices, and what belongs to a tab alone.

const name = (key) => `tengen.${key}`;

/** The stored text, or `otherwise`; with `sessionStorage`, of this tab. */
export function recall(key, otherwise, storage = "localStorage") {
  try {
    const text = window[storage].getItem(name(key));
    return text === null ? otherwise : text;
  } catch {
    return otherwise;
  }
}

/** The stored object over the defaults in `otherwise`. */
export function recallObject(key, otherwise) {
  try {
    return { ...otherwise, ...JSON.parse(recall(key, "{}")) };
  } catch {
    return otherwise;
  }
}

/** Store a value; null removes it. */
export function remember(key, value, storage = "localStorage") {
  try {
    if (value === null) window[storage].removeItem(name(key));
    else window[storage].setItem(name(key), typeof value === "string" ? value : JSON.stringify(value));
  } catch {
    // Private windows may refuse to store; the choice then lasts as long as the page.
  }
}
