// The page behind a one-time invitation link.

import { useState } from "preact/hooks";
import { api, segment } from "../../api";
import type { InviteInfo, Me } from "../../api_types";
import type { Params } from "../../lib/route";
import { reload, use_load } from "../../load";
import { set_me } from "../../login";
import { Field, Form } from "../../parts/form";
import { Mark } from "../../parts/icon";
import { Data } from "../../parts/state";
import { Time } from "../../parts/time";
import { navigate } from "../../router";

function AcceptForm({ token, invite }: { token: string; invite: InviteInfo }) {
  const [name, set_name] = useState("");
  const [password, set_password] = useState("");
  async function accept(): Promise<void> {
    const body = invite.user_exists ? { password } : { name: name.trim(), password };
    set_me(await api.post<Me>(`/v1/invites/${segment(token)}/accept`, body));
    navigate(`/s/${segment(invite.space_name)}`, { replace: true });
  }
  return (
    <>
      <h1>Join {invite.space_name}</h1>
      <p class="page-text">
        You were invited as <b>{invite.custom_role || invite.role}</b> with the address <b>{invite.email}</b>. The link
        works once and expires <Time time={invite.expires_at} />.
      </p>
      <Form title={`Join ${invite.space_name}`} busy_title="Joining…" submit={accept}>
        {!invite.user_exists && (
          <Field label="Your name" value={name} on_input={set_name} autocomplete="name" required first />
        )}
        <Field
          label={invite.user_exists ? "Your password" : "Choose a password"}
          hint={invite.user_exists ? "You already have an account here." : "At least 10 characters."}
          type="password"
          value={password}
          on_input={set_password}
          autocomplete={invite.user_exists ? "current-password" : "new-password"}
          min_length={invite.user_exists ? undefined : 10}
          required
          first={invite.user_exists}
        />
      </Form>
    </>
  );
}

export function Invite({ params }: { params: Params }) {
  const token = params.token ?? "";
  const load = use_load(`invite/${token}`, (signal) =>
    api.get<InviteInfo>(`/v1/invites/${segment(token)}`, {}, signal),
  );
  return (
    <main class="guest">
      <div class="guest-box">
        <Mark />
        {load.error && <h1>This invitation cannot be used</h1>}
        <Data load={load} retry={() => void reload(`invite/${token}`)}>
          {(invite) => <AcceptForm token={token} invite={invite} />}
        </Data>
        {load.error && (
          <p class="page-text">
            The link was used, revoked or has expired. Ask an admin for a new one, or <a href="/login">log in</a>.
          </p>
        )}
      </div>
    </main>
  );
}
