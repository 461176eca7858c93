// What each space keeps on the server's disk.

import { api, segment } from "../../api";
import type { SpaceStorage } from "../../api_types";
import { byte_size } from "../../lib/format/number";
import { reload, use_load } from "../../load";
import { Section } from "../../parts/page";
import { Data } from "../../parts/state";
import { type Column, Table } from "../../parts/table";

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
    cell: (row) => <span class={bytes(row) === 0 ? "faint" : undefined}>{byte_size(bytes(row))}</span>,
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
        <span class="soft">no space</span>
      ),
  },
  bytes_column("total", "Total"),
  bytes_column("traces", "Traces"),
  bytes_column("artifacts", "Artifacts"),
  bytes_column("threads", "Workspaces"),
  bytes_column("layers", "Layers"),
  bytes_column("repositories", "Repositories"),
  bytes_column("other", "Other"),
];

export function SpaceStorageTable() {
  const load = use_load("space_storage", (signal) => api.list<SpaceStorage>("/v1/storage/spaces", {}, signal));
  return (
    <Section
      title="By space"
      text="Traces are the share of the compressed parts. The database, the span log, images and harnesses belong to no space. Measured at most every minute."
    >
      <Data load={load} retry={() => void reload("space_storage")}>
        {(rows) => (
          <Table
            label="Storage by space"
            fit
            rows={rows}
            columns={columns}
            row_id={(row) => row.space_id ?? "other"}
            row_title={(row) => row.space_name || "no space"}
            order="-total"
          />
        )}
      </Data>
    </Section>
  );
}
