// The page that is shown while the server is away: the words in the person's language, and another try now and then.

const kept = (() => {
  try {
    return localStorage.getItem("tengen.language");
  } catch {
    return null;
  }
})();
const known = [...document.querySelectorAll("p[lang]")].map((line) => line.lang);
const chinese = (tag) => (/^zh-(Hant|TW|HK|MO)/i.test(tag) ? "zh-Hant" : "zh-Hans");
const wanted = [kept, ...navigator.languages].filter(Boolean).map((tag) => (tag.startsWith("zh") ? chinese(tag) : tag.split("-")[0]));
const language = wanted.find((tag) => known.includes(tag)) ?? "en";
document.documentElement.lang = language;
for (const line of document.querySelectorAll("p[lang]")) {
  line.hidden = line.lang !== language;
  if (!line.hidden) document.documentElement.dir = line.dir || "ltr";
}

setInterval(async () => {
  try {
    await fetch("/api/info", { cache: "no-store" });
    location.reload();
  } catch {
    // still away
  }
}, 2000);
