// Who is logged in to this installation.

import { api, segment } from "../../api";
import type { LoginSession } from "../../api_types";
import { browser_name } from "../../lib/format/text";
import { reload, use_load } from "../../load";
import { PageHeader } from "../../parts/page";
import { SearchField } from "../../parts/search_field";
import { Data } from "../../parts/state";
import { type Column, Table } from "../../parts/table";
import { Time } from "../../parts/time";
import { toast_done, toast_failed } from "../../parts/toast";
import { query } from "../../router";

async function end(session: LoginSession): Promise<void> {
  try {
    await api.delete(`/v1/login_sessions/${segment(session.id)}`);
    toast_done(`Login of ${session.email} ended`);
  } catch (error) {
    toast_failed("Could not end the login", error);
  }
  await reload("logins");
}

const columns: Column<LoginSession>[] = [
  {
    id: "email",
    title: "Account",
    sort: (row) => row.email,
    cell: (row) => (
      <span>
        {row.email} {row.current && <span class="tag">this browser</span>}
      </span>
    ),
  },
  {
    id: "provider",
    title: "By",
    width: "120px",
    wide: true,
    sort: (row) => row.provider,
    cell: (row) => row.provider || "password",
  },
  {
    id: "user_agent",
    title: "Browser",
    wide: true,
    cell: (row) => <span title={row.user_agent}>{browser_name(row.user_agent)}</span>,
  },
  { id: "peer", title: "IP address", width: "140px", wide: true, cell: (row) => <span class="mono">{row.peer}</span> },
  {
    id: "last_seen_at",
    title: "Last seen",
    width: "110px",
    align: "right",
    sort: (row) => row.last_seen_at,
    cell: (row) => <Time time={row.last_seen_at} />,
  },
  {
    id: "actions",
    title: "",
    width: "72px",
    align: "right",
    cell: (row) =>
      !row.current && (
        <button type="button" class="quiet" aria-label={`End the login of ${row.email}`} onClick={() => void end(row)}>
          End
        </button>
      ),
  },
];

export function Logins() {
  const load = use_load("logins", (signal) => api.list<LoginSession>("/v1/login_sessions", {}, signal));
  const text = (query.value.get("q") ?? "").toLowerCase();
  return (
    <div class="page list-page">
      <PageHeader title="Logins" text="All browsers that are logged in. Ending a login takes effect immediately." />
      <Data load={load} retry={() => void reload("logins")}>
        {(logins) => (
          <Table
            label="Logins"
            rows={logins.filter((row) => `${row.email} ${row.peer} ${row.provider}`.toLowerCase().includes(text))}
            columns={columns}
            row_id={(row) => row.id}
            row_title={(row) => row.email}
            order="-last_seen_at"
            bar={<SearchField label="Filter logins" />}
          />
        )}
      </Data>
    </div>
  );
}
