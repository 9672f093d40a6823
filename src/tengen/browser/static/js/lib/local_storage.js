// What this browser remembers of a person's choices. A browser that forbids it just forgets.

const name = (key) => `tengen.${key}`;

/** The remembered value, or `otherwise`. */
export function recall(key, otherwise) {
  try {
    const text = localStorage.getItem(name(key));
    return text === null ? otherwise : text;
  } catch {
    return otherwise;
  }
}

/** The remembered object, or `otherwise` if there is none or it cannot be read. */
export function recallObject(key, otherwise) {
  try {
    return { ...otherwise, ...JSON.parse(recall(key, "{}")) };
  } catch {
    return otherwise;
  }
}

/** Keep a value; null forgets it. */
export function remember(key, value) {
  try {
    if (value === null) localStorage.removeItem(name(key));
    else localStorage.setItem(name(key), typeof value === "string" ? value : JSON.stringify(value));
  } catch {
    // Private windows may refuse to store; the choice then lasts as long as the page.
  }
}
