// Members of the space, and open invitations.

import { useState } from "preact/hooks";
import { api, segment } from "../../api";
import type { CustomRole, Invite, Member } from "../../api_types";
import { use_keys } from "../../keyboard";
import { reload, use_load } from "../../load";
import { can, space, user } from "../../login";
import { Confirm } from "../../parts/confirm";
import { CodeBlock, Id } from "../../parts/copy";
import { Dialog } from "../../parts/dialog";
import { Choice, Field, Form } from "../../parts/form";
import { Avatar } from "../../parts/frame/avatar";
import { Icon } from "../../parts/icon";
import { PageHeader, Section } from "../../parts/page";
import { type RoleName, role_options } from "../../parts/role";
import { SearchField } from "../../parts/search_field";
import { Data, Note, State, type Tone } from "../../parts/state";
import { type Column, Table } from "../../parts/table";
import { Time } from "../../parts/time";
import { toast_done, toast_failed } from "../../parts/toast";
import { query, set_query } from "../../router";
import { roles_page } from "../addresses";
import { use_custom_roles } from "./custom_roles";

/** The response that contains the link. */
type CreatedInvite = Invite & { path: string };

const at = () => `/v1/spaces/${segment(space.value?.id ?? "")}`;

/** What a choice of a role means: a built-in one, or the id of a custom one. */
function role_body(choice: string): { role: RoleName } | { custom_role: string } {
  return choice.startsWith("role_") ? { custom_role: choice } : { role: choice as RoleName };
}

/** The built-in roles, then the space's own. */
function role_choices(custom: CustomRole[]): { value: string; title: string }[] {
  return [...role_options, ...custom.map((role) => ({ value: role.id, title: role.name }))];
}

async function change_role(member: Member, choice: string, title: string): Promise<void> {
  try {
    await api.patch<Member>(`${at()}/members/${segment(member.user_id)}`, role_body(choice));
    toast_done(`Role of ${member.name || member.email} changed to ${title}`);
  } catch (error) {
    toast_failed("Could not change the role", error);
  }
  // Also after an error: the field must show the current role.
  await reload("members/");
}

function member_columns(on_remove: (member: Member) => void, custom: CustomRole[]): Column<Member>[] {
  const choices = role_choices(custom);
  const chosen = (member: Member) => custom.find((role) => role.name === member.custom_role)?.id ?? member.role;
  const columns: Column<Member>[] = [
    {
      id: "name",
      title: "Name",
      sort: (member) => member.name || member.email,
      cell: (member) => (
        <span class="person">
          <Avatar name={member.name || member.email} />
          <span class="person-name">{member.name || member.email}</span>
          {member.user_id === user.value?.id && <span class="tag">you</span>}
          {member.disabled && <State tone="off" text="disabled" />}
        </span>
      ),
    },
    { id: "email", title: "Email", wide: true, sort: (member) => member.email, cell: (member) => member.email },
    {
      id: "role",
      title: "Role",
      width: "128px",
      sort: (member) => role_options.findIndex((option) => option.value === member.role),
      cell: (member) =>
        can("member_manage") ? (
          <select
            aria-label={`Role of ${member.email}`}
            value={chosen(member)}
            onChange={(event) => {
              const value = event.currentTarget.value;
              void change_role(member, value, choices.find((option) => option.value === value)?.title ?? value);
            }}
          >
            {choices.map((option) => (
              <option key={option.value} value={option.value}>
                {option.title}
              </option>
            ))}
          </select>
        ) : (
          member.custom_role || member.role
        ),
    },
    {
      id: "last_login_at",
      title: "Last login",
      width: "110px",
      align: "right",
      wide: true,
      sort: (member) => member.last_login_at,
      cell: (member) => <Time time={member.last_login_at} />,
    },
    {
      id: "created_at",
      title: "Joined",
      width: "110px",
      align: "right",
      extra: true,
      wide: true,
      sort: (member) => member.created_at,
      cell: (member) => <Time time={member.created_at} />,
    },
    {
      id: "user_id",
      title: "User id",
      width: "150px",
      extra: true,
      wide: true,
      cell: (member) => <Id id={member.user_id} />,
    },
  ];
  if (can("member_manage")) {
    columns.push({
      id: "actions",
      title: "",
      width: "48px",
      align: "right",
      cell: (member) => (
        <button
          type="button"
          class="quiet icon-only"
          aria-label={`Remove ${member.email}`}
          onClick={() => on_remove(member)}
        >
          <Icon name="trash" />
        </button>
      ),
    });
  }
  return columns;
}

function InviteDialog({ on_close }: { on_close: () => void }) {
  const [email, set_email] = useState("");
  const [role, set_role] = useState("member");
  const custom = use_custom_roles();
  const [created, set_created] = useState<CreatedInvite | null>(null);
  if (created) {
    return (
      <Dialog title={`Link for ${created.email}`} on_close={on_close}>
        <div class="form">
          <p>
            Send this link to the person. It is shown only now, works once and expires{" "}
            <Time time={created.expires_at} />.
          </p>
          <CodeBlock text={window.location.origin + created.path} label="invitation link" />
          <div class="form-actions">
            <button type="button" class="primary" onClick={on_close} data-first>
              Done
            </button>
          </div>
        </div>
      </Dialog>
    );
  }
  return (
    <Dialog title="Invite a teammate" on_close={on_close}>
      <Form
        title="Create link"
        busy_title="Creating…"
        on_cancel={on_close}
        submit={async () => {
          set_created(await api.post<CreatedInvite>(`${at()}/invites`, { email: email.trim(), ...role_body(role) }));
          void reload("invites/");
        }}
      >
        <Field label="Email" type="email" value={email} on_input={set_email} required first />
        <Choice
          label="Role"
          value={role}
          on_change={set_role}
          options={role_choices(custom.data ?? [])}
          hint={
            <>
              The permissions of each role are listed under <a href={roles_page()}>Roles</a>.
            </>
          }
        />
      </Form>
    </Dialog>
  );
}

const invite_tones: Record<Invite["state"], Tone> = {
  open: "waiting",
  accepted: "done",
  revoked: "off",
  expired: "limit",
};

async function revoke(invite: Invite): Promise<void> {
  try {
    await api.delete(`${at()}/invites/${segment(invite.id)}`);
    toast_done(`Invitation of ${invite.email} revoked`);
  } catch (error) {
    toast_failed("Could not revoke the invitation", error);
  }
  await reload("invites/");
}

const invite_columns: Column<Invite>[] = [
  { id: "email", title: "Email", sort: (invite) => invite.email, cell: (invite) => invite.email },
  { id: "role", title: "Role", width: "100px", cell: (invite) => invite.custom_role || invite.role },
  {
    id: "state",
    title: "State",
    width: "110px",
    sort: (invite) => invite.state,
    cell: (invite) => <State tone={invite_tones[invite.state]} text={invite.state} />,
  },
  {
    id: "expires_at",
    title: "Expires",
    width: "110px",
    align: "right",
    wide: true,
    sort: (invite) => invite.expires_at,
    cell: (invite) => <Time time={invite.expires_at} />,
  },
  {
    id: "actions",
    title: "",
    width: "92px",
    align: "right",
    cell: (invite) =>
      invite.state === "open" && (
        <button
          type="button"
          class="quiet"
          aria-label={`Revoke the invitation of ${invite.email}`}
          onClick={() => void revoke(invite)}
        >
          Revoke
        </button>
      ),
  },
];

function Invites() {
  const key = `invites/${space.value?.id}`;
  const load = use_load(key, async (signal) => {
    const invites = await api.list<Invite>(`${at()}/invites`, {}, signal);
    // Accepted and revoked invitations are in the audit log; open and expired ones are listed here.
    return invites.filter((invite) => invite.state === "open" || invite.state === "expired");
  });
  if (load.data?.length === 0) return null;
  return (
    <Section title="Invitations">
      <Data load={load} retry={() => void reload(key)}>
        {(invites) => (
          <Table
            label="Invitations"
            secondary
            fit
            rows={invites}
            columns={invite_columns}
            row_id={(invite) => invite.id}
            row_title={(invite) => invite.email}
            order="email"
          />
        )}
      </Data>
    </Section>
  );
}

export function Members() {
  const key = `members/${space.value?.id}`;
  const load = use_load(key, (signal) => api.list<Member>(`${at()}/members`, {}, signal));
  const custom = use_custom_roles();
  const [removing, set_removing] = useState<Member | null>(null);
  const open_dialog = () => set_query({ new: "1" });
  const manages = can("member_manage");
  use_keys(manages ? [{ keys: "c", title: "Invite a teammate", group: "This page", run: open_dialog }] : []);
  const text = (query.value.get("q") ?? "").toLowerCase();
  return (
    <div class="page">
      <PageHeader title="Members" text={`People with a role in the space ${space.value?.name}.`}>
        {manages && (
          <button type="button" class="primary" onClick={open_dialog}>
            <Icon name="plus" /> Invite
          </button>
        )}
      </PageHeader>
      {!manages && (
        <Note icon="lock">
          Your role here is {space.value?.custom_role || space.value?.role}. Owners and admins can invite people and
          change roles.
        </Note>
      )}
      <Data load={load} retry={() => void reload(key)}>
        {(members) => (
          <Table
            label="Members"
            fit
            rows={members.filter((member) =>
              `${member.name} ${member.email} ${member.custom_role || member.role}`.toLowerCase().includes(text),
            )}
            columns={member_columns(set_removing, custom.data ?? [])}
            row_id={(member) => member.user_id}
            row_title={(member) => member.email}
            order="name"
            bar={<SearchField label="Filter members" />}
          />
        )}
      </Data>
      {manages && <Invites />}
      {manages && query.value.has("new") && (
        <InviteDialog on_close={() => set_query({ new: null }, { replace: true })} />
      )}
      {removing && (
        <Confirm
          title={`Remove ${removing.name || removing.email}?`}
          consequence={`${removing.email} loses access to every project of ${space.value?.name}. Their personal keys for this space stop working. You can invite them again.`}
          action="Remove"
          run={async () => {
            await api.delete(`${at()}/members/${segment(removing.user_id)}`);
            toast_done(`${removing.email} removed`);
            await reload("members/");
          }}
          on_close={() => set_removing(null)}
        />
      )}
    </div>
  );
}
