// The columns of the list of traces.

import type { EvalView, TraceRow, TraceTextView } from "../../api_types";
import { exact_count, money, plural, short_count } from "../../lib/format/number";
import { local_time } from "../../lib/format/time";
import { Id } from "../../parts/copy";
import { State } from "../../parts/state";
import type { Column } from "../../parts/table";
import { Time } from "../../parts/time";
import { trace_page } from "../addresses";
import { Amount, Duration, Preview, Value } from "./cells";
import { EvalChips } from "./evals";

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
      server_sort: true,
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
      server_sort: true,
      cell: (row) => <Duration nanoseconds={row.duration_ns} longest={longest} />,
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
      server_sort: true,
      cell: (row) => <Amount value={row.tokens} text={short_count} exact={exact_count(row.tokens)} />,
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
    {
      id: "ago",
      title: "When",
      width: "96px",
      align: "right",
      server_sort: true,
      cell: (row) => <Time time={row.start_time} />,
    },
  ];
}
