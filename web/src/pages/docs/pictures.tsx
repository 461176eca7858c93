// The pictures of docs/pictures, as parts of the page: so they have the colours of its theme.

import { useLayoutEffect, useRef } from "preact/hooks";
import experiment from "../../../../docs/pictures/experiment.svg";
import review from "../../../../docs/pictures/review.svg";
import run from "../../../../docs/pictures/run.svg";
import signal from "../../../../docs/pictures/signal.svg";
import traces from "../../../../docs/pictures/traces.svg";

const pictures: Record<string, string> = { experiment, review, run, signal, traces };

/** The text of the picture at an address in a document; null: it is not one of ours. */
export const picture_at = (source: string): string | null =>
  pictures[/^pictures\/(\w+)\.svg$/.exec(source)?.[1] ?? ""] ?? null;

export function Picture({ svg, alt }: { svg: string; alt: string }) {
  const place = useRef<HTMLSpanElement>(null);
  useLayoutEffect(() => {
    // Its style is for pages without ours, and our policy forbids it already while it is parsed.
    const text = svg.replace(/<style>.*?<\/style>/s, "");
    const drawn = new DOMParser().parseFromString(text, "image/svg+xml").documentElement;
    drawn.querySelector("title")?.remove(); // the alternative text is longer
    drawn.removeAttribute("role");
    drawn.setAttribute("aria-hidden", "true");
    place.current?.replaceChildren(document.importNode(drawn, true));
  }, [svg]);
  return <span class="picture" role="img" aria-label={alt} ref={place} />;
}
