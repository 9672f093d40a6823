// The state of the page: plain data, replaced part by part.

/** A store that calls watchers once per turn of the event loop, if a part they watch has changed. */
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

/** A function that calls `act(time)` at the next frame, however often it is called before. */
export function oncePerFrame(act) {
  let frame = null;
  return () => {
    frame ??= requestAnimationFrame((time) => {
      frame = null;
      act(time);
    });
  };
}
