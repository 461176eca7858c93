// Queries that people saved under a name, for all members of the project.

import { useState } from "preact/hooks";
import { api } from "../../api";
import type { Project, SavedView } from "../../api_types";
import { reload, use_load } from "../../load";
import { can } from "../../login";
import { Icon } from "../../parts/icon";
import { Menu, type MenuItem } from "../../parts/menu";
import { query } from "../../router";
import { project_route } from "../projects/data";
import { DeleteView, SaveDialog } from "./saved_views";

interface SavedQueriesProps {
  project: Project;
  /** The text in the editor. */
  sql: string;
  open: (parameters: URLSearchParams) => void;
}

/** The query, and how it is drawn. */
function saved_text(sql: string): string {
  const saved = new URLSearchParams({ sql });
  const draw = query.value.get("draw");
  if (draw) saved.set("draw", draw);
  return saved.toString();
}

export function SavedQueries({ project, sql, open }: SavedQueriesProps) {
  const key = `views/${project.id}/queries`;
  const load = use_load(key, (signal) => api.get<SavedView[]>(project_route(project, "views"), {}, signal));
  const [saving, set_saving] = useState(false);
  const [deleting, set_deleting] = useState<SavedView | null>(null);
  const views = (load.data ?? []).filter((view) => view.page === "queries");
  const text_of = (view: SavedView) => new URLSearchParams(view.query).get("sql")?.trim();
  const active = views.find((view) => text_of(view) === sql.trim());
  const items: MenuItem[] = views.map((view) => ({
    title: view.name,
    hint: view.saved_by,
    checked: view === active,
    run: () => open(new URLSearchParams(view.query)),
  }));
  if (can("project_update"))
    items.push({
      title: "Save this query…",
      icon: "plus",
      divided: views.length > 0,
      run: () => set_saving(true),
    });
  if (can("project_update") && active)
    items.push({ title: `Delete ${active.name}`, icon: "trash", dangerous: true, run: () => set_deleting(active) });
  if (items.length === 0) return null;
  return (
    <>
      <Menu
        label={active ? `Query: ${active.name}` : "Saved queries"}
        align="right"
        button={
          <>
            {active ? active.name : "Saved queries"} <Icon name="down" />
          </>
        }
        items={items}
      />
      {saving && (
        <SaveDialog
          project={project}
          page="queries"
          title="Save this query"
          text={saved_text(sql.trim())}
          names={views.map((view) => view.name)}
          on_close={() => {
            set_saving(false);
            void reload(key);
          }}
        />
      )}
      {deleting && <DeleteView project={project} view={deleting} on_close={() => set_deleting(null)} />}
    </>
  );
}
