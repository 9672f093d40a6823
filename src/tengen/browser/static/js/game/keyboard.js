// Keyboard shortcuts of the whole page. The focused board handles its own keys (board/board.js).

export const KEYS = [
  { keys: ["B"], text: "keys.board" },
  { keys: ["←", "→", "↑", "↓"], text: "keys.cursor" },
  { keys: ["Enter"], text: "keys.enter" },
  { keys: ["L"], text: "keys.liberties" },
  { keys: ["Esc"], text: "keys.leave" },
  { keys: ["←", "→"], text: "keys.walk" },
  { keys: [",", "."], text: "keys.walkalways" },
  { keys: ["↑", "↓"], text: "keys.variations" },
  { keys: ["Home", "End"], text: "keys.ends" },
  { keys: ["P"], text: "keys.pass" },
  { keys: ["U"], text: "keys.undo" },
  { keys: ["H"], text: "keys.hint" },
  { keys: ["Space"], text: "keys.analysis" },
  { keys: ["N"], text: "keys.new" },
  { keys: ["O"], text: "keys.open" },
  { keys: ["?"], text: "keys.keys" },
];

function isTyping(target) {
  return Boolean(target.closest?.("input:not([type=radio]), textarea, select, dialog"));
}

/** Listen for keys. `targets`: {board, newGame, open, keys}, functions that focus or open something. */
export function listenForKeys(store, actions, targets) {
  const acts = {
    ArrowLeft: () => actions.walk("back"),
    ArrowRight: () => actions.walk("forward"),
    ArrowUp: () => actions.walk("above"),
    ArrowDown: () => actions.walk("below"),
    ",": () => actions.walk("back"),
    ".": () => actions.walk("forward"),
    Home: () => actions.walk("first"),
    End: () => actions.walk("last"),
    p: actions.pass,
    u: actions.undo,
    h: actions.hint,
    " ": actions.toggleAnalysis,
    b: targets.board,
    n: targets.newGame,
    o: targets.open,
    "?": targets.keys,
  };
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || isTyping(event.target)) return;
    if (event.key === "Escape" && store.state.aimed) store.change({ aimed: null });
    // Space on a button presses it.
    if (event.key === " " && event.target.closest?.("button, a, summary")) return;
    const act = acts[event.key.length === 1 ? event.key.toLowerCase() : event.key];
    if (!act) return;
    event.preventDefault();
    act();
  });
}
