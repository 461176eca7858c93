// Traces of a project, or their spans: filter, facets, range, order and live pill. A row opens the trace's own page.

import { useState } from "preact/hooks";
import { api, segment } from "../../api";
import type { Project, TraceRow } from "../../api_types";
import { plural } from "../../lib/format/number";
import type { Params } from "../../lib/route";
import { reload } from "../../load";
import { can } from "../../login";
import { Confirm } from "../../parts/confirm";
import { Icon } from "../../parts/icon";
import { Empty } from "../../parts/state";
import { Table } from "../../parts/table";
import { toast_done } from "../../parts/toast";
import { navigate, query, set_query } from "../../router";
import { trace_page } from "../addresses";
import { AddToDatasetButton } from "../datasets/add_to_dataset";
import { project_route } from "../projects/data";
import { SendTrace } from "../projects/send_languages";
import { AskButton } from "../runs/ask";
import { CompareTraces, CompareTracesButton } from "./compare_traces";
import { Conversation } from "./conversation";
import { EvalSummary, EvaluateRows, use_row_evals } from "./evals";
import { default_range, ExportRows, shows_spans, TraceListPage, use_new_rows } from "./list_frame";
import { use_live } from "./live_spans";
import { ListFilter, NothingFits, newest_first, use_span_list } from "./span_list";
import { SpanRows } from "./span_rows";
import { trace_columns } from "./trace_columns";
import { remember_list } from "./trace_order";
import { use_trace_texts } from "./trace_texts";

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

function TraceRows({ params }: { params: Params }) {
  const session = query.value.get("session") ?? "";
  const list = use_span_list<TraceRow>(params, { rows: "trace_rows", sorted: true, default_range, more: { session } });
  const { name, project, filter, rows, load, filter_error } = list;
  const reload_list = () => reload(`trace_rows/${project.data?.id}`);
  const live = use_live(project.data, filter_error ? "" : filter, reload_list);
  const new_count = use_new_rows(list);
  const row_ids = rows.map((row) => row.trace_id);
  const evals = use_row_evals(project.data, "trace", row_ids);
  const as_list = session === "" || query.value.get("view") === "list";
  const texts = use_trace_texts(as_list ? project.data : undefined, row_ids);
  // Also for rows that are opened by a click on their link.
  remember_list({ project: name, address: window.location.pathname + window.location.search, ids: row_ids });
  const longest = Math.max(0, ...rows.map((row) => row.duration_ns));

  return (
    <TraceListPage
      list={list}
      title={session === "" ? "Traces" : "Chat session"}
      text={
        session === ""
          ? "One row is one request to the application with all its spans."
          : "What the user and the application wrote, oldest first."
      }
      live={live}
      of_session={session !== ""}
      above={
        <>
          {project.data && <CompareTraces project={project.data} />}
          {project.data && session !== "" && <SessionBar project={project.data} session={session} />}
        </>
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
            server_order={newest_first}
            on_end={load.more ?? undefined}
            new_count={new_count}
            on_show_new={() => void reload_list()}
            selection_actions={
              project.data
                ? (chosen, clear) => (
                    <>
                      <AskButton project={name} about={chosen.map((row) => ({ kind: "trace", value: row.trace_id }))} />
                      {chosen.length === 2 && <CompareTracesButton rows={chosen} />}
                      <EvaluateRows
                        project={project.data as Project}
                        target="trace"
                        ids={chosen.map((row) => row.trace_id)}
                        done={clear}
                      />
                      <ExportRows
                        project={project.data as Project}
                        field="trace_id"
                        ids={chosen.map((row) => row.trace_id)}
                      />
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
    </TraceListPage>
  );
}

export function Traces({ params }: { params: Params }) {
  const spans = shows_spans() && query.value.get("session") === null;
  return spans ? <SpanRows params={params} /> : <TraceRows params={params} />;
}
