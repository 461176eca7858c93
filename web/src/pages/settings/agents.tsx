// Outside agents that the user let in.

import { api, segment } from "../../api";
import type { AgentGrant } from "../../api_types";
import { reload, use_load } from "../../load";
import { me } from "../../login";
import { Section } from "../../parts/page";
import { Data } from "../../parts/state";
import { type Column, Table } from "../../parts/table";
import { Time } from "../../parts/time";
import { toast_done, toast_failed } from "../../parts/toast";

async function end(grant: AgentGrant): Promise<void> {
  try {
    await api.delete(`/v1/me/agents/${segment(grant.id)}`);
    toast_done(`${grant.client_name} has no access any more`);
  } catch (error) {
    toast_failed("Could not end the access", error);
  }
  await reload("agents");
}

const columns: Column<AgentGrant>[] = [
  { id: "client_name", title: "Agent", sort: (row) => row.client_name, cell: (row) => row.client_name },
  {
    id: "space",
    title: "Space",
    cell: (row) => me.value?.spaces.find((space) => space.id === row.space_id)?.name ?? "",
  },
  { id: "scopes", title: "Permissions", wide: true, cell: (row) => <span class="soft">{row.scopes.join(", ")}</span> },
  {
    id: "refreshed_at",
    title: "Renewed",
    width: "110px",
    align: "right",
    sort: (row) => row.refreshed_at,
    cell: (row) => <Time time={row.refreshed_at} />,
  },
  {
    id: "actions",
    title: "",
    width: "72px",
    align: "right",
    cell: (row) => (
      <button
        type="button"
        class="quiet"
        aria-label={`End the access of ${row.client_name}`}
        onClick={() => void end(row)}
      >
        End
      </button>
    ),
  },
];

export function Agents() {
  const load = use_load("agents", (signal) => api.get<AgentGrant[]>("/v1/me/agents", {}, signal));
  if ((load.data ?? []).length === 0) return null;
  return (
    <Section title="Outside agents" text="Agents that you let in through the MCP endpoint.">
      <Data load={load} retry={() => void reload("agents")}>
        {(grants) => (
          <Table
            label="Outside agents"
            fit
            rows={grants}
            columns={columns}
            row_id={(row) => row.id}
            row_title={(row) => row.client_name}
            order="client_name"
          />
        )}
      </Data>
    </Section>
  );
}
