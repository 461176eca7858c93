// The user's account: name, password, second factor, identities, logins.

import { useState } from "preact/hooks";
import { api, segment } from "../../api";
import type { LoginSession, Me } from "../../api_types";
import { browser_name } from "../../lib/format/text";
import { reload, use_load } from "../../load";
import { me, set_me, user } from "../../login";
import { Field, Form } from "../../parts/form";
import { PageHeader, Section } from "../../parts/page";
import { Data, Note } from "../../parts/state";
import { type Column, Table } from "../../parts/table";
import { Time } from "../../parts/time";
import { toast_done, toast_failed } from "../../parts/toast";
import { Agents } from "./agents";
import { Identities } from "./identities";
import { SecondFactor } from "./second_factor";

function NameForm() {
  const [name, set_name] = useState(user.value?.name ?? "");
  return (
    <Form
      title="Save name"
      disabled={name.trim() === "" || name === user.value?.name}
      submit={async () => {
        set_me(await api.patch<Me>("/v1/me", { name: name.trim() }));
        toast_done("Name saved");
      }}
    >
      <Field label="Name" value={name} on_input={set_name} autocomplete="name" required />
    </Form>
  );
}

function PasswordForm() {
  const [current, set_current] = useState("");
  const [next, set_next] = useState("");
  return (
    <Form
      title="Change password"
      disabled={current === "" || next.length < 10}
      submit={async () => {
        set_me(await api.post<Me>("/v1/me/password", { current_password: current, new_password: next }));
        set_current("");
        set_next("");
        toast_done("Password changed; other logins ended");
        void reload("sessions");
      }}
    >
      <Field
        label="Current password"
        type="password"
        value={current}
        on_input={set_current}
        autocomplete="current-password"
        required
      />
      <Field
        label="New password"
        type="password"
        value={next}
        on_input={set_next}
        autocomplete="new-password"
        min_length={10}
        hint="At least 10 characters. All your other logins end."
        required
      />
    </Form>
  );
}

async function end_session(session: LoginSession): Promise<void> {
  try {
    await api.delete(`/v1/me/sessions/${segment(session.id)}`);
    toast_done("Login ended");
  } catch (error) {
    toast_failed("Could not end the login", error);
  }
  await reload("sessions");
}

const columns: Column<LoginSession>[] = [
  {
    id: "user_agent",
    title: "Browser",
    cell: (session) => (
      <span title={session.user_agent}>
        {browser_name(session.user_agent)} {session.current && <span class="tag">this browser</span>}
      </span>
    ),
  },
  {
    id: "peer",
    title: "IP address",
    width: "140px",
    wide: true,
    cell: (session) => <span class="mono">{session.peer}</span>,
  },
  {
    id: "last_seen_at",
    title: "Last seen",
    width: "110px",
    align: "right",
    sort: (session) => session.last_seen_at,
    cell: (session) => <Time time={session.last_seen_at} />,
  },
  {
    id: "created_at",
    title: "Logged in",
    width: "110px",
    align: "right",
    wide: true,
    sort: (session) => session.created_at,
    cell: (session) => <Time time={session.created_at} />,
  },
  {
    id: "actions",
    title: "",
    width: "72px",
    align: "right",
    cell: (session) =>
      !session.current && (
        <button
          type="button"
          class="quiet"
          aria-label={`End the login of ${browser_name(session.user_agent)}`}
          onClick={() => void end_session(session)}
        >
          End
        </button>
      ),
  },
];

export function Account() {
  const load = use_load("sessions", (signal) => api.get<LoginSession[]>("/v1/me/sessions", {}, signal));
  return (
    <div class="page narrow">
      <PageHeader title="Account" text={user.value?.email} />
      {me.value?.must_change_password && (
        <Note kind="warning" icon="key">
          You still use your initial password. Change it below.
        </Note>
      )}
      <Section title="Name" text="Shown to other users beside your actions.">
        <NameForm />
      </Section>
      <Section title="Password">
        <PasswordForm />
      </Section>
      <SecondFactor />
      <Identities />
      <Agents />
      <Section title="Logins" text="All browsers that are logged in to your account.">
        <Data load={load} retry={() => void reload("sessions")}>
          {(sessions) => (
            <Table
              label="Logins"
              fit
              rows={sessions}
              columns={columns}
              row_id={(session) => session.id}
              row_title={(session) => browser_name(session.user_agent)}
              order="-last_seen_at"
            />
          )}
        </Data>
      </Section>
    </div>
  );
}
