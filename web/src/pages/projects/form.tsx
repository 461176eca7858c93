// The dialog that creates a project; used by the list and by the first steps.

import { useState } from "preact/hooks";
import { api } from "../../api";
import type { Project, CreateProject as ProjectRequest } from "../../api_types";
import { reload } from "../../load";
import { space } from "../../login";
import { Dialog } from "../../parts/dialog";
import { Check, Field, Form } from "../../parts/form";
import { toast_done } from "../../parts/toast";
import { navigate } from "../../router";
import { project_page } from "../addresses";

interface CreateProjectProps {
  on_close: () => void;
  /** Stay on the page instead of opening the new project. */
  stay?: boolean;
}

export function CreateProject({ on_close, stay = false }: CreateProjectProps) {
  const [name, set_name] = useState("");
  const [description, set_description] = useState("");
  const [restricted, set_restricted] = useState(false);
  async function create(): Promise<void> {
    const body = { name: name.trim(), description: description.trim(), restricted } satisfies ProjectRequest;
    const project = await api.post<Project>("/v1/projects", body, { space: space.value?.id });
    void reload("projects/");
    toast_done(`Project ${project.name} created`);
    on_close();
    if (!stay) navigate(project_page(project.name));
  }
  return (
    <Dialog title="Create a project" on_close={on_close}>
      <Form
        title="Create project"
        busy_title="Creating…"
        disabled={name.trim() === ""}
        on_cancel={on_close}
        submit={create}
      >
        <Field
          label="Name"
          hint="One project is one observed application. Exporters send this name, so keep it easy to type."
          placeholder="support-agent"
          value={name}
          on_input={set_name}
          max_length={200}
          required
          first
        />
        <Field label="Description" value={description} on_input={set_description} />
        <Check
          label="Restricted"
          hint="Only people and keys with an explicit binding can see it."
          checked={restricted}
          on_change={set_restricted}
        />
      </Form>
    </Dialog>
  );
}
