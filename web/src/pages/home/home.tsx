// Home: open tasks and current activity; above them the first steps, until a session was started on a trace.

import { useEffect, useState } from "preact/hooks";
import { api, segment } from "../../api";
import type { Project, Run } from "../../api_types";
import { lazy_page } from "../../lazy";
import { reload, use_load, use_refresh } from "../../load";
import { can, space, user } from "../../login";
import { PageHeader } from "../../parts/page";
import { Empty, ErrorNote, Skeleton } from "../../parts/state";
import { query, set_query } from "../../router";
import { CreateProject } from "../projects/form";
import { Activity } from "./activity";
import { HomeNumbers } from "./numbers";

/** The project with the traces of runs: not an observed application. */
const own_project = "hone-runs";

const ConnectSteps = lazy_page(() => import("../../bundles/connect"), "ConnectSteps");

interface HomeData {
  projects: Project[];
  has_session: boolean;
}

async function load_home(id: string, signal: AbortSignal): Promise<HomeData> {
  const [projects, runs] = await Promise.all([
    can("project_read") ? api.list<Project>("/v1/projects", { space: id }, signal) : [],
    can("run_read") ? (await api.page<Run>("/v1/runs", { space: id, limit: 1 }, signal)).rows : [],
  ]);
  return { projects, has_session: runs.length > 0 };
}

/** Whether one of the newest projects has received a trace; null until that is known. */
function use_traced(projects: Project[] | undefined): boolean | null {
  const ids = (projects ?? []).slice(0, 3).map((project) => project.id);
  const load = use_load(ids.length > 0 ? `projects/traced/${ids.join()}` : null, async (signal) => {
    const newest_trace = (id: string) =>
      api.page<unknown>(`/v1/projects/${segment(id)}/trace_rows`, { limit: 1 }, signal);
    return (await Promise.all(ids.map(newest_trace))).some((page) => page.rows.length > 0);
  });
  return projects?.length === 0 ? false : (load.data ?? null);
}

/** Observed applications, newest first. */
function observed(projects: Project[] | undefined): Project[] | undefined {
  return projects
    ?.filter((project) => project.name !== own_project)
    .sort((a, b) => (a.created_at < b.created_at ? 1 : -1));
}

export function Home() {
  const current = space.value;
  const key = `projects/home/${current?.id}`;
  const load = use_load(current ? key : null, (signal) => load_home(current?.id ?? "", signal));
  const projects = observed(load.data?.projects);
  const traced = use_traced(projects);
  // While it is unknown whether traces arrived, a space with sessions does not show the steps again.
  const finished = load.data?.has_session === true && traced !== false;
  // A user who saw the steps also sees the last one completed; the next visit shows only the space.
  const [seen_steps, set_seen_steps] = useState(false);
  const setting_up = can("run_start") && load.data !== undefined && (!finished || seen_steps);
  useEffect(() => {
    if (setting_up) set_seen_steps(true);
  }, [setting_up]);
  use_refresh(setting_up && !finished ? "projects/" : null, 2000);
  const name = user.value?.name || user.value?.email || "";
  return (
    <div class={setting_up ? "page narrow" : "page"}>
      <PageHeader
        title={setting_up ? `Welcome${name ? `, ${name}` : ""}` : (current?.name ?? "Home")}
        text={
          setting_up
            ? "From an application to its first trace, and from the trace to a worker's result."
            : current?.description
        }
      />
      {load.error && <ErrorNote error={load.error} retry={() => void reload(key)} />}
      {!load.data && !load.error && <Skeleton />}
      {projects?.length === 0 && !can("run_start") && (
        <Empty
          icon="project"
          title="No projects yet"
          text={`Your role here is ${current?.role ?? "none"}. Projects appear here when an admin creates one or gives you access.`}
        />
      )}
      {setting_up && <ConnectSteps params={{}} />}
      {projects && projects.length > 0 && (traced || !setting_up) && <HomeNumbers projects={projects} />}
      {load.data && <Activity projects={load.data.projects} />}
      {query.value.get("new") === "project" && (
        <CreateProject stay on_close={() => set_query({ new: null }, { replace: true })} />
      )}
    </div>
  );
}
