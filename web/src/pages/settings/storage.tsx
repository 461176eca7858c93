// What is on the server's disk, its limits, and what the server removed by itself.

import { useState } from "preact/hooks";
import { api } from "../../api";
import type { Collection, StorageView, StoredKind } from "../../api_types";
import { byte_size, exact_count, plural } from "../../lib/format/number";
import { reload, use_load, use_pages } from "../../load";
import { PageHeader, Section } from "../../parts/page";
import { Facts } from "../../parts/slide_over";
import { Data, Empty } from "../../parts/state";
import { type Column, Table } from "../../parts/table";
import { Time } from "../../parts/time";
import { toast_done, toast_failed } from "../../parts/toast";
import { SpaceStorageTable } from "./space_storage";

const words: Record<StoredKind["kind"], [string, string]> = {
  runs: ["Runs", "Transcripts and artifacts"],
  workspaces: ["Workspaces", "Files for follow-ups"],
  quarantines: ["Branches", "Pushed by runs"],
  mirrors: ["Mirrors", "Copies of repositories"],
  artifacts: ["Artifacts", "Saved by runs"],
  layers: ["Layers", "Results of init scripts"],
  images: ["Images", "Roots of sandboxes"],
  sandboxes: ["Leftovers", "Of interrupted runs"],
  uploads: ["Uploads", "Given to runs by people"],
};

const kind_columns: Column<StoredKind>[] = [
  {
    id: "kind",
    title: "Kind",
    cell: (row) => (
      <span title={words[row.kind][1]}>
        {words[row.kind][0]} <span class="soft">{words[row.kind][1]}</span>
      </span>
    ),
  },
  { id: "count", title: "Number", width: "80px", align: "right", cell: (row) => exact_count(row.count) },
  {
    id: "bytes",
    title: "Size",
    width: "96px",
    align: "right",
    cell: (row) => (row.kind === "runs" ? <span class="faint">–</span> : byte_size(row.bytes)),
  },
  {
    id: "limit",
    title: "At most",
    width: "96px",
    align: "right",
    wide: true,
    cell: (row) => (row.limit_bytes === null ? <span class="faint">–</span> : byte_size(row.limit_bytes)),
  },
  {
    id: "needed",
    title: "Needed",
    width: "80px",
    align: "right",
    wide: true,
    cell: (row) => (
      <span title="A live run, an open review, an open pull request or a person needs them">
        {exact_count(row.needed)}
      </span>
    ),
  },
  {
    id: "limits",
    title: "Kept",
    width: "230px",
    wide: true,
    cell: (row) => <code title={row.limits}>{row.limits}</code>,
  },
  {
    id: "freed",
    title: "Removed in 30 days",
    width: "160px",
    align: "right",
    wide: true,
    cell: (row) =>
      row.removed === 0 ? (
        <span class="faint">none</span>
      ) : (
        `${exact_count(row.removed)}, ${byte_size(row.freed_bytes)}`
      ),
  },
];

const collection_columns: Column<Collection>[] = [
  { id: "time", title: "Time", width: "130px", cell: (row) => <Time time={row.collected_at} /> },
  { id: "kind", title: "Kind", cell: (row) => words[row.kind][0] },
  { id: "removed", title: "Removed", width: "100px", align: "right", cell: (row) => exact_count(row.removed) },
  { id: "bytes", title: "Freed", width: "110px", align: "right", cell: (row) => byte_size(row.bytes) },
];

function CollectButton() {
  const [busy, set_busy] = useState(false);
  async function collect(): Promise<void> {
    set_busy(true);
    try {
      const done = await api.post<Collection[]>("/v1/storage/collect", {});
      const freed = done.reduce((sum, one) => sum + one.bytes, 0);
      toast_done(
        done.length === 0
          ? "Nothing to remove: everything is within the limits"
          : `${plural(
              done.reduce((sum, one) => sum + one.removed, 0),
              "thing",
            )} removed, ${byte_size(freed)} freed`,
      );
      await reload("storage");
    } catch (error) {
      toast_failed("Could not collect", error);
    }
    set_busy(false);
  }
  return (
    <button type="button" disabled={busy} onClick={() => void collect()}>
      {busy ? "Collecting…" : "Collect now"}
    </button>
  );
}

function Collections() {
  const load = use_pages<Collection>("storage/collections", (cursor, signal) =>
    api.page<Collection>("/v1/storage/collections", { limit: 50, cursor }, signal),
  );
  return (
    <Section
      title="History"
      text="What the server removed by itself. Each removal is also in the log and in the metrics."
    >
      <Data load={load} retry={() => void reload("storage/collections")}>
        {(rows) =>
          rows.length === 0 ? (
            <Empty icon="history" title="Nothing was removed yet" text="Everything is within the limits." />
          ) : (
            <Table
              label="History"
              rows={rows}
              columns={collection_columns}
              row_id={(row) => row.id}
              row_title={(row) => `${words[row.kind][0]}, ${exact_count(row.removed)}`}
              on_end={load.more ?? undefined}
              secondary
              fit
            />
          )
        }
      </Data>
    </Section>
  );
}

export function Storage() {
  const load = use_load("storage", (signal) => api.get<StorageView>("/v1/storage", {}, signal));
  return (
    <div class="page">
      <PageHeader
        title="Storage"
        text="Every hour the server removes what is older, more or larger than its limits. What a live run, an open review, an open pull request or a person needs stays."
      >
        <CollectButton />
      </PageHeader>
      <Data load={load} retry={() => void reload("storage")}>
        {(view) => (
          <>
            <Facts
              rows={[
                ["Disk", byte_size(view.disk_bytes)],
                ["Free", byte_size(view.free_bytes)],
                [
                  "Last collection",
                  view.collected_at ? (
                    <Time key="time" time={view.collected_at} />
                  ) : (
                    "not since the start of the server"
                  ),
                ],
              ]}
            />
            <Section
              title="What is stored"
              text="The settings keep_runs, keep_workspaces, keep_layers and so on of the server are the limits; a space can keep its runs and workspaces for less time (Policy)."
            >
              <Table
                label="Storage"
                rows={view.kinds}
                columns={kind_columns}
                row_id={(row) => row.kind}
                row_title={(row) => words[row.kind][0]}
                fit
              />
            </Section>
          </>
        )}
      </Data>
      <SpaceStorageTable />
      <Collections />
    </div>
  );
}
