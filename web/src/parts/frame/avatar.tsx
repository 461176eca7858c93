// Two letters in a circle; drawn by the style sheet, so that they are not part of the page's text.

import { initials } from "../../lib/format/text";

export function Avatar({ name }: { name: string }) {
  return <span class="avatar" aria-hidden="true" data-initials={initials(name)} />;
}
