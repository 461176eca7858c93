// Explore: a chart from a filter, a metric and a grouping; compared with another period or between two groups.

import { useEffect, useId } from "preact/hooks";
import { api } from "../../api";
import type { AttributeKeyCount, EvalNameView, FacetValue, Project } from "../../api_types";
import { carry_filter } from "../../carried";
import { quoted } from "../../lib/filter/span_filter";
import { change_text, verdict } from "../../lib/format/change";
import { exact_count, short_count } from "../../lib/format/number";
import { range_bounds } from "../../lib/format/range";
import type { Params } from "../../lib/route";
import { capital, metric_info, metric_names } from "../../lib/sentences/metric";
import {
  type ChartSettings,
  chart_parameters,
  type Draw,
  draws,
  read_chart,
  series_text,
  type TotalRow,
  write_chart,
} from "../../lib/view/explore";
import { reload, use_load } from "../../load";
import { current_range } from "../../parts/frame/time_range";
import { PageHeader } from "../../parts/page";
import { Data, Empty } from "../../parts/state";
import { query, set_query } from "../../router";
import { dashboards_page, explore_page, sql_page, traces_page } from "../addresses";
import { project_route, use_project } from "../projects/data";
import { SpanFilterBar, use_filter_fields } from "../traces/span_filter_bar";
import { ExploreChart, row_of } from "./chart";
import { baseline_titles, type ChartData, default_range, filter_of, is_complete } from "./data";
import { Sides } from "./sides";

/** Charts that people need first. */
const ready: [string, string][] = [
  ["Cost by model", "metric=cost&by=model&draw=bars"],
  ["Cost by user", "metric=cost&by=user&draw=bars"],
  ["Tokens by model", "metric=tokens&by=model&draw=bars"],
  ["Tokens by user", "metric=tokens&by=user&draw=bars"],
  ["Cost by version", "metric=cost&by=version&draw=bars"],
  ["p95 by version", "metric=latency_p95&by=version&filter=root+%3D+true"],
  ["Errors by tool", "metric=errors&by=tool&filter=kind+%3D+tool&draw=bars"],
  ["Latency histogram", "draw=histogram&filter=root+%3D+true"],
  ["Latency heat map", "draw=heat&filter=root+%3D+true"],
];

/** Fields with few values, which make useful groups; attributes come from the data. */
const fields = [
  "name",
  "kind",
  "status",
  "service",
  "version",
  "model",
  "provider",
  "user",
  "session",
  "tool",
  "exception",
];

interface SelectProps {
  label: string;
  value: string;
  options: [string, string][];
  on_change: (value: string) => void;
}

export function Select({ label, value, options, on_change }: SelectProps) {
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

function GroupBy({
  project,
  value,
  on_change,
}: {
  project: Project;
  value: string;
  on_change: (text: string) => void;
}) {
  const list = useId();
  const keys = use_load(`attribute_keys/${project.id}/explore`, (signal) =>
    api.get<AttributeKeyCount[]>(project_route(project, "attribute_keys"), {}, signal),
  ).data;
  return (
    <label class="compare-choice">
      Group by
      <input
        class="group-by"
        list={list}
        value={value}
        placeholder="nothing"
        spellcheck={false}
        onChange={(event) => on_change(event.currentTarget.value.trim())}
      />
      <datalist id={list}>
        {fields.map((name) => (
          <option key={name} value={name} />
        ))}
        {keys?.map(({ key }) => (
          <option key={key} value={`attributes["${key}"]`} />
        ))}
      </datalist>
    </label>
  );
}

function EvalChoice({ project, chart, change }: { project: Project; chart: ChartSettings; change: Change }) {
  const names = use_load(`eval_names/${project.id}`, (signal) =>
    api.get<EvalNameView[]>(project_route(project, "eval_names"), {}, signal),
  ).data;
  return (
    <>
      <Select
        label="Eval"
        value={chart.eval_name}
        options={[["", "choose"], ...(names ?? []).map(({ name }): [string, string] => [name, name])]}
        on_change={(eval_name) => change({ eval_name })}
      />
      {chart.metric === "eval_rate" && (
        <label class="compare-choice">
          Label
          <input
            value={chart.eval_label}
            spellcheck={false}
            onChange={(event) => change({ eval_label: event.currentTarget.value.trim() })}
          />
        </label>
      )}
    </>
  );
}

type Change = (part: Partial<ChartSettings>) => void;

/** Two values of the grouping, to be compared. */
function TwoSides({ project, chart, change }: { project: Project; chart: ChartSettings; change: Change }) {
  const range = query.value.get("range") ?? default_range;
  const values = use_load(`facets/${project.id}/${range}/${chart.by}/${chart.filter}`, (signal) =>
    api.get<FacetValue[]>(
      project_route(project, "facets"),
      { field: chart.by, filter: chart.filter, limit: 100, ...range_bounds(current_range(default_range), Date.now()) },
      signal,
    ),
  ).data;
  const options = (values ?? [])
    .filter((one) => one.value !== "")
    .map((one): [string, string] => [one.value, `${one.value} (${short_count(one.count)})`]);
  if (options.length < 2 && chart.a === "") return null;
  // A choice of one side takes the largest other value for the other one.
  const other = (value: string) => options.find(([one]) => one !== value)?.[0] ?? "";
  const choose = (side: "a" | "b", value: string) => {
    if (value === "") change({ a: "", b: "" });
    else if (side === "a") change({ a: value, b: chart.b !== "" && chart.b !== value ? chart.b : other(value) });
    else change({ b: value, a: chart.a !== "" && chart.a !== value ? chart.a : other(value) });
  };
  return (
    <>
      <Select label="A" value={chart.a} options={[["", "all"], ...options]} on_change={(value) => choose("a", value)} />
      <Select label="B" value={chart.b} options={[["", "all"], ...options]} on_change={(value) => choose("b", value)} />
    </>
  );
}

function Controls({ project, chart, change }: { project: Project; chart: ChartSettings; change: Change }) {
  const is_latency = chart.draw === "histogram" || chart.draw === "heat";
  return (
    <div class="compare-bar explore-bar">
      <Select
        label="Draw"
        value={chart.draw}
        options={Object.entries(draws)}
        on_change={(draw) => change({ draw: draw as Draw })}
      />
      {!is_latency && (
        <>
          <Select
            label="Metric"
            value={chart.metric}
            options={metric_names.map((name) => [name, metric_info(name).title])}
            on_change={(metric) => change({ metric })}
          />
          {chart.metric.startsWith("eval_") && <EvalChoice project={project} chart={chart} change={change} />}
          <GroupBy project={project} value={chart.by} on_change={(by) => change({ by, a: "", b: "" })} />
          {chart.by !== "" && <TwoSides project={project} chart={chart} change={change} />}
          <Select
            label="Compare with"
            value={chart.baseline}
            options={[["", "nothing"], ...Object.entries(baseline_titles)]}
            on_change={(value) => change({ baseline: value as ChartSettings["baseline"] })}
          />
        </>
      )}
    </div>
  );
}

function Changed({ metric, row }: { metric: string; row: TotalRow }) {
  const tone = verdict(metric, row.before, row.value);
  const text = change_text(row.before, row.value);
  return (
    <>
      {row.before === null ? "–" : series_text(metric)(row.before)}
      <span class={`change ${tone}`}>
        {text === "same" ? "" : text}
        {tone === "worse" && <span class="off-screen"> (worse)</span>}
        {tone === "better" && <span class="off-screen"> (better)</span>}
      </span>
    </>
  );
}

function Totals({ project, chart, data }: { project: string; chart: ChartSettings; data: ChartData }) {
  const is_latency = chart.draw === "histogram" || chart.draw === "heat";
  const metric = is_latency ? "count" : chart.metric;
  const grouped = is_latency || chart.by !== "";
  const range = query.value.get("range") ?? default_range;
  const rows = is_latency ? [...data.rows].sort((a, b) => Number(a.group) - Number(b.group)) : data.rows;
  const all = grouped && !is_latency && chart.a === "" && data.total ? [data.total] : grouped ? [] : [data.total];
  const text = series_text(metric);
  const link = (condition: string) => {
    const filter = [chart.filter === "" ? "" : `(${chart.filter})`, condition].filter((part) => part !== "");
    return traces_page(project, filter.length === 1 && condition === "" ? chart.filter : filter.join(" and "), range);
  };
  const line = (row: TotalRow, is_all: boolean) => {
    const named = is_all ? { title: "All spans", condition: "" } : row_of(chart, row.group, quoted);
    return (
      <tr key={is_all ? " all" : row.group} class={is_all ? "compare-all" : ""}>
        <th scope="row">
          {row.group === "" && !is_all ? (
            <span class="faint">{named.title}</span>
          ) : (
            <a class="cell-link" href={link(named.condition)} title={named.title}>
              {named.title}
            </a>
          )}
        </th>
        <td title={row.value === null ? undefined : String(row.value)}>{row.value === null ? "–" : text(row.value)}</td>
        {metric !== "count" && <td title={exact_count(row.count)}>{short_count(row.count)}</td>}
        {data.before && (
          <td>
            <Changed metric={metric} row={row} />
          </td>
        )}
      </tr>
    );
  };
  return (
    <table class="rank-table explore-table" aria-label="Values of the range">
      <thead>
        <tr>
          <th scope="col">{is_latency ? "Latency" : grouped ? chart.by : "Spans"}</th>
          <th scope="col">{capital(metric_info(metric).title)}</th>
          {metric !== "count" && <th scope="col">Spans</th>}
          {data.before && <th scope="col">Before</th>}
        </tr>
      </thead>
      <tbody>
        {all.map((row) => row && line(row, true))}
        {grouped && rows.map((row) => line(row, false))}
      </tbody>
    </table>
  );
}

export function Explore({ params }: { params: Params }) {
  const project = use_project(params);
  const name = params.project ?? "";
  const chart = read_chart(query.value);
  const range = query.value.get("range") ?? default_range;
  const known = use_filter_fields();
  useEffect(() => carry_filter(name, chart.filter), [name, chart.filter]);
  const change: Change = (part) => set_query(chart_parameters({ ...chart, ...part }));
  const active = write_chart(chart);
  return (
    <div class="page">
      <PageHeader
        title="Explore"
        text="A chart from a filter, a metric and a grouping. Drag in it to choose a time range."
      >
        <a class="button" href={dashboards_page(name)}>
          Dashboards
        </a>
      </PageHeader>
      <Data load={project} retry={() => void reload("project/")}>
        {(one) => (
          <>
            {chart.sql === "" && (
              <>
                <nav class="ready-charts" aria-label="Ready charts">
                  {ready.map(([title, text]) => (
                    <a
                      key={title}
                      href={`${explore_page(name)}?${text}&range=${encodeURIComponent(range)}`}
                      aria-current={write_chart(read_chart(new URLSearchParams(text))) === active ? "true" : undefined}
                    >
                      {title}
                    </a>
                  ))}
                </nav>
                <SpanFilterBar
                  project={one}
                  text={chart.filter}
                  bounds={range_bounds(current_range(default_range), Date.now())}
                  range={range}
                  error={null}
                  on_change={(filter) => change({ filter })}
                />
                <Controls project={one} chart={chart} change={change} />
              </>
            )}
            {chart.sql !== "" && (
              <p class="page-text">
                A chart of a query. <a href={sql_page(name, chart.sql)}>Change the query</a>
              </p>
            )}
            {is_complete(chart) || known.length === 0 ? (
              <ExploreChart
                project={one}
                chart={chart}
                height={280}
                is_open
                below={(data, drawn) => (
                  <>
                    {drawn.a !== "" && drawn.b !== "" && (
                      <Sides project={one} chart={drawn} filter={filter_of(drawn)} />
                    )}
                    <Totals project={name} chart={drawn} data={data} />
                  </>
                )}
              />
            ) : (
              <Empty icon="scale" title="Choose an eval" text="This metric is about the results of one eval." />
            )}
          </>
        )}
      </Data>
    </div>
  );
}
