// The metric that an issue is about, from before it began until now, with the value of both times.

import { useMemo } from "preact/hooks";
import { api } from "../../api";
import type { Issue, Project, SpanSeries } from "../../api_types";
import { change_text } from "../../lib/format/change";
import { to_milliseconds } from "../../lib/format/time";
import { metric_info } from "../../lib/sentences/metric";
import { series_text } from "../../lib/view/explore";
import { issue_metric } from "../../lib/view/issue_metric";
import { bucket_for, to_chart } from "../../lib/view/series";
import { reload, use_load } from "../../load";
import { Chart, type Line } from "../../parts/chart";
import { Data } from "../../parts/state";
import { explore_page } from "../addresses";
import { project_route } from "../projects/data";

const day = 86_400_000;

/** As long before the issue began as after it, at least a day. */
function window_of(issue: Issue): { from: number; begin: number; to: number } {
  const begin = to_milliseconds(issue.first_seen);
  const to = Math.max(to_milliseconds(issue.last_seen) + 1, begin + 3_600_000);
  return { from: begin - Math.min(7 * day, Math.max(day, to - begin)), begin, to };
}

export function BeforeAfter({ issue, project }: { issue: Issue; project: Project }) {
  const about = issue_metric(issue.detector, issue.filter);
  const { from, begin, to } = window_of(issue);
  const key = `issue_metric/${issue.id}/${issue.last_seen}`;
  const load = use_load(about ? key : null, async (signal) => {
    const metrics = [about?.main, about?.other].filter((name) => name !== "").join(",");
    const read = (after: number, before: number, bucket: string) => {
      const bounds = { after: new Date(after).toISOString(), before: new Date(before).toISOString() };
      const wanted = { metrics, filter: about?.filter, bucket, ...bounds };
      return api.get<SpanSeries>(project_route(project, "series"), wanted, signal);
    };
    const [series, before, after] = await Promise.all([
      read(from, to, bucket_for(to - from).text),
      read(from, begin, "0s"),
      read(begin, to, "0s"),
    ]);
    const value = (one: SpanSeries) => one.buckets[0]?.values[0] ?? null;
    return { series, before: value(before), after: value(after) };
  });
  const drawn = useMemo(() => {
    if (!load.data || !about) return null;
    const { series, before, after } = load.data;
    const chart = to_chart(series, from, to);
    const lines: Line[] = [
      { title: metric_info(about.main).title, colour: "--g1", values: chart.values[about.main] ?? [] },
    ];
    if (about.other)
      lines.unshift({ title: metric_info(about.other).title, colour: "--g4", values: chart.values[about.other] ?? [] });
    // The values of whole times can only be drawn beside curves of the same kind.
    if (about.other)
      lines.push(
        {
          title: "before",
          colour: "--done",
          dashed: true,
          values: chart.times.map((at) => (at < begin ? before : null)),
        },
        {
          title: "after",
          colour: "--failed",
          dashed: true,
          values: chart.times.map((at) => (at < begin ? null : after)),
        },
      );
    return { times: chart.times, lines };
  }, [load.data]);
  if (!about) return null;
  const text = series_text(about.main);
  const shown = (value: number | null) => (value === null ? "no spans" : text(value));
  const address = new URLSearchParams({ metric: about.main, filter: about.filter });
  return (
    <section class="section" aria-label={about.title}>
      <Data load={load} retry={() => void reload(key)}>
        {(data) => (
          <>
            {drawn && <Chart title={about.title} {...drawn} text={text} height={150} />}
            <p class="soft">
              {metric_info(about.main).title}: <b>{shown(data.before)}</b> before, <b>{shown(data.after)}</b> since{" "}
              {data.before !== null && data.after !== null && `(${change_text(data.before, data.after)})`}{" "}
              <a href={`${explore_page(project.name)}?${address}`}>Open in Explore</a>
            </p>
          </>
        )}
      </Data>
    </section>
  );
}
