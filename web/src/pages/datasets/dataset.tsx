// One dataset: its examples in any version, experiments on it, versions with their differences, splits and labels.

import { useState } from "preact/hooks";
import { api, api_url } from "../../api";
import type { DatasetLabelView, DatasetSplitView, DatasetVersionView, DatasetView } from "../../api_types";
import { exact_count, plural } from "../../lib/format/number";
import type { Params } from "../../lib/route";
import { reload, use_load } from "../../load";
import { can, space } from "../../login";
import { Confirm } from "../../parts/confirm";
import { Dialog } from "../../parts/dialog";
import { Check, Field, Form } from "../../parts/form";
import { Icon } from "../../parts/icon";
import { Menu } from "../../parts/menu";
import { PageHeader } from "../../parts/page";
import { Data } from "../../parts/state";
import { current_tab, Tabs } from "../../parts/tabs";
import { toast_done } from "../../parts/toast";
import { navigate, query } from "../../router";
import { datasets_page } from "../addresses";
import { dataset_route, datasets_changed, plain_id } from "./data";
import { Examples } from "./examples";
import { Experiments } from "./experiments";
import { ImportDialog } from "./import_dialog";
import { Proposals } from "./proposals";
import { Versions } from "./versions";

const tabs = [
  { id: "examples", title: "Examples" },
  { id: "experiments", title: "Experiments" },
  { id: "versions", title: "Versions" },
  { id: "proposals", title: "Proposals" },
];

const downloads: [string, string][] = [
  ["csv", "CSV"],
  ["jsonl", "JSON lines"],
  ["jsonl/openai_ft", "JSON lines for OpenAI fine-tuning"],
  ["jsonl/openai_evals", "JSON lines for OpenAI Evals"],
];

export function LabelChip({ label }: { label: { name: string; color: string } }) {
  return (
    <span class="chip">
      <span class="chip-dot" style={{ background: label.color }} />
      {label.name}
    </span>
  );
}

function Edit({ dataset, on_close }: { dataset: DatasetView; on_close: () => void }) {
  const [name, set_name] = useState(dataset.name);
  const [description, set_description] = useState(dataset.description ?? "");
  return (
    <Dialog title={`Edit ${dataset.name}`} on_close={on_close}>
      <Form
        title="Save"
        disabled={name.trim() === ""}
        on_cancel={on_close}
        submit={async () => {
          await api.patch(dataset_route(dataset.id), { name: name.trim(), description });
          await datasets_changed();
          on_close();
        }}
      >
        <Field label="Name" value={name} on_input={set_name} required first />
        <Field label="Description" value={description} on_input={set_description} rows={3} />
      </Form>
    </Dialog>
  );
}

/** Labels of the space, those of the dataset checked; a new one can be made. */
function EditLabels({ dataset, on_close }: { dataset: DatasetView; on_close: () => void }) {
  const load = use_load(`dataset_labels/${space.value?.id}/${dataset.id}`, async (signal) => {
    const [all, own] = await Promise.all([
      api.list<DatasetLabelView>("/v1/dataset_labels", { space: space.value?.id }, signal),
      api.get<DatasetLabelView[]>(dataset_route(dataset.id, "labels"), {}, signal),
    ]);
    return { all, own: own.map((label) => label.id) };
  });
  const [chosen, set_chosen] = useState<string[] | null>(null);
  const [name, set_name] = useState("");
  const checked = chosen ?? load.data?.own ?? [];
  return (
    <Dialog title={`Labels of ${dataset.name}`} on_close={on_close}>
      <Data load={load} retry={() => void reload("dataset_labels/")}>
        {({ all }) => (
          <Form
            title="Save"
            on_cancel={on_close}
            submit={async () => {
              const ids = [...checked];
              if (name.trim() !== "") {
                const made = await api.post<DatasetLabelView>(
                  "/v1/dataset_labels",
                  { name: name.trim(), color: "#4f7cac" },
                  { space: space.value?.id },
                );
                ids.push(made.id);
              }
              await api.put(dataset_route(dataset.id, "labels"), { dataset_label_ids: ids });
              await datasets_changed();
              on_close();
            }}
          >
            {all.map((label) => (
              <Check
                key={label.id}
                label={<LabelChip label={label} />}
                checked={checked.includes(label.id)}
                on_change={(on) => set_chosen(on ? [...checked, label.id] : checked.filter((id) => id !== label.id))}
              />
            ))}
            <Field label="New label" placeholder="golden" value={name} on_input={set_name} first />
          </Form>
        )}
      </Data>
    </Dialog>
  );
}

function Actions({ dataset }: { dataset: DatasetView }) {
  const [dialog, set_dialog] = useState<"import" | "edit" | "labels" | "delete" | null>(null);
  const close = () => set_dialog(null);
  const version = query.value.get("version") ?? "";
  return (
    <>
      {can("dataset_write") && (
        <button type="button" class="primary" onClick={() => set_dialog("import")}>
          <Icon name="plus" /> Import…
        </button>
      )}
      <Menu
        label="Download"
        class=""
        align="right"
        button={
          <>
            <Icon name="download" /> Download
          </>
        }
        items={downloads.map(([part, title]) => ({
          title,
          run: () => {
            window.location.href = api_url(dataset_route(dataset.id, part), { version_id: version });
          },
        }))}
      />
      {can("dataset_write") && (
        <Menu
          label={`Actions of ${dataset.name}`}
          class="icon-only"
          align="right"
          button={<Icon name="more" />}
          items={[
            { title: "Edit…", icon: "settings", run: () => set_dialog("edit") },
            { title: "Labels…", icon: "tag", run: () => set_dialog("labels") },
            { title: "Delete…", icon: "trash", dangerous: true, divided: true, run: () => set_dialog("delete") },
          ]}
        />
      )}
      {dialog === "import" && <ImportDialog dataset={dataset.name} on_close={close} />}
      {dialog === "edit" && <Edit dataset={dataset} on_close={close} />}
      {dialog === "labels" && <EditLabels dataset={dataset} on_close={close} />}
      {dialog === "delete" && (
        <Confirm
          title={`Delete ${dataset.name}?`}
          consequence={`${plural(dataset.example_count, "example")}, all versions, and the experiments on them with their traces are deleted. This cannot be undone.`}
          action="Delete permanently"
          typed_name={dataset.name}
          run={async () => {
            await api.delete(dataset_route(dataset.id));
            await datasets_changed();
            toast_done(`${dataset.name} deleted`);
            navigate(datasets_page());
          }}
          on_close={close}
        />
      )}
    </>
  );
}

export interface DatasetParts {
  dataset: DatasetView;
  versions: DatasetVersionView[];
  splits: DatasetSplitView[];
  labels: DatasetLabelView[];
}

export function DatasetPage({ params }: { params: Params }) {
  const id = params.dataset ?? "";
  const load = use_load(`dataset/${space.value?.id}/${id}`, async (signal): Promise<DatasetParts> => {
    const dataset = await api.get<DatasetView>(dataset_route(id), { space: space.value?.id }, signal);
    const [versions, splits, labels] = await Promise.all([
      api.get<DatasetVersionView[]>(dataset_route(dataset.id, "versions"), { limit: 100 }, signal),
      api.get<DatasetSplitView[]>(dataset_route(dataset.id, "splits"), {}, signal),
      api.get<DatasetLabelView[]>(dataset_route(dataset.id, "labels"), {}, signal),
    ]);
    return { dataset, versions, splits, labels };
  });
  return (
    <Data load={load} whole_page retry={() => void reload("dataset/")}>
      {(parts) => {
        const { dataset, labels } = parts;
        const tab = current_tab(tabs);
        const summary = [
          plural(dataset.example_count, "example"),
          `version ${exact_count(dataset.version)}`,
          dataset.description,
        ];
        return (
          <div class="page list-page" key={plain_id(dataset.id)}>
            <PageHeader
              title={dataset.name}
              text={
                <>
                  {summary.filter((text) => text).join(" · ")}{" "}
                  {labels.map((label) => (
                    <LabelChip key={label.id} label={label} />
                  ))}
                </>
              }
            >
              <Actions dataset={dataset} />
            </PageHeader>
            <Tabs label="Parts of the dataset" tabs={tabs} />
            {tab === "examples" && <Examples parts={parts} />}
            {tab === "experiments" && <Experiments dataset={dataset} />}
            {tab === "versions" && <Versions parts={parts} />}
            {tab === "proposals" && <Proposals dataset={dataset} />}
          </div>
        );
      }}
    </Data>
  );
}
