// A chart of Explore as it is in an address, in a saved chart and on a dashboard; and its numbers as lines and rows.

import type { SpanSeries } from "../../api_types";
import type { Baseline } from "../format/change";
import { money, short_count, span_duration } from "../format/number";
import { to_milliseconds } from "../format/time";
import { capital, metric_info, metric_names } from "../sentences/metric";

export const draws = {
  lines: "lines",
  bars: "bars",
  histogram: "latency histogram",
  heat: "latency heat map",
} as const;
export type Draw = keyof typeof draws;

export interface ChartSettings {
  metric: string;
  /** A filter field, or attributes["key"]; empty: one line for all spans. */
  by: string;
  filter: string;
  draw: Draw;
  /** Empty: nothing to compare with. */
  baseline: Baseline | "";
  /** Two values of the grouping beside each other; both or none. */
  a: string;
  b: string;
  eval_name: string;
  eval_label: string;
  /** A query instead of a metric. */
  sql: string;
}

const baselines = ["previous", "day", "week"];

export function read_chart(query: URLSearchParams): ChartSettings {
  const text = (name: string) => query.get(name) ?? "";
  const one_of = (name: string, known: readonly string[], fallback: string) =>
    known.includes(text(name)) ? text(name) : fallback;
  return {
    metric: one_of("metric", metric_names, "count"),
    by: text("by"),
    filter: text("filter"),
    draw: one_of("draw", Object.keys(draws), "lines") as Draw,
    baseline: one_of("with", baselines, "") as Baseline | "",
    a: text("a"),
    b: text("b"),
    eval_name: text("eval"),
    eval_label: text("label"),
    sql: text("sql"),
  };
}

/** The parameters of an address; null removes one. */
export function chart_parameters(chart: ChartSettings): Record<string, string | null> {
  return {
    metric: chart.metric === "count" ? null : chart.metric,
    by: chart.by || null,
    filter: chart.filter || null,
    draw: chart.draw === "lines" ? null : chart.draw,
    with: chart.baseline || null,
    a: chart.a || null,
    b: chart.b || null,
    eval: chart.eval_name || null,
    label: chart.eval_label || null,
    sql: chart.sql || null,
  };
}

export function write_chart(chart: ChartSettings): string {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(chart_parameters(chart))) if (value !== null) query.set(name, value);
  return query.toString();
}

/** "Cost by model"; the filter is shown elsewhere. */
export function chart_title(chart: ChartSettings): string {
  if (chart.sql !== "") return "SQL";
  if (chart.draw === "histogram") return "Latency histogram";
  if (chart.draw === "heat") return "Latency heat map";
  const metric = capital(metric_info(chart.metric).title);
  const named = chart.metric.startsWith("eval_") && chart.eval_name !== "" ? `${metric} of ${chart.eval_name}` : metric;
  return chart.by === "" ? named : `${named} by ${chart.by}`;
}

/** How a value of the API's series is written; durations are nanoseconds there. */
export function series_text(metric: string): (value: number) => string {
  if (metric.startsWith("latency") || metric.startsWith("first_token")) return span_duration;
  if (metric === "cost") return (value) => money(value * 1e6);
  if (metric === "error_rate" || metric === "eval_rate") return (value) => `${Number((value * 100).toPrecision(3))} %`;
  if (metric === "eval_score") return (value) => String(Number(value.toPrecision(3)));
  return short_count;
}

/** Sums over time are zero in an empty bucket; other metrics have no value there. */
const counted = ["count", "errors", "tokens", "cost", "traces"];
export const is_sum = (metric: string) => counted.includes(metric);

export interface GroupLine {
  title: string;
  colour: string;
  values: (number | null)[];
  shown?: (number | null)[];
  bars?: boolean;
  dashed?: boolean;
}

export const most_lines = 8;
const no_group = "(none)";
export const group_name = (group: string) => (group === "" ? no_group : group);

/** The starts of the buckets, in milliseconds. */
function bucket_times(series: SpanSeries, from: number | null, to: number): number[] {
  const step = series.bucket_ns / 1e6;
  const known = series.buckets.map((bucket) => to_milliseconds(bucket.time));
  const first = from ?? Math.min(to, ...known);
  const times: number[] = [];
  if (step > 0)
    for (let at = Math.floor(first / step) * step; at < to && times.length < 5000; at += step) times.push(at);
  return times;
}

/** One line per group, in the order of `groups`; `shift` moves an earlier period onto the times of this one. */
function values_of(series: SpanSeries, times: number[], group: string | null, empty: number | null, shift = 0) {
  const known = new Map<number, number | null>();
  for (const bucket of series.buckets)
    if (group === null || bucket.group === group)
      known.set(to_milliseconds(bucket.time) + shift, bucket.values[0] ?? null);
  return times.map((time) => known.get(time) ?? empty);
}

interface LinesOf {
  metric: string;
  draw: Draw;
  by: string;
  series: SpanSeries;
  /** The groups to draw, largest first. */
  groups: string[];
  from: number | null;
  to: number;
  before: { series: SpanSeries; shift: number; title: string } | null;
}

export function chart_lines({ metric, draw, by, series, groups, from, to, before }: LinesOf): {
  times: number[];
  lines: GroupLine[];
} {
  const times = bucket_times(series, from, to);
  const empty = is_sum(metric) ? 0 : null;
  // A rate or a percentile cannot be stacked.
  const stacked = draw === "bars" && is_sum(metric);
  const bars = draw === "bars" && (stacked || by === "");
  if (by === "") {
    const lines: GroupLine[] = [
      { title: metric_info(metric).title, colour: "--g1", bars, values: values_of(series, times, null, empty) },
    ];
    if (before)
      lines.push({
        title: before.title,
        colour: "--faint",
        dashed: true,
        // Buckets of the two periods need not begin at the same second.
        values: values_of(before.series, times, null, empty, aligned(before.shift, series.bucket_ns / 1e6)),
      });
    return { times, lines };
  }
  const shown = groups.slice(0, most_lines);
  const lines = shown.map((group, index) => ({
    title: group_name(group),
    colour: `--g${index + 1}`,
    bars,
    values: values_of(series, times, group, empty),
  }));
  return { times, lines: stacked ? stack(lines) : lines };
}

const aligned = (shift: number, step: number) => (step > 0 ? Math.round(shift / step) * step : shift);

/** Sums from the bottom, the highest drawn first so that the others lie before it; hover shows each line's own value. */
function stack(lines: GroupLine[]): GroupLine[] {
  let below: number[] = [];
  const sums = lines.map((line) => {
    below = line.values.map((value, at) => (below[at] ?? 0) + (value ?? 0));
    return { ...line, values: below, shown: line.values };
  });
  return sums.reverse();
}

export interface TotalRow {
  group: string;
  value: number | null;
  count: number;
  before: number | null;
}

/** One row per group, the largest first: by the metric if it is a sum, else by the number of spans. */
export function total_rows(metric: string, now: SpanSeries, before: SpanSeries | null): TotalRow[] {
  const count_at = now.metrics.indexOf("count");
  const earlier = new Map((before?.buckets ?? []).map((bucket) => [bucket.group, bucket.values[0] ?? null]));
  const rows = now.buckets.map((bucket) => ({
    group: bucket.group,
    value: bucket.values[0] ?? null,
    count: bucket.values[count_at] ?? 0,
    before: before ? (earlier.get(bucket.group) ?? (is_sum(metric) ? 0 : null)) : null,
  }));
  const size = (row: TotalRow) => (is_sum(metric) ? (row.value ?? 0) : row.count);
  return rows.sort((one, other) => size(other) - size(one));
}

const factor = 10 ** 0.2;

export interface LatencyBucket {
  /** Nanoseconds. */
  from: number;
  to: number;
  title: string;
  /** For the filter of traces. */
  condition: string;
}

/** Every bucket from the shortest to the longest duration that was seen, also empty ones between them. */
export function latency_buckets(groups: string[]): LatencyBucket[] {
  const steps = groups.map((group) => Math.round(5 * Math.log10(Math.max(1, Number(group)))));
  if (steps.length === 0) return [];
  const buckets: LatencyBucket[] = [];
  for (let step = Math.min(...steps); step <= Math.max(...steps); step++) {
    const from = Math.round(10 ** (step / 5));
    const to = Math.round(10 ** (step / 5) * factor);
    const lower = step === 0 ? 0 : from;
    buckets.push({
      from,
      to,
      title: `${span_duration(lower)} – ${span_duration(to)}`,
      condition: `latency >= ${lower}ns and latency < ${to}ns`,
    });
  }
  return buckets;
}

/** Counts by bucket of latency and time, in the order of `latency_buckets`; without times there is one column. */
export function latency_cells(series: SpanSeries, from: number | null, to: number) {
  const buckets = latency_buckets(series.buckets.map((bucket) => bucket.group));
  const times = series.bucket_ns > 0 ? bucket_times(series, from, to) : [from ?? 0];
  const column = new Map(times.map((time, index) => [time, index]));
  const row = new Map(buckets.map((bucket, index) => [bucket.from, index]));
  const counts = buckets.map(() => times.map(() => 0));
  for (const bucket of series.buckets) {
    const step = Math.round(5 * Math.log10(Math.max(1, Number(bucket.group))));
    const cells = counts[row.get(Math.round(10 ** (step / 5))) ?? -1];
    const at = series.bucket_ns > 0 ? (column.get(to_milliseconds(bucket.time)) ?? -1) : 0;
    if (cells && at >= 0) cells[at] = (cells[at] ?? 0) + (bucket.values[0] ?? 0);
  }
  return { buckets, times, counts, most: Math.max(1, ...counts.flat()) };
}

/** Fields of a spreadsheet: quoted where needed, and never a formula. */
export function to_csv(rows: (string | number | null)[][]): string {
  const cell = (value: string | number | null) => {
    if (value === null) return "";
    const text = typeof value === "number" ? String(value) : value.replace(/^([=+@\t\r-])/, "'$1");
    return /[",\n\r]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
  };
  return `${rows.map((row) => row.map(cell).join(",")).join("\r\n")}\r\n`;
}
