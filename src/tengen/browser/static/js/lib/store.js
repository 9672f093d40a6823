// The page's one state: plain data, replaced piece by piece.

/** A store whose watchers hear, once per turn of the event loop, that their pieces changed. */
export function createStore(initial) {
  let state = initial;
  let changed = new Set();
  const watchers = [];

  function tell() {
    const names = changed;
    changed = new Set();
    for (const watcher of watchers) {
      if (watcher.names.some((name) => names.has(name))) watcher.act(state);
    }
  }

  return {
    get state() {
      return state;
    },
    change(pieces) {
      const before = state;
      state = { ...state, ...pieces };
      const quiet = changed.size === 0;
      for (const name of Object.keys(pieces)) {
        if (state[name] !== before[name]) changed.add(name);
      }
      if (quiet && changed.size > 0) queueMicrotask(tell);
    },
    watch(names, act) {
      watchers.push({ names, act });
      act(state);
    },
  };
}
