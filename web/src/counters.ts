// Numbers beside names in the sidebar: only what waits for a person, read again while somebody looks.

import { useEffect } from "preact/hooks";
import { api } from "./api";
import { reload, use_load } from "./load";
import { can, space } from "./session";

export type CounterName = "reviews";

const refresh = 30_000;
/** More than this is "99+" anyway. */
const most = 100;

/** Null when there is nothing to say, or nobody may know. */
export function use_counter(name: CounterName | undefined): string | null {
  const key = name === "reviews" && can("run_read") && space.value ? `artifacts/count/${space.value.id}` : null;
  const load = use_load(key, (signal) =>
    api.page("/v1/artifacts", { space: space.value?.id, review: "pending", limit: most }, signal),
  );
  useEffect(() => {
    if (key === null) return;
    const timer = setInterval(() => {
      if (document.visibilityState === "visible") void reload(key);
    }, refresh);
    return () => clearInterval(timer);
  }, [key]);
  const count = load.data?.rows.length ?? 0;
  return count === 0 ? null : count >= most ? `${most - 1}+` : String(count);
}
