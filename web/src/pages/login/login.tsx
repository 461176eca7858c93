// Log in with email and password. After too many attempts the button is disabled for as long as the server requires.

import { useEffect, useState } from "preact/hooks";
import { ApiError } from "../../api";
import { duration } from "../../lib/format/number";
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

export function Login() {
  const [email, set_email] = useState("");
  const [password, set_password] = useState("");
  const [wait, set_wait] = use_countdown();
  return (
    <main class="guest">
      <div class="guest-box">
        <Mark />
        <h1>Log in to Hone</h1>
        {query.value.has("next") && <p class="page-text">Log in to continue to the page you opened.</p>}
        <Form
          title={wait > 0 ? `Try again in ${duration(wait * 1000)}` : "Log in"}
          busy_title="Logging in…"
          disabled={wait > 0}
          submit={async () => {
            try {
              await log_in(email.trim(), password);
            } catch (error) {
              if (error instanceof ApiError && error.status === 429 && error.retry_after_seconds) {
                set_wait(error.retry_after_seconds);
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
        </Form>
        <p class="page-text">
          <a href="/reset">Forgot password?</a>
        </p>
      </div>
    </main>
  );
}
