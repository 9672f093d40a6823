// Runs before the first paint, so that theme and text direction do not flicker. A classic script.
(() => {
  const read = (name) => {
    try {
      return localStorage.getItem(`tengen.${name}`);
    } catch {
      return null;
    }
  };
  const theme = read("theme");
  if (theme === "light" || theme === "dark") document.documentElement.dataset.theme = theme;
  const language = read("language");
  if (language) {
    document.documentElement.lang = language;
    document.documentElement.dir = language === "ar" ? "rtl" : "ltr";
  }
})();
