// The groups of single sign-on: who was in them at the last login, and the roles that mappings give them.

import { api, segment } from "../../api";
import type { Group } from "../../api_types";
import { reload, use_load } from "../../load";
import { PageHeader } from "../../parts/page";
import { SearchField } from "../../parts/search_field";
import { Data, Empty } from "../../parts/state";
import { type Column, Table } from "../../parts/table";
import { Time } from "../../parts/time";
import { query } from "../../router";

function roles_of(group: Group): string {
  return group.roles.map((row) => `${row.role} in ${row.space_name || "a deleted space"}`).join(", ");
}

function people_of(group: Group): string {
  const more = group.people - group.emails.length;
  return group.emails.join(", ") + (more > 0 ? ` and ${more} more` : "");
}

const columns: Column<Group>[] = [
  { id: "name", title: "Group", sort: (row) => row.name, cell: (row) => row.name },
  {
    id: "provider",
    title: "Provider",
    width: "130px",
    wide: true,
    sort: (row) => row.provider,
    cell: (row) => (
      <a class="cell-link" href={`/installation/sign-on?open=${segment(row.provider)}`}>
        {row.provider}
      </a>
    ),
  },
  {
    id: "roles",
    title: "Roles",
    sort: roles_of,
    cell: (row) => roles_of(row) || <span class="faint">no mapping</span>,
  },
  {
    id: "people",
    title: "People",
    sort: (row) => row.people,
    cell: (row) => (
      <span title={people_of(row)}>{row.people === 0 ? <span class="faint">none yet</span> : people_of(row)}</span>
    ),
  },
  {
    id: "last_login_at",
    title: "Last login",
    width: "110px",
    align: "right",
    wide: true,
    sort: (row) => row.last_login_at,
    cell: (row) => <Time time={row.last_login_at} />,
  },
];

export function Groups() {
  const load = use_load("groups", (signal) => api.list<Group>("/v1/groups", {}, signal));
  const text = (query.value.get("q") ?? "").toLowerCase();
  return (
    <div class="page list-page">
      <PageHeader
        title="Groups"
        text="What providers of single sign-on sent at each person's last login. Mappings of a provider give a group its roles."
      />
      <Data load={load} retry={() => void reload("groups")}>
        {(groups) =>
          groups.length === 0 ? (
            <Empty
              icon="groups"
              title="No groups yet"
              text="Groups are listed here after people sign in with a provider that sends them, and when a mapping names them."
              command="hone provider update company --map engineers=default:member"
            />
          ) : (
            <Table
              label="Groups"
              rows={groups.filter((row) =>
                `${row.name} ${row.provider} ${people_of(row)}`.toLowerCase().includes(text),
              )}
              columns={columns}
              row_id={(row) => `${row.provider} ${row.name}`}
              row_title={(row) => row.name}
              order="name"
              bar={<SearchField label="Filter groups" />}
            />
          )
        }
      </Data>
    </div>
  );
}
