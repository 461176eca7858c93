// Metrics that the application's senders measured themselves, over time: shown under the overview when there are any.

import { useMemo } from "preact/hooks";
import { api } from "../../api";
import type { MetricSeriesView, MetricView, Project } from "../../api_types";
import { money, short_count, span_duration } from "../../lib/format/number";
import { range_bounds } from "../../lib/format/range";
import { metric_lines } from "../../lib/view/metric_lines";
import { bucket_for } from "../../lib/view/series";
import { use_load } from "../../load";
import { Chart, choose_range } from "../../parts/chart";
import { current_range } from "../../parts/frame/time_range";
import { query } from "../../router";
import { project_route } from "./data";

const default_range = "24h";
const most_charts = 12;
const order = ["tokens", "cost", "latency", "usage"];

/** How the values of a unit are written. */
function text_of(unit: string): (value: number) => string {
  if (unit === "USD") return (value) => money(value * 1e6);
  if (unit === "s") return (value) => span_duration(value * 1e9);
  if (unit === "ms") return (value) => span_duration(value * 1e6);
  return short_count;
}

function MetricChart({ project, metric }: { project: Project; metric: MetricView }) {
  const range = query.value.get("range") ?? default_range;
  const load = use_load(`sent_metric/${project.id}/${range}/${metric.metric}`, async (signal) => {
    const now = Date.now();
    const bounds = range_bounds(current_range(default_range), now);
    const to = bounds.before ? Date.parse(bounds.before) : now;
    const from = bounds.after ? Date.parse(bounds.after) : Math.min(to, Date.parse(metric.last_time)) - 86_400_000;
    const series = await api.get<MetricSeriesView>(
      project_route(project, "metrics/series"),
      {
        metric: metric.metric,
        group_by: metric.use === "latency" ? "model" : "type",
        groups: 4,
        bucket: bucket_for(to - from).text,
        after: new Date(from).toISOString(),
        before: new Date(to).toISOString(),
      },
      signal,
    );
    return { series, from, to };
  });
  const chart = useMemo(() => load.data && metric_lines(load.data.series, load.data.from, load.data.to), [load.data]);
  if (!chart || chart.times.length === 0) return null;
  const what = metric.use === "latency" ? `${metric.metric} (mean)` : metric.metric;
  return (
    <Chart title={what} times={chart.times} lines={chart.lines} text={text_of(metric.unit)} on_range={choose_range} />
  );
}

export function SentMetrics({ project }: { project: Project }) {
  const range = query.value.get("range") ?? default_range;
  const load = use_load(`sent_metrics/${project.id}/${range}`, (signal) =>
    api.get<MetricView[]>(
      project_route(project, "metrics"),
      range_bounds(current_range(default_range), Date.now()),
      signal,
    ),
  );
  const metrics = [...(load.data ?? [])].sort((a, b) => order.indexOf(a.use) - order.indexOf(b.use));
  if (metrics.length === 0) return null;
  return (
    <section aria-label="Metrics from senders">
      <h2>Metrics from senders</h2>
      <p class="faint">
        Measured by the application itself and sent to /v1/metrics. The charts above are computed from spans.
      </p>
      <div class="charts">
        {metrics.slice(0, most_charts).map((metric) => (
          <MetricChart key={metric.metric} project={project} metric={metric} />
        ))}
      </div>
      {metrics.length > most_charts && (
        <p class="faint">
          <code>hone metrics</code> lists {metrics.length - most_charts} more.
        </p>
      )}
    </section>
  );
}
