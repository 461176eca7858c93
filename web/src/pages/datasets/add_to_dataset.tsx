// Adds spans or whole traces to a dataset: from the page of a trace, and from the list for several.

import { useState } from "preact/hooks";
import { api } from "../../api";
import type { UploadedView } from "../../api_types";
import { plural } from "../../lib/format/number";
import { use_load } from "../../load";
import { can, space } from "../../login";
import { Dialog } from "../../parts/dialog";
import { Choice, Field, Form } from "../../parts/form";
import { Icon } from "../../parts/icon";
import { toast_done } from "../../parts/toast";
import { navigate } from "../../router";
import { dataset_page } from "../addresses";
import { datasets_changed, list_datasets, plain_id } from "./data";

/** Which spans become examples. */
export type Sources =
  | { kind: "spans"; ids: string[] }
  | {
      kind: "traces";
      ids: string[];
    };

// As many values as a filter takes.
const most_at_once = 200;

interface AddProps {
  project: { id: string };
  sources: Sources;
  on_close: () => void;
  on_done?: () => void;
}

function upload_text(done: UploadedView, name: string): string {
  if (done.num_created_examples === 0) return `Already in ${name}`;
  return `${plural(done.num_created_examples, "example")} added to ${name}`;
}

export function AddToDataset({ project, sources, on_close, on_done }: AddProps) {
  const load = use_load(`datasets/${space.value?.id}`, list_datasets);
  const [chosen, set_chosen] = useState<string | null>(null);
  const [name, set_name] = useState("");
  const [split, set_split] = useState("");
  const known = load.data ?? [];
  const selected = chosen ?? known[0]?.name ?? "";
  const target = selected === "" ? name.trim() : selected;
  async function submit(): Promise<void> {
    let created = 0;
    let last: UploadedView | null = null;
    for (let at = 0; at < sources.ids.length; at += most_at_once) {
      const ids = sources.ids.slice(at, at + most_at_once);
      last = await api.post<UploadedView>(
        "/v1/datasets/from_spans",
        {
          project: project.id,
          name: target,
          limit: 10_000,
          ...(sources.kind === "spans"
            ? { span_ids: ids }
            : { filter: `root = true and trace_id in (${ids.map((id) => `"${id}"`).join(", ")})` }),
          ...(split.trim() === "" ? {} : { splits: [split.trim()] }),
        },
        { space: space.value?.id },
      );
      created += last.num_created_examples;
    }
    if (!last) return;
    const dataset = plain_id(last.dataset_id);
    await datasets_changed();
    on_done?.();
    on_close();
    toast_done(upload_text({ ...last, num_created_examples: created }, target), {
      title: "Open",
      run: () => navigate(dataset_page(dataset)),
    });
  }
  const what = plural(sources.ids.length, sources.kind === "spans" ? "span" : "trace");
  return (
    <Dialog title={`Add ${what} to a dataset`} on_close={on_close}>
      <Form
        title="Add"
        busy_title="Adding…"
        disabled={target === "" || (load.loading && !load.data)}
        on_cancel={on_close}
        submit={submit}
      >
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
        <Field label="Split" placeholder="none" value={split} on_input={set_split} />
        <p class="soft">
          {sources.kind === "spans"
            ? "Input and output of the span become input and reference output."
            : "Input and output of the root span become input and reference output."}{" "}
          Credentials in texts are removed. The trace is kept beyond retention.
        </p>
      </Form>
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
        <Icon name="database" /> Add to dataset
      </button>
      {adding && (
        <AddToDataset project={project} sources={sources} on_done={on_done} on_close={() => set_adding(false)} />
      )}
    </>
  );
}
