// Two groups beside each other, such as two versions: every metric of A and B, and the difference.

import { api } from "../../api";
import type { Project, SpanSeries } from "../../api_types";
import { change_text, verdict } from "../../lib/format/change";
import { range_bounds } from "../../lib/format/range";
import { capital, metric_info } from "../../lib/sentences/metric";
import { type ChartSettings, series_text } from "../../lib/view/explore";
import { reload, use_load } from "../../load";
import { current_range } from "../../parts/frame/time_range";
import { Data } from "../../parts/state";
import { query } from "../../router";
import { project_route } from "../projects/data";
import { default_range } from "./data";

const metrics = [
  "traces",
  "count",
  "error_rate",
  "latency_p50",
  "latency_p95",
  "latency_p99",
  "first_token_p50",
  "tokens",
  "cost",
];

interface SidesProps {
  project: Project;
  chart: ChartSettings;
  filter: string;
}

export function Sides({ project, chart, filter }: SidesProps) {
  const range = query.value.get("range") ?? default_range;
  const key = `explore_sides/${project.id}/${range}/${chart.by}/${filter}`;
  const load = use_load(key, (signal) =>
    api.get<SpanSeries>(
      project_route(project, "series"),
      {
        metrics: metrics.join(","),
        bucket: "0s",
        group_by: chart.by,
        filter,
        ...range_bounds(current_range(default_range), Date.now()),
      },
      signal,
    ),
  );
  return (
    <Data load={load} retry={() => void reload(key)}>
      {(series) => {
        const side = (group: string) => series.buckets.find((bucket) => bucket.group === group)?.values ?? [];
        const a = side(chart.a);
        const b = side(chart.b);
        return (
          <table class="rank-table explore-table" aria-label="A and B">
            <thead>
              <tr>
                <th scope="col">Metric</th>
                <th scope="col" title={chart.a}>
                  A: {chart.a}
                </th>
                <th scope="col" title={chart.b}>
                  B: {chart.b}
                </th>
                <th scope="col">Change</th>
              </tr>
            </thead>
            <tbody>
              {metrics.map((metric, index) => {
                const values = [a[index] ?? null, b[index] ?? null] as const;
                const tone = verdict(metric, values[0], values[1]);
                const text = (value: number | null) => (value === null ? "–" : series_text(metric)(value));
                return (
                  <tr key={metric}>
                    <th scope="row">{capital(metric_info(metric).title)}</th>
                    <td>{text(values[0])}</td>
                    <td>{text(values[1])}</td>
                    <td>
                      <span class={`change ${tone}`}>
                        {change_text(values[0], values[1])}
                        {tone === "worse" && <span class="off-screen"> (worse)</span>}
                        {tone === "better" && <span class="off-screen"> (better)</span>}
                      </span>
                    </td>
                  </tr>
                );
              })}
            </tbody>
          </table>
        );
      }}
    </Data>
  );
}
