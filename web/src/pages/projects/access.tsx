// Bindings: roles of people and service keys in one project.

import { useState } from "preact/hooks";
import { api, segment } from "../../api";
import type { Binding, Key, Member, Project } from "../../api_types";
import { reload, use_load } from "../../load";
import { can, space } from "../../login";
import { Choice, Form } from "../../parts/form";
import { Icon } from "../../parts/icon";
import { Section } from "../../parts/page";
import { type RoleName, role_options } from "../../parts/role";
import { Data } from "../../parts/state";
import { type Column, Table } from "../../parts/table";
import { Time } from "../../parts/time";
import { toast_done, toast_failed } from "../../parts/toast";

interface Access {
  bindings: Binding[];
  /** People and keys that can get a binding. */
  principals: { id: string; title: string }[];
}

async function load_access(project: Project, signal: AbortSignal): Promise<Access> {
  const [bindings, members, keys] = await Promise.all([
    api.get<Binding[]>(`/v1/projects/${segment(project.id)}/bindings`, {}, signal),
    can("member_read") ? api.list<Member>(`/v1/spaces/${segment(project.space_id)}/members`, {}, signal) : [],
    can("key_manage") ? api.list<Key>("/v1/keys", { space: project.space_id }, signal) : [],
  ]);
  const people = members.map((member) => ({ id: member.user_id, title: member.name || member.email }));
  const service_keys = keys.filter((key) => key.kind === "service" && key.state === "active");
  return {
    bindings,
    principals: [...people, ...service_keys.map((key) => ({ id: key.id, title: `${key.name} (key)` }))],
  };
}

function address(project: Project, principal: string): string {
  return `/v1/projects/${segment(project.id)}/bindings/${segment(principal)}`;
}

async function bind(project: Project, principal: string, role: RoleName): Promise<void> {
  await api.put<Binding>(address(project, principal), { role });
  await reload(`bindings/${project.id}`);
}

async function unbind(project: Project, binding: Binding): Promise<void> {
  try {
    await api.delete(address(project, binding.principal));
    await reload(`bindings/${project.id}`);
    toast_done(`Binding of ${binding.name} removed`, {
      title: "Undo",
      run: () => void bind(project, binding.principal, binding.role),
    });
  } catch (error) {
    toast_failed("Could not remove the binding", error);
  }
}

function columns(project: Project): Column<Binding>[] {
  return [
    {
      id: "name",
      title: "Name",
      cell: (binding) => binding.name || binding.principal,
      sort: (binding) => binding.name,
    },
    {
      id: "role",
      title: "Role",
      width: "140px",
      cell: (binding) => (
        <select
          aria-label={`Role of ${binding.name}`}
          value={binding.role}
          onChange={(event) =>
            void bind(project, binding.principal, event.currentTarget.value as RoleName).then(
              () => toast_done("Role changed"),
              (error) => toast_failed("Could not change the role", error),
            )
          }
        >
          {role_options.map((option) => (
            <option key={option.value} value={option.value}>
              {option.title}
            </option>
          ))}
        </select>
      ),
    },
    {
      id: "created_at",
      title: "Since",
      width: "110px",
      wide: true,
      cell: (binding) => <Time time={binding.created_at} />,
    },
    {
      id: "actions",
      title: "",
      width: "48px",
      align: "right",
      cell: (binding) => (
        <button
          type="button"
          class="quiet icon-only"
          aria-label={`Remove ${binding.name}`}
          onClick={() => void unbind(project, binding)}
        >
          <Icon name="trash" />
        </button>
      ),
    },
  ];
}

function AddBinding({ project, access }: { project: Project; access: Access }) {
  const free = access.principals.filter((one) => !access.bindings.some((binding) => binding.principal === one.id));
  const [principal, set_principal] = useState("");
  const [role, set_role] = useState("member");
  const chosen = free.find((one) => one.id === principal)?.id ?? free[0]?.id ?? "";
  if (free.length === 0) return null;
  return (
    <Form
      title="Grant access"
      plain
      submit={async () => {
        await bind(project, chosen, role as RoleName);
        toast_done("Access granted");
      }}
    >
      <div class="field-row">
        <Choice
          label="Person or service key"
          value={chosen}
          on_change={set_principal}
          options={free.map((one) => ({ value: one.id, title: one.title }))}
        />
        <Choice label="Role" value={role} on_change={set_role} options={role_options} />
      </div>
    </Form>
  );
}

export function ProjectAccess({ project }: { project: Project }) {
  const key = `bindings/${project.id}`;
  const load = use_load(key, (signal) => load_access(project, signal));
  return (
    <Section
      title="Bindings"
      text={`A binding gives a person or a service key a role in this project only. ${project.restricted ? "" : `It adds to their role in the space ${space.value?.name}.`}`}
    >
      <Data load={load} retry={() => void reload(key)}>
        {(access) => (
          <>
            {access.bindings.length > 0 && (
              <Table
                label="Bindings"
                fit
                rows={access.bindings}
                columns={columns(project)}
                row_id={(binding) => binding.principal}
                row_title={(binding) => binding.name}
                order="name"
              />
            )}
            <AddBinding project={project} access={access} />
          </>
        )}
      </Data>
    </Section>
  );
}
