// Spans of a project as a list: the same page as the list of traces. A row opens the trace with that span selected.

import type { EvalView, Project, SpanRow } from "../../api_types";
import { exact_count, money, plural, short_count, span_duration } from "../../lib/format/number";
import { local_time } from "../../lib/format/time";
import type { Params } from "../../lib/route";
import { reload } from "../../load";
import { Id } from "../../parts/copy";
import { Empty, State } from "../../parts/state";
import { type Column, Table } from "../../parts/table";
import { Time } from "../../parts/time";
import { navigate } from "../../router";
import { span_page } from "../addresses";
import { AddToDatasetButton } from "../datasets/add_to_dataset";
import { SendTrace } from "../projects/send_languages";
import { AskButton } from "../runs/ask";
import { Amount, Preview, Value } from "./cells";
import { EvalChips, EvaluateRows, use_row_evals } from "./evals";
import { default_range, ExportRows, TraceListPage, use_new_rows } from "./list_frame";
import { use_live } from "./live_spans";
import { SpanKind } from "./span_kind";
import { ListFilter, NothingFits, newest_first, use_span_list } from "./span_list";
import { remember_list } from "./trace_order";
import { type SpanTexts, span_key, use_span_texts } from "./trace_texts";

/** Why a span failed, in a line. */
const failure_of = (row: SpanRow) =>
  [row.exception_type, row.status_message].filter((part) => part !== "").join(": ") || "failed";

function span_columns(project: string, evals: ReadonlyMap<string, EvalView[]>, texts: SpanTexts): Column<SpanRow>[] {
  const has_evals = [...evals.values()].some((found) => found.length > 0);
  return [
    {
      id: "name",
      title: "Span",
      cell: (row) => (
        <span class="titled-cell">
          <SpanKind kind={row.kind} />
          <a class="cell-link" href={span_page(project, row.trace_id, row.span_id)}>
            {row.name}
          </a>
        </span>
      ),
    },
    {
      id: "input",
      title: "Input",
      wide: true,
      cell: (row) => <Preview text={texts.get(span_key(row))?.input ?? ""} />,
    },
    {
      id: "output",
      title: "Output",
      wide: true,
      cell: (row) => <Preview text={texts.get(span_key(row))?.output ?? ""} />,
    },
    {
      id: "status",
      title: "Status",
      width: "72px",
      server_sort: true,
      cell: (row) =>
        row.status === "error" ? (
          <span title={failure_of(row)}>
            <State tone="failed" text="error" />
          </span>
        ) : (
          <span class="faint">OK</span>
        ),
    },
    {
      id: "error",
      title: "Error",
      wide: true,
      extra: true,
      cell: (row) => <Preview text={row.status === "error" ? failure_of(row) : ""} />,
    },
    ...(has_evals
      ? [
          {
            id: "evals",
            title: "Evals",
            width: "132px",
            wide: true,
            cell: (row: SpanRow) => <EvalChips evals={evals.get(row.span_id) ?? []} most={1} />,
          },
        ]
      : []),
    {
      id: "model",
      title: "Model",
      width: "104px",
      wide: true,
      cell: (row) => <Value operand="model" value={row.model} />,
    },
    {
      id: "duration",
      title: "Latency",
      width: "80px",
      align: "right",
      wide: true,
      server_sort: true,
      cell: (row) => <span title={`${exact_count(row.duration_ns)} ns`}>{span_duration(row.duration_ns)}</span>,
    },
    {
      id: "tokens",
      title: "Tokens",
      width: "68px",
      align: "right",
      wide: true,
      server_sort: true,
      cell: (row) => <Amount value={row.tokens.total} text={short_count} exact={exact_count(row.tokens.total)} />,
    },
    {
      id: "cost",
      title: "Cost",
      width: "92px",
      align: "right",
      wide: true,
      server_sort: true,
      cell: (row) => <Amount value={row.cost_nano_usd / 1000} text={money} exact={`$${row.cost_nano_usd / 1e9}`} />,
    },
    {
      id: "service",
      title: "Service",
      width: "110px",
      wide: true,
      extra: true,
      cell: (row) => <Value operand="service" value={row.service} />,
    },
    {
      id: "session",
      title: "Chat session",
      width: "110px",
      wide: true,
      extra: true,
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
    {
      id: "ago",
      title: "When",
      width: "88px",
      align: "right",
      server_sort: true,
      cell: (row) => <Time time={row.start_time} />,
    },
  ];
}

export function SpanRows({ params }: { params: Params }) {
  const list = use_span_list<SpanRow>(params, { rows: "span_rows", sorted: true, default_range });
  const { name, project, filter, rows, load, filter_error } = list;
  const reload_list = () => reload(`span_rows/${project.data?.id}`);
  const live = use_live(project.data, filter_error ? "" : filter, reload_list);
  const new_count = use_new_rows(list);
  const evals = use_row_evals(project.data, "span", [...new Set(rows.map((row) => row.span_id))]);
  const texts = use_span_texts(project.data, rows);
  remember_list({
    project: name,
    address: window.location.pathname + window.location.search,
    ids: [...new Set(rows.map((row) => row.trace_id))],
  });
  return (
    <TraceListPage list={list} title="Traces" text="One row is one span: a step of a request." live={live}>
      {() => (
        <Table
          label="Spans"
          rows={rows}
          columns={span_columns(name, evals, texts)}
          row_id={span_key}
          row_title={(row) => row.name}
          on_open={(row) => navigate(span_page(name, row.trace_id, row.span_id))}
          server_order={newest_first}
          on_end={load.more ?? undefined}
          new_count={new_count}
          on_show_new={() => void reload_list()}
          selection_actions={
            project.data
              ? (chosen, clear) => <SpanActions {...{ project: project.data as Project, chosen, clear }} />
              : undefined
          }
          bar={<ListFilter list={list} />}
          foot={
            rows.length > 0 ? (
              <p class="table-end">{load.more ? "Loading more…" : plural(rows.length, "span")}</p>
            ) : (
              <NothingFits list={list}>
                <Empty
                  icon="trace"
                  title="No spans in this range"
                  text="Choose a longer range, or configure an OpenTelemetry exporter. Spans appear within seconds."
                >
                  <SendTrace project={name} />
                </Empty>
              </NothingFits>
            )
          }
        />
      )}
    </TraceListPage>
  );
}

function SpanActions({ project, chosen, clear }: { project: Project; chosen: SpanRow[]; clear: () => void }) {
  const ids = [...new Set(chosen.map((row) => row.span_id))];
  return (
    <>
      <AskButton
        project={project.name}
        about={chosen.map((row) => ({ kind: "span", value: `${row.span_id} of trace ${row.trace_id}` }))}
      />
      <EvaluateRows project={project} target="span" ids={ids} done={clear} />
      <ExportRows project={project} field="span_id" ids={ids} />
      <AddToDatasetButton project={project} sources={{ kind: "spans", ids }} on_done={clear} />
    </>
  );
}
