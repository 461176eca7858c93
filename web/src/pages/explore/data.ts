// Loading the numbers of a chart, and the saved charts of a project's dashboards.

import { api, segment } from "../../api";
import type { Project, SavedView, SpanSeries } from "../../api_types";
import { quoted } from "../../lib/filter/span_filter";
import { type Baseline, baseline_window } from "../../lib/format/change";
import { range_bounds } from "../../lib/format/range";
import { type ChartSettings, type TotalRow, total_rows } from "../../lib/view/explore";
import { bucket_for } from "../../lib/view/series";
import { type Loaded, reload, use_load } from "../../load";
import { current_range } from "../../parts/frame/time_range";
import { project_route } from "../projects/data";

export const default_range = "24h";
export const most_groups = 50;

export const baseline_titles: Record<Baseline, string> = {
  previous: "the previous period",
  day: "the day before",
  week: "the week before",
};

export interface ChartData {
  series: SpanSeries;
  rows: TotalRow[];
  /** Of the whole range, without groups. */
  total: TotalRow | undefined;
  before: { series: SpanSeries; shift: number; title: string } | null;
  from: number | null;
  to: number;
}

/** The chart's filter, with the two values that are compared. */
export function filter_of(chart: ChartSettings): string {
  if (chart.by === "" || chart.a === "" || chart.b === "") return chart.filter;
  const two = `${chart.by} in (${quoted(chart.a)}, ${quoted(chart.b)})`;
  return chart.filter === "" ? two : `(${chart.filter}) and ${two}`;
}

type Bounds = { after?: string; before?: string };

function series_request(project: Project, chart: ChartSettings, signal: AbortSignal) {
  const is_latency = chart.draw === "histogram" || chart.draw === "heat";
  const metric = is_latency ? "count" : chart.metric;
  const shared = {
    metrics: metric === "count" ? "count" : `${metric},count`,
    filter: filter_of(chart),
    eval_name: chart.eval_name,
    eval_label: chart.eval_label,
  };
  const group_by = is_latency ? "latency_bucket" : chart.by;
  return (bounds: Bounds, bucket: string, grouped = true) =>
    api.get<SpanSeries>(
      project_route(project, "series"),
      { ...shared, ...bounds, bucket, ...(grouped && group_by !== "" ? { group_by, groups: most_groups } : {}) },
      signal,
    );
}

async function load_chart(project: Project, chart: ChartSettings, signal: AbortSignal): Promise<ChartData> {
  const now = Date.now();
  const bounds = range_bounds(current_range(default_range), now);
  const to = bounds.before ? Date.parse(bounds.before) : now;
  const from = bounds.after ? Date.parse(bounds.after) : null;
  const ask = series_request(project, chart, signal);
  const bucket = chart.draw === "histogram" ? "0s" : from === null ? "24h" : bucket_for(to - from).text;
  const compared = chart.baseline !== "" && from !== null ? chart.baseline : null;
  const window = compared && from !== null ? baseline_window(from, to, compared) : null;
  const earlier: Bounds | null = window && {
    after: new Date(window.after).toISOString(),
    before: new Date(window.before).toISOString(),
  };
  const [series, totals, whole, before, totals_before, whole_before] = await Promise.all([
    ask(bounds, bucket),
    ask(bounds, "0s"),
    ask(bounds, "0s", false),
    earlier && ask(earlier, bucket),
    earlier && ask(earlier, "0s"),
    earlier && ask(earlier, "0s", false),
  ]);
  return {
    series,
    rows: total_rows(chart.metric, totals, totals_before),
    total: total_rows(chart.metric, whole, whole_before)[0],
    before:
      before && window && compared && from !== null
        ? { series: before, shift: from - window.after, title: baseline_titles[compared] }
        : null,
    from,
    to,
  };
}

/** An eval metric needs the name of its eval. */
export const is_complete = (chart: ChartSettings) => !chart.metric.startsWith("eval_") || chart.eval_name !== "";

export function use_chart(
  project: Project | undefined,
  chart: ChartSettings,
  range: string,
): { key: string; load: Loaded<ChartData> } {
  const key = `explore/${project?.id}/${range}/${JSON.stringify(chart)}`;
  const load = use_load(project && is_complete(chart) ? key : null, (signal) =>
    load_chart(project as Project, chart, signal),
  );
  return { key, load };
}

// --- saved charts --------------------------------------------------------------------------------------------------

const divider = " / ";

export interface SavedChart {
  board: string;
  title: string;
  /** As it is saved: "board / title". */
  name: string;
  query: string;
  created_at: string;
}

export const saved_chart_name = (board: string, title: string) => `${board}${divider}${title}`;

function to_saved_chart(view: SavedView): SavedChart {
  const at = view.name.indexOf(divider);
  const board = at < 0 ? "Charts" : view.name.slice(0, at);
  const title = at < 0 ? view.name : view.name.slice(at + divider.length);
  return { board, title, name: view.name, query: view.query, created_at: view.created_at };
}

/** All charts of the project's dashboards, oldest first. */
export function use_saved_charts(project: Project | undefined): Loaded<SavedChart[]> {
  const load = use_load(project ? `views/${project.id}/charts` : null, async (signal) => {
    const views = await api.get<SavedView[]>(project_route(project, "views"), {}, signal);
    const charts = views.filter((view) => view.page === "charts").map(to_saved_chart);
    return charts.sort((one, other) => (one.created_at < other.created_at ? -1 : 1));
  });
  return load;
}

const route_of = (project: Project, name: string) => project_route(project, `views/${segment(name)}`);

export async function save_chart(project: Project, name: string, query: string): Promise<void> {
  await api.put(route_of(project, name), { query }, { page: "charts" });
  await reload(`views/${project.id}`);
}

export async function remove_chart(project: Project, name: string): Promise<void> {
  await api.delete(route_of(project, name), { page: "charts" });
  await reload(`views/${project.id}`);
}
