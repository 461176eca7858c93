// Chat sessions of the application: what one user went through, over several traces. A row opens its traces.

import { api } from "../api";
import type { SessionRow } from "../api_types";
import { exact_count, money, plural, short_count, span_duration } from "../lib/number";
import { range_bounds } from "../lib/range";
import type { Params } from "../lib/route";
import { server_error } from "../lib/span_filter";
import { reload, use_pages } from "../load";
import { PageHeader } from "../parts/page";
import { Data, Empty, ErrorNote, State } from "../parts/state";
import { type Column, Table } from "../parts/table";
import { Time } from "../parts/time";
import { current_range } from "../parts/time_range";
import { navigate, query, set_query } from "../router";
import { project_route, session_address, use_project } from "./project_scope";
import { SpanFilterBar } from "./span_filter_bar";

const default_range = "7d";

function columns_of(project: string): Column<SessionRow>[] {
  return [
    {
      id: "session",
      title: "Session",
      cell: (row) => (
        <a class="cell-link" href={session_address(project, row.session_id)}>
          {row.session_id}
        </a>
      ),
    },
    { id: "user", title: "User", wide: true, cell: (row) => row.user_id || <span class="faint">–</span> },
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
      id: "traces",
      title: "Traces",
      width: "76px",
      align: "right",
      cell: (row) => <span title={exact_count(row.traces)}>{short_count(row.traces)}</span>,
    },
    {
      id: "length",
      title: "Length",
      width: "110px",
      align: "right",
      wide: true,
      cell: (row) => <span title={`${exact_count(row.duration_ns)} ns`}>{span_duration(row.duration_ns)}</span>,
    },
    {
      id: "tokens",
      title: "Tokens",
      width: "80px",
      align: "right",
      wide: true,
      cell: (row) => (row.tokens > 0 ? <span title={exact_count(row.tokens)}>{short_count(row.tokens)}</span> : "–"),
    },
    {
      id: "cost",
      title: "Cost",
      width: "84px",
      align: "right",
      wide: true,
      cell: (row) => (row.cost_micro_usd > 0 ? money(row.cost_micro_usd) : "–"),
    },
    { id: "last", title: "Last seen", width: "98px", align: "right", cell: (row) => <Time time={row.end_time} /> },
  ];
}

export function Sessions({ params }: { params: Params }) {
  const name = params.project ?? "";
  const project = use_project(params);
  const filter = query.value.get("filter") ?? "";
  const range = query.value.get("range") ?? default_range;
  const bounds = () => range_bounds(current_range(default_range), Date.now());
  const id = project.data?.id;
  const key = `sessions/${id}/${range}/${filter}`;
  const load = use_pages(id ? key : null, (cursor, signal) => {
    const wanted = { filter, ...bounds(), limit: 100, cursor };
    return api.page<SessionRow>(project_route(project.data, "session_rows"), wanted, signal);
  });
  const rows = load.data ?? [];
  const filter_error = load.error && server_error(load.error.message, filter) ? load.error : null;
  return (
    <div class="page list-page">
      <PageHeader title="Sessions" text="Conversations of the application's users, each made of one or more traces." />
      {project.error && <ErrorNote error={project.error} retry={() => void reload("project/")} />}
      {load.error && !filter_error && <ErrorNote error={load.error} retry={() => void reload(key)} />}
      <Data
        load={{ ...load, data: load.data ?? (filter_error ? [] : undefined), error: null }}
        retry={() => void reload(key)}
      >
        {() => (
          <Table
            label="Sessions"
            rows={rows}
            columns={columns_of(name)}
            row_id={(row) => row.session_id}
            row_title={(row) => row.session_id}
            on_open={(row) => navigate(session_address(name, row.session_id))}
            on_end={load.more ?? undefined}
            bar={
              <SpanFilterBar
                project={project.data}
                text={filter}
                bounds={bounds()}
                range={range}
                error={filter_error}
                on_change={(text) => set_query({ filter: text || null })}
              />
            }
            foot={
              rows.length > 0 ? (
                <p class="table-end">{load.more ? "Loading more…" : plural(rows.length, "session")}</p>
              ) : (
                <Empty
                  icon="chat"
                  title="No sessions in this range"
                  text="Traces are one session when their spans carry the same session.id, gen_ai.conversation.id or an alike attribute."
                />
              )
            }
          />
        )}
      </Data>
    </div>
  );
}
