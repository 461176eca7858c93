// Traces of a project, newest first: filter, facets, range and live pill. A row opens the trace's own page.

import { useMemo, useState } from "preact/hooks";
import { api, segment } from "../../api";
import type { FacetValue, FilterFieldInfo, Project, SpanSeries, TraceRow } from "../../api_types";
import { has_condition, with_condition, without_condition } from "../../lib/filter/span_filter";
import { plural, short_count } from "../../lib/format/number";
import { range_bounds } from "../../lib/format/range";
import type { Params } from "../../lib/route";
import { bucket_for, outcome_lines, to_chart } from "../../lib/view/series";
import { reload, use_load } from "../../load";
import { can } from "../../login";
import { use_new_count } from "../../new_count";
import { Chart, choose_range } from "../../parts/chart";
import { Confirm } from "../../parts/confirm";
import { current_range } from "../../parts/frame/time_range";
import { Icon } from "../../parts/icon";
import { Empty } from "../../parts/state";
import { Table } from "../../parts/table";
import { toast_done } from "../../parts/toast";
import { navigate, query, set_query } from "../../router";
import { stored_signal } from "../../stored";
import { trace_page } from "../addresses";
import { AddToDatasetButton } from "../datasets/add_to_dataset";
import { project_route } from "../projects/data";
import { SendTrace } from "../projects/send_languages";
import { AskButton, shown_subjects } from "../runs/ask";
import { Conversation } from "./conversation";
import { EvalSummary, use_row_evals } from "./evals";
import { is_live, LiveButton, use_live } from "./live_spans";
import { SavedViews } from "./saved_views";
import { use_filter_fields } from "./span_filter_bar";
import { ListFilter, NothingFits, SpanListPage, set_filter, use_span_list } from "./span_list";
import { trace_columns } from "./trace_columns";
import { remember_list } from "./trace_order";
import { use_trace_texts } from "./trace_texts";

const default_range = "24h";
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

/** Saves the spans of the selected traces as a file. */
function ExportTraces({ project, rows }: { project: Project; rows: TraceRow[] }) {
  const ids = rows.map((row) => `"${row.trace_id}"`).join(", ");
  const search = new URLSearchParams({ format: "jsonl", filter: `trace_id in (${ids})` });
  return (
    <a class="button" href={`${project_route(project, "export")}?${search}`} download="traces.jsonl">
      <Icon name="download" /> Export
    </a>
  );
}

/** Deletes the selected traces permanently. */
function DeleteTraces({ project, rows, clear }: { project: Project; rows: TraceRow[]; clear: () => void }) {
  const [deleting, set_deleting] = useState(false);
  const count = plural(rows.length, "trace");
  async function remove(): Promise<void> {
    for (const row of rows) await api.delete(project_route(project, `traces/${segment(row.trace_id)}`));
    toast_done(`${count} deleted`);
    clear();
    await reload(`trace_rows/${project.id}`);
  }
  return (
    <>
      <button type="button" class="danger" onClick={() => set_deleting(true)}>
        <Icon name="trash" /> Delete {count}
      </button>
      {deleting && (
        <Confirm
          title={`Delete ${count}?`}
          consequence={`Their spans and evals are deleted from ${project.name} for all members. This cannot be undone.`}
          action="Delete permanently"
          run={remove}
          on_close={() => set_deleting(false)}
        />
      )}
    </>
  );
}

function SessionBar({ project, session }: { project: Project; session: string }) {
  return (
    <div class="session-bar">
      <button type="button" onClick={() => set_query({ session: null, view: null })}>
        Chat session {session} <Icon name="close" />
        <span class="off-screen">(show all chat sessions)</span>
      </button>
      <button
        type="button"
        class="quiet"
        onClick={() => set_query({ view: query.value.get("view") === "list" ? null : "list" })}
      >
        {query.value.get("view") === "list" ? "Show as conversation" : "Show as list"}
      </button>
      <EvalSummary of={{ project, target: "chat_session", target_id: session }} />
    </div>
  );
}

export function Traces({ params }: { params: Params }) {
  const session = query.value.get("session") ?? "";
  const list = use_span_list<TraceRow>(params, { rows: "trace_rows", default_range, more: { session } });
  const { name, project, filter, range, rows, load, filter_error, bounds } = list;
  const fields = use_filter_fields();
  const id = project.data?.id;
  const reload_list = () => reload(`trace_rows/${id}`);
  const live = use_live(project.data, filter_error ? "" : filter, reload_list);

  const newest = rows[0]?.start_time ?? "";
  const counted = id && load.data && !is_live() ? `${list.key} ${newest}` : undefined;
  const new_count = use_new_count(
    counted,
    async (signal) => (await list.newest(signal)).filter((row) => row.start_time > newest).length,
  );
  const row_ids = rows.map((row) => row.trace_id);
  const evals = use_row_evals(project.data, "trace", row_ids);
  const as_list = session === "" || query.value.get("view") === "list";
  const texts = use_trace_texts(as_list ? project.data : undefined, row_ids);
  // Also for rows that are opened by a click on their link.
  remember_list({ project: name, address: window.location.pathname + window.location.search, ids: row_ids });
  const longest = Math.max(0, ...rows.map((row) => row.duration_ns));
  const open = facets_shown.value === "open";
  const shown_filter = filter_error ? "" : filter;

  return (
    <SpanListPage
      list={list}
      title={session === "" ? "Traces" : "Chat session"}
      text={
        session === ""
          ? "One row is one request to the application with all its spans."
          : "What the user and the application wrote, oldest first."
      }
      actions={
        <>
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
          {project.data && session !== "" && <SessionBar project={project.data} session={session} />}
          {id && rows.length > 0 && session === "" && (
            <Volume route={project_route(project.data, "series")} filter={shown_filter} range={range} />
          )}
        </>
      }
      aside={
        open &&
        id &&
        session === "" &&
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
      {() =>
        !as_list && project.data && rows.length > 0 ? (
          <Conversation project={project.data} rows={rows} more={load.more} />
        ) : (
          <Table
            label="Traces"
            rows={rows}
            columns={trace_columns(name, longest, evals, texts)}
            row_id={(row) => row.trace_id}
            row_title={(row) => row.root_name}
            on_open={(row) => navigate(trace_page(name, row.trace_id))}
            on_end={load.more ?? undefined}
            new_count={new_count}
            on_show_new={() => void reload_list()}
            selection_actions={
              project.data
                ? (chosen, clear) => (
                    <>
                      <AskButton project={name} about={chosen.map((row) => ({ kind: "trace", value: row.trace_id }))} />
                      <ExportTraces project={project.data as Project} rows={chosen} />
                      <AddToDatasetButton
                        project={project.data as Project}
                        sources={{ kind: "traces", ids: chosen.map((row) => row.trace_id) }}
                        on_done={clear}
                      />
                      {can("trace_delete") && (
                        <DeleteTraces project={project.data as Project} rows={chosen} clear={clear} />
                      )}
                    </>
                  )
                : undefined
            }
            bar={<ListFilter list={list} />}
            foot={
              rows.length > 0 ? (
                <p class="table-end">{load.more ? "Loading more…" : plural(rows.length, "trace")}</p>
              ) : (
                <NothingFits list={list}>
                  <Empty
                    icon="trace"
                    title="No traces in this range"
                    text="Choose a longer range, or configure an OpenTelemetry exporter. Traces appear within seconds."
                  >
                    <SendTrace project={name} />
                  </Empty>
                </NothingFits>
              )
            }
          />
        )
      }
    </SpanListPage>
  );
}
