// Whether the screen is as narrow as a phone's; the same width as in style/small_screens.css.

import { signal } from "@preact/signals";

const narrow = window.matchMedia("(max-width: 760px)");

export const is_phone = signal(narrow.matches);

narrow.addEventListener("change", () => {
  is_phone.value = narrow.matches;
});
