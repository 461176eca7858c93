// Live updates: while they are on, a list shows spans as the server stores them.

import { useEffect, useRef, useState } from "preact/hooks";
import { api_url } from "../../api";
import type { Project } from "../../api_types";
import { follow, type Live } from "../../live";
import { Icon } from "../../parts/icon";
import { query, set_query } from "../../router";
import { project_route } from "../projects/data";

/** A list that changes more often is not readable. */
const pause = 1000;

export const is_live = () => query.value.get("live") === "1";

/** Calls `on_new` at most once a second while matching spans arrive. */
export function use_live(
  project: Project | undefined,
  filter: string,
  on_new: () => Promise<void>,
): Live["state"]["value"] | null {
  const [live, set_live] = useState<Live | null>(null);
  const latest = useRef(on_new);
  latest.current = on_new;
  const wanted = is_live() && project ? api_url(project_route(project, "tail"), { filter }) : null;
  useEffect(() => {
    if (wanted === null) return;
    let timer: ReturnType<typeof setTimeout> | undefined;
    const stream = follow(wanted, "", (event) => {
      if (event.event !== "spans" && event.event !== "dropped") return;
      timer ??= setTimeout(() => {
        void latest.current().finally(() => {
          timer = undefined;
        });
      }, pause);
    });
    set_live(stream);
    return () => {
      clearTimeout(timer);
      stream.close();
      set_live(null);
    };
  }, [wanted]);
  return live ? live.state.value : null;
}

export function LiveButton({ state }: { state: ReturnType<typeof use_live> }) {
  const on = is_live();
  const broken = on && (state === "reconnecting" || state === "closed");
  return (
    <button
      type="button"
      class="quiet live-button"
      aria-pressed={on}
      title={on ? "New traces appear automatically" : "Show new traces as they arrive"}
      onClick={() => set_query({ live: on ? null : "1" }, { replace: true })}
    >
      <Icon name="dot" /> {broken ? (state === "closed" ? "Live updates stopped" : "Reconnecting…") : "Live"}
    </button>
  );
}
