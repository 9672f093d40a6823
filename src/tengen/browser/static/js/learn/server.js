// Requests to the server. What it refuses has a code; what goes wrong on the way has none.

import { hasText, t } from "../lib/i18n.js";

/** A request that was not answered as it should have been; `words()` says so in the page's language. */
export class Failure extends Error {
  constructor(code, reason) {
    super(code);
    [this.code, this.reason] = [code, reason];
  }

  words() {
    const key = [`refused.${this.reason}`, `said.illegal.${this.reason}`, `refused.${this.code}`].find(hasText);
    return t(key ?? "away");
  }
}

async function answered(request) {
  let answer;
  try {
    answer = await request;
  } catch {
    throw new Failure("away");
  }
  if (answer.ok) return answer.json();
  const { code = "away", data = {} } = answer.status === 409 ? await answer.json() : {};
  throw new Failure(code, data.reason);
}

export function ask(address) {
  return answered(fetch(`/api/learn/${address}`, { cache: "no-store" }));
}

export function tell(address, body = {}) {
  const headers = { "Content-Type": "application/json" };
  return answered(fetch(`/api/learn/${address}`, { method: "POST", headers, body: JSON.stringify(body) }));
}
