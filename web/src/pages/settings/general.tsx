// The settings of the space: name, description, deletion.

import { useState } from "preact/hooks";
import { api, segment } from "../../api";
import type { Space } from "../../api_types";
import { can, load_me, space } from "../../login";
import { Confirm } from "../../parts/confirm";
import { Id } from "../../parts/copy";
import { Field, Form } from "../../parts/form";
import { Icon } from "../../parts/icon";
import { PageHeader, Section } from "../../parts/page";
import { Facts } from "../../parts/slide_over";
import { Time } from "../../parts/time";
import { toast_done } from "../../parts/toast";
import { navigate } from "../../router";

function SpaceForm({ current }: { current: Space }) {
  const [name, set_name] = useState(current.name);
  const [description, set_description] = useState(current.description);
  const may_edit = can("space_update");
  const changed = name !== current.name || description !== current.description;
  async function save(): Promise<void> {
    const saved = await api.patch<Space>(`/v1/spaces/${segment(current.id)}`, { name: name.trim(), description });
    await load_me();
    navigate(`/s/${segment(saved.name)}/settings/general`, { replace: true });
    toast_done("Space saved");
  }
  return (
    <Form title="Save" disabled={!changed || !may_edit || name.trim() === ""} submit={save}>
      <Field
        label="Name"
        hint="Part of every link to this space: renaming it breaks saved links."
        value={name}
        on_input={set_name}
        disabled={!may_edit}
        required
      />
      <Field label="Description" value={description} on_input={set_description} disabled={!may_edit} />
    </Form>
  );
}

export function General() {
  const current = space.value;
  const [deleting, set_deleting] = useState(false);
  if (!current) return null;
  async function remove(removed: Space): Promise<void> {
    await api.delete(`/v1/spaces/${segment(removed.id)}`, { confirm: removed.name });
    await load_me();
    toast_done(`Space ${removed.name} deleted`);
    navigate("/", { replace: true });
  }
  return (
    <div class="page narrow">
      <PageHeader title="General" text="A space separates teams: a project, member role or key belongs to one space." />
      <Section title="Space">
        <SpaceForm key={current.id} current={current} />
      </Section>
      <Section title="About">
        <Facts
          rows={[
            ["Id", <Id key="id" id={current.id} />],
            ["Created", <Time key="created" time={current.created_at} />],
            ["Your role", current.role ?? "none (owner of the installation)"],
          ]}
        />
      </Section>
      {can("space_delete") && (
        <Section title="Delete" text="Deletes the space with its projects, members' roles, keys and all data.">
          <button type="button" class="danger" onClick={() => set_deleting(true)}>
            <Icon name="trash" /> Delete space
          </button>
        </Section>
      )}
      {deleting && (
        <Confirm
          title={`Delete the space ${current.name}?`}
          consequence={`All projects of ${current.name} and their data are deleted for all members. This cannot be undone.`}
          action="Delete permanently"
          typed_name={current.name}
          run={() => remove(current)}
          on_close={() => set_deleting(false)}
        />
      )}
    </div>
  );
}
