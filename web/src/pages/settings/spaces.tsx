// All spaces of the installation.

import { useState } from "preact/hooks";
import { api, segment } from "../../api";
import type { Space } from "../../api_types";
import { use_keys } from "../../keyboard";
import { reload, use_load } from "../../load";
import { load_me } from "../../login";
import { Id } from "../../parts/copy";
import { Dialog } from "../../parts/dialog";
import { Field, Form } from "../../parts/form";
import { Icon } from "../../parts/icon";
import { PageHeader } from "../../parts/page";
import { SearchField } from "../../parts/search_field";
import { Data } from "../../parts/state";
import { type Column, Table } from "../../parts/table";
import { Time } from "../../parts/time";
import { toast_done } from "../../parts/toast";
import { navigate, query, set_query } from "../../router";

const columns: Column<Space>[] = [
  {
    id: "name",
    title: "Name",
    width: "28%",
    sort: (space) => space.name,
    cell: (space) => (
      <a class="cell-link" href={`/s/${segment(space.name)}`}>
        {space.name}
      </a>
    ),
  },
  {
    id: "description",
    title: "Description",
    wide: true,
    cell: (space) => <span class="soft">{space.description}</span>,
  },
  {
    id: "role",
    title: "Your role",
    width: "110px",
    cell: (space) => space.custom_role || (space.role ?? <span class="faint">none</span>),
  },
  { id: "id", title: "Id", width: "150px", wide: true, extra: true, cell: (space) => <Id id={space.id} /> },
  {
    id: "created_at",
    title: "Created",
    width: "110px",
    wide: true,
    align: "right",
    sort: (space) => space.created_at,
    cell: (space) => <Time time={space.created_at} />,
  },
];

function CreateSpace({ on_close }: { on_close: () => void }) {
  const [name, set_name] = useState("");
  const [description, set_description] = useState("");
  async function create(): Promise<void> {
    const created = await api.post<Space>("/v1/spaces", { name: name.trim(), description: description.trim() });
    await load_me();
    void reload("spaces");
    toast_done(`Space ${created.name} created`);
    on_close();
  }
  return (
    <Dialog title="Create a space" on_close={on_close}>
      <Form
        title="Create space"
        busy_title="Creating…"
        disabled={name.trim() === ""}
        on_cancel={on_close}
        submit={create}
      >
        <Field
          label="Name"
          hint="Keep it short: it is part of every link."
          value={name}
          on_input={set_name}
          required
          first
        />
        <Field label="Description" value={description} on_input={set_description} />
      </Form>
    </Dialog>
  );
}

export function Spaces() {
  const load = use_load("spaces", (signal) => api.list<Space>("/v1/spaces", {}, signal));
  const text = (query.value.get("q") ?? "").toLowerCase();
  const open_dialog = () => set_query({ new: "1" });
  use_keys([{ keys: "c", title: "Create a space", group: "This page", run: open_dialog }]);
  return (
    <div class="page list-page">
      <PageHeader title="Spaces" text="Use one space per team. Teams cannot see the projects of other spaces.">
        <button type="button" class="primary" onClick={open_dialog}>
          <Icon name="plus" /> Create space
        </button>
      </PageHeader>
      <Data load={load} retry={() => void reload("spaces")}>
        {(spaces) => (
          <Table
            label="Spaces"
            rows={spaces.filter((space) => `${space.name} ${space.description}`.toLowerCase().includes(text))}
            columns={columns}
            row_id={(space) => space.id}
            row_title={(space) => space.name}
            order="name"
            on_open={(space) => navigate(`/s/${segment(space.name)}`)}
            bar={<SearchField label="Filter spaces" />}
          />
        )}
      </Data>
      {query.value.has("new") && <CreateSpace on_close={() => set_query({ new: null }, { replace: true })} />}
    </div>
  );
}
