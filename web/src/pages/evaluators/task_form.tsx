// Create a task of an evaluator, or change one.

import { api } from "../../api";
import type { EvalTask, EvalTaskChange, NewEvalTask, Project } from "../../api_types";
import { use_load } from "../../load";
import { space } from "../../login";
import { Dialog } from "../../parts/dialog";
import { Choice, Field, Form, use_draft } from "../../parts/form";
import { toast_done } from "../../parts/toast";
import { navigate } from "../../router";
import { eval_task_page } from "../addresses";
import { evaluators_changed, task_route } from "./data";

interface Draft {
  project: string;
  target: EvalTask["target"];
  filter: string;
  percent: string;
  errors_percent: string;
  per_hour: string;
  tokens: string;
  dollars: string;
  on_budget: EvalTask["on_budget"];
}

const error_filter = "status = error";

function draft_of(task: EvalTask | null): Draft {
  const errors = task?.strata.find((stratum) => stratum.filter === error_filter);
  return {
    project: task?.project_id ?? "",
    target: task?.target ?? "trace",
    filter: task?.filter ?? "",
    percent: String((task?.rate_ppm ?? 50_000) / 10_000),
    errors_percent: errors ? String(errors.rate_ppm / 10_000) : "",
    per_hour: task?.most_per_hour ? String(task.most_per_hour) : "",
    tokens: task?.tokens_per_day ? String(task.tokens_per_day) : task ? "" : "200000",
    dollars: task?.cost_micro_usd_per_day ? String(task.cost_micro_usd_per_day / 1_000_000) : "",
    on_budget: task?.on_budget ?? "skip",
  };
}

const number_or_null = (text: string, factor = 1) => (text.trim() === "" ? null : Math.round(Number(text) * factor));

function limits_of(draft: Draft, task: EvalTask | null) {
  const others = (task?.strata ?? []).filter((stratum) => stratum.filter !== error_filter);
  const errors = number_or_null(draft.errors_percent, 10_000);
  return {
    filter: draft.filter.trim(),
    rate_ppm: number_or_null(draft.percent, 10_000) ?? 1_000_000,
    strata: [...(errors === null ? [] : [{ filter: error_filter, rate_ppm: errors }]), ...others],
    most_per_hour: number_or_null(draft.per_hour),
    tokens_per_day: number_or_null(draft.tokens),
    cost_micro_usd_per_day: number_or_null(draft.dollars, 1_000_000),
    on_budget: draft.on_budget,
  };
}

export function TaskFields({ draft, change }: { draft: Draft; change: (part: Partial<Draft>) => void }) {
  return (
    <>
      <Field
        label="Only where"
        value={draft.filter}
        on_input={(filter) => change({ filter })}
        placeholder='name = "checkout"'
        hint="A filter over spans, as in the list of traces. Empty: all."
      />
      <div class="field-row">
        <Field
          label="Percent of the targets"
          type="number"
          min={0}
          value={draft.percent}
          on_input={(percent) => change({ percent })}
        />
        <Field
          label="Percent of those with errors"
          type="number"
          min={0}
          value={draft.errors_percent}
          on_input={(errors_percent) => change({ errors_percent })}
          hint="Empty: as the others."
        />
        <Field
          label="At most per hour"
          type="number"
          min={1}
          value={draft.per_hour}
          on_input={(per_hour) => change({ per_hour })}
        />
      </div>
      <div class="field-row">
        <Field
          label="Tokens per day"
          type="number"
          min={1}
          value={draft.tokens}
          on_input={(tokens) => change({ tokens })}
          hint="Also limits models without a price."
        />
        <Field
          label="US dollars per day"
          type="number"
          min={0}
          value={draft.dollars}
          on_input={(dollars) => change({ dollars })}
        />
        <Choice
          label="When a limit is used up"
          value={draft.on_budget}
          on_change={(value) => change({ on_budget: value as Draft["on_budget"] })}
          options={[
            { value: "skip", title: "Skip targets; they can be tried later" },
            { value: "defer", title: "Wait for the next hour or day" },
          ]}
        />
      </div>
    </>
  );
}

export function TaskDialog({
  evaluator,
  task = null,
  on_close,
}: {
  evaluator: { id: string; name: string };
  task?: EvalTask | null;
  on_close: () => void;
}) {
  const [draft, change] = use_draft(() => draft_of(task));
  const projects = use_load(`bench_projects/${space.value?.id}`, (signal) =>
    api.list<Project>("/v1/projects", { space: space.value?.id }, signal),
  );
  const project = draft.project || (projects.data?.[0]?.id ?? "");
  async function save(): Promise<void> {
    const limits = limits_of(draft, task);
    if (task) {
      await api.patch(task_route(task.id), limits satisfies EvalTaskChange);
      await evaluators_changed();
      toast_done("Task saved");
      on_close();
      return;
    }
    const made = await api.post<EvalTask>(
      "/v1/eval_tasks",
      { ...limits, project, evaluator: evaluator.id, target: draft.target } satisfies NewEvalTask,
      { space: space.value?.id },
    );
    await evaluators_changed();
    toast_done("Task created; it evaluates new targets");
    navigate(eval_task_page(made.id));
  }
  return (
    <Dialog
      title={task ? `Task of ${evaluator.name}` : `Evaluate new targets with ${evaluator.name}`}
      wide
      on_close={on_close}
    >
      <Form title={task ? "Save" : "Create task"} disabled={!task && project === ""} on_cancel={on_close} submit={save}>
        {!task && (
          <div class="field-row">
            <Choice
              label="Project"
              value={project}
              on_change={(value) => change({ project: value })}
              options={(projects.data ?? []).map((one) => ({ value: one.id, title: one.name }))}
            />
            <Choice
              label="Target"
              value={draft.target}
              on_change={(value) => change({ target: value as Draft["target"] })}
              options={[
                { value: "trace", title: "Traces, 30 seconds after their last span" },
                { value: "span", title: "Spans, as they arrive" },
                { value: "chat_session", title: "Chat sessions, after 15 minutes without a span" },
              ]}
            />
          </div>
        )}
        <TaskFields draft={draft} change={change} />
      </Form>
    </Dialog>
  );
}
