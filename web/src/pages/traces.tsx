// Traces of a project, newest first: filter, facets, range and live pill. A row opens the trace's own page.

import { useMemo } from "preact/hooks";
import { api } from "../api";
import type { FacetValue, FilterFieldInfo, SpanSeries, TraceRow } from "../api_types";
import { exact_count, money, plural, short_count, span_duration } from "../lib/number";
import { range_bounds } from "../lib/range";
import type { Params } from "../lib/route";
import { bucket_for, to_chart } from "../lib/series";
import { has_condition, server_error, with_condition, without_condition } from "../lib/span_filter";
import { local_time } from "../lib/time";
import { reload, use_load, use_pages } from "../load";
import { use_new_count } from "../new_count";
import { Id } from "../parts/copy";
import { Icon } from "../parts/icon";
import { PageHeader } from "../parts/page";
import { Data, Empty, ErrorNote, State } from "../parts/state";
import { type Column, Table } from "../parts/table";
import { Time } from "../parts/time";
import { current_range } from "../parts/time_range";
import { navigate, query, set_query } from "../router";
import { stored_signal } from "../stored";
import { Chart, choose_range, type Line } from "./chart";
import { project_route, trace_address, use_project } from "./project_scope";
import { SendTrace } from "./send_trace";
import { SpanFilterBar, use_filter_fields } from "./span_filter_bar";

const default_range = "24h";
const facets_shown = stored_signal("facets", "open");
const facet_fields = ["status", "name", "kind", "model", "service"];

const filter_text = () => query.value.get("filter") ?? "";
const set_filter = (text: string) => set_query({ filter: text || null });

/** A value that narrows the list when it is clicked. */
function Value({ operand, value }: { operand: string; value: string }) {
  if (value === "") return <span class="faint">–</span>;
  return (
    <button
      type="button"
      class="value"
      title={`Filter for ${operand} = ${value}`}
      onClick={() => set_filter(with_condition(filter_text(), operand, "=", value))}
    >
      {value}
    </button>
  );
}

function columns_of(project: string, longest: number): Column<TraceRow>[] {
  return [
    {
      id: "name",
      title: "Trace",
      cell: (row) => (
        <>
          <a class="cell-link" href={trace_address(project, row.trace_id)}>
            {row.root_name || "(no root span)"}
          </a>
        </>
      ),
    },
    {
      id: "status",
      title: "Status",
      width: "104px",
      cell: (row) =>
        row.errors > 0 ? (
          <State tone="failed" text={plural(row.errors, "error")} />
        ) : (
          <span class="faint">no errors</span>
        ),
    },
    {
      id: "duration",
      title: "Duration",
      width: "150px",
      wide: true,
      cell: (row) => (
        <span class="meter" title={`${exact_count(row.duration_ns)} ns`}>
          <span class="meter-text">{span_duration(row.duration_ns)}</span>
          <span class="meter-track">
            <span style={{ width: `${Math.max(1, (100 * row.duration_ns) / Math.max(longest, 1))}%` }} />
          </span>
        </span>
      ),
    },
    {
      id: "spans",
      title: "Spans",
      width: "68px",
      align: "right",
      wide: true,
      cell: (row) => <span title={exact_count(row.spans)}>{short_count(row.spans)}</span>,
    },
    {
      id: "tokens",
      title: "Tokens",
      width: "76px",
      align: "right",
      wide: true,
      cell: (row) => <Amount value={row.tokens} text={short_count} exact={exact_count(row.tokens)} />,
    },
    {
      id: "cost",
      title: "Cost",
      width: "80px",
      align: "right",
      wide: true,
      cell: (row) => <Amount value={row.cost_micro_usd} text={money} exact={`$${row.cost_micro_usd / 1e6}`} />,
    },
    {
      id: "session",
      title: "Session",
      width: "120px",
      wide: true,
      cell: (row) => <Value operand="session" value={row.session_id} />,
    },
    {
      id: "user",
      title: "User",
      width: "110px",
      wide: true,
      extra: true,
      cell: (row) => <Value operand="user" value={row.user_id} />,
    },
    {
      id: "trace_id",
      title: "Trace id",
      width: "110px",
      wide: true,
      extra: true,
      cell: (row) => <Id id={row.trace_id} />,
    },
    {
      id: "start",
      title: "Started",
      width: "160px",
      wide: true,
      extra: true,
      cell: (row) => (
        <span class="mono" title={row.start_time}>
          {local_time(row.start_time)}
        </span>
      ),
    },
    { id: "ago", title: "When", width: "98px", align: "right", cell: (row) => <Time time={row.start_time} /> },
  ];
}

function Amount({ value, text, exact }: { value: number; text: (value: number) => string; exact: string }) {
  return value === 0 ? <span class="faint">–</span> : <span title={exact}>{text(value)}</span>;
}

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

/** When the matching spans ran; dragging narrows the range. */
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
  const lines = useMemo<Line[]>(
    () => [
      { title: "all", colour: "--bar", bars: true, values: load.data?.values.count ?? [] },
      { title: "failed", colour: "--failed", bars: true, values: load.data?.values.errors ?? [] },
    ],
    [load.data],
  );
  if (!load.data || load.data.times.length === 0) return null;
  return (
    <div class="volume wide-only">
      <Chart
        title="Spans"
        times={load.data.times}
        lines={lines}
        text={short_count}
        height={84}
        on_range={choose_range}
      />
    </div>
  );
}

export function Traces({ params }: { params: Params }) {
  const name = params.project ?? "";
  const project = use_project(params);
  const filter = filter_text();
  const session = query.value.get("session") ?? "";
  const range = query.value.get("range") ?? default_range;
  const bounds = () => range_bounds(current_range(default_range), Date.now());
  const fields = use_filter_fields();
  const id = project.data?.id;
  const route = project_route(project.data, "trace_rows");

  const key = `traces/${id}/${range}/${session}/${filter}`;
  const load = use_pages(id ? key : null, (cursor, signal) =>
    api.page<TraceRow>(route, { filter, session, ...bounds(), limit: 100, cursor }, signal),
  );
  const rows = load.data ?? [];
  const newest = rows[0]?.start_time ?? "";
  const new_count = use_new_count(id && load.data && `${key} ${newest}`, async (signal) => {
    const page = await api.page<TraceRow>(route, { filter, session, ...bounds(), limit: 100 }, signal);
    return page.rows.filter((row) => row.start_time > newest).length;
  });
  // What is wrong with the filter stands under the filter; anything else above the list.
  const filter_error = load.error && server_error(load.error.message, filter) ? load.error : null;
  const longest = Math.max(0, ...rows.map((row) => row.duration_ns));
  const narrowed = filter !== "" || session !== "";
  const open = facets_shown.value === "open";

  return (
    <div class="page list-page">
      <PageHeader title="Traces" text="One row is one request through the application, with everything it called.">
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
      </PageHeader>
      {project.error && <ErrorNote error={project.error} retry={() => void reload("project/")} />}
      {load.error && !filter_error && <ErrorNote error={load.error} retry={() => void reload(key)} />}
      {id && rows.length > 0 && session === "" && (
        <Volume route={project_route(project.data, "series")} filter={filter_error ? "" : filter} range={range} />
      )}
      <div class="faceted">
        {open && id && (
          <div class="facets wide-only">
            {facet_fields.map((field) => (
              <FacetList
                key={field}
                field={field}
                route={project_route(project.data, "facets")}
                filter={filter_error ? "" : filter}
                range={range}
                bounds={bounds}
                fields={fields}
              />
            ))}
          </div>
        )}
        <Data
          load={{ ...load, data: load.data ?? (filter_error ? [] : undefined), error: null }}
          retry={() => void reload(key)}
        >
          {() => (
            <Table
              label="Traces"
              rows={rows}
              columns={columns_of(name, longest)}
              row_id={(row) => row.trace_id}
              row_title={(row) => row.root_name}
              on_open={(row) => navigate(trace_address(name, row.trace_id))}
              on_end={load.more ?? undefined}
              new_count={new_count}
              on_show_new={() => void reload(`traces/${id}`)}
              bar={
                <>
                  <SpanFilterBar
                    project={project.data}
                    text={filter}
                    bounds={bounds()}
                    range={range}
                    error={filter_error}
                    on_change={set_filter}
                  />
                  {session !== "" && (
                    <button type="button" onClick={() => set_query({ session: null })}>
                      session {session} <Icon name="close" />
                      <span class="off-screen">(show all sessions)</span>
                    </button>
                  )}
                </>
              }
              foot={
                rows.length > 0 ? (
                  <p class="table-end">{load.more ? "Loading more…" : plural(rows.length, "trace")}</p>
                ) : filter_error ? (
                  <Empty
                    icon="filter"
                    title="The filter cannot be read"
                    text="What is wrong is underlined above. Fields, operators and values are offered while you type."
                  />
                ) : narrowed || load.error ? (
                  <Empty
                    icon="trace"
                    title="Nothing fits"
                    text="No trace in this range has a span that fits the filter. Widen the range or clear the filter."
                  />
                ) : (
                  <Empty
                    icon="trace"
                    title="No traces in this range"
                    text="Widen the range, or point an OpenTelemetry exporter here; traces appear within seconds."
                  >
                    <SendTrace project={name} />
                  </Empty>
                )
              }
            />
          )}
        </Data>
      </div>
    </div>
  );
}
