// A person's choices, kept in the browser's local storage where that is allowed.

const name = (key) => `tengen.${key}`;

/** The stored text, or `otherwise`. */
export function recall(key, otherwise) {
  try {
    const text = localStorage.getItem(name(key));
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
export function remember(key, value) {
  try {
    if (value === null) localStorage.removeItem(name(key));
    else localStorage.setItem(name(key), typeof value === "string" ? value : JSON.stringify(value));
  } catch {
    // Private windows may refuse to store; the choice then lasts as long as the page.
  }
}
