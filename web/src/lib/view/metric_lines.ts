// The series of a metric as lines of a chart: one for each group, with a value for every bucket.

import type { MetricSeriesView } from "../../api_types";
import { to_milliseconds } from "../format/time";

const colours = ["--bar", "--waiting", "--running", "--accent", "--failed"];

export interface MetricLine {
  title: string;
  colour: string;
  values: (number | null)[];
  bars: boolean;
}

/** Latencies are means and have no value where nothing was measured; sums are zero there. */
export function metric_lines(
  series: MetricSeriesView,
  from: number,
  to: number,
): { times: number[]; lines: MetricLine[] } {
  const step = series.bucket_ns / 1e6;
  const times: number[] = [];
  if (step > 0 && series.buckets.length > 0)
    for (let at = Math.floor(from / step) * step; at < to && times.length < 5000; at += step) times.push(at);
  const is_mean = series.use === "latency" || series.kind === "gauge";
  const groups = new Map<string, Map<number, number | null>>();
  for (const bucket of series.buckets) {
    const known = groups.get(bucket.group) ?? new Map<number, number | null>();
    known.set(to_milliseconds(bucket.time), series.use === "latency" ? (bucket.mean ?? null) : bucket.sum);
    groups.set(bucket.group, known);
  }
  const lines = [...groups].map(([group, known], index) => ({
    title: group || (groups.size > 1 ? "other" : "all"),
    colour: colours[index % colours.length] ?? "--bar",
    bars: !is_mean && groups.size === 1,
    values: times.map((time) => known.get(time) ?? (is_mean ? null : 0)),
  }));
  return { times, lines };
}
