// Two time windows side by side: changes of errors, latency, tokens and cost, by span or model.

import { api } from "../../api";
import type { ComparisonView, GroupChange, MetricChange, Project } from "../../api_types";
import { quoted } from "../../lib/filter/span_filter";
import { type Baseline, baseline_window, change_text, verdict } from "../../lib/format/change";
import { money, short_count, span_duration } from "../../lib/format/number";
import { range_bounds } from "../../lib/format/range";
import { local_time } from "../../lib/format/time";
import { reload, use_load } from "../../load";
import { current_range } from "../../parts/frame/time_range";
import { Data, Empty } from "../../parts/state";
import { query, set_query } from "../../router";
import { traces_page } from "../addresses";
import { project_route } from "./data";

const default_range = "24h";
const groupings = ["name", "model", "service", "kind"];
const baselines: Record<Baseline, string> = {
  previous: "the previous period",
  day: "the day before",
  week: "the week before",
};
const columns: [string, string][] = [
  ["count", "Spans"],
  ["errors", "Errors"],
  ["latency_p50", "p50"],
  ["latency_p95", "p95"],
  ["tokens", "Tokens"],
  ["cost", "Cost"],
];

const metric_of = (change: GroupChange, metric: string): MetricChange | undefined =>
  change.metrics.find((one) => one.metric === metric);

function value_text(metric: string, value: number | null): string {
  if (value === null) return "–";
  if (metric.startsWith("latency")) return span_duration(value);
  if (metric === "cost") return money(value * 1e6);
  return short_count(Math.round(value));
}

function Change({ metric, change }: { metric: string; change: MetricChange | undefined }) {
  const baseline = change?.baseline ?? null;
  const current = change?.current ?? null;
  const tone = verdict(metric, baseline, current);
  const text = change_text(baseline, current);
  return (
    <>
      <span title={`before: ${value_text(metric, baseline)}`}>{value_text(metric, current)}</span>
      <span class={`change ${tone}`}>
        {text === "same" ? "" : text}
        {tone === "worse" && <span class="off-screen"> (worse)</span>}
        {tone === "better" && <span class="off-screen"> (better)</span>}
      </span>
    </>
  );
}

function Select({
  label,
  value,
  options,
  on_change,
}: {
  label: string;
  value: string;
  options: [string, string][];
  on_change: (value: string) => void;
}) {
  return (
    <label class="compare-choice">
      {label}
      <select value={value} onChange={(event) => on_change(event.currentTarget.value)}>
        {options.map(([id, title]) => (
          <option key={id} value={id}>
            {title}
          </option>
        ))}
      </select>
    </label>
  );
}

function windows(kind: Baseline): Record<string, string> {
  const now = Date.now();
  const bounds = range_bounds(current_range(default_range), now);
  const before = bounds.before ? Date.parse(bounds.before) : now;
  const after = bounds.after ? Date.parse(bounds.after) : before - 86_400_000;
  const baseline = baseline_window(after, before, kind);
  const text = (time: number) => new Date(time).toISOString();
  return {
    after: text(after),
    before: text(before),
    baseline_after: text(baseline.after),
    baseline_before: text(baseline.before),
  };
}

export function Compare({ project }: { project: Project }) {
  const range = query.value.get("range") ?? default_range;
  const grouping = query.value.get("by") ?? "name";
  const kind = (query.value.get("with") ?? "previous") as Baseline;
  const key = `compare/${project.id}/${range}/${grouping}/${kind}`;
  const load = use_load(key, (signal) =>
    api.get<ComparisonView>(
      project_route(project, "compare"),
      { ...windows(kind in baselines ? kind : "previous"), group_by: grouping, groups: 30 },
      signal,
    ),
  );
  const short = (time: string) => local_time(time).slice(5, 16);
  return (
    <>
      <div class="compare-bar">
        <Select
          label="Compare with"
          value={kind}
          options={Object.entries(baselines)}
          on_change={(value) => set_query({ with: value === "previous" ? null : value })}
        />
        <Select
          label="Group by"
          value={grouping}
          options={groupings.map((name) => [name, name])}
          on_change={(value) => set_query({ by: value === "name" ? null : value })}
        />
        {load.data && (
          <span class="faint">
            {short(load.data.after)} to {short(load.data.before)}, before: {short(load.data.baseline_after)} to{" "}
            {short(load.data.baseline_before)}
          </span>
        )}
      </div>
      <Data load={load} retry={() => void reload(key)}>
        {(data) =>
          (metric_of(data.all, "count")?.current ?? 0) + (metric_of(data.all, "count")?.baseline ?? 0) === 0 ? (
            <Empty
              icon="trace"
              title="No spans in either window"
              text="Choose a longer time range, or compare with another period."
            />
          ) : (
            <table class="rank-table compare-table" aria-label="Compared windows">
              <thead>
                <tr>
                  <th scope="col">{grouping}</th>
                  {columns.map(([metric, title]) => (
                    <th key={metric} scope="col">
                      {title}
                    </th>
                  ))}
                </tr>
              </thead>
              <tbody>
                {[data.all, ...data.groups].map((row, index) => (
                  <tr key={index === 0 ? " all" : row.group} class={index === 0 ? "compare-all" : ""}>
                    <th scope="row">
                      {index === 0 ? (
                        "All spans"
                      ) : row.group === "" ? (
                        <span class="faint">none</span>
                      ) : (
                        <a
                          class="cell-link"
                          title={row.group}
                          href={traces_page(
                            project.name,
                            `${grouping} = ${grouping === "kind" ? row.group : quoted(row.group)}`,
                            range,
                          )}
                        >
                          {row.group}
                        </a>
                      )}
                    </th>
                    {columns.map(([metric]) => (
                      <td key={metric}>
                        <Change metric={metric} change={metric_of(row, metric)} />
                      </td>
                    ))}
                  </tr>
                ))}
              </tbody>
            </table>
          )
        }
      </Data>
    </>
  );
}
