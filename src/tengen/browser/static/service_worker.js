// Answers when the server does not: a page that says so, and comes back by itself. Nothing else is kept,
// so that a new version is seen at once.

const KEPT = "tengen-away-2";
const SERVED = ["/", "/learn", "/run"];
const PAGES = ["/static/away.html", "/static/js/away.js", "/static/css/away.css"];

self.addEventListener("install", (event) => {
  event.waitUntil(caches.open(KEPT).then((cache) => cache.addAll(PAGES)));
  self.skipWaiting();
});

self.addEventListener("activate", (event) => {
  const drop = async () => {
    for (const name of await caches.keys()) if (name !== KEPT) await caches.delete(name);
    await self.clients.claim();
  };
  event.waitUntil(drop());
});

self.addEventListener("fetch", (event) => {
  const { pathname } = new URL(event.request.url);
  const page = event.request.mode === "navigate" && SERVED.includes(pathname);
  if (page) event.respondWith(fetch(event.request).catch(() => caches.match(PAGES[0])));
  else if (PAGES.includes(pathname)) event.respondWith(fetch(event.request).catch(() => caches.match(pathname)));
});
