// One chart of Explore or of a dashboard, with what can be done with it.

import type { ComponentChildren } from "preact";
import { useMemo, useRef, useState } from "preact/hooks";
import type { Project } from "../../api_types";
import {
  type ChartSettings,
  chart_lines,
  chart_title,
  group_name,
  latency_buckets,
  series_text,
  to_csv,
  write_chart,
} from "../../lib/view/explore";
import { reload } from "../../load";
import { can } from "../../login";
import { Chart, choose_range } from "../../parts/chart";
import { copy_text } from "../../parts/copy";
import { Icon } from "../../parts/icon";
import { Menu, type MenuItem } from "../../parts/menu";
import { chart_picture, file_name, save_file } from "../../parts/save_file";
import { Data, Empty } from "../../parts/state";
import { toast_done, toast_failed } from "../../parts/toast";
import { navigate, query } from "../../router";
import { explore_page, monitor_page, traces_page } from "../addresses";
import { AskButton } from "../runs/ask";
import { type ChartData, default_range, filter_of, use_chart } from "./data";
import { LatencyPlot } from "./latency_plot";
import { PinDialog } from "./pin";
import { SqlPlot, use_sql } from "./sql_plot";

type Table = () => (string | number | null)[][] | null;

/** As fields of the form of a new monitor. */
export function monitor_address(project: string, chart: ChartSettings): string {
  const fields = new URLSearchParams();
  if (chart.sql !== "") fields.set("sql", chart.sql);
  else {
    fields.set("metric", chart.draw === "histogram" || chart.draw === "heat" ? "latency_p95" : chart.metric);
    if (filter_of(chart) !== "") fields.set("filter", filter_of(chart));
    if (chart.by !== "" && chart.draw !== "histogram" && chart.draw !== "heat") fields.set("group_by", chart.by);
    if (chart.eval_name !== "") fields.set("eval", chart.eval_name);
    if (chart.eval_label !== "") fields.set("label", chart.eval_label);
  }
  return `${monitor_page(project, "new")}?${fields}`;
}

interface ActionsProps {
  project: Project;
  chart: ChartSettings;
  title: string;
  figure: () => HTMLElement | null;
  table: Table;
  /** Of a chart on a dashboard. */
  more?: MenuItem[];
  /** The chart is on its own page already. */
  is_open?: boolean;
  /** What the chart shows, for "Ask a worker"; the title if not given. */
  about?: string;
}

export function ChartActions({
  project,
  chart,
  title,
  figure,
  table,
  more = [],
  is_open = false,
  about = title,
}: ActionsProps) {
  const [pinning, set_pinning] = useState(false);
  const range = query.value.get("range") ?? default_range;
  const address = `${explore_page(project.name)}?${write_chart(chart)}&range=${encodeURIComponent(range)}`;
  const save_picture = async () => {
    const box = figure();
    const picture = box && (await chart_picture(box, title));
    if (picture) save_file(`${file_name(title)}.png`, picture);
    else toast_failed("Could not save the picture", new Error("There is no drawn chart to save."));
  };
  const save_table = () => {
    const rows = table();
    if (rows) save_file(`${file_name(title)}.csv`, new Blob([to_csv(rows)], { type: "text/csv" }));
  };
  const items: MenuItem[] = [];
  if (!is_open) items.push({ title: "Open in Explore", icon: "explore", run: () => navigate(address) });
  if (can("project_update")) items.push({ title: "Pin to a dashboard…", icon: "plus", run: () => set_pinning(true) });
  if (can("monitor_write"))
    items.push({
      title: "Create a monitor",
      icon: "gauge",
      run: () => navigate(monitor_address(project.name, chart)),
    });
  items.push(
    {
      title: "Copy link",
      icon: "link",
      run: () => void copy_text(`${window.location.origin}${address}`).then(() => toast_done("Link copied")),
    },
    { title: "Download as PNG", icon: "download", divided: true, run: () => void save_picture() },
    { title: "Download as CSV", icon: "download", run: save_table },
    ...more,
  );
  return (
    <>
      {chart.sql === "" && (
        <AskButton
          project={project.name}
          about_name={title}
          about={[
            { kind: "chart", value: filter_of(chart) === "" ? about : `${about} of spans with ${filter_of(chart)}` },
            { kind: "range", value: range },
          ]}
        />
      )}
      <Menu
        label={`Actions of ${title}`}
        align="right"
        class="quiet icon-only"
        button={<Icon name="more" />}
        items={items}
      />
      {pinning && <PinDialog project={project} chart={chart} title={title} on_close={() => set_pinning(false)} />}
    </>
  );
}

/** Times and values of the drawn lines. */
export function lines_table(
  times: number[],
  lines: { title: string; values: (number | null)[]; shown?: (number | null)[] }[],
) {
  const head = ["time", ...lines.map((line) => line.title)];
  const rows = times.map((time, at) => [
    new Date(time).toISOString(),
    ...lines.map((line) => (line.shown ?? line.values)[at] ?? null),
  ]);
  return [head, ...rows];
}

interface ExploreChartProps {
  project: Project;
  chart: ChartSettings;
  title?: string;
  height?: number;
  more?: MenuItem[];
  is_open?: boolean;
  /** Below the chart; with its settings, which are those of the last chart while the next one loads. */
  below?: (data: ChartData, chart: ChartSettings) => ComponentChildren;
}

const no_spans = (
  <Empty
    icon="explore"
    title="No spans match"
    text="Choose a longer time range, or remove a condition of the filter."
  />
);

function Drawn(props: ExploreChartProps & { data: ChartData; name: string }) {
  const { project, chart, data, name, more, is_open } = props;
  const figure = useRef<HTMLDivElement>(null);
  const is_latency = chart.draw === "histogram" || chart.draw === "heat";
  const drawn = useMemo(
    () =>
      is_latency
        ? null
        : chart_lines({
            ...data,
            metric: chart.metric,
            draw: chart.draw,
            by: chart.by,
            groups: data.rows.map((row) => row.group),
          }),
    [data, chart.metric, chart.draw, chart.by],
  );
  const table: Table = () => {
    if (drawn) return lines_table(drawn.times, drawn.lines);
    const rows = data.series.buckets.map((bucket) => [bucket.time, Number(bucket.group), bucket.values[0] ?? 0]);
    return [["time", "latency_from_ns", "spans"], ...rows];
  };
  const actions = (
    <ChartActions
      project={project}
      chart={chart}
      title={name}
      figure={() => figure.current}
      table={table}
      more={more}
      is_open={is_open}
    />
  );
  const open_cell = (condition: string, from: number | null, to: number | null) => {
    const filter = chart.filter === "" ? condition : `(${chart.filter}) and ${condition}`;
    const minute = (time: number) => `${new Date(time).toISOString().slice(0, 16)}Z`;
    const range =
      from === null || to === null
        ? (query.value.get("range") ?? default_range)
        : `${minute(from)}..${minute(Math.max(to, from + 60_000))}`;
    navigate(traces_page(project.name, filter, range));
  };
  return (
    <div ref={figure}>
      {drawn ? (
        <Chart
          title={name}
          times={drawn.times}
          lines={drawn.lines}
          text={series_text(chart.metric)}
          on_range={choose_range}
          height={props.height}
          actions={actions}
        />
      ) : (
        <figure class="chart" aria-label={name}>
          <figcaption>
            <h2>{name}</h2>
            {actions}
          </figcaption>
          <LatencyPlot title={name} series={data.series} from={data.from} to={data.to} open={open_cell} />
        </figure>
      )}
    </div>
  );
}

export function ExploreChart(props: ExploreChartProps) {
  const { project, chart } = props;
  const name = props.title ?? chart_title(chart);
  const range = query.value.get("range") ?? default_range;
  const { key, load } = use_chart(chart.sql === "" ? project : undefined, chart, range);
  // Another metric or grouping: the old chart stays until the new one is there.
  const last = useRef<{ chart: ChartSettings; data: ChartData } | null>(null);
  if (load.data) last.current = { chart, data: load.data };
  if (chart.sql !== "") return <SqlChart {...props} name={name} />;
  const waits = !load.data && !load.error && last.current !== null;
  const shown = waits && last.current ? { ...load, data: last.current.data } : load;
  const drawn = waits && last.current ? last.current.chart : chart;
  return (
    <Data load={shown} retry={() => void reload(key)}>
      {(data) =>
        (data.total?.count ?? 0) === 0 ? (
          <>
            <h2>{name}</h2>
            {no_spans}
          </>
        ) : (
          <div class={waits ? "waits" : undefined} aria-busy={waits}>
            <Drawn {...props} chart={drawn} data={data} name={props.title ?? chart_title(drawn)} />
            {props.below?.(data, drawn)}
          </div>
        )
      }
    </Data>
  );
}

function SqlChart({ project, chart, name, more, is_open }: ExploreChartProps & { name: string }) {
  const figure = useRef<HTMLDivElement>(null);
  const { key, load } = use_sql(project, chart.sql, query.value.get("range") ?? default_range);
  const table: Table = () =>
    load.data
      ? [
          load.data.meta.map((column) => column.name),
          ...load.data.data.map((row) => load.data?.meta.map((column) => to_cell(row[column.name])) ?? []),
        ]
      : null;
  const actions = (
    <ChartActions
      project={project}
      chart={chart}
      title={name}
      figure={() => figure.current}
      table={table}
      more={more}
      is_open={is_open}
    />
  );
  return (
    <div ref={figure}>
      <Data load={load} retry={() => void reload(key)}>
        {(result) => <SqlPlot title={name} result={result} bars={chart.draw === "bars"} actions={actions} />}
      </Data>
    </div>
  );
}

function to_cell(value: unknown): string | number | null {
  if (value === null || value === undefined) return null;
  if (typeof value === "number") return value;
  return typeof value === "object" ? JSON.stringify(value) : String(value);
}

/** What a row of the table below a chart is called, and the condition that finds its spans. */
export function row_of(chart: ChartSettings, group: string, quote: (text: string) => string) {
  if (chart.draw === "histogram" || chart.draw === "heat") {
    const bucket = latency_buckets([group])[0];
    return { title: bucket?.title ?? group, condition: bucket?.condition ?? "" };
  }
  return { title: group_name(group), condition: group === "" ? "" : `${chart.by} = ${quote(group)}` };
}
