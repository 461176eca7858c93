// Time series: a bucket length for a range, and one value for every bucket.

import type { SpanSeries } from "../../api_types";
import { to_milliseconds } from "../format/time";

const minute = 60_000;
const hour = 60 * minute;
const steps: [string, number][] = [
  ["1m", minute],
  ["5m", 5 * minute],
  ["15m", 15 * minute],
  ["1h", hour],
  ["3h", 3 * hour],
  ["6h", 6 * hour],
  ["24h", 24 * hour],
];

export interface Bucket {
  /** As the API takes it: "15m". */
  text: string;
  milliseconds: number;
}

/** The shortest bucket that gives at most 100 of them. */
export function bucket_for(milliseconds: number): Bucket {
  const found = steps.find(([, length]) => milliseconds / length <= 100) ?? steps[steps.length - 1];
  const [text, length] = found ?? ["1h", hour];
  return { text, milliseconds: length };
}

export interface Chart {
  /** Starts of the buckets, milliseconds since 1970. */
  times: number[];
  /** By metric; null where there is no value. */
  values: Record<string, (number | null)[]>;
}

/** Counts are zero in empty buckets; other metrics have no value there. */
const counting = ["count", "errors", "tokens", "cost", "traces"];

export function to_chart(series: SpanSeries, from: number | null, to: number): Chart {
  const step = series.bucket_ns / 1e6;
  const known = new Map(series.buckets.map((bucket) => [to_milliseconds(bucket.time), bucket.values]));
  const first = from === null ? Math.min(to, ...known.keys()) : from;
  const times: number[] = [];
  if (step > 0)
    for (let at = Math.floor(first / step) * step; at < to && times.length < 5000; at += step) times.push(at);
  const values: Chart["values"] = {};
  for (const [index, metric] of series.metrics.entries()) {
    const empty = counting.includes(metric) ? 0 : null;
    values[metric] = times.map((time) => known.get(time)?.[index] ?? empty);
  }
  return { times, values };
}

/** Spans as stacked bars: failed ones at the bottom, the others above them. Hover and table show the count of each. */
export function outcome_lines({ values }: Chart) {
  const all = values.count ?? [];
  const failed = values.errors ?? [];
  return [
    {
      title: "OK",
      colour: "--bar",
      bars: true,
      values: all,
      shown: all.map((count, at) => (count ?? 0) - (failed[at] ?? 0)),
    },
    { title: "failed", colour: "--failed", bars: true, values: failed },
  ];
}
