// The box for a message to the worker, with follow-ups that a click puts into it.

import { useRef, useState } from "preact/hooks";
import { api } from "../../api";
import type { Artifact, ProviderView, Run, RunEvent } from "../../api_types";
import { reload } from "../../load";
import { can } from "../../login";
import { Field, Form } from "../../parts/form";
import { Note } from "../../parts/state";
import { lack_of } from "../presets/data";
import { is_over, run_route, use_manifest } from "./data";
import { type FollowUp, suggested_follow_ups, with_follow_up } from "./follow_ups";

interface BoxProps {
  run: Run;
  artifacts: Artifact[];
  events: RunEvent[];
  provider: ProviderView | undefined;
}

export function FollowUpBox({ run, artifacts, events, provider }: BoxProps) {
  const [text, set_text] = useState("");
  const box = useRef<HTMLDivElement>(null);
  const manifest = use_manifest(run.id).data;
  if (!can("run_start") || !run.takes_follow_ups) return null;
  if (run.harness === "playbook")
    return (
      <Note>A fixed analysis reads no follow-ups. For a task of your own start a session with an agent in Studio.</Note>
    );
  const resumes =
    lack_of(provider, "workspace") === undefined
      ? "Resumes the session in a new sandbox with the same workspace. "
      : "Resumes the session. ";
  const suggested = manifest
    ? suggested_follow_ups({
        run,
        prompt: manifest.prompt,
        has_repos: manifest.settings.repos.length > 0,
        artifacts,
        sent: events.filter((event) => event.kind === "follow_up").map((event) => event.text),
      })
    : [];
  const choose = (chosen: FollowUp) => {
    set_text(with_follow_up(text, chosen, suggested));
    box.current?.querySelector("textarea")?.focus();
  };
  return (
    <div class="follow-up" ref={box}>
      {suggested.length > 0 && (
        <ul class="follow-up-suggestions" aria-label="Suggestions">
          {suggested.map((one) => (
            <li key={one.title}>
              <button
                type="button"
                title={one.text}
                aria-pressed={text.trim() === one.text}
                onClick={() => choose(one)}
              >
                {one.title}
              </button>
            </li>
          ))}
        </ul>
      )}
      <Form
        title="Send"
        busy_title="Sending…"
        disabled={text.trim() === ""}
        submit={async () => {
          await api.post(`${run_route(run.id)}/messages`, { text: text.trim() });
          set_text("");
          await reload(`run/${run.id}`);
        }}
      >
        <Field
          label="Follow-up"
          hint={`${is_over(run.state) ? resumes : ""}Ctrl+Enter sends.`}
          rows={2}
          value={text}
          on_input={set_text}
        />
      </Form>
    </div>
  );
}
