// A new password without the old one: request a link by mail, and the page behind the link.

import { useState } from "preact/hooks";
import { api, segment } from "../../api";
import type { Me, PasswordResetInfo, PasswordResetRequested } from "../../api_types";
import type { Params } from "../../lib/route";
import { reload, use_load } from "../../load";
import { set_me } from "../../login";
import { Field, Form } from "../../parts/form";
import { Mark } from "../../parts/icon";
import { Data } from "../../parts/state";
import { navigate } from "../../router";

const without_mail =
  "This server sends no mail. Ask an installation owner for a link (hone user reset-password EMAIL), or, as the owner, run it on the server with --data-dir.";

function RequestForm() {
  const [email, set_email] = useState("");
  const [result, set_result] = useState<PasswordResetRequested | null>(null);
  return (
    <>
      <h1>Set a new password</h1>
      {result ? (
        <p class="page-text" role="status">
          {result.by_mail
            ? "If the account exists, a link was sent to its address. It works once, within an hour."
            : without_mail}
        </p>
      ) : (
        <Form
          title="Send link"
          busy_title="Sending…"
          submit={async () =>
            set_result(await api.post<PasswordResetRequested>("/v1/password_resets", { email: email.trim() }))
          }
        >
          <Field label="Email" type="email" value={email} on_input={set_email} autocomplete="username" required first />
        </Form>
      )}
    </>
  );
}

function PasswordForm({ token, email }: { token: string; email: string }) {
  const [password, set_password] = useState("");
  return (
    <>
      <h1>Set a new password</h1>
      <p class="page-text">
        For <b>{email}</b>. All logins of the account end.
      </p>
      <Form
        title="Set password"
        busy_title="Saving…"
        submit={async () => {
          set_me(await api.post<Me>(`/v1/password_resets/${segment(token)}`, { password }));
          navigate("/", { replace: true });
        }}
      >
        <Field
          label="New password"
          hint="At least 10 characters."
          type="password"
          value={password}
          on_input={set_password}
          autocomplete="new-password"
          min_length={10}
          required
          first
        />
      </Form>
    </>
  );
}

function LinkPage({ token }: { token: string }) {
  const load = use_load(`reset/${token}`, (signal) =>
    api.get<PasswordResetInfo>(`/v1/password_resets/${segment(token)}`, {}, signal),
  );
  return (
    <>
      {load.error && <h1>This link cannot be used</h1>}
      <Data load={load} retry={() => void reload(`reset/${token}`)}>
        {(info) => <PasswordForm token={token} email={info.email} />}
      </Data>
      {load.error && (
        <p class="page-text">
          The link was used or has expired. <a href="/reset">Request a new one</a>, or <a href="/login">log in</a>.
        </p>
      )}
    </>
  );
}

export function Reset({ params }: { params: Params }) {
  return (
    <main class="guest">
      <div class="guest-box">
        <Mark />
        {params.token ? <LinkPage token={params.token} /> : <RequestForm />}
      </div>
    </main>
  );
}
