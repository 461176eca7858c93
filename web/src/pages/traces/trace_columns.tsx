// The columns of the list of traces.

import type { EvalView, TraceRow, TraceTextView } from "../../api_types";
import { with_condition } from "../../lib/filter/span_filter";
import { exact_count, money, plural, short_count, span_duration } from "../../lib/format/number";
import { local_time } from "../../lib/format/time";
import { Id } from "../../parts/copy";
import { State } from "../../parts/state";
import type { Column } from "../../parts/table";
import { Time } from "../../parts/time";
import { trace_page } from "../addresses";
import { EvalChips } from "./evals";
import { filter_text, set_filter } from "./span_list";

/** A value that filters the list when clicked. */
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

export function trace_columns(
  project: string,
  longest: number,
  evals: ReadonlyMap<string, EvalView[]>,
  texts: ReadonlyMap<string, TraceTextView | null>,
): Column<TraceRow>[] {
  const has_evals = [...evals.values()].some((found) => found.length > 0);
  return [
    {
      id: "name",
      title: "Trace",
      cell: (row) => (
        <a class="cell-link" href={trace_page(project, row.trace_id)}>
          {texts.get(row.trace_id)?.title || row.root_name || "(no root span)"}
        </a>
      ),
    },
    {
      id: "input",
      title: "Input",
      wide: true,
      cell: (row) => <Preview text={texts.get(row.trace_id)?.input ?? ""} />,
    },
    {
      id: "output",
      title: "Output",
      wide: true,
      cell: (row) => <Preview text={texts.get(row.trace_id)?.output ?? ""} />,
    },
    {
      id: "status",
      title: "Status",
      width: "92px",
      cell: (row) =>
        row.errors > 0 ? <State tone="failed" text={plural(row.errors, "error")} /> : <span class="faint">OK</span>,
    },
    {
      id: "error",
      title: "Error",
      wide: true,
      extra: true,
      cell: (row) => <Preview text={texts.get(row.trace_id)?.error ?? ""} />,
    },
    ...(has_evals
      ? [
          {
            id: "evals",
            title: "Evals",
            width: "132px",
            wide: true,
            cell: (row: TraceRow) => <EvalChips evals={evals.get(row.trace_id) ?? []} most={1} />,
          },
        ]
      : []),
    {
      id: "duration",
      title: "Duration",
      width: "116px",
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
      width: "58px",
      align: "right",
      wide: true,
      cell: (row) => <span title={exact_count(row.spans)}>{short_count(row.spans)}</span>,
    },
    {
      id: "tokens",
      title: "Tokens",
      width: "66px",
      align: "right",
      wide: true,
      cell: (row) => <Amount value={row.tokens} text={short_count} exact={exact_count(row.tokens)} />,
    },
    {
      id: "cost",
      title: "Cost",
      width: "76px",
      align: "right",
      wide: true,
      cell: (row) => <Amount value={row.cost_nano_usd / 1000} text={money} exact={`$${row.cost_nano_usd / 1e9}`} />,
    },
    {
      id: "session",
      title: "Chat session",
      width: "104px",
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
      id: "version",
      title: "Version",
      width: "92px",
      wide: true,
      extra: true,
      cell: (row) => <Value operand="version" value={texts.get(row.trace_id)?.version ?? ""} />,
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
    { id: "ago", title: "When", width: "96px", align: "right", cell: (row) => <Time time={row.start_time} /> },
  ];
}

/** The beginning of a text, in one line. */
function Preview({ text }: { text: string }) {
  return (
    <span class="trace-text soft" title={text.slice(0, 500)}>
      {text.slice(0, 200)}
    </span>
  );
}

function Amount({ value, text, exact }: { value: number; text: (value: number) => string; exact: string }) {
  return value === 0 ? <span class="faint">–</span> : <span title={exact}>{text(value)}</span>;
}
