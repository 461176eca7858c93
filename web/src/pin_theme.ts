// Runs before the first paint, so that the chosen theme is used from the start.
// Small and without imports, because it blocks the page.

try {
  const theme = localStorage.getItem("theme");
  if (theme === "light" || theme === "dark") document.documentElement.dataset.theme = theme;
} catch {
  // Storage may be blocked; then the system's theme is used.
}
