// The third step: a session on the first trace's project, with its result on the page.

import { useState } from "preact/hooks";
import { api } from "../../api";
import type { Run, RunEvent } from "../../api_types";
import { reload, use_load, use_refresh } from "../../load";
import { space } from "../../login";
import { Field, Form } from "../../parts/form";
import { Icon } from "../../parts/icon";
import { Markdown } from "../../parts/markdown";
import { Note, State } from "../../parts/state";
import { run_page } from "../addresses";
import { is_over, run_route, run_tone, run_word } from "../runs/data";
import { use_transcript } from "../runs/transcript";
import { agent_of, type Connected, tested_model, variable_of } from "./data";

const first_prompt = "What goes wrong most in this project, since when, and what should be done about it?";

async function start(connected: Connected, project: string, prompt: string): Promise<Run> {
  const agent = agent_of(connected);
  const model = agent && (tested_model(agent.skill) ?? variable_of(agent.skill, "MODELS").split(/[\s,]+/)[0] ?? "");
  const settings = agent
    ? { harness: agent.harness.name, model, skills: [agent.skill.id] }
    : { harness: "playbook", model: "", skills: [] };
  const text = agent ? prompt : "Fixed analysis of the project";
  return api.post<Run>("/v1/runs", { project, prompt: text, settings }, { space: space.value?.id });
}

export function StartSession({ connected, project }: { connected: Connected; project: string }) {
  const [prompt, set_prompt] = useState(first_prompt);
  const agent = agent_of(connected);
  return (
    <Form
      title="Start the first session"
      busy_title="Starting…"
      disabled={prompt.trim() === ""}
      submit={async () => {
        await start(connected, project, prompt.trim());
        await reload("connect/");
      }}
    >
      {agent ? (
        <Field label="Task" rows={3} value={prompt} on_input={set_prompt} />
      ) : (
        <Note>
          Fixed analysis: it finds errors, slow and expensive steps in the traces of {project}, always in the same way.
          It uses no model.
        </Note>
      )}
    </Form>
  );
}

/** The text of the worker's newest message. */
const newest_text = (events: RunEvent[]) =>
  events.filter((event) => (event.kind === "message" || event.kind === "result") && event.text.trim() !== "").pop()
    ?.text;

/** The session while it works, and its result. */
export function Session({ first }: { first: Run }) {
  const load = use_load(`connect_run/${first.id}`, (signal) => api.get<Run>(run_route(first.id), {}, signal));
  const run = load.data ?? first;
  use_refresh(is_over(run.state) ? null : `connect_run/${first.id}`, 1500);
  const { events } = use_transcript(first.id, () => void reload(`connect_run/${first.id}`));
  const text = newest_text(events);
  return (
    <section class="first-session" aria-label="First session">
      <p>
        <State tone={run_tone(run)} text={run_word(run)} /> {run.reason}
      </p>
      {text && (
        <div class="first-result">
          <Markdown text={text} />
        </div>
      )}
      <a class="button" href={run_page(run.id)}>
        <Icon name="spark" /> Open the session
      </a>
    </section>
  );
}
