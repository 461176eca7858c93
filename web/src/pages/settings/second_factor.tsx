// The second factor of the user's password: an authenticator app, and recovery codes.

import { useState } from "preact/hooks";
import { api } from "../../api";
import type { Enrolment, RecoveryCodes, SecondFactorState } from "../../api_types";
import { plural } from "../../lib/format/number";
import { qr_code, qr_path } from "../../lib/qr";
import { reload, use_load } from "../../load";
import { load_me } from "../../login";
import { CodeBlock } from "../../parts/copy";
import { Field, Form } from "../../parts/form";
import { Section } from "../../parts/page";
import { ShownOnce } from "../../parts/shown_once";
import { Data, Note } from "../../parts/state";
import { toast_done } from "../../parts/toast";

function Picture({ text }: { text: string }) {
  const modules = qr_code(text);
  if (modules === null) return null;
  const side = modules.length + 8;
  return (
    <svg class="qr-code" viewBox={`-4 -4 ${side} ${side}`} role="img" aria-label="Key as a QR code">
      <rect x="-4" y="-4" width={side} height={side} fill="white" />
      <path d={qr_path(modules)} fill="black" />
    </svg>
  );
}

/** The user enters the key in the app; its first code turns the factor on. */
function Confirm({ enrolment, on_codes }: { enrolment: Enrolment; on_codes: (codes: string[]) => void }) {
  const [code, set_code] = useState("");
  return (
    <Form
      title="Turn on"
      disabled={!/^\d{6}$/.test(code.trim())}
      submit={async () => {
        const made = await api.post<RecoveryCodes>("/v1/me/second_factor/confirm", { code: code.trim() });
        on_codes(made.codes);
      }}
    >
      <p class="page-text">Scan the picture with your authenticator app, or enter the key there (type: time-based).</p>
      <Picture text={enrolment.uri} />
      <CodeBlock text={enrolment.key} label="key" />
      <Field
        label="Code"
        value={code}
        on_input={set_code}
        autocomplete="one-time-code"
        hint="Six digits."
        required
        first
      />
    </Form>
  );
}

function Begin({ on_begun }: { on_begun: (enrolment: Enrolment) => void }) {
  const [password, set_password] = useState("");
  return (
    <Form
      title="Set up"
      plain
      disabled={password === ""}
      submit={async () => on_begun(await api.post<Enrolment>("/v1/me/second_factor", { password }))}
    >
      <Field
        label="Password"
        type="password"
        value={password}
        on_input={set_password}
        autocomplete="current-password"
        required
      />
    </Form>
  );
}

function Remove() {
  const [password, set_password] = useState("");
  const [code, set_code] = useState("");
  return (
    <Form
      title="Remove second factor"
      dangerous
      disabled={password === "" || code.trim() === ""}
      submit={async () => {
        await api.post("/v1/me/second_factor/remove", { password, code: code.trim() });
        toast_done("Second factor removed");
        await reload("second_factor");
        await load_me();
      }}
    >
      <Field
        label="Password"
        type="password"
        value={password}
        on_input={set_password}
        autocomplete="current-password"
        required
      />
      <Field
        label="Code"
        value={code}
        on_input={set_code}
        autocomplete="one-time-code"
        hint="Of the app, or a recovery code."
        required
      />
    </Form>
  );
}

export function SecondFactor() {
  const load = use_load("second_factor", (signal) => api.get<SecondFactorState>("/v1/me/second_factor", {}, signal));
  const [enrolment, set_enrolment] = useState<Enrolment | null>(null);
  const [codes, set_codes] = useState<string[] | null>(null);
  return (
    <Section title="Second factor" text="A code of an authenticator app, in addition to your password.">
      <Data load={load} retry={() => void reload("second_factor")}>
        {(state) => (
          <>
            {!state.enabled && state.required && (
              <Note kind="warning" icon="shield">
                This installation requires a second factor. You can use it when you have set one up.
              </Note>
            )}
            {state.enabled ? (
              <>
                <Note kind={state.recovery_codes > 0 ? "done" : "warning"} icon="shield">
                  Turned on. {plural(state.recovery_codes, "recovery code")} left.
                </Note>
                <Remove />
              </>
            ) : enrolment ? (
              <Confirm
                enrolment={enrolment}
                on_codes={(made) => {
                  set_enrolment(null);
                  set_codes(made);
                  void reload("second_factor");
                  void reload("sessions");
                }}
              />
            ) : (
              <Begin on_begun={set_enrolment} />
            )}
          </>
        )}
      </Data>
      {codes && (
        <ShownOnce
          title="Recovery codes"
          warning="Copy them now: they cannot be shown again. Each one replaces a code once, if you lose the app."
          secret={codes.join("\n")}
          on_close={() => {
            set_codes(null);
            void load_me();
          }}
        />
      )}
    </Section>
  );
}
