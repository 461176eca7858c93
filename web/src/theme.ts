// The theme follows the system until the user chooses one.

import { computed, signal } from "@preact/signals";
import { stored_signal } from "./stored";

export const themes = ["system", "light", "dark"] as const;
export const theme = stored_signal("theme", "system");

const system = window.matchMedia("(prefers-color-scheme: dark)");
const is_dark_system = signal(system.matches);
system.addEventListener("change", () => {
  is_dark_system.value = system.matches;
});

/** The theme that is shown: what is drawn with its colours is drawn again when it changes. */
export const shown_theme = computed(() =>
  theme.value === "system" ? (is_dark_system.value ? "dark" : "light") : theme.value,
);

theme.subscribe((name) => {
  if (name === "light" || name === "dark") document.documentElement.dataset.theme = name;
  else delete document.documentElement.dataset.theme;
});
