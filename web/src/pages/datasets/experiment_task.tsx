// What the server runs for an experiment: how far it is, what it cost, stop and resume.

import { ApiError, api } from "../../api";
import type { ExperimentTask } from "../../api_types";
import { duration, money, plural, short_count } from "../../lib/format/number";
import { remaining_text } from "../../lib/format/spending";
import { reload, use_load, use_refresh } from "../../load";
import { can } from "../../login";
import { use_action } from "../../parts/action";
import { Icon } from "../../parts/icon";
import { Note, State, type Tone } from "../../parts/state";
import { use_remaining } from "../prompts/budget";
import { experiment_route } from "./data";

const poll_interval = 2000;

const tones: Record<ExperimentTask["state"], Tone> = {
  queued: "waiting",
  running: "running",
  stopped: "off",
  done: "done",
  failed: "failed",
  budget_stopped: "limit",
};

/** Nothing for an experiment that a client runs. */
async function load_task(id: string, signal: AbortSignal): Promise<ExperimentTask | null> {
  try {
    return await api.get<ExperimentTask>(experiment_route(id, "task"), {}, signal);
  } catch (error) {
    if (error instanceof ApiError && error.status === 404) return null;
    throw error;
  }
}

export function TaskBar({ experiment }: { experiment: { id: string } }) {
  const key = `experiment_task/${experiment.id}`;
  const load = use_load(key, (signal) => load_task(experiment.id, signal));
  const { busy, attempt } = use_action();
  const task = load.data ?? null;
  const is_working = task?.state === "queued" || task?.state === "running";
  const done = (task?.successful_runs ?? 0) + (task?.failed_runs ?? 0);
  const is_incomplete = task !== null && task.successful_runs < task.expected_runs;
  use_refresh(is_working ? "experiment" : null, poll_interval);
  const left = use_remaining(`${experiment.id}/${task?.spent_tokens ?? 0}`);
  if (!task) return null;
  const remains = left && task.spent_tokens > 0 ? remaining_text(left) : "";
  const parts = [
    task.task.kind,
    ...(task.task.model ? [task.task.model] : []),
    `${done} of ${plural(task.expected_runs, "run")}`,
    ...(task.spent_ms > 0 ? [duration(task.spent_ms)] : []),
    ...(task.spent_tokens > 0 ? [`${short_count(task.spent_tokens)} tokens`, money(task.spent_micro_usd)] : []),
    ...(remains ? [`${remains} remain of the daily budget`] : []),
  ];
  const act = (what: "stop" | "resume") =>
    attempt(`Could not ${what} the experiment`, async () => {
      await api.post(experiment_route(experiment.id, what), {});
      await reload(key);
    });
  return (
    <section class="task-bar" aria-label="Task">
      <State tone={tones[task.state]} text={task.state.replace("_", " ")} />
      <span class="soft">{parts.join(" · ")}</span>
      {can("experiment_write") && (is_working || is_incomplete) && (
        <button type="button" disabled={busy} onClick={act(is_working ? "stop" : "resume")}>
          <Icon name={is_working ? "stop" : "play"} /> {is_working ? "Stop" : "Run what is missing or failed"}
        </button>
      )}
      {task.reason !== "" && task.state !== "stopped" && (
        <Note kind="warning" icon="warning">
          {task.reason}
        </Note>
      )}
    </section>
  );
}
