// Connect: from an empty space to a trace on screen and a worker with a result. A step is marked as done when the thing
// works; the state comes from the API.

import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import { reload, use_load, use_refresh } from "../../load";
import { can, space } from "../../login";
import { Icon } from "../../parts/icon";
import { PageHeader } from "../../parts/page";
import { Data } from "../../parts/state";
import { repos_page, signal_page, space_home } from "../addresses";
import { agent_of, type Connected, has_result, load_connected, tested_model } from "./data";
import { ModelStep } from "./model_step";
import { Arrived, SendStep } from "./send_step";
import { Session, StartSession } from "./session_step";

const refresh = 2000;

interface StepProps {
  number: number;
  title: string;
  done: boolean;
  text: string;
  children?: ComponentChildren;
}

function Step({ number, title, done, text, children }: StepProps) {
  return (
    <li class={done ? "step done" : "step"}>
      <span class="step-mark" aria-hidden="true">
        {done ? <Icon name="check" /> : number}
      </span>
      <div class="step-body">
        <h2>
          {title}
          {done && <span class="off-screen"> (done)</span>}
        </h2>
        <p class="page-text">{text}</p>
        {children}
      </div>
    </li>
  );
}

/** What is worth doing next, once the loop runs. */
function Next({ project }: { project: string }) {
  return (
    <ul class="next-links" aria-label="Next">
      <li>
        <a href={signal_page(project)}>Let Signal find recurring problems</a>
      </li>
      {can("repo_write") && (
        <li>
          <a href={`${repos_page()}?new=1`}>Add the application's repository</a>: workers read it; a branch is pushed
          only after a person approves it
        </li>
      )}
      {can("member_manage") && (
        <li>
          <a href={`${space_home()}/settings/members?new=1`}>Invite a teammate</a>
        </li>
      )}
    </ul>
  );
}

function Steps({ connected }: { connected: Connected }) {
  const [skipped, set_skipped] = useState(false);
  const { first_trace, models, session } = connected;
  const finished = has_result(session);
  use_refresh(finished ? null : "connect/", refresh);
  const tested = models.some((skill) => tested_model(skill) !== null);
  const has_worker = finished || skipped || (tested && agent_of(connected) !== null);
  const project = first_trace?.project ?? connected.projects[0]?.name ?? "my-app";
  return (
    <ol class="steps">
      <Step
        number={1}
        title="Send a trace"
        done={first_trace !== null}
        text={first_trace ? `Traces arrive in ${project}.` : "Any OpenTelemetry exporter works."}
      >
        {first_trace ? <Arrived found={first_trace} /> : <SendStep name={project} />}
      </Step>
      <Step
        number={2}
        title="Add a model"
        done={has_worker}
        text={
          finished || (skipped && models.length === 0)
            ? "A worker is available."
            : "Coding agents need a model. It is stored after it responded to a test call."
        }
      >
        {!finished && !(skipped && models.length === 0) && (
          <ModelStep connected={connected} skip={() => set_skipped(true)} />
        )}
      </Step>
      <Step
        number={3}
        title="Start a session"
        done={finished}
        text={
          finished
            ? "A worker has read the traces and saved its result."
            : "A worker reads the traces in a sandbox and saves its findings."
        }
      >
        {session ? (
          <Session key={session.id} first={session} />
        ) : first_trace ? (
          <StartSession connected={connected} project={project} />
        ) : (
          <p class="soft">It starts when the first trace has arrived.</p>
        )}
        {finished && <Next project={project} />}
      </Step>
    </ol>
  );
}

export function ConnectSteps() {
  const key = `connect/${space.value?.id}`;
  const load = use_load(key, load_connected);
  return (
    <Data load={load} retry={() => void reload(key)}>
      {(connected) => <Steps connected={connected} />}
    </Data>
  );
}

export function ConnectPage() {
  return (
    <div class="page narrow">
      <PageHeader
        title="Connect"
        text="From an application to its first trace, and from the trace to a worker's result."
      />
      <ConnectSteps />
    </div>
  );
}
