// Metrics for display and input. Thresholds and values of monitors have latency in milliseconds, cost in dollars and
// rates as a fraction; people enter percent.

import { duration, money, short_count } from "../format/number";

interface MetricInfo {
  title: string;
  /** The unit for input. */
  unit: string;
  /** The server's value of one unit. */
  scale: number;
  text: (value: number) => string;
}

const percent = (value: number) => `${Number((value * 100).toFixed(value < 0.1 ? 2 : 1))} %`;
const usd = (value: number) => money(value * 1e6);
const plain = (value: number) =>
  short_count(Math.abs(value) < 1000 ? Number(value.toFixed(Math.abs(value) < 10 ? 2 : 1)) : value);

const latency = (title: string): MetricInfo => ({ title, unit: "ms", scale: 1, text: duration });

const metrics: Record<string, MetricInfo> = {
  error_rate: { title: "error rate", unit: "%", scale: 0.01, text: percent },
  errors: { title: "failed spans", unit: "spans", scale: 1, text: plain },
  count: { title: "spans", unit: "spans", scale: 1, text: plain },
  traces: { title: "traces", unit: "traces", scale: 1, text: plain },
  latency_p50: latency("latency p50"),
  latency_p95: latency("latency p95"),
  latency_p99: latency("latency p99"),
  latency_mean: latency("mean latency"),
  first_token_p50: latency("first token p50"),
  first_token_p95: latency("first token p95"),
  tokens: { title: "tokens", unit: "tokens", scale: 1, text: plain },
  cost: { title: "cost", unit: "US dollars", scale: 1, text: usd },
  eval_rate: { title: "share of an eval label", unit: "%", scale: 0.01, text: percent },
  eval_score: { title: "mean eval score", unit: "points", scale: 1, text: plain },
};

/** A monitor's own query instead of a metric. */
export const sql_metric = "sql";

const unknown: MetricInfo = { title: "value", unit: "", scale: 1, text: plain };

export const metric_names = Object.keys(metrics);
export function metric_info(metric: string | null): MetricInfo {
  if (metric === null || metric === sql_metric) return { ...unknown, title: "SQL value", unit: "as the query returns" };
  return metrics[metric] ?? { ...unknown, title: metric || "value" };
}

/** "2.5" (percent) as 0.025; null when it is not a number. */
export function from_unit(metric: string, text: string): number | null {
  const value = Number(text.replace(",", "."));
  if (text.trim() === "" || Number.isNaN(value)) return null;
  return value * metric_info(metric).scale;
}

export function to_unit(metric: string, value: number): string {
  return String(Number((value / metric_info(metric).scale).toPrecision(12)));
}

const seconds_per: [number, string][] = [
  [604_800, "week"],
  [86_400, "day"],
  [3600, "hour"],
  [60, "minute"],
  [1, "second"],
];

/** "24 hours", "90 seconds", "an hour" for one. */
export function window_text(seconds: number): string {
  for (const [length, name] of seconds_per) {
    if (seconds < length || seconds % length !== 0) continue;
    const count = seconds / length;
    // A window of a day is written as 24 hours.
    if (name === "day" && count === 1) return "24 hours";
    if (count === 1) return name === "hour" ? "an hour" : `a ${name}`;
    return `${count} ${name}s`;
  }
  return `${seconds} seconds`;
}

/** After "every": "hour", "10 minutes". */
export const every_text = (seconds: number) => window_text(seconds).replace(/^an? /, "");

export const capital = (text: string) => text.charAt(0).toUpperCase() + text.slice(1);
