/**
 * Runs before the first paint, so that nothing flashes: the colours that were chosen, and whether
 * the islands will work.
 */
(() => {
  const root = document.documentElement;
  try {
    const theme = localStorage.getItem("steward.theme");
    if (theme === "light" || theme === "dark") root.dataset["theme"] = theme;
  } catch {
    // Without storage the page has the system's colours.
  }
  if (!("noModule" in HTMLScriptElement.prototype)) return;
  root.classList.add("js");
  // An island that cannot start leaves the page as the server wrote it: complete, for reading.
  addEventListener(
    "error",
    ({ target }) => {
      // A missing picture stops no island.
      if (target instanceof HTMLImageElement) return;
      if (!root.classList.contains("ready")) root.classList.remove("js");
    },
    true,
  );
})();
