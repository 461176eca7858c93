// Today's spending of automations and their space compared to the limits, shown before a limit is reached.

import { api, segment } from "../../api";
import type { Automation, ModelUsageView, SpaceBudget } from "../../api_types";
import { money, short_count } from "../../lib/format/number";
import { use_load } from "../../load";
import { space } from "../../login";
import { Field } from "../../parts/form";
import { Note } from "../../parts/state";

interface Limits {
  tokens_per_day: number | null;
  cost_micro_usd_per_day: number | null;
}
interface Used {
  tokens: number;
  cost_micro_usd: number;
}

/** The largest used share of the limits; null without a limit. */
function share_of(limits: Limits, used: Used): number | null {
  const parts = [
    limits.tokens_per_day === null ? null : used.tokens / Math.max(1, limits.tokens_per_day),
    limits.cost_micro_usd_per_day === null ? null : used.cost_micro_usd / Math.max(1, limits.cost_micro_usd_per_day),
  ].filter((part): part is number => part !== null);
  return parts.length === 0 ? null : Math.max(...parts);
}

function used_text(limits: Limits, used: Used): string {
  const parts = [];
  if (limits.cost_micro_usd_per_day !== null)
    parts.push(`${money(used.cost_micro_usd)} of ${money(limits.cost_micro_usd_per_day)}`);
  if (limits.tokens_per_day !== null)
    parts.push(`${short_count(used.tokens)} of ${short_count(limits.tokens_per_day)} tokens`);
  return parts.join(", ");
}

interface DayBudgetDraft {
  dollars: string;
  tokens: string;
}

/** The fields of a daily budget, for a row of a form. */
export function DayBudgetFields(props: { draft: DayBudgetDraft; change: (part: Partial<DayBudgetDraft>) => void }) {
  const { draft, change } = props;
  return (
    <>
      <Field
        label="US dollars per day"
        hint="Empty: no limit."
        value={draft.dollars}
        on_input={(dollars) => change({ dollars })}
      />
      <Field
        label="Tokens per day"
        hint="Empty: no limit."
        type="number"
        min={1}
        value={draft.tokens}
        on_input={(tokens) => change({ tokens })}
      />
    </>
  );
}

const percent = (share: number) => `${Math.floor(share * 100)} %`;

export const budget_share = (automation: Automation) => share_of(automation.budget, automation.spent_today);

/** In a list: the share of the limit, otherwise the amount. */
export function SpentToday({ automation }: { automation: Automation }) {
  const share = budget_share(automation);
  const spent = automation.spent_today;
  if (share === null)
    return spent.tokens === 0 ? (
      <span class="faint">$0</span>
    ) : (
      <span title={`${money(spent.cost_micro_usd)}, no limit`}>{short_count(spent.tokens)} tokens</span>
    );
  const tone = share >= 1 ? "spent" : share * 100 >= automation.budget.soft_percent ? "soft-reached" : "";
  return (
    <span class="budget-share" title={`${used_text(automation.budget, spent)} today`}>
      <span class={`usage-bar ${tone}`} aria-hidden="true">
        <span style={{ width: `${Math.min(100, share * 100)}%` }} />
      </span>
      {percent(share)}
    </span>
  );
}

/** On the page of an automation: only when the soft limit is reached. */
export function BudgetNote({ automation }: { automation: Automation }) {
  const share = budget_share(automation);
  if (share === null || share * 100 < automation.budget.soft_percent) return null;
  const used = used_text(automation.budget, automation.spent_today);
  return (
    <Note kind={share >= 1 ? "failed" : "warning"} icon="warning">
      {share >= 1
        ? `Today's budget is used up (${used}). Runs are stopped, and the automation does not fire until midnight UTC.`
        : `${percent(share)} of today's budget is used (${used}). Workers get a notice to finish; at 100 % they are stopped.`}
    </Note>
  );
}

/** The same for the whole space. */
export function SpaceBudgetNote() {
  const budget = use_load(`space_budget/${space.value?.id}`, (signal) =>
    api.get<SpaceBudget>(`/v1/spaces/${segment(space.value?.id ?? "")}/budget`, {}, signal),
  ).data;
  const is_limited = budget && (budget.tokens_per_day !== null || budget.cost_micro_usd_per_day !== null);
  const day = new Date().toISOString().slice(0, 10);
  const today = use_load(is_limited ? `space_spent/${space.value?.id}` : null, (signal) =>
    api.get<ModelUsageView[]>(
      "/v1/model_usage",
      { space: space.value?.id, group_by: "day", from: day, to: day, limit: 1 },
      signal,
    ),
  ).data;
  if (!budget || !today) return null;
  const spent = {
    tokens: (today[0]?.total_tokens ?? 0) + (today[0]?.estimated_tokens ?? 0),
    cost_micro_usd: today[0]?.cost_micro_usd ?? 0,
  };
  const share = share_of(budget, spent);
  if (share === null || share * 100 < budget.soft_percent) return null;
  const used = used_text(budget, spent);
  return (
    <Note kind={share >= 1 ? "failed" : "warning"} icon="warning">
      {share >= 1
        ? `Today's budget of the space is used up (${used}). Model calls are rejected until midnight UTC.`
        : `${percent(share)} of today's budget of the space is used (${used}).`}
    </Note>
  );
}
