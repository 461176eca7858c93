// Saved views of a list: a named filter and range, for all members of the project. One can be the default.

import { useEffect, useState } from "preact/hooks";
import { api, segment } from "../../api";
import type { Project, SavedView, ViewPage } from "../../api_types";
import { is_bare_address } from "../../carried";
import { same_view, view_query } from "../../lib/filter/view_query";
import { reload, use_load } from "../../load";
import { can } from "../../login";
import { Confirm } from "../../parts/confirm";
import { copy_text } from "../../parts/copy";
import { Dialog } from "../../parts/dialog";
import { Check, Field, Form } from "../../parts/form";
import { Icon } from "../../parts/icon";
import { Menu, type MenuItem } from "../../parts/menu";
import { toast_done, toast_failed } from "../../parts/toast";
import { navigate, path, query } from "../../router";
import { project_route } from "../projects/data";

interface SavedViewsProps {
  project: Project | undefined;
  page: ViewPage;
  default_range: string;
}

const key_of = (project: Project) => `views/${project.id}`;
const route_of = (project: Project, name: string) => project_route(project, `views/${segment(name)}`);

async function save(project: Project, page: ViewPage, view: { name: string; query: string; is_default: boolean }) {
  await api.put(route_of(project, view.name), { query: view.query, is_default: view.is_default }, { page });
  await reload(key_of(project));
}

interface SaveDialogProps {
  project: Project;
  page: ViewPage;
  title?: string;
  text: string;
  names: string[];
  on_close: () => void;
}

export function SaveDialog({ project, page, title = "Save this view", text, names, on_close }: SaveDialogProps) {
  const [name, set_name] = useState("");
  const [is_default, set_default] = useState(false);
  const replaces = names.includes(name.trim());
  return (
    <Dialog title={title} on_close={on_close}>
      <Form
        title={replaces ? "Replace" : "Save"}
        disabled={name.trim() === ""}
        on_cancel={on_close}
        submit={async () => {
          await save(project, page, { name: name.trim(), query: text, is_default });
          toast_done(`${page === "queries" ? "Query" : "View"} ${name.trim()} saved`);
          on_close();
        }}
      >
        <Field
          label="Name"
          placeholder="slow errors"
          value={name}
          on_input={set_name}
          max_length={100}
          hint={replaces ? "This name exists and is replaced." : "Visible to all members of the project."}
          first
          required
        />
        {page !== "queries" && <Check label="Default view of this page" checked={is_default} on_change={set_default} />}
      </Form>
    </Dialog>
  );
}

interface DeleteViewProps {
  project: Project;
  view: SavedView;
  on_close: () => void;
}

export function DeleteView({ project, view, on_close }: DeleteViewProps) {
  const what = view.page === "queries" ? "query" : "view";
  return (
    <Confirm
      title={`Delete the ${what} ${view.name}?`}
      consequence={`It is removed from the menu for all members of ${project.name}. Traces are not changed.`}
      action={`Delete ${what}`}
      run={async () => {
        await api.delete(route_of(project, view.name), { page: view.page });
        await reload(key_of(project));
        toast_done(`${what === "query" ? "Query" : "View"} ${view.name} deleted`);
      }}
      on_close={on_close}
    />
  );
}

export function SavedViews({ project, page, default_range }: SavedViewsProps) {
  const load = use_load(project ? key_of(project) : null, (signal) =>
    api.get<SavedView[]>(project_route(project, "views"), {}, signal),
  );
  const [saving, set_saving] = useState(false);
  const [deleting, set_deleting] = useState<SavedView | null>(null);
  const views = (load.data ?? []).filter((view) => view.page === page);
  const now = view_query(query.value);
  const active = views.find((view) => same_view(view.query, now));
  const start = views.find((view) => view.is_default);

  // The default view applies only to an address without parameters.
  useEffect(() => {
    if (start && start.query !== "" && is_bare_address()) navigate(`${path.value}?${start.query}`, { replace: true });
  }, [start?.query, path.value]);

  if (!project) return null;
  const may_save = can("project_update");
  const items: MenuItem[] = views.map((view) => ({
    title: view.name,
    hint: view.is_default ? "default" : undefined,
    checked: view === active,
    run: () => navigate(`${path.value}?${view.query}`),
  }));
  items.push({
    title: "All",
    checked: active === undefined && same_view(now, `range=${default_range}`),
    run: () => navigate(`${path.value}?range=${default_range}`),
  });
  items.push({
    title: "Copy link",
    icon: "link",
    divided: true,
    run: () =>
      void copy_text(`${window.location.origin}${path.value}${now === "" ? "" : `?${now}`}`).then(() =>
        toast_done("Link copied"),
      ),
  });
  if (may_save) items.push({ title: "Save this view…", icon: "plus", run: () => set_saving(true) });
  if (may_save && active) {
    const change = { ...active, is_default: !active.is_default };
    items.push({
      title: active.is_default ? "Remove as default" : "Set as default",
      icon: "check",
      run: () => void save(project, page, change).catch((error) => toast_failed("Could not save the view", error)),
    });
    items.push({ title: `Delete ${active.name}`, icon: "trash", dangerous: true, run: () => set_deleting(active) });
  }
  return (
    <>
      <Menu
        label={active ? `View: ${active.name}` : "Views"}
        align="right"
        button={
          <>
            <Icon name="bookmark" /> {active ? active.name : "Views"} <Icon name="down" />
          </>
        }
        items={items}
      />
      {saving && (
        <SaveDialog
          project={project}
          page={page}
          text={now}
          names={views.map((view) => view.name)}
          on_close={() => set_saving(false)}
        />
      )}
      {deleting && <DeleteView project={project} view={deleting} on_close={() => set_deleting(null)} />}
    </>
  );
}
