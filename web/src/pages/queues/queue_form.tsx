// Creates or changes a queue. A config that does not exist yet can be made on the way: a list of labels.

import { useState } from "preact/hooks";
import { api } from "../../api";
import type { Project, Queue } from "../../api_types";
import { reload, use_load } from "../../load";
import { can, space } from "../../login";
import { Dialog } from "../../parts/dialog";
import { Check, Choice, Field, Form } from "../../parts/form";
import { Data } from "../../parts/state";
import { toast_done } from "../../parts/toast";
import { navigate } from "../../router";
import { queue_page } from "../addresses";
import { queue_route, queues_changed } from "./data";

interface Config {
  id: string;
  name: string;
  type: string;
}

const in_space = () => ({ space: space.value?.id });

interface FormProps {
  queue: Queue | null;
  on_close: () => void;
}

/** "pass=1, fail=0" */
function labels_of(text: string): { label: string; score: number | null }[] {
  return text
    .split(",")
    .map((part) => part.trim())
    .filter((part) => part !== "")
    .map((part) => {
      const [label = "", score = ""] = part.split("=", 2);
      return { label: label.trim(), score: score.trim() === "" ? null : Number(score) };
    });
}

export function QueueForm({ queue, on_close }: FormProps) {
  const load = use_load(`queue_form/${space.value?.id}`, async (signal) => {
    const [projects, configs] = await Promise.all([
      api.list<Project>("/v1/projects", in_space(), signal),
      api.get<Config[]>("/v1/annotation_configs", in_space(), signal),
    ]);
    return { projects, configs };
  });
  return (
    <Dialog title={queue ? `Edit ${queue.name}` : "New queue"} on_close={on_close} wide>
      <Data load={load} retry={() => void reload("queue_form/")}>
        {({ projects, configs }) => <Fields queue={queue} projects={projects} configs={configs} on_close={on_close} />}
      </Data>
    </Dialog>
  );
}

function Fields({ queue, projects, configs, on_close }: FormProps & { projects: Project[]; configs: Config[] }) {
  const [name, set_name] = useState(queue?.name ?? "");
  const [project, set_project] = useState(queue?.project_id ?? projects[0]?.id ?? "");
  const [target, set_target] = useState<string>(queue?.target ?? "trace");
  const [chosen, set_chosen] = useState<string[]>(queue?.configs.map((config) => config.name) ?? []);
  const [new_name, set_new_name] = useState("");
  const [new_labels, set_new_labels] = useState("pass=1, fail=0");
  const [instructions, set_instructions] = useState(queue?.instructions ?? "");
  const [reviewers, set_reviewers] = useState(String(queue?.reviewers_per_item ?? 1));
  const [dataset, set_dataset] = useState(queue?.dataset ?? "");
  const [shows, set_shows] = useState(queue?.shows_verdicts ?? false);
  const [fills, set_fills] = useState(queue?.fill_enabled ?? false);
  const [filter, set_filter] = useState(queue?.fill_filter ?? "");
  const [rule, set_rule] = useState<string>(queue?.fill_rule ?? "matching");
  const [percent, set_percent] = useState(String((queue?.fill_ppm ?? 1_000_000) / 10_000));
  async function save(): Promise<void> {
    const names = [...chosen];
    if (new_name.trim() !== "") {
      await api.post(`/v1/annotation_configs?space=${space.value?.id}`, {
        name: new_name.trim(),
        type: "CATEGORICAL",
        optimization_direction: "MAXIMIZE",
        values: labels_of(new_labels),
      });
      names.push(new_name.trim());
    }
    const body = {
      name: name.trim(),
      instructions,
      configs: names,
      reviewers_per_item: Number(reviewers),
      shows_verdicts: shows,
      fill_enabled: fills,
      fill_filter: filter.trim(),
      fill_rule: rule,
      fill_ppm: Math.max(1, Math.round(Number(percent) * 10_000)),
      ...(can("dataset_write") ? { dataset: dataset.trim() } : {}),
    };
    const made = queue
      ? await api.patch<Queue>(queue_route(queue.id), body)
      : await api.post<Queue>(`/v1/annotation_queues?space=${space.value?.id}`, { ...body, project, target });
    toast_done(queue ? "Queue changed" : "Queue created");
    await queues_changed();
    await reload("queue_form/");
    on_close();
    if (!queue) navigate(queue_page(made.id));
  }
  return (
    <Form
      title={queue ? "Save" : "Create queue"}
      submit={save}
      on_cancel={on_close}
      disabled={name.trim() === "" || (chosen.length === 0 && new_name.trim() === "")}
    >
      <Field label="Name" value={name} on_input={set_name} required first />
      {!queue && (
        <div class="field-row">
          <Choice
            label="Project"
            value={project}
            on_change={set_project}
            options={projects.map((one) => ({ value: one.id, title: one.name }))}
          />
          <Choice
            label="What is labelled"
            value={target}
            on_change={set_target}
            options={[
              { value: "trace", title: "traces" },
              { value: "span", title: "spans" },
              { value: "chat_session", title: "chat sessions" },
            ]}
          />
        </div>
      )}
      <fieldset>
        <legend>Labels and scores</legend>
        {configs.map((config) => (
          <Check
            key={config.id}
            label={config.name}
            hint={config.type.toLowerCase()}
            checked={chosen.includes(config.name)}
            on_change={(on) =>
              set_chosen(on ? [...chosen, config.name] : chosen.filter((name_) => name_ !== config.name))
            }
          />
        ))}
        <div class="field-row">
          <Field label="New config" placeholder="correct" value={new_name} on_input={set_new_name} />
          <Field
            label="Its labels with scores"
            hint="In the order of the keys 1 to 9."
            value={new_labels}
            on_input={set_new_labels}
          />
        </div>
      </fieldset>
      <Field
        label="Instructions"
        hint="What people decide, and by which criteria."
        rows={4}
        value={instructions}
        on_input={set_instructions}
      />
      <div class="field-row">
        <Field label="People per item" type="number" min={1} value={reviewers} on_input={set_reviewers} />
        {can("dataset_write") && (
          <Field label="Dataset for corrected outputs" hint="Empty: none." value={dataset} on_input={set_dataset} />
        )}
      </div>
      <Check
        label="Show verdicts of evaluators before a person decides"
        hint="They influence people; labels for calibration should be made without them."
        checked={shows}
        on_change={set_shows}
      />
      <div class="field-row">
        <Field
          label="Filter"
          hint="For filling, in the filter language. Empty: everything."
          placeholder="status = error"
          value={filter}
          on_input={set_filter}
        />
        <Choice
          label="Of these"
          value={rule}
          on_change={set_rule}
          options={[
            { value: "matching", title: "all" },
            { value: "undecided", title: "an evaluator could not decide" },
            { value: "split", title: "votes of an evaluator differ" },
            { value: "disputed", title: "labels of people differ" },
          ]}
        />
        <Field label="Share, %" type="number" min={0} value={percent} on_input={set_percent} />
      </div>
      <Check label="Add new matching traces by itself" checked={fills} on_change={set_fills} />
    </Form>
  );
}
