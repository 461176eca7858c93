// A run as a record: rename, keep, copy its address, delete.

import { useState } from "preact/hooks";
import { api } from "../../api";
import type { Manifest, Preset, Run } from "../../api_types";
import { reload } from "../../load";
import { can } from "../../login";
import { Confirm } from "../../parts/confirm";
import { Dialog } from "../../parts/dialog";
import { Field, Form } from "../../parts/form";
import { Icon } from "../../parts/icon";
import { Menu, type MenuItem } from "../../parts/menu";
import { toast_done, toast_failed } from "../../parts/toast";
import { navigate } from "../../router";
import { automation_page, history_page, run_page } from "../addresses";
import { project_name, use_projects } from "../projects/data";
import { is_over, run_route } from "./data";

function RenameDialog({ run, on_close }: { run: Run; on_close: () => void }) {
  const [title, set_title] = useState(run.title);
  return (
    <Dialog title="Rename the run" on_close={on_close}>
      <Form
        title="Rename"
        busy_title="Saving…"
        disabled={title.trim() === "" || title === run.title}
        on_cancel={on_close}
        submit={async () => {
          await api.patch<Run>(run_route(run.id), { title: title.trim() });
          await reload("run");
          on_close();
        }}
      >
        <Field label="Title" value={title} on_input={set_title} first />
      </Form>
    </Dialog>
  );
}

async function keep(run: Run, kept: boolean): Promise<void> {
  try {
    await api.patch<Run>(run_route(run.id), { kept });
    toast_done(kept ? "Kept: the run and its workspace do not expire" : "No longer kept");
    await reload("run");
  } catch (error) {
    toast_failed("Could not change the run", error);
  }
}

async function copy_address(run: Run): Promise<void> {
  try {
    await navigator.clipboard.writeText(new URL(run_page(run.id), window.location.href).href);
    toast_done("Address copied; it opens for people who can see the project");
  } catch (error) {
    toast_failed("Could not copy the address", error);
  }
}

const automation_address = (preset: string, project: string, prompt: string) =>
  `${automation_page("new")}?${new URLSearchParams({ preset, project, prompt })}`;

/** An automation needs a preset: the settings of a run without one are saved first. */
function AutomationDialog({ run, on_close }: { run: Run; on_close: () => void }) {
  const [name, set_name] = useState(run.title.slice(0, 60));
  const project = project_name(use_projects().data, run.project_id);
  return (
    <Dialog title="Make this an automation" on_close={on_close}>
      <Form
        title="Save preset and continue"
        busy_title="Saving…"
        disabled={run.preset_id === null && name.trim() === ""}
        on_cancel={on_close}
        submit={async () => {
          const manifest = await api.get<Manifest>(`${run_route(run.id)}/manifest`);
          const preset =
            run.preset_id ??
            (
              await api.post<Preset>(
                "/v1/presets",
                { name: name.trim(), settings: manifest.settings },
                { space: run.space_id },
              )
            ).id;
          await reload("presets/");
          on_close();
          navigate(automation_address(preset, project, manifest.prompt));
        }}
      >
        {run.preset_id === null ? (
          <Field
            label="Name of the preset"
            hint="The settings of this run are saved as a preset, which the automation uses."
            value={name}
            on_input={set_name}
            first
          />
        ) : (
          <p>The automation uses the preset {run.preset_name} and the first prompt of this run.</p>
        )}
      </Form>
    </Dialog>
  );
}

async function rerun_latest(run: Run): Promise<void> {
  try {
    const started = await api.post<Run>(`${run_route(run.id)}/rerun`, { latest: true });
    toast_done("New run started");
    navigate(run_page(started.id));
  } catch (error) {
    toast_failed("Could not start a run", error);
  }
}

export function RecordMenu({ run }: { run: Run }) {
  const [dialog, set_dialog] = useState<"rename" | "delete" | "automation" | null>(null);
  const close = () => set_dialog(null);
  const items: MenuItem[] = [{ title: "Copy address", icon: "link", run: () => void copy_address(run) }];
  if (can("run_start")) {
    items.push({ title: "Rename…", run: () => set_dialog("rename") });
    items.push(
      run.kept_by
        ? { title: "No longer keep", run: () => void keep(run, false) }
        : { title: "Keep from expiry", run: () => void keep(run, true) },
    );
  }
  if (can("run_start") && is_over(run.state))
    items.push({ title: "Run again with current versions", icon: "rotate", run: () => void rerun_latest(run) });
  if (can("automation_write") && (run.preset_id !== null || can("preset_write")))
    items.push({ title: "Make this an automation…", icon: "clock", run: () => set_dialog("automation") });
  if (can("trace_delete") && is_over(run.state))
    items.push({ title: "Delete…", icon: "trash", dangerous: true, divided: true, run: () => set_dialog("delete") });
  return (
    <>
      <Menu label="More actions" class="icon-only" button={<Icon name="more" />} items={items} align="right" />
      {dialog === "rename" && <RenameDialog run={run} on_close={close} />}
      {dialog === "automation" && <AutomationDialog run={run} on_close={close} />}
      {dialog === "delete" && (
        <Confirm
          title="Delete the run"
          consequence={`“${run.title}” is deleted with its transcript, artifacts, workspace and trace. This cannot be undone.`}
          action="Delete run"
          typed_name="delete"
          run={async () => {
            await api.delete(run_route(run.id));
            toast_done("Run deleted");
            navigate(history_page());
          }}
          on_close={close}
        />
      )}
    </>
  );
}
