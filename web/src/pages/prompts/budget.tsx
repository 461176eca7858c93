// What model calls are likely to use, before they are made, beside what remains of the daily budget of the space.

import type { ComponentChildren } from "preact";
import { ApiError, api, segment } from "../../api";
import type { CallsEstimate, ModelUsageView, SpaceBudget } from "../../api_types";
import {
  excess_text,
  expected,
  expected_text,
  type Remaining,
  remaining,
  remaining_text,
} from "../../lib/format/spending";
import { day_name } from "../../lib/format/usage";
import { reload, use_load } from "../../load";
import { can, space } from "../../login";
import { use_settled } from "../../parts/settled";
import { Note } from "../../parts/state";

const typing_pause = 400;

/** Nothing while it loads, and for people who may not read it. `moment` changes when calls were made. */
export function use_remaining(moment = ""): Remaining | undefined {
  const id = space.value?.id;
  return use_load(can("space_read") ? `remaining_budget/${id}/${moment}` : null, async (signal) => {
    const today = day_name(Date.now());
    const [budget, days] = await Promise.all([
      api.get<SpaceBudget>(`/v1/spaces/${segment(id ?? "")}/budget`, {}, signal),
      api.get<ModelUsageView[]>("/v1/model_usage", { space: id, group_by: "day", from: today, to: today }, signal),
    ]);
    return remaining(budget, days[0]);
  }).data;
}

/** After calls: they used some of the budget, and show how long the replies of the model are. */
export async function calls_ended(): Promise<void> {
  await Promise.all([reload("remaining_budget/"), reload("estimate/")]);
}

interface Estimates {
  made: CallsEstimate[];
  /** Why there is none. */
  problem: string;
}

/** Of several calls; a request that the server refuses is a problem that the calls would have as well. */
async function load_estimates(bodies: unknown[]): Promise<Estimates> {
  const results = await Promise.allSettled(
    bodies.map((body) => api.post<CallsEstimate>("/v1/playground/estimate", body, { space: space.value?.id })),
  );
  const made = results.flatMap((result) => (result.status === "fulfilled" ? [result.value] : []));
  const [failed] = results.flatMap((result) => (result.status === "rejected" ? [result.reason] : []));
  return { made, problem: failed instanceof ApiError ? failed.message : failed ? String(failed) : "" };
}

interface BudgetNoteProps {
  /** Bodies of requests for estimates, one for each column; null: the column is not complete. */
  bodies: (unknown | null)[];
  /** What past calls cost, and more to consider. */
  children?: ComponentChildren;
  /** More reasons why calls would be rejected. */
  warn?: (made: CallsEstimate[]) => string;
}

export function BudgetNote({ bodies, children, warn }: BudgetNoteProps) {
  const known = bodies.filter((body) => body !== null);
  const text = use_settled(known.length === 0 ? "" : JSON.stringify(known), typing_pause);
  const estimates = use_load(text === "" ? null : `estimate/${space.value?.id}/${text}`, () =>
    load_estimates(JSON.parse(text) as unknown[]),
  ).data;
  const left = use_remaining();
  const sum = estimates && estimates.made.length > 0 ? expected(estimates.made) : undefined;
  const excess = [sum && left ? excess_text(sum, left) : "", estimates ? (warn?.(estimates.made) ?? "") : ""];
  const limits = left && remaining_text(left);
  return (
    <section class="budget-note" aria-label="Budget">
      <p class="soft">
        {sum && <span>Estimate: {expected_text(sum)}. </span>}
        {estimates && estimates.problem !== "" && <span>No estimate: {estimates.problem}. </span>}
        {limits !== undefined && (
          <span>
            {limits === "" ? "The space has no daily budget." : `Of the daily budget of the space, ${limits} remain.`}
          </span>
        )}
        {children}
      </p>
      {excess
        .filter((one) => one !== "")
        .map((one) => (
          <Note key={one} kind="warning" icon="warning">
            {one}
          </Note>
        ))}
    </section>
  );
}
