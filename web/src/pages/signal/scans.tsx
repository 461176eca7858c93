// The scans of Signal: findings and cost of each.

import { api } from "../../api";
import type { Project, Scan, SignalView } from "../../api_types";
import { byte_size, duration, exact_count, money, plural, short_count } from "../../lib/format/number";
import { reload, use_pages } from "../../load";
import { Dialog } from "../../parts/dialog";
import { Data, State } from "../../parts/state";
import { type Column, Earlier, Table } from "../../parts/table";
import { Time } from "../../parts/time";
import { set_query } from "../../router";
import { automation_page } from "../addresses";
import { project_route } from "../projects/data";
import { Readings } from "./readings";

const columns: Column<Scan>[] = [
  { id: "when", title: "When", width: "96px", cell: (scan) => <Time time={scan.started_at} /> },
  {
    id: "found",
    title: "Found",
    cell: (scan) =>
      scan.failed !== "" ? (
        <span title={scan.failed}>
          <State tone="failed" text={`failed: ${scan.failed}`} />
        </span>
      ) : (
        <span title={`${scan.quiet} of them muted or dismissed, started by ${scan.asked_by}`}>
          {scan.found}
          {scan.new_issues > 0 && (
            <>
              , <b>{scan.new_issues} new</b>
            </>
          )}
          {scan.reopened > 0 && (
            <>
              , <b>{scan.reopened} reopened</b>
            </>
          )}
        </span>
      ),
  },
  {
    id: "spans",
    title: "Spans",
    width: "72px",
    align: "right",
    wide: true,
    cell: (scan) => <span title={exact_count(scan.spans)}>{short_count(scan.spans)}</span>,
  },
  { id: "took", title: "Time", width: "72px", align: "right", cell: (scan) => duration(scan.took_ms) },
  {
    id: "read",
    title: "Read",
    width: "84px",
    align: "right",
    wide: true,
    cell: (scan) => (
      <span title={`${exact_count(scan.rows_read)} rows in ${plural(scan.questions, "query", "queries")}`}>
        {byte_size(scan.bytes_read)}
      </span>
    ),
  },
  {
    id: "memory",
    title: "Memory",
    width: "84px",
    align: "right",
    wide: true,
    cell: (scan) =>
      scan.memory_bytes > 0 ? byte_size(scan.memory_bytes) : <span title="Not reported by this engine">–</span>,
  },
  {
    id: "workers",
    title: "Workers",
    width: "72px",
    align: "right",
    wide: true,
    cell: (scan) => scan.investigations || <span class="faint">0</span>,
  },
  {
    id: "tokens",
    title: "Tokens",
    width: "76px",
    align: "right",
    cell: (scan) => <span title={money(scan.cost_micro_usd)}>{short_count(scan.tokens)}</span>,
  },
];

export function ScansDialog({ project, view }: { project: Project; view: SignalView }) {
  const load = use_pages<Scan>(`signal_scans/${project.id}`, (cursor, signal) =>
    api.page<Scan>(project_route(project, "signal/scans"), { limit: 50, cursor }, signal),
  );
  return (
    <Dialog title="Scans" wide on_close={() => set_query({ scans: null }, { replace: true })}>
      <p class="soft">
        Each scan and its cost. Scans use no tokens; the tokens are those of the workers that a scan started.
        {view.automation_id && (
          <>
            {" "}
            <a href={automation_page(view.automation_id)}>Show skipped scans too</a>
          </>
        )}
      </p>
      <Readings project={project} view={view} />
      <Data load={load} retry={() => void reload("signal_scans/")}>
        {(scans) =>
          scans.length === 0 ? (
            <p class="faint">No scans yet.</p>
          ) : (
            <Table
              label="Scans"
              rows={scans}
              columns={columns}
              row_id={(scan) => scan.id}
              row_title={(scan) => `${scan.found} found ${scan.started_at}`}
              secondary
              fit
              foot={<Earlier more={load.more} title="Older scans" />}
            />
          )
        }
      </Data>
    </Dialog>
  );
}
