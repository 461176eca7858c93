// The page of the list of traces and of the list of spans: switch, live updates, saved views, facets and volume around the
// table.

import type { ComponentChildren } from "preact";
import { useMemo } from "preact/hooks";
import { api } from "../../api";
import type { FacetValue, FilterFieldInfo, SpanSeries } from "../../api_types";
import { has_condition, with_condition, without_condition } from "../../lib/filter/span_filter";
import { plural, short_count } from "../../lib/format/number";
import { range_bounds } from "../../lib/format/range";
import { with_query } from "../../lib/route";
import { bucket_for, outcome_lines, to_chart } from "../../lib/view/series";
import { use_load } from "../../load";
import { use_new_count } from "../../new_count";
import { Chart, choose_range } from "../../parts/chart";
import { current_range } from "../../parts/frame/time_range";
import { Icon } from "../../parts/icon";
import { current_address, query } from "../../router";
import { stored_signal } from "../../stored";
import { project_route } from "../projects/data";
import { AskButton, shown_subjects } from "../runs/ask";
import { is_live, LiveButton, type use_live } from "./live_spans";
import { SavedViews } from "./saved_views";
import { use_filter_fields } from "./span_filter_bar";
import { type SpanList, SpanListPage, set_filter } from "./span_list";

export const default_range = "24h";
const facets_shown = stored_signal("facets", "open");
const facet_fields = ["status", "name", "kind", "model", "service"];

interface FacetsProps {
  route: string;
  filter: string;
  range: string;
  bounds: () => { after?: string; before?: string };
  fields: FilterFieldInfo[];
}

function FacetList({ field, route, filter, range, bounds, fields }: FacetsProps & { field: string }) {
  const type = fields.find((one) => one.name === field)?.type ?? "text";
  const load = use_load(`facets/${route}/${range}/${field}/${filter}`, (signal) =>
    api.get<FacetValue[]>(route, { field, filter, ...bounds() }, signal),
  );
  const values = (load.data ?? []).filter((one) => one.value !== "").slice(0, 8);
  if (values.length === 0) return null;
  const most = Math.max(...values.map((one) => one.count));
  return (
    <section aria-label={`Spans by ${field}`}>
      <h2>{field}</h2>
      <ul>
        {values.map(({ value, count }) => {
          const chosen = has_condition(filter, field, value, type);
          return (
            <li key={value}>
              <button
                type="button"
                class="facet"
                aria-pressed={chosen}
                title={`${value}: ${plural(count, "span")}${chosen ? " (click to remove)" : ", alt-click to filter out"}`}
                onClick={(event) =>
                  set_filter(
                    chosen
                      ? without_condition(filter, field, value, type)
                      : with_condition(filter, field, event.altKey ? "!=" : "=", value, type),
                  )
                }
              >
                <span class="facet-bar" style={{ width: `${(100 * count) / most}%` }} />
                <span class="facet-value">{value}</span>
                <span class="facet-count">{short_count(count)}</span>
              </button>
            </li>
          );
        })}
      </ul>
    </section>
  );
}

interface VolumeProps {
  route: string;
  filter: string;
  range: string;
}

const volume_height = 84;
/** Matching spans over time; dragging selects a range. */
function Volume({ route, filter, range }: VolumeProps) {
  const load = use_load(`volume/${route}/${range}/${filter}`, async (signal) => {
    const to = Date.now();
    const bounds = range_bounds(current_range(default_range), to);
    const from = bounds.after ? Date.parse(bounds.after) : null;
    const end = bounds.before ? Date.parse(bounds.before) : to;
    const bucket = from === null ? "24h" : bucket_for(end - from).text;
    const series = await api.get<SpanSeries>(route, { metrics: "count,errors", bucket, filter, ...bounds }, signal);
    return to_chart(series, from, end);
  });
  const lines = useMemo(() => (load.data ? outcome_lines(load.data) : []), [load.data]);
  if (load.error || load.data?.times.length === 0) return null;
  if (!load.data)
    return (
      <div class="volume wide-only">
        {/* The room of the chart, so that nothing below it moves when it arrives. */}
        <figure class="chart" aria-hidden="true">
          <figcaption>
            <h2>Spans</h2>
          </figcaption>
          <div class="chart-plot" style={{ height: `${volume_height}px` }} />
        </figure>
      </div>
    );
  return (
    <div class="volume wide-only">
      <Chart
        title="Spans"
        times={load.data.times}
        lines={lines}
        text={short_count}
        height={volume_height}
        on_range={choose_range}
      />
    </div>
  );
}

/** What a row of the list is: in the address, so that links and saved views name it. */
export const shows_spans = () => query.value.get("rows") === "spans";

function RowSwitch() {
  const rows = shows_spans() ? "spans" : "traces";
  return (
    <nav class="row-switch" aria-label="Rows">
      {(["traces", "spans"] as const).map((one) => (
        <a
          key={one}
          href={with_query(current_address(), { rows: one === "spans" ? one : null })}
          aria-current={one === rows ? "page" : undefined}
        >
          {one === "spans" ? "Spans" : "Traces"}
        </a>
      ))}
    </nav>
  );
}

interface FrameProps<Row> {
  list: SpanList<Row>;
  title: string;
  text: string;
  live: ReturnType<typeof use_live>;
  /** The traces of one chat session: neither switch nor facets nor volume. */
  of_session?: boolean;
  /** Below the title. */
  above?: ComponentChildren;
  children: () => ComponentChildren;
}

export function TraceListPage<Row>({ list, title, text, live, of_session, above, children }: FrameProps<Row>) {
  const { name, project, filter, range, rows, load, filter_error, bounds } = list;
  const fields = use_filter_fields();
  const id = project.data?.id;
  const open = facets_shown.value === "open";
  const shown_filter = filter_error ? "" : filter;
  return (
    <SpanListPage
      list={list}
      title={title}
      text={text}
      actions={
        <>
          {!of_session && <RowSwitch />}
          <LiveButton state={live} />
          {shown_filter !== "" && <AskButton project={name} about={shown_subjects(shown_filter, range)} quiet />}
          <SavedViews project={project.data} page="traces" default_range={default_range} />
          <button
            type="button"
            class="quiet wide-only"
            aria-pressed={open}
            onClick={() => {
              facets_shown.value = open ? "closed" : "open";
            }}
          >
            <Icon name="filter" /> {open ? "Hide facets" : "Facets"}
          </button>
        </>
      }
      above={
        <>
          {above}
          {id && rows.length > 0 && !of_session && (
            <Volume route={project_route(project.data, "series")} filter={shown_filter} range={range} />
          )}
        </>
      }
      aside={
        open &&
        id &&
        !of_session &&
        (!load.data || rows.length > 0) && (
          <div class="facets wide-only">
            {facet_fields.map((field) => (
              <FacetList
                key={field}
                field={field}
                route={project_route(project.data, "facets")}
                filter={shown_filter}
                range={range}
                bounds={bounds}
                fields={fields}
              />
            ))}
          </div>
        )
      }
    >
      {children}
    </SpanListPage>
  );
}

interface ExportRowsProps {
  project: { id: string };
  field: "trace_id" | "span_id";
  ids: string[];
}

/** Saves the spans of the selected rows as a file. */
export function ExportRows({ project, field, ids }: ExportRowsProps) {
  const filter = `${field} in (${ids.map((id) => `"${id}"`).join(", ")})`;
  const name = field === "trace_id" ? "traces.jsonl" : "spans.jsonl";
  return (
    <a
      class="button"
      href={`${project_route(project, "export")}?${new URLSearchParams({ format: "jsonl", filter })}`}
      download={name}
    >
      <Icon name="download" /> Export
    </a>
  );
}

/** New rows since the list was loaded; not counted while it is live, or sorted by anything but time. */
export function use_new_rows<Row extends { start_time: string }>(list: SpanList<Row>): number {
  const newest = list.rows[0]?.start_time ?? "";
  const counted = list.load.data && list.is_newest_first && !is_live() ? `${list.key} ${newest}` : undefined;
  return use_new_count(
    list.project.data ? counted : undefined,
    async (signal) => (await list.newest(signal)).filter((row) => row.start_time > newest).length,
  );
}
