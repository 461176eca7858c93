// The first step: a key that can only send traces, examples with it, and the first trace as soon as it arrives.

import { useState } from "preact/hooks";
import { api, segment } from "../../api";
import type { SpanRow, TraceSkeleton } from "../../api_types";
import { plural, span_duration } from "../../lib/format/number";
import { use_load } from "../../load";
import { can, space } from "../../login";
import { use_action } from "../../parts/action";
import { Choice, Field, Form } from "../../parts/form";
import { Icon } from "../../parts/icon";
import { State } from "../../parts/state";
import { Time } from "../../parts/time";
import { Visible } from "../../parts/visible";
import { trace_page } from "../addresses";
import { SendTrace } from "../projects/send_languages";
import type { CreatedKey } from "../settings/key_form";
import { created_key, type FirstTrace, own_key } from "./data";

const lifetimes = [
  { value: "90", title: "in 90 days" },
  { value: "365", title: "in 1 year" },
  { value: "", title: "never" },
];

const random_hex = (bytes: number) =>
  [...crypto.getRandomValues(new Uint8Array(bytes))].map((byte) => byte.toString(16).padStart(2, "0")).join("");

/** Sends one span as an exporter would: with the new key, not with the login. */
async function send_test_trace(project: string, secret: string): Promise<void> {
  const now = Date.now();
  const span = {
    traceId: random_hex(16),
    spanId: random_hex(8),
    name: "hello",
    startTimeUnixNano: `${now - 250}000000`,
    endTimeUnixNano: `${now}000000`,
    attributes: [{ key: "input.value", value: { stringValue: "A test from the page Connect" } }],
  };
  const response = await fetch("/v1/traces", {
    method: "POST",
    credentials: "omit",
    headers: { Authorization: `Bearer ${secret}`, "Content-Type": "application/json", "x-project-name": project },
    body: JSON.stringify({ resourceSpans: [{ scopeSpans: [{ spans: [span] }] }] }),
  });
  if (!response.ok)
    throw new Error(`The server responded with ${response.status}: ${(await response.text()).slice(0, 300)}`);
}

/** The key is limited to what an exporter needs: `trace_write`. */
function CreateKey({ project }: { project: string }) {
  const [days, set_days] = useState("90");
  return (
    <Form
      title="Create a key"
      busy_title="Creating…"
      submit={async () => {
        const body = {
          name: `${project} exporter`,
          kind: "personal",
          scopes: ["trace_write"],
          ...(days === "" ? {} : { expires_in_days: Number(days) }),
        };
        created_key.value = await api.post<CreatedKey>("/v1/keys", body, { space: space.value?.id });
      }}
    >
      <Choice
        label="Expires"
        value={days}
        on_change={set_days}
        options={lifetimes}
        hint="The key can send traces and nothing else. Settings, API keys lists and revokes it."
      />
    </Form>
  );
}

export function SendStep({ name }: { name: string }) {
  const [project, set_project] = useState(name);
  const { busy, attempt } = use_action();
  const key = own_key();
  const chosen = project.trim() === "" ? "my-app" : project.trim();
  return (
    <>
      <Field
        label="Project"
        value={project}
        on_input={set_project}
        max_length={200}
        hint="The name of the application. The project is created with its first trace."
      />
      {key === null && can("key_create") ? (
        <CreateKey project={chosen} />
      ) : (
        <>
          <SendTrace project={chosen} secret={key?.key} />
          <p class="listening" role="status">
            <span class="pulse" aria-hidden="true" /> Waiting for the first trace…
          </p>
          {key !== null && (
            <p>
              <button
                type="button"
                disabled={busy}
                onClick={attempt("Could not send the trace", () => send_test_trace(chosen, key.key))}
              >
                Send a test trace
              </button>
            </p>
          )}
        </>
      )}
    </>
  );
}

const most_spans = 8;

/** The first trace on screen: its spans with their durations. */
export function Arrived({ found }: { found: FirstTrace }) {
  const { project, trace } = found;
  const load = use_load(`connect_trace/${project}/${trace.trace_id}`, (signal) =>
    api.get<TraceSkeleton>(
      `/v1/projects/${segment(project)}/traces/${segment(trace.trace_id)}/skeleton`,
      { space: space.value?.id },
      signal,
    ),
  );
  const spans: SpanRow[] = load.data?.spans ?? [];
  const longest = Math.max(1, trace.duration_ns);
  return (
    <section class="arrived" aria-label="First trace">
      <p>
        <State
          tone={trace.errors > 0 ? "failed" : "done"}
          text={trace.errors > 0 ? plural(trace.errors, "error") : "received"}
        />{" "}
        <span>
          {plural(trace.spans, "span")}, {span_duration(trace.duration_ns)}, <Time time={trace.start_time} />
        </span>
      </p>
      <ul hidden={spans.length === 0}>
        {spans.slice(0, most_spans).map((span) => (
          <li key={span.span_id}>
            <span class="arrived-name">
              <Visible text={span.name} />
            </span>
            <span class="arrived-bar">
              <i style={{ width: `${Math.max(1, (100 * span.duration_ns) / longest)}%` }} />
            </span>
            <span class="faint">{span_duration(span.duration_ns)}</span>
          </li>
        ))}
      </ul>
      <a class="button" href={trace_page(project, trace.trace_id)}>
        <Icon name="trace" /> Open the trace
      </a>
    </section>
  );
}
