// The difference between two numbers: as text, and whether it is better or worse.

/** Metrics where more is worse; more of the others is neither. */
const worse_when_more = [
  "errors",
  "error_rate",
  "latency_p50",
  "latency_p95",
  "latency_p99",
  "latency_mean",
  "first_token_p50",
  "first_token_p95",
  "cost",
];
/** Smaller differences are ignored. */
const notable = 0.05;

export type Verdict = "better" | "worse" | "same" | "other";

export function verdict(metric: string, baseline: number | null, current: number | null): Verdict {
  if (baseline === null || current === null) return "other";
  const scale = Math.max(Math.abs(baseline), Math.abs(current));
  if (scale === 0 || Math.abs(current - baseline) / scale < notable) return "same";
  // A new value cannot be compared; only new errors are worse.
  if (!worse_when_more.includes(metric) || (baseline === 0 && !metric.startsWith("error"))) return "other";
  return current > baseline ? "worse" : "better";
}

/** "+12 %", "×3.4", "new", "gone"; empty when there is nothing to compare. */
export function change_text(baseline: number | null, current: number | null): string {
  if (baseline === null && current === null) return "";
  if (baseline === null || (baseline === 0 && current !== 0)) return "new";
  if (current === null || (current === 0 && baseline !== 0)) return "gone";
  if (baseline === 0) return "same";
  const ratio = current / baseline;
  if (ratio >= 2) return `×${ratio >= 10 ? Math.round(ratio) : ratio.toFixed(1)}`;
  const percent = Math.round((ratio - 1) * 100);
  return percent === 0 ? "same" : `${percent > 0 ? "+" : "−"}${Math.abs(percent)} %`;
}

export type Baseline = "previous" | "day" | "week";

/** The window to compare with: the previous one, or the same time a day or a week ago. Milliseconds since 1970. */
export function baseline_window(after: number, before: number, kind: Baseline): { after: number; before: number } {
  const shift = kind === "day" ? 86_400_000 : kind === "week" ? 7 * 86_400_000 : before - after;
  return { after: after - shift, before: before - shift };
}
