// The audit log: every change and its actor, chained by hashes. Filter, range and the open entry are in the address.

import { useState } from "preact/hooks";
import { api, api_url } from "../../api";
import type { AuditEntry, AuditVerification } from "../../api_types";
import { complete_filter, parse_filter, with_term } from "../../lib/filter/filter";
import { exact_count, plural } from "../../lib/format/number";
import { range_bounds } from "../../lib/format/range";
import { short_id } from "../../lib/format/text";
import { local_time } from "../../lib/format/time";
import { reload, use_pages } from "../../load";
import { can_install, space } from "../../login";
import { use_new_count } from "../../new_count";
import { use_action } from "../../parts/action";
import { CodeBlock, Id } from "../../parts/copy";
import { FilterBar } from "../../parts/filter_bar";
import { Check } from "../../parts/form";
import { current_range } from "../../parts/frame/time_range";
import { Icon } from "../../parts/icon";
import { PageHeader } from "../../parts/page";
import { Facts, SlideOver } from "../../parts/slide_over";
import { Data, Empty, Note } from "../../parts/state";
import { type Column, Table } from "../../parts/table";
import { Time } from "../../parts/time";
import { query, set_query } from "../../router";

const fields = ["actor", "action", "target"];

function filter_for(field: string, value: string): void {
  set_query({ q: with_term(query.value.get("q") ?? "", fields, field, value) || null });
}

/** A value that filters the list when clicked. */
function Value({ field, value, text = value }: { field: string; value: string; text?: string }) {
  if (value === "") return <span class="faint">–</span>;
  return (
    <button
      type="button"
      class="value"
      title={`Filter for ${field}:${value}`}
      onClick={(event) => {
        event.stopPropagation();
        filter_for(field, value);
      }}
    >
      {text}
    </button>
  );
}

const columns: Column<AuditEntry>[] = [
  {
    id: "time",
    title: "Time",
    width: "164px",
    wide: true,
    cell: (entry) => (
      <span class="mono" title={entry.time}>
        {local_time(entry.time)}
      </span>
    ),
  },
  {
    id: "actor",
    title: "Actor",
    cell: (entry) => <Value field="actor" value={entry.actor_name || entry.actor_id} />,
  },
  {
    id: "action",
    title: "Action",
    cell: (entry) => (
      <code>
        <Value field="action" value={entry.action} />
      </code>
    ),
  },
  {
    id: "target",
    title: "Target",
    wide: true,
    cell: (entry) => (
      <code>
        <Value field="target" value={entry.target} text={short_id(entry.target)} />
      </code>
    ),
  },
  {
    id: "peer",
    title: "IP address",
    width: "130px",
    wide: true,
    cell: (entry) => <span class="mono soft">{entry.peer}</span>,
  },
  {
    id: "seq",
    title: "Number",
    width: "80px",
    align: "right",
    wide: true,
    extra: true,
    cell: (entry) => exact_count(entry.seq),
  },
  {
    id: "request_id",
    title: "Request",
    width: "150px",
    wide: true,
    extra: true,
    cell: (entry) => <Id id={entry.request_id} />,
  },
  { id: "ago", title: "When", width: "96px", align: "right", cell: (entry) => <Time time={entry.time} /> },
];

function EntryDetail({ entry }: { entry: AuditEntry }) {
  return (
    <>
      <Facts
        rows={[
          [
            "Time",
            <span key="time" class="mono">
              {entry.time}
            </span>,
          ],
          [
            "Actor",
            <span key="who">
              {entry.actor_name || "–"} <span class="faint">({entry.actor_kind})</span>
            </span>,
          ],
          ["Actor id", <Id key="actor" id={entry.actor_id} />],
          ["Action", <code key="action">{entry.action}</code>],
          ["Target", <Id key="target" id={entry.target} />],
          [
            "IP address",
            <span key="peer" class="mono">
              {entry.peer || "–"}
            </span>,
          ],
          ["Request", <Id key="request" id={entry.request_id} />],
          ["Space", entry.space_id ? <Id key="space" id={entry.space_id} /> : "installation"],
        ]}
      />
      <h3>Details</h3>
      <CodeBlock text={JSON.stringify(entry.details, null, 2)} label="details" />
      <h3>Chain</h3>
      <Facts
        rows={[
          ["Hash", <Id key="hash" id={entry.hash} />],
          ["Previous hash", <Id key="previous" id={entry.prev_hash} />],
        ]}
      />
    </>
  );
}

function count_values(entries: AuditEntry[], value: (entry: AuditEntry) => string): Map<string, number> {
  const counts = new Map<string, number>();
  for (const entry of entries) {
    const text = value(entry);
    if (text !== "") counts.set(text, (counts.get(text) ?? 0) + 1);
  }
  return counts;
}

function Verify() {
  const { busy, attempt } = use_action();
  const [result, set_result] = useState<AuditVerification | null>(null);
  const verify = attempt("Could not verify the chain", async () =>
    set_result(await api.get<AuditVerification>("/v1/audit/verify")),
  );
  return (
    <>
      <button type="button" disabled={busy} onClick={verify}>
        <Icon name="shield" /> {busy ? "Verifying…" : "Verify chain"}
      </button>
      {result && (
        <div class="page-result" role="status">
          <Note kind={result.ok ? "done" : "failed"} icon={result.ok ? "check" : "warning"}>
            {result.ok ? (
              <>
                The chain is intact: {plural(result.entries, "entry", "entries")}, head <Id id={result.head_hash} />
              </>
            ) : (
              <>
                The chain is broken at entry {result.first_bad_seq}: {result.message}
              </>
            )}
          </Note>
        </div>
      )}
    </>
  );
}

export function Audit() {
  const text = query.value.get("q") ?? "";
  const range_text = query.value.get("range") ?? "30d";
  const open_seq = query.value.get("open");
  const filter = parse_filter(text, fields);
  const wanted = Object.fromEntries(filter.terms.map((term) => [term.field, term.value]));
  const everything = query.value.get("scope") === "installation";
  const where = everything ? { scope: "installation" } : { space: space.value?.id };
  const parameters = () => ({ ...where, ...wanted, ...range_bounds(current_range("30d"), Date.now()) });

  const key = `audit/${everything ? "" : space.value?.id}/${range_text}/${text}`;
  const load = use_pages(key, (cursor, signal) =>
    api.page<AuditEntry>("/v1/audit", { ...parameters(), limit: 200, cursor }, signal),
  );
  const entries = load.data ?? [];
  const newest = entries[0]?.seq ?? 0;
  const new_count = use_new_count(load.data && String(newest), async (signal) => {
    const page = await api.page<AuditEntry>("/v1/audit", { ...parameters(), limit: 100 }, signal);
    return page.rows.filter((entry) => entry.seq > newest).length;
  });

  const at = entries.findIndex((entry) => String(entry.seq) === open_seq);
  const open_at = (index: number) => {
    const entry = entries[index];
    return entry ? () => set_query({ open: String(entry.seq) }, { replace: true }) : undefined;
  };
  const detail = entries[at];
  const values = {
    actor: count_values(entries, (entry) => entry.actor_name || entry.actor_id),
    action: count_values(entries, (entry) => entry.action),
    target: count_values(entries, (entry) => entry.target),
  };
  return (
    <div class="beside">
      <div class="page list-page">
        <PageHeader title="Audit log" text="Append-only. Each entry contains the hash of the previous one.">
          {can_install("audit_verify") && <Verify />}
          <a class="button" download href={api_url("/v1/audit/export", parameters())}>
            <Icon name="download" /> Export JSON lines
          </a>
          <a class="button" download href={api_url("/v1/audit/export", { ...parameters(), format: "csv" })}>
            <Icon name="download" /> Export CSV
          </a>
        </PageHeader>
        <Data load={load} retry={() => void reload(key)}>
          {() => (
            <Table
              label="Audit log"
              rows={entries}
              columns={columns}
              row_id={(entry) => String(entry.seq)}
              row_title={(entry) => `entry ${entry.seq}`}
              open_id={open_seq}
              on_open={(entry) => set_query({ open: String(entry.seq) }, { replace: open_seq !== null })}
              on_end={load.more ?? undefined}
              new_count={new_count}
              on_show_new={() => void reload(key)}
              bar={
                <>
                  <FilterBar
                    label="Filter the audit log"
                    text={text}
                    placeholder="actor:  action:  target:"
                    complete={(draft, cursor) => complete_filter(draft, cursor, values)}
                    check={(draft) => parse_filter(draft, fields).error}
                    on_change={(value) => set_query({ q: value || null })}
                  />
                  {can_install("audit_verify") && (
                    <Check
                      label="Whole installation"
                      checked={everything}
                      on_change={(checked) => set_query({ scope: checked ? "installation" : null, open: null })}
                    />
                  )}
                </>
              }
              foot={
                entries.length === 0 ? (
                  <Empty
                    icon="history"
                    title="No entries in this range"
                    text="Choose a longer range or clear the filter. Every change in this space is recorded here."
                  />
                ) : (
                  <p class="table-end">{load.more ? "Loading more…" : plural(entries.length, "entry", "entries")}</p>
                )
              }
            />
          )}
        </Data>
      </div>
      {detail && (
        <SlideOver
          title={`Entry ${exact_count(detail.seq)}`}
          on_close={() => set_query({ open: null })}
          on_previous={open_at(at - 1)}
          on_next={open_at(at + 1)}
        >
          <EntryDetail entry={detail} />
        </SlideOver>
      )}
    </div>
  );
}
