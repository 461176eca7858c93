// The theme follows the system until the user chooses one.

import { stored_signal } from "./stored";

export const themes = ["system", "light", "dark"] as const;
export const theme = stored_signal("theme", "system");

theme.subscribe((name) => {
  if (name === "light" || name === "dark") document.documentElement.dataset.theme = name;
  else delete document.documentElement.dataset.theme;
});
