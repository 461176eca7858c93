// A project's numbers in a line: a value with its change since the period before, and whether something is wrong.

import { change_text, verdict } from "../../lib/format/change";
import { exact_count, money, short_count, span_duration } from "../../lib/format/number";
import { State } from "../../parts/state";
import type { ProjectNumbers } from "./numbers";

type Measure = "traces" | "errors" | "p95" | "cost";

const texts: Record<Measure, (value: number) => string> = {
  traces: short_count,
  errors: short_count,
  p95: span_duration,
  cost: (value) => money(value * 1e6),
};
const exact: Record<Measure, (value: number) => string> = {
  traces: exact_count,
  errors: exact_count,
  p95: (value) => `${Math.round(value)} ns`,
  cost: (value) => `$${value}`,
};
/** As lib/format/change.ts names the metric. */
const metrics: Record<Measure, string> = { traces: "traces", errors: "errors", p95: "latency_p95", cost: "cost" };

interface MeasuredProps {
  what: Measure;
  now: number | null;
  before: number | null;
}

export function Measured({ what, now, before }: MeasuredProps) {
  if (now === null) return <span class="faint">–</span>;
  const tone = verdict(metrics[what], before, now);
  // Nothing was there before: everything would be new.
  const text = before === null || before === 0 ? "" : change_text(before, now);
  const title = before === null ? exact[what](now) : `${exact[what](now)}, before: ${exact[what](before)}`;
  return (
    <span title={title}>
      {now === 0 ? <span class="faint">{what === "cost" ? "$0" : "0"}</span> : texts[what](now)}
      {text !== "" && text !== "same" && (
        <span class={`change ${tone}`}>
          {text}
          {tone === "worse" && <span class="off-screen"> (worse)</span>}
          {tone === "better" && <span class="off-screen"> (better)</span>}
        </span>
      )}
    </span>
  );
}

/** A triggered monitor comes first; a project without traces has no health. */
export function Health({ numbers }: { numbers: ProjectNumbers }) {
  if (numbers.triggered) return <State tone="failed" text={`${exact_count(numbers.triggered)} triggered`} />;
  if (numbers.traces === 0) return <span class="faint">no traces</span>;
  if (numbers.new_issues > 0) return <State tone="limit" text={`${numbers.new_issues} new`} />;
  return <State tone="done" text="OK" />;
}
