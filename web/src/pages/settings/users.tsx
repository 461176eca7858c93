// All accounts of this installation.

import { api, segment } from "../../api";
import type { User } from "../../api_types";
import { reload, use_load } from "../../load";
import { user as self } from "../../login";
import { Id } from "../../parts/copy";
import { Avatar } from "../../parts/frame/avatar";
import { Icon } from "../../parts/icon";
import { Menu, type MenuItem } from "../../parts/menu";
import { PageHeader } from "../../parts/page";
import { SearchField } from "../../parts/search_field";
import { Data, State } from "../../parts/state";
import { type Column, Table } from "../../parts/table";
import { Time } from "../../parts/time";
import { toast_done, toast_failed } from "../../parts/toast";
import { query } from "../../router";

type Change = Partial<Pick<User, "disabled" | "installation_owner">>;

async function change(user: User, body: Change, done: string, undo?: Change): Promise<void> {
  try {
    await api.patch<User>(`/v1/users/${segment(user.id)}`, body);
    toast_done(done, undo && { title: "Undo", run: () => void change(user, undo, `Change of ${user.email} undone`) });
  } catch (error) {
    toast_failed("Could not change the user", error);
  }
  await reload("users");
}

async function act(user: User, what: string, done: string, failed: string): Promise<void> {
  try {
    await api.delete(`/v1/users/${segment(user.id)}${what}`);
    toast_done(`${done}: ${user.email}`);
  } catch (error) {
    toast_failed(failed, error);
  }
}

function actions(user: User): MenuItem[] {
  return [
    {
      title: user.installation_owner ? "Remove as owner of the installation" : "Make owner of the installation",
      icon: "shield",
      run: () =>
        void change(
          user,
          { installation_owner: !user.installation_owner },
          user.installation_owner
            ? `${user.email} is no longer an owner of the installation`
            : `${user.email} is now an owner of the installation`,
          { installation_owner: user.installation_owner },
        ),
    },
    {
      title: "End all logins",
      icon: "stop",
      run: () => void act(user, "/login_sessions", "Logins ended", "Could not end the logins"),
    },
    {
      title: "Remove the second factor",
      icon: "key",
      dangerous: true,
      run: () => void act(user, "/second_factor", "Second factor removed", "Could not remove the second factor"),
    },
    {
      title: user.disabled ? "Enable the account" : "Disable the account",
      icon: user.disabled ? "check" : "stop",
      dangerous: !user.disabled,
      run: () =>
        void change(
          user,
          { disabled: !user.disabled },
          user.disabled ? `Account of ${user.email} enabled` : `Account of ${user.email} disabled`,
          { disabled: user.disabled },
        ),
    },
  ];
}

const columns: Column<User>[] = [
  {
    id: "name",
    title: "Name",
    sort: (user) => user.name || user.email,
    cell: (user) => (
      <span class="person">
        <Avatar name={user.name || user.email} />
        <span class="person-name">{user.name || user.email}</span>
        {user.id === self.value?.id && <span class="tag">you</span>}
      </span>
    ),
  },
  { id: "email", title: "Email", wide: true, sort: (user) => user.email, cell: (user) => user.email },
  {
    id: "state",
    title: "State",
    width: "130px",
    cell: (user) =>
      user.disabled ? (
        <State tone="off" text="disabled" />
      ) : user.installation_owner ? (
        <State tone="done" text="owner" />
      ) : (
        <State tone="done" text="active" />
      ),
  },
  {
    id: "last_login_at",
    title: "Last login",
    width: "110px",
    align: "right",
    wide: true,
    sort: (user) => user.last_login_at,
    cell: (user) => <Time time={user.last_login_at} />,
  },
  {
    id: "created_at",
    title: "Created",
    width: "110px",
    align: "right",
    wide: true,
    extra: true,
    sort: (user) => user.created_at,
    cell: (user) => <Time time={user.created_at} />,
  },
  { id: "id", title: "Id", width: "150px", wide: true, extra: true, cell: (user) => <Id id={user.id} /> },
  {
    id: "actions",
    title: "",
    width: "48px",
    align: "right",
    cell: (user) =>
      user.id !== self.value?.id && (
        <Menu
          label={`Actions for ${user.email}`}
          class="quiet icon-only"
          align="right"
          button={<Icon name="more" />}
          items={actions(user)}
        />
      ),
  },
];

export function Users() {
  const load = use_load("users", (signal) => api.list<User>("/v1/users", {}, signal));
  const text = (query.value.get("q") ?? "").toLowerCase();
  return (
    <div class="page list-page">
      <PageHeader
        title="Users"
        text="All accounts. People join with an invitation to a space; here you can disable accounts and choose owners."
      />
      <Data load={load} retry={() => void reload("users")}>
        {(users) => (
          <Table
            label="Users"
            rows={users.filter((user) => `${user.name} ${user.email}`.toLowerCase().includes(text))}
            columns={columns}
            row_id={(user) => user.id}
            row_title={(user) => user.email}
            order="name"
            bar={<SearchField label="Filter users" />}
          />
        )}
      </Data>
    </div>
  );
}
