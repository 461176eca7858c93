// What is slow, full, late or misconfigured, the servers of this installation, and how much fits on them.

import { useState } from "preact/hooks";
import { api } from "../../api";
import type { CapacityView, FindingView, ServerView } from "../../api_types";
import { byte_size, exact_count, money } from "../../lib/format/number";
import { reload, use_load } from "../../load";
import { Field } from "../../parts/form";
import { PageHeader, Section } from "../../parts/page";
import { Facts } from "../../parts/slide_over";
import { Data, State, type Tone } from "../../parts/state";
import { type Column, Table } from "../../parts/table";
import { Time } from "../../parts/time";

const tones: Record<string, Tone> = { ok: "done", warning: "limit", problem: "failed" };
const ranks: Record<string, number> = { problem: 0, warning: 1, ok: 2 };

const server_columns: Column<ServerView>[] = [
  {
    id: "name",
    title: "Server",
    sort: (row) => row.name,
    cell: (row) => (
      <span title={row.name}>
        {row.address || row.name} {row.this_server && <span class="tag">this one</span>}
      </span>
    ),
  },
  {
    id: "state",
    title: "State",
    width: "120px",
    cell: (row) => <State tone={row.live ? "done" : "failed"} text={row.live ? "live" : "lost"} />,
  },
  { id: "roles", title: "Roles", width: "230px", cell: (row) => row.roles.replaceAll(",", ", ") },
  { id: "version", title: "Version", width: "90px", cell: (row) => row.version },
  {
    id: "store",
    title: "Spans in",
    width: "20%",
    wide: true,
    cell: (row) => <span title={row.span_store}>{row.span_store}</span>,
  },
  { id: "started", title: "Started", width: "130px", wide: true, cell: (row) => <Time time={row.started_at} /> },
];

function Findings() {
  const load = use_load("diagnosis", (signal) => api.get<FindingView[]>("/v1/diagnosis", {}, signal));
  return (
    <Section title="Checks" text="Of the server that responds. The command “hone doctor” shows the same.">
      <Data load={load} retry={() => void reload("diagnosis")}>
        {(findings) => (
          <Facts
            rows={[...findings]
              .sort((a, b) => (ranks[a.state] ?? 0) - (ranks[b.state] ?? 0))
              .map((finding) => [
                finding.name,
                <span key={finding.name}>
                  <State tone={tones[finding.state] ?? "failed"} text={finding.state} /> {finding.detail}
                  {finding.advice && <span class="soft">: {finding.advice}</span>}
                </span>,
              ])}
          />
        )}
      </Data>
    </Section>
  );
}

function Servers() {
  const load = use_load("servers", (signal) => api.get<ServerView[]>("/v1/servers", {}, signal));
  return (
    <Section title="Servers" text="Those that share the database. One that does not report for 15 seconds is lost.">
      <Data load={load} retry={() => void reload("servers")}>
        {(rows) => (
          <Table
            label="Servers"
            fit
            rows={rows}
            columns={server_columns}
            row_id={(row) => row.name}
            row_title={(row) => row.name}
            order="name"
          />
        )}
      </Data>
    </Section>
  );
}

/** A number that is typed; 0 for what is none. */
function typed(text: string): number {
  const value = Number(text);
  return Number.isFinite(value) && value > 0 ? value : 0;
}

// What the spans of so many days cost on a disk, by the reader's own price.
function DiskPrice({ capacity }: { capacity: CapacityView }) {
  const [days, set_days] = useState("30");
  const [price, set_price] = useState("0.10");
  const bytes = capacity.span_bytes_per_day * typed(days);
  const micro_usd = (bytes / 2 ** 30) * typed(price) * 1e6;
  return (
    <>
      <div class="field-row">
        <Field label="Days that spans are kept" type="number" value={days} on_input={set_days} />
        <Field label="Price of a GiB of disk, in $ a month" type="number" value={price} on_input={set_price} />
      </div>
      <Facts
        rows={[
          ["Disk for these days", byte_size(Math.round(bytes))],
          ["Price of it a month", money(Math.round(micro_usd))],
        ]}
      />
    </>
  );
}

function Capacity() {
  const load = use_load("capacity", (signal) => api.get<CapacityView>("/v1/capacity", {}, signal));
  return (
    <Section
      title="Capacity"
      text="By what is stored now. How much CPU and disk other numbers of spans need is in the document “Several servers”."
    >
      <Data load={load} retry={() => void reload("capacity")}>
        {(capacity) => (
          <>
            <Facts
              rows={[
                ["Spans", `${exact_count(capacity.spans)}, ${byte_size(capacity.spans_bytes)}`],
                ["Size of a span", byte_size(capacity.bytes_per_span)],
                [
                  "A day",
                  `${exact_count(capacity.spans_per_day)} spans, ${byte_size(capacity.span_bytes_per_day)}; mean of ${capacity.days_with_spans} days`,
                ],
                ["Disk", `${byte_size(capacity.disk_free_bytes)} of ${byte_size(capacity.disk_bytes)} free`],
                [
                  "Full in",
                  capacity.days_until_full === null
                    ? "unknown: no spans, or they are stored elsewhere"
                    : `${exact_count(capacity.days_until_full)} days at this rate, without retention`,
                ],
                [
                  "Model calls of runs",
                  `${exact_count(capacity.model_calls_per_day)} a day, ${money(capacity.model_cost_micro_usd_per_day)}`,
                ],
              ]}
            />
            <DiskPrice capacity={capacity} />
          </>
        )}
      </Data>
    </Section>
  );
}

export function Health() {
  return (
    <div class="page">
      <PageHeader title="Health" text="What this installation needs from the people who run it." />
      <Findings />
      <Servers />
      <Capacity />
    </div>
  );
}
