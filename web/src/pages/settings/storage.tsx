// What each space keeps on the server's disk.

import { api, segment } from "../../api";
import type { SpaceStorage } from "../../api_types";
import { byte_size } from "../../lib/format/number";
import { reload, use_load } from "../../load";
import { PageHeader } from "../../parts/page";
import { SearchField } from "../../parts/search_field";
import { Data } from "../../parts/state";
import { type Column, Table } from "../../parts/table";
import { query } from "../../router";

type Part = "total" | "traces" | "artifacts" | "threads" | "layers" | "repositories" | "other";

function bytes_column(part: Part, title: string): Column<SpaceStorage> {
  const bytes = (row: SpaceStorage) => row[`${part}_bytes`];
  return {
    id: part,
    title,
    width: "110px",
    align: "right",
    wide: part !== "total",
    sort: bytes,
    cell: (row) => (bytes(row) === 0 ? <span class="faint">–</span> : byte_size(bytes(row))),
  };
}

const columns: Column<SpaceStorage>[] = [
  {
    id: "space",
    title: "Space",
    sort: (row) => row.space_name,
    cell: (row) =>
      row.space_id ? (
        <a class="cell-link" href={`/s/${segment(row.space_name)}`}>
          {row.space_name}
        </a>
      ) : (
        <span class="soft">No space: database, span log, images, harnesses</span>
      ),
  },
  bytes_column("total", "Total"),
  bytes_column("traces", "Traces"),
  bytes_column("artifacts", "Artifacts"),
  bytes_column("threads", "Threads"),
  bytes_column("layers", "Layers"),
  bytes_column("repositories", "Repositories"),
  bytes_column("other", "Other"),
];

export function Storage() {
  const load = use_load("storage", (signal) => api.list<SpaceStorage>("/v1/storage", {}, signal));
  const text = (query.value.get("q") ?? "").toLowerCase();
  return (
    <div class="page list-page">
      <PageHeader
        title="Storage"
        text="Disk of the data directory by space. Traces are the share of the compressed parts. Measured at most every minute."
      />
      <Data load={load} retry={() => void reload("storage")}>
        {(rows) => (
          <Table
            label="Storage"
            rows={rows.filter((row) => row.space_name.toLowerCase().includes(text))}
            columns={columns}
            row_id={(row) => row.space_id ?? "other"}
            row_title={(row) => row.space_name || "no space"}
            order="-total"
            bar={<SearchField label="Filter spaces" />}
          />
        )}
      </Data>
    </div>
  );
}
