// Requests to the server; what has not changed is not sent again.

/** A function that fetches an address: the JSON if it has changed since the last time, else null. */
export function watched(address) {
  let tag = null;
  return async function ask() {
    const headers = tag ? { "If-None-Match": tag } : {};
    const answer = await fetch(address, { headers, cache: "no-store" });
    if (answer.status === 304) return null;
    if (!answer.ok) throw new Error(`${address}: ${answer.status}`);
    tag = answer.headers.get("ETag");
    return answer.json();
  };
}

/** The JSON at an address; null if there is none. */
export async function ask(address) {
  const answer = await fetch(address, { cache: "no-store" });
  return answer.ok ? answer.json() : null;
}
