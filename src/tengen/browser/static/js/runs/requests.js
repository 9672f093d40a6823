// Asks the server how the run stands; what has not changed is not sent again.

/** Something at an address that changes: `ask()` gives it if it is new, null if it is as before. */
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

/** What lies at an address, null if there is nothing. */
export async function ask(address) {
  const answer = await fetch(address, { cache: "no-store" });
  return answer.ok ? answer.json() : null;
}
