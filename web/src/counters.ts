// Numbers beside names in the sidebar: items that wait for a person who can act on them, refreshed while the page is
// visible.

import { api, segment } from "./api";
import type { ReviewCounts, SignalView } from "./api_types";
import type { Params } from "./lib/route";
import { use_load, use_refresh } from "./load";
import { can, space } from "./login";

export type CounterName = "reviews" | "issues";

const refresh = 30_000;
/** From here on the counter shows "99+". */
const most = 100;

interface Counter {
  /** Null without the permission to act on the items. */
  key: string | null;
  count: (signal: AbortSignal) => Promise<number>;
}

const counters: Record<CounterName, (params: Params) => Counter> = {
  reviews: () => ({
    key: can("artifact_review") && space.value ? `artifacts/count/${space.value.id}` : null,
    count: async (signal) =>
      (await api.get<ReviewCounts>("/v1/review_counts", { space: space.value?.id }, signal)).pending,
  }),
  issues: ({ project }) => ({
    key: project && can("issue_write") && space.value ? `issues/count/${space.value.id}/${project}` : null,
    count: async (signal) =>
      (await api.get<SignalView>(`/v1/projects/${segment(project ?? "")}/signal`, { space: space.value?.id }, signal))
        .open_issues,
  }),
};

const nothing: Counter = { key: null, count: async () => 0 };

/** Null when the count is zero, or for a user who cannot act on the items. */
export function use_counter(name: CounterName | undefined, params: Params): string | null {
  const { key, count } = name ? counters[name](params) : nothing;
  const load = use_load(key, count);
  use_refresh(key, refresh);
  const waiting = load.data ?? 0;
  return waiting === 0 ? null : waiting >= most ? `${most - 1}+` : String(waiting);
}
