// Custom roles of the space: the list, and the form that composes one.

import { useState } from "preact/hooks";
import { api, segment } from "../../api";
import type { CustomRole } from "../../api_types";
import { reload, use_load } from "../../load";
import { can, space } from "../../login";
import { Confirm } from "../../parts/confirm";
import { Dialog } from "../../parts/dialog";
import { Field, Form } from "../../parts/form";
import { Icon } from "../../parts/icon";
import { Section } from "../../parts/page";
import { Data, Empty } from "../../parts/state";
import { type Column, Table } from "../../parts/table";
import { Time } from "../../parts/time";
import { toast_done } from "../../parts/toast";
import { PermissionList } from "./permission_list";

const at = () => `/v1/spaces/${segment(space.value?.id ?? "")}/roles`;
const load_key = () => `custom_roles/${space.value?.id}`;

export function use_custom_roles() {
  return use_load(load_key(), (signal) => api.list<CustomRole>(at(), {}, signal));
}

function RoleDialog({ role, on_close }: { role: CustomRole | null; on_close: () => void }) {
  const [name, set_name] = useState(role?.name ?? "");
  const [description, set_description] = useState(role?.description ?? "");
  const [permissions, set_permissions] = useState(role?.permissions ?? []);
  async function save(): Promise<void> {
    const body = { name: name.trim(), description: description.trim(), permissions };
    if (role) await api.patch<CustomRole>(`${at()}/${segment(role.id)}`, body);
    else await api.post<CustomRole>(at(), body);
    toast_done(role ? `Role ${body.name} changed` : `Role ${body.name} created`);
    await reload("custom_roles/");
    on_close();
  }
  return (
    <Dialog title={role ? `Change the role ${role.name}` : "Create a role"} on_close={on_close}>
      <Form
        title={role ? "Save role" : "Create role"}
        busy_title="Saving…"
        disabled={name.trim() === ""}
        on_cancel={on_close}
        submit={save}
      >
        <Field label="Name" placeholder="auditor, reviewer, …" value={name} on_input={set_name} required first />
        <Field label="Description" value={description} on_input={set_description} />
        <PermissionList chosen={permissions} on_change={set_permissions} without="space_read" />
      </Form>
    </Dialog>
  );
}

function columns_with(
  on_edit: (role: CustomRole) => void,
  on_delete: (role: CustomRole) => void,
): Column<CustomRole>[] {
  const columns: Column<CustomRole>[] = [
    { id: "name", title: "Name", width: "22%", sort: (role) => role.name, cell: (role) => role.name },
    {
      id: "permissions",
      title: "Permissions",
      cell: (role) => <span class="soft">{role.permissions.join(", ")}</span>,
    },
    {
      id: "members",
      title: "Members",
      width: "90px",
      align: "right",
      sort: (role) => role.members,
      cell: (role) => role.members,
    },
    {
      id: "updated_at",
      title: "Changed",
      width: "110px",
      align: "right",
      wide: true,
      sort: (role) => role.updated_at,
      cell: (role) => <Time time={role.updated_at} />,
    },
  ];
  if (can("role_manage"))
    columns.push({
      id: "actions",
      title: "",
      width: "120px",
      align: "right",
      cell: (role) => (
        <>
          <button type="button" class="quiet" aria-label={`Change the role ${role.name}`} onClick={() => on_edit(role)}>
            Change
          </button>
          <button
            type="button"
            class="quiet icon-only"
            aria-label={`Delete the role ${role.name}`}
            onClick={() => on_delete(role)}
          >
            <Icon name="trash" />
          </button>
        </>
      ),
    });
  return columns;
}

export function CustomRoles() {
  const load = use_custom_roles();
  const [editing, set_editing] = useState<CustomRole | "new" | null>(null);
  const [deleting, set_deleting] = useState<CustomRole | null>(null);
  return (
    <Section title="Custom roles" text="Composed of permissions. What a role does not name is denied.">
      {can("role_manage") && (
        <p>
          <button type="button" class="primary" onClick={() => set_editing("new")}>
            <Icon name="plus" /> Create role
          </button>
        </p>
      )}
      <Data load={load} retry={() => void reload("custom_roles/")}>
        {(roles) =>
          roles.length === 0 ? (
            <Empty
              icon="shield"
              title="No custom roles"
              text="An owner composes a role of permissions and gives it to members."
              command="hone role create auditor --permission audit_read"
            />
          ) : (
            <Table
              label="Custom roles"
              secondary
              fit
              rows={roles}
              columns={columns_with(set_editing, set_deleting)}
              row_id={(role) => role.id}
              row_title={(role) => role.name}
              order="name"
            />
          )
        }
      </Data>
      {editing && <RoleDialog role={editing === "new" ? null : editing} on_close={() => set_editing(null)} />}
      {deleting && (
        <Confirm
          title={`Delete the role ${deleting.name}?`}
          consequence="Open invitations with this role are revoked. A role that members have cannot be deleted."
          action="Delete"
          run={async () => {
            await api.delete(`${at()}/${segment(deleting.id)}`);
            toast_done(`Role ${deleting.name} deleted`);
            await reload("custom_roles/");
          }}
          on_close={() => set_deleting(null)}
        />
      )}
    </Section>
  );
}
