// Log records of a project, newest first. Text, severity, range and the open record are in the address.

import { useEffect, useState } from "preact/hooks";
import { api } from "../../api";
import type { LogRecordView } from "../../api_types";
import { plural } from "../../lib/format/number";
import { range_bounds } from "../../lib/format/range";
import { local_time } from "../../lib/format/time";
import type { Params } from "../../lib/route";
import { reload, use_pages } from "../../load";
import { Content } from "../../parts/content";
import { current_range } from "../../parts/frame/time_range";
import { JsonValue } from "../../parts/json_view";
import { PageHeader } from "../../parts/page";
import { SearchField } from "../../parts/search_field";
import { Facts, SlideOver } from "../../parts/slide_over";
import { Data, Empty, ErrorNote, State } from "../../parts/state";
import { type Column, Table } from "../../parts/table";
import { Time } from "../../parts/time";
import { query, set_query } from "../../router";
import { trace_page } from "../addresses";
import { project_route, use_project } from "../projects/data";

const default_range = "24h";
const severities = ["trace", "debug", "info", "warn", "error", "fatal"];
const row_key = (record: LogRecordView, index: number) => `${record.time} ${index}`;

type Row = LogRecordView & { key: string };

function Severity({ record }: { record: LogRecordView }) {
  if (record.severity === "") return <span class="faint">–</span>;
  if (record.severity === "error" || record.severity === "fatal") return <State tone="failed" text={record.severity} />;
  if (record.severity === "warn") return <State tone="limit" text="warn" />;
  return <span class="soft">{record.severity}</span>;
}

const columns: Column<Row>[] = [
  {
    id: "time",
    title: "Time",
    width: "164px",
    wide: true,
    cell: (record) => (
      <span class="mono" title={record.time}>
        {local_time(record.time)}
      </span>
    ),
  },
  { id: "severity", title: "Severity", width: "92px", cell: (record) => <Severity record={record} /> },
  { id: "message", title: "Message", cell: (record) => record.body || <span class="faint">{record.name}</span> },
  { id: "service", title: "Service", width: "130px", wide: true, cell: (record) => record.service || "–" },
  { id: "scope", title: "Logger", width: "150px", wide: true, extra: true, cell: (record) => record.scope || "–" },
  { id: "ago", title: "When", width: "96px", align: "right", cell: (record) => <Time time={record.time} /> },
];

function Detail({ record, project }: { record: LogRecordView; project: string }) {
  return (
    <>
      <Facts
        rows={[
          [
            "Time",
            <span key="time" class="mono">
              {record.time}
            </span>,
          ],
          ["Severity", record.severity || "–"],
          ["Name", record.name],
          ["Service", record.service || "–"],
          ["Logger", record.scope || "–"],
          [
            "Trace",
            record.trace_id === "" ? (
              "–"
            ) : (
              <a key="trace" href={`${trace_page(project, record.trace_id)}?span=${record.span_id}`}>
                Open its span
              </a>
            ),
          ],
        ]}
      />
      {record.body !== "" && <Content text={record.body} />}
      <h3>Attributes</h3>
      <JsonValue value={record.attributes} />
    </>
  );
}

/** The text once no letter was typed for a moment: a search reads every record of the range. */
function use_settled(text: string): string {
  const [settled, set_settled] = useState(text);
  useEffect(() => {
    const timer = setTimeout(() => set_settled(text), 250);
    return () => clearTimeout(timer);
  }, [text]);
  return settled;
}

export function Logs({ params }: { params: Params }) {
  const project = use_project(params);
  const name = params.project ?? "";
  const text = use_settled(query.value.get("q") ?? "");
  const severity = query.value.get("severity") ?? "";
  const range = query.value.get("range") ?? default_range;
  const id = project.data?.id;
  const key = `logs/${id}/${range}/${severity}/${text}`;
  const load = use_pages(id ? key : null, (cursor, signal) =>
    api.page<LogRecordView>(
      project_route(project.data, "logs"),
      { text, severity, ...range_bounds(current_range(default_range), Date.now()), limit: 200, cursor },
      signal,
    ),
  );
  const rows = (load.data ?? []).map((record, index) => ({ ...record, key: row_key(record, index) }));
  const open = query.value.get("open");
  const at = rows.findIndex((row) => row.key === open);
  const show = (index: number) => {
    const row = rows[index];
    return row ? () => set_query({ open: row.key }, { replace: true }) : undefined;
  };
  const detail = rows[at];
  return (
    <div class="beside">
      <div class="page list-page">
        <PageHeader
          title="Logs"
          text="Log records that the application sends over OTLP. Events of model calls are on their spans."
        />
        {project.error && <ErrorNote error={project.error} retry={() => void reload("project/")} />}
        <Data load={load} retry={() => void reload(key)}>
          {() => (
            <Table
              label="Logs"
              rows={rows}
              columns={columns}
              row_id={(row) => row.key}
              row_title={(row) => row.body || row.name}
              open_id={open}
              on_open={(row) => set_query({ open: row.key }, { replace: open !== null })}
              on_end={load.more ?? undefined}
              bar={
                <>
                  <SearchField label="Search logs" />
                  <label class="inline-choice">
                    Severity
                    <select
                      value={severity}
                      onChange={(event) => set_query({ severity: event.currentTarget.value || null, open: null })}
                    >
                      <option value="">all</option>
                      {severities.map((one) => (
                        <option key={one} value={one}>
                          {one === "fatal" ? one : `${one} or worse`}
                        </option>
                      ))}
                    </select>
                  </label>
                </>
              }
              foot={
                rows.length > 0 ? (
                  <p class="table-end">{load.more ? "Loading more…" : plural(rows.length, "log record")}</p>
                ) : (
                  <Empty
                    icon="log"
                    title="No log records in this range"
                    text={
                      text !== "" || severity !== ""
                        ? "Choose a longer range or clear the search."
                        : "Log records that an OpenTelemetry SDK sends to /v1/logs appear here, and are kept for 7 days unless the project's settings have another number."
                    }
                  />
                )
              }
            />
          )}
        </Data>
      </div>
      {detail && (
        <SlideOver
          title={detail.name === "log" ? "Log record" : detail.name}
          on_close={() => set_query({ open: null })}
          on_previous={show(at - 1)}
          on_next={show(at + 1)}
        >
          <Detail record={detail} project={name} />
        </SlideOver>
      )}
    </div>
  );
}
