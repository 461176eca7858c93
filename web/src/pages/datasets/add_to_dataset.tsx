// Adds spans, whole traces, turns of a chat session or the run of an experiment to a dataset: from the page of a trace,
// from the list for several, from the conversation of a chat session, and from the detail of a run.

import { useState } from "preact/hooks";
import { api, segment } from "../../api";
import type { RunRow, UploadedView } from "../../api_types";
import { plural } from "../../lib/format/number";
import { reload, use_load } from "../../load";
import { can, space } from "../../login";
import { Dialog } from "../../parts/dialog";
import { Choice, Field, Form } from "../../parts/form";
import { Icon } from "../../parts/icon";
import { Data } from "../../parts/state";
import { toast_done } from "../../parts/toast";
import { navigate } from "../../router";
import { dataset_page } from "../addresses";
import { datasets_changed, list_datasets, plain_id } from "./data";

/** Which spans become examples. */
export type Sources =
  | { kind: "spans" | "traces" | "turns"; ids: string[] }
  | { kind: "issue"; id: string; is_resolved: boolean }
  | { kind: "run"; experiment: string; run: RunRow };

const word_of = { spans: "span", traces: "trace", turns: "turn" };

function title_of(sources: Sources): string {
  if (sources.kind === "issue") return "Add the evidence to a dataset";
  if (sources.kind === "run") return "Add the run to a dataset";
  return `Add ${plural(sources.ids.length, word_of[sources.kind])} to a dataset`;
}

function text_of(sources: Sources): string {
  if (sources.kind === "run")
    return "The input of the run becomes the input. The metadata names the experiment and the run. Credentials in texts are removed.";
  return `${text_of_traces(sources)} Credentials in texts are removed. The traces are kept beyond retention.`;
}

function text_of_traces(sources: Exclude<Sources, { kind: "run" }>): string {
  if (sources.kind === "turns")
    return "The conversation before the turn and its own input become the input, its output the reference output.";
  if (sources.kind !== "issue")
    return `Input and output of the ${sources.kind === "spans" ? "span" : "root span"} become input and reference output.`;
  return sources.is_resolved
    ? "Up to 50 traces of the issue become examples that must pass: an experiment in which one fails does not pass the gate."
    : "Up to 50 traces of the issue become examples without a reference output. Add them again after the issue is resolved: then they must pass.";
}

// As many values as a filter takes.
const most_ids = 200;

interface AddProps {
  /** Of the spans; not needed for the run of an experiment. */
  project?: { id: string };
  sources: Sources;
  on_close: () => void;
  on_done?: () => void;
}

function upload_text(done: UploadedView, name: string): string {
  if (done.num_created_examples === 0)
    return done.num_updated_examples > 0
      ? `${plural(done.num_updated_examples, "example")} changed in ${name}`
      : `Already in ${name}`;
  return `${plural(done.num_created_examples, "example")} added to ${name}`;
}

/** What becomes the reference output of a run's example. */
type Reference = "output" | "reference";

const as_object = (value: unknown) =>
  typeof value === "object" && value !== null && !Array.isArray(value) ? value : { output: value };

function example_of_run(sources: { experiment: string; run: RunRow }, reference: Reference) {
  const { run } = sources;
  const origin = { experiment: sources.experiment, experiment_run: run.id };
  return {
    inputs: [run.input],
    outputs: [as_object(reference === "output" ? run.output : run.reference)],
    metadata: [reference === "output" ? origin : { ...origin, output: run.output }],
    // The same run is one example, also when it is added again.
    example_ids: [`run:${run.id}`],
  };
}

interface Target {
  name: string;
  split: string;
  reference: Reference;
}

async function send(
  project: { id: string } | undefined,
  sources: Sources,
  { name, split, reference }: Target,
): Promise<UploadedView | null> {
  const query = { space: space.value?.id };
  if (sources.kind === "run") {
    const body = { action: "append", name, ...example_of_run(sources, reference) };
    return api.post<UploadedView>("/v1/datasets/upload", split === "" ? body : { ...body, splits: [split] }, {
      ...query,
      sync: true,
    });
  }
  if (sources.kind === "issue") return api.post<UploadedView>(`/v1/issues/${segment(sources.id)}/dataset`, { name });
  const splits = split === "" ? {} : { splits: [split] };
  if (sources.kind === "turns") {
    const body = { project: project?.id, name, trace_ids: sources.ids, ...splits };
    return api.post<UploadedView>("/v1/datasets/from_chat_session", body, query);
  }
  let created = 0;
  let last: UploadedView | null = null;
  for (let at = 0; at < sources.ids.length; at += most_ids) {
    const ids = sources.ids.slice(at, at + most_ids);
    const which =
      sources.kind === "spans"
        ? { span_ids: ids }
        : { filter: `root = true and trace_id in (${ids.map((id) => `"${id}"`).join(", ")})` };
    const body = {
      project: project?.id,
      name,
      limit: 10_000,
      ...which,
      ...splits,
    };
    last = await api.post<UploadedView>("/v1/datasets/from_spans", body, query);
    created += last.num_created_examples;
  }
  return last && { ...last, num_created_examples: created };
}

export function AddToDataset({ project, sources, on_close, on_done }: AddProps) {
  const load = use_load(`datasets/${space.value?.id}`, list_datasets);
  const [chosen, set_chosen] = useState<string | null>(null);
  const [name, set_name] = useState("");
  const [split, set_split] = useState("");
  const has_output = sources.kind === "run" && sources.run.error === null;
  const [reference, set_reference] = useState<Reference>(has_output ? "output" : "reference");
  const known = load.data ?? [];
  const selected = chosen ?? known[0]?.name ?? "";
  const target = selected === "" ? name.trim() : selected;
  async function submit(): Promise<void> {
    const done = await send(project, sources, { name: target, split: split.trim(), reference });
    if (!done) return;
    const dataset = plain_id(done.dataset_id);
    await datasets_changed();
    on_done?.();
    on_close();
    toast_done(upload_text(done, target), { title: "Open", run: () => navigate(dataset_page(dataset)) });
  }
  return (
    <Dialog title={title_of(sources)} on_close={on_close}>
      <Data load={load} retry={() => void reload("datasets/")}>
        {() => (
          <Form title="Add" busy_title="Adding…" disabled={target === ""} on_cancel={on_close} submit={submit}>
            {known.length > 0 && (
              <Choice
                label="Dataset"
                value={selected}
                on_change={set_chosen}
                options={[
                  ...known.map((dataset) => ({ value: dataset.name, title: dataset.name })),
                  { value: "", title: "New dataset…" },
                ]}
              />
            )}
            {selected === "" && (
              <Field label="Name of the new dataset" placeholder="failures" value={name} on_input={set_name} first />
            )}
            {sources.kind !== "issue" && <Field label="Split" placeholder="none" value={split} on_input={set_split} />}
            {has_output && (
              <Choice
                label="Reference output of the example"
                value={reference}
                on_change={(value) => set_reference(value as Reference)}
                options={[
                  { value: "output", title: "Output of the run" },
                  { value: "reference", title: "Reference output of the run's example" },
                ]}
              />
            )}
            <p class="soft">{text_of(sources)}</p>
          </Form>
        )}
      </Data>
    </Dialog>
  );
}

/** A button that opens the dialog; absent for people who may not write datasets. */
export function AddToDatasetButton({
  project,
  sources,
  on_done,
  quiet,
}: Omit<AddProps, "on_close"> & { quiet?: boolean }) {
  const [adding, set_adding] = useState(false);
  if (!can("dataset_write")) return null;
  return (
    <>
      <button type="button" class={quiet ? "quiet" : undefined} onClick={() => set_adding(true)}>
        <Icon name="dataset" /> Add to dataset
      </button>
      {adding && (
        <AddToDataset project={project} sources={sources} on_done={on_done} on_close={() => set_adding(false)} />
      )}
    </>
  );
}
