// The WebSocket to the server: says hello, detects a dead connection, reconnects.

import { recall, remember } from "../lib/local_storage.js";

const FIRST_WAIT = 300;
const LONGEST_WAIT = 4000;
const PING_EVERY = 20_000;
const SILENCE_ALLOWED = 10_000;
const OF_THIS_TAB = "sessionStorage";

const pause = (milliseconds) => new Promise((done) => setTimeout(done, milliseconds));

function lock(id) {
  return new Promise((answer) => {
    navigator.locks.request(`tengen.session.${id}`, { ifAvailable: true }, (held) => {
      answer(held !== null);
      return held === null ? undefined : new Promise(() => {});
    });
  });
}

function rememberSession(id) {
  remember("session", id, OF_THIS_TAB);
  remember("session", id);
}

async function lockPatiently(id) {
  // A page that is being reloaded may hold its lock for a moment longer.
  for (let attempt = 0; attempt < 5; attempt += 1) {
    if (await lock(id)) return true;
    await pause(80);
  }
  return false;
}

/**
 * The session of this tab, or that of the tab used last, as long as no other tab has it open: a
 * duplicated tab copies the storage, and needs a session of its own.
 */
async function ownSession() {
  const mine = recall("session", null, OF_THIS_TAB);
  const last = recall("session", null);
  if (!navigator.locks) return mine ?? last;
  if (mine !== null) return (await lockPatiently(mine)) ? mine : null;
  return last !== null && (await lock(last)) ? last : null;
}

/** Does the server refuse us because the token is missing? */
async function isForbidden() {
  try {
    const answer = await fetch("/api/info");
    return answer.status === 401 || answer.status === 403;
  } catch {
    return false;
  }
}

/**
 * Connect and stay connected. Calls `onMessage(message)` for each message, and `onState` with "open",
 * "away" or "forbidden". Returns {send}.
 */
export function connect({ onMessage, onState }) {
  let socket = null;
  let session = null;
  let wait = FIRST_WAIT;
  let failures = 0;
  let timer = null;
  let lastHeard = 0;
  let requests = 0;
  const refusals = new Map();

  function open() {
    clearTimeout(timer);
    timer = null;
    const scheme = location.protocol === "https:" ? "wss" : "ws";
    const mine = new WebSocket(`${scheme}://${location.host}/ws`);
    socket = mine;
    mine.addEventListener("open", () => {
      mine.send(JSON.stringify({ type: "hello", session, player: recall("player", null) }));
    });
    mine.addEventListener("message", (event) => {
      if (socket === mine) hear(JSON.parse(event.data));
    });
    mine.addEventListener("close", () => {
      if (socket === mine) lose();
    });
  }

  function hear(message) {
    lastHeard = Date.now();
    if (message.type === "welcome") {
      wait = FIRST_WAIT;
      failures = 0;
      if (message.session !== session && navigator.locks) lock(message.session);
      session = message.session;
      rememberSession(session);
      remember("player", message.player);
      onState("open");
    }
    if (message.type === "error" && refusals.has(message.request)) {
      const refused = refusals.get(message.request);
      refusals.delete(message.request);
      refused(message);
      return;
    }
    onMessage(message);
  }

  async function lose() {
    socket = null;
    refusals.clear();
    failures += 1;
    onState("away");
    timer = setTimeout(open, wait);
    wait = Math.min(LONGEST_WAIT, wait * 1.6);
    if (failures % 3 === 0 && (await isForbidden())) onState("forbidden");
  }

  function hurry() {
    if (socket === null && timer !== null) open();
  }

  function listenForSilence() {
    if (socket?.readyState !== WebSocket.OPEN) return;
    const asked = Date.now();
    const mine = socket;
    mine.send(JSON.stringify({ type: "ping" }));
    setTimeout(() => {
      if (socket === mine && lastHeard < asked) mine.close();
    }, SILENCE_ALLOWED);
  }

  setInterval(listenForSilence, PING_EVERY);
  window.addEventListener("online", hurry);
  document.addEventListener("visibilitychange", () => {
    if (!document.hidden) hurry();
  });
  ownSession().then((id) => {
    session = id;
    open();
  });

  return {
    /** Send a message; `refused(error)` hears an error that answers it. False when away. */
    send(type, fields = {}, refused = null) {
      if (socket?.readyState !== WebSocket.OPEN) return false;
      requests += 1;
      if (refused) {
        refusals.set(requests, refused);
        // Most messages are never refused: forget the old ones.
        if (refusals.size > 100) refusals.delete(refusals.keys().next().value);
      }
      socket.send(JSON.stringify({ type, request: requests, ...fields }));
      return true;
    },
  };
}
