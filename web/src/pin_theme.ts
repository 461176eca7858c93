// Runs before the first paint, so that a pinned theme never flashes the other one.
// Deliberately tiny and without imports: it blocks the page.

try {
  const theme = localStorage.getItem("theme");
  if (theme === "light" || theme === "dark") document.documentElement.dataset.theme = theme;
} catch {
  // Storage may be forbidden; the system's theme is fine then.
}
