// Network requests out of a run's sandbox and the broker's decisions, newest last.

import { api } from "../../api";
import type { EgressRow, Run } from "../../api_types";
import { byte_size, duration } from "../../lib/format/number";
import { reload, use_load } from "../../load";
import { Data, Empty, State } from "../../parts/state";
import { type Column, Table } from "../../parts/table";
import { Time } from "../../parts/time";
import { Visible } from "../../parts/visible";
import { is_over, run_route } from "./data";

/** A request of a run that has ended is not in progress any more, even if its end was not recorded. */
function Outcome({ row, over }: { row: EgressRow; over: boolean }) {
  if (!row.allowed) return <State tone="failed" text="denied" />;
  if (row.failure) return <State tone="failed" text="failed" />;
  if (!row.ended) return <State tone={over ? "off" : "running"} text={over ? "ended with the run" : "in progress"} />;
  const bad = row.status !== null && row.status >= 400;
  return <State tone={bad ? "limit" : "done"} text={row.status === null ? "passed" : String(row.status)} />;
}

const columns_of = (over: boolean): Column<EgressRow>[] => [
  {
    id: "request",
    title: "Request",
    sort: (row) => row.number,
    cell: (row) => (
      <span class="mono" title={`${row.method} ${row.target}${row.path}`}>
        {row.method} <b>{row.target}</b>
        <Visible text={row.path} />
      </span>
    ),
  },
  {
    id: "outcome",
    title: "Outcome",
    width: "150px",
    sort: (row) => (row.allowed ? 1 : 0),
    cell: (row) => <Outcome row={row} over={over} />,
  },
  {
    id: "why",
    title: "Reason",
    wide: true,
    cell: (row) => (
      <span class="soft" title={row.rule}>
        <Visible text={row.failure ?? row.reason} />
      </span>
    ),
  },
  {
    id: "secrets",
    title: "Secrets used",
    width: "140px",
    wide: true,
    cell: (row) => row.secrets.map((name) => <code key={name}>{name} </code>),
  },
  {
    id: "bytes",
    title: "Sent, received",
    width: "140px",
    align: "right",
    wide: true,
    cell: (row) =>
      row.sent_bytes === null ? "" : `${byte_size(row.sent_bytes)}, ${byte_size(row.received_bytes ?? 0)}`,
  },
  {
    id: "took",
    title: "Duration",
    width: "80px",
    align: "right",
    wide: true,
    sort: (row) => row.took_us,
    cell: (row) => (row.took_us === null ? "" : duration(row.took_us / 1000)),
  },
  { id: "time", title: "When", width: "96px", align: "right", cell: (row) => <Time time={row.time} /> },
];

const page_size = 1000;

/** All rows: the number of requests of one run is limited. */
async function load_egress(run: string, signal: AbortSignal): Promise<EgressRow[]> {
  const rows: EgressRow[] = [];
  for (;;) {
    const after = rows[rows.length - 1]?.number ?? 0;
    const page = await api.get<EgressRow[]>(`${run_route(run)}/egress`, { after, limit: page_size }, signal);
    rows.push(...page);
    if (page.length < page_size) return rows;
  }
}

export function EgressList({ run }: { run: Run }) {
  const load = use_load(`run_egress/${run.id}`, (signal) => load_egress(run.id, signal));
  return (
    <Data load={load} retry={() => void reload("run_egress/")}>
      {(rows) =>
        rows.length === 0 ? (
          <Empty
            icon="shield"
            title="No network requests"
            text="Every request of the worker, allowed or denied, is listed here with the rule that applied."
          />
        ) : (
          <Table
            label="Requests"
            fit
            rows={rows}
            columns={columns_of(is_over(run.state))}
            row_id={(row) => String(row.number)}
            row_title={(row) => `${row.method} ${row.target}`}
            order="-request"
          />
        )
      }
    </Data>
  );
}
