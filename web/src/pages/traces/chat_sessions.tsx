// Chat sessions of the application: conversations over several traces. A row opens its traces.

import type { EvalView, SessionRow } from "../../api_types";
import { exact_count, money, plural, short_count, span_duration } from "../../lib/format/number";
import type { Params } from "../../lib/route";
import { Empty, State } from "../../parts/state";
import { type Column, Table } from "../../parts/table";
import { Time } from "../../parts/time";
import { navigate } from "../../router";
import { chat_session_page } from "../addresses";
import { EvalChips, use_row_evals } from "./evals";
import { SavedViews } from "./saved_views";
import { ListFilter, NothingFits, SpanListPage, use_span_list } from "./span_list";

const default_range = "7d";

function columns_of(project: string, evals: ReadonlyMap<string, EvalView[]>): Column<SessionRow>[] {
  return [
    {
      id: "session",
      title: "Chat session",
      cell: (row) => (
        <span class="titled-cell">
          <a class="cell-link" href={chat_session_page(project, row.session_id)}>
            {row.session_id}
          </a>
          <EvalChips evals={evals.get(row.session_id) ?? []} most={2} />
        </span>
      ),
    },
    { id: "user", title: "User", wide: true, cell: (row) => row.user_id || <span class="faint">–</span> },
    {
      id: "status",
      title: "Status",
      width: "104px",
      cell: (row) =>
        row.errors > 0 ? <State tone="failed" text={plural(row.errors, "error")} /> : <span class="faint">OK</span>,
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
      title: "Duration",
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

export function ChatSessions({ params }: { params: Params }) {
  const list = use_span_list<SessionRow>(params, { rows: "session_rows", default_range });
  const { name, project, rows, load } = list;
  const evals = use_row_evals(
    project.data,
    "chat_session",
    rows.map((row) => row.session_id),
  );
  return (
    <SpanListPage
      list={list}
      title="Chat sessions"
      text="Conversations of the application's users. Each has one or more traces."
      actions={<SavedViews project={project.data} page="sessions" default_range={default_range} />}
    >
      {() => (
        <Table
          label="Chat sessions"
          rows={rows}
          columns={columns_of(name, evals)}
          row_id={(row) => row.session_id}
          row_title={(row) => row.session_id}
          on_open={(row) => navigate(chat_session_page(name, row.session_id))}
          on_end={load.more ?? undefined}
          bar={<ListFilter list={list} />}
          foot={
            rows.length > 0 ? (
              <p class="table-end">{load.more ? "Loading more…" : plural(rows.length, "chat session")}</p>
            ) : (
              <NothingFits list={list}>
                <Empty
                  icon="chat"
                  title="No chat sessions in this range"
                  text="Traces belong to one chat session when their spans have the same session.id, gen_ai.conversation.id or a similar attribute."
                />
              </NothingFits>
            )
          }
        />
      )}
    </SpanListPage>
  );
}
