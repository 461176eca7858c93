// First steps of a space: send a trace, choose a worker, start a session. The state of each comes from the API.

import type { ComponentChildren } from "preact";
import { can } from "../../login";
import { Icon } from "../../parts/icon";
import { space_home } from "../addresses";
import { SendTrace } from "../projects/send_trace";

/** Completed steps; null until known. */
export interface Progress {
  key: boolean;
  traced: boolean | null;
  worker: boolean;
  session: boolean;
}

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
        {!done && children}
      </div>
    </li>
  );
}

export function Steps({ progress, project }: { progress: Progress; project: string }) {
  const here = space_home();
  const traced = progress.traced === true;
  return (
    <ol class="steps">
      <Step
        number={1}
        title="Send a trace"
        done={traced}
        text={
          traced
            ? "Traces are arriving."
            : progress.key || !can("key_create")
              ? "Set these variables for an application with any OpenTelemetry exporter, and HONE_API_KEY to an API key. The project is created with its first trace."
              : "Any OpenTelemetry exporter works. It sends an API key with every request, so create a key first."
        }
      >
        {!progress.key && can("key_create") && (
          <a class="button primary" href={`${here}/settings/keys?new=1`}>
            Create an API key
          </a>
        )}
        <SendTrace project={project} />
        {progress.traced === false && (
          <p class="listening" role="status">
            <span class="pulse" aria-hidden="true" /> Waiting for the first trace…
          </p>
        )}
      </Step>
      <Step
        number={2}
        title="Add a model key, or use the playbook"
        done={progress.worker}
        text={
          progress.worker
            ? "A worker is available."
            : "Coding agents need a model. Your key never enters their sandboxes. The playbook needs no model: it analyses traces in fixed steps."
        }
      >
        <p class="button-row">
          {can("skill_write") && (
            <a class={traced ? "button primary" : "button"} href={`${here}/skills?new=model`}>
              Add a model key
            </a>
          )}
          {can("preset_write") && (
            <a class="button" href={`${here}/presets/new`}>
              Use the playbook
            </a>
          )}
        </p>
      </Step>
      <Step
        number={3}
        title="Start a session"
        done={progress.session}
        text={
          progress.session
            ? "The first session was started."
            : "Give a worker a task about your traces. It works in a sandbox and saves its findings."
        }
      >
        <p>
          <a class={traced && progress.worker ? "button primary" : "button"} href={`${here}/studio`}>
            Open Studio
          </a>
        </p>
      </Step>
    </ol>
  );
}
