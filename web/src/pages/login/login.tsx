// Log in through a provider of single sign-on, or with email and password. After too many attempts the button is
// disabled for as long as the server requires.

import { useEffect, useState } from "preact/hooks";
import { ApiError, api, api_url, segment } from "../../api";
import type { LoginOptions } from "../../api_types";
import { duration } from "../../lib/format/number";
import { safe_next } from "../../lib/route";
import { use_load } from "../../load";
import { log_in } from "../../login";
import { Field, Form } from "../../parts/form";
import { Mark } from "../../parts/icon";
import { query } from "../../router";

/** The remaining seconds of the wait. */
function use_countdown(): [number, (seconds: number) => void] {
  const [left, set_left] = useState(0);
  useEffect(() => {
    if (left <= 0) return;
    const timer = setTimeout(() => set_left(left - 1), 1000);
    return () => clearTimeout(timer);
  }, [left]);
  return [left, set_left];
}

function PasswordForm() {
  const [email, set_email] = useState("");
  const [password, set_password] = useState("");
  const [code, set_code] = useState("");
  const [needs_code, set_needs_code] = useState(false);
  const [wait, set_wait] = use_countdown();
  return (
    <Form
      title={wait > 0 ? `Try again in ${duration(wait * 1000)}` : "Log in"}
      busy_title="Logging in…"
      disabled={wait > 0 || (needs_code && code.trim() === "")}
      submit={async () => {
        try {
          await log_in(email.trim(), password, code.trim());
        } catch (error) {
          if (error instanceof ApiError && error.status === 429 && error.retry_after_seconds) {
            set_wait(error.retry_after_seconds);
          }
          if (error instanceof ApiError && error.needs_code) {
            set_code("");
            // The password was right: the first response only requests the code.
            if (!needs_code) {
              set_needs_code(true);
              return;
            }
          }
          throw error;
        }
      }}
    >
      <Field label="Email" type="email" value={email} on_input={set_email} autocomplete="username" required first />
      <Field
        label="Password"
        type="password"
        value={password}
        on_input={set_password}
        autocomplete="current-password"
        required
      />
      {needs_code && (
        <Field
          label="Code"
          value={code}
          on_input={set_code}
          autocomplete="one-time-code"
          hint="Of your authenticator app, or a recovery code."
          required
          first
        />
      )}
    </Form>
  );
}

export function Login() {
  const load = use_load("login_options", (signal) => api.get<LoginOptions>("/v1/login_options", {}, signal));
  const [shows_password, set_shows_password] = useState(false);
  const providers = load.data?.providers ?? [];
  // Passwords are for emergencies: the form opens on request.
  const is_folded = load.data !== undefined && !load.data?.passwords && providers.length > 0 && !shows_password;
  return (
    <main class="guest">
      <div class="guest-box">
        <Mark />
        <h1>Log in to Hone</h1>
        {query.value.has("next") && <p class="page-text">Log in to continue to the page you opened.</p>}
        {providers.length > 0 && (
          <div class="form">
            {providers.map((provider) => (
              <a
                key={provider.name}
                class="button primary"
                href={api_url(`/v1/login/${segment(provider.name)}/start`, {
                  return_to: safe_next(query.value.get("next")),
                })}
                target="_self"
              >
                Sign in with {provider.title}
              </a>
            ))}
          </div>
        )}
        {is_folded ? (
          <p class="page-text">
            <button type="button" class="quiet" onClick={() => set_shows_password(true)}>
              Emergency login with a password
            </button>
          </p>
        ) : (
          <>
            <PasswordForm />
            <p class="page-text">
              <a href="/reset">Forgot password?</a>
            </p>
          </>
        )}
      </div>
    </main>
  );
}
