// Home: until the space is set up, numbered steps that tick themselves off; after that, what there
// is and what changed last. Every tick comes from the API, nothing is remembered here.

import type { ComponentChildren } from "preact";
import { useEffect, useState } from "preact/hooks";
import { api, segment } from "../api";
import type { AuditEntry, Invite, Key, Member, Project } from "../api_types";
import { plural } from "../lib/number";
import { shell_quote } from "../lib/text";
import { reload, use_load } from "../load";
import { CodeBlock } from "../parts/copy";
import { Icon } from "../parts/icon";
import { PageHeader, Section } from "../parts/page";
import { Empty, ErrorNote, Note, Skeleton } from "../parts/state";
import { Time } from "../parts/time";
import { query, set_query } from "../router";
import { can, space, user } from "../session";
import { CreateProject, project_address } from "./project_form";
import { SendTrace } from "./send_trace";

interface HomeData {
  projects: Project[];
  keys: Key[] | null;
  members: Member[] | null;
  invites: Invite[] | null;
}

async function load_home(id: string, signal: AbortSignal): Promise<HomeData> {
  const at = `/v1/spaces/${segment(id)}`;
  const [projects, keys, members, invites] = await Promise.all([
    can("project_read") ? api.list<Project>("/v1/projects", { space: id }, signal) : [],
    can("key_create") ? api.list<Key>("/v1/keys", { space: id }, signal) : null,
    can("member_read") ? api.list<Member>(`${at}/members`, {}, signal) : null,
    can("member_manage") ? api.list<Invite>(`${at}/invites`, {}, signal) : null,
  ]);
  return { projects, keys, members, invites };
}

interface StepProps {
  number: number;
  title: string;
  done: boolean;
  text: string;
  children?: ComponentChildren;
}

function Step({ number, title, done, text, children }: StepProps) {
  return (
    <li class={done ? "step done" : "step"}>
      <span class="step-mark" aria-hidden="true">
        {done ? <Icon name="check" /> : number}
      </span>
      <div class="step-body">
        <h2>
          {title}
          {done && <span class="off-screen"> (done)</span>}
        </h2>
        <p class="page-text">{text}</p>
        {children}
      </div>
    </li>
  );
}

function first_command(): string {
  return [
    "export HONE_API_KEY=hone_…",
    `curl -H "Authorization: Bearer $HONE_API_KEY" ${shell_quote(`${window.location.origin}/v1/projects`)}`,
  ].join("\n");
}

/** Whether a trace has come into one of the newest projects; null until that is known. */
function use_traced(projects: Project[] | undefined): boolean | null {
  const ids = newest_first(projects ?? [])
    .slice(0, 3)
    .map((project) => project.id);
  const load = use_load(ids.length > 0 ? `projects/traced/${ids.join()}` : null, async (signal) => {
    const ask = (id: string) => api.page<unknown>(`/v1/projects/${segment(id)}/trace_rows`, { limit: 1 }, signal);
    return (await Promise.all(ids.map(ask))).some((page) => page.rows.length > 0);
  });
  return projects?.length === 0 ? false : (load.data ?? null);
}

function newest_first(projects: Project[]): Project[] {
  return [...projects].sort((a, b) => (a.created_at < b.created_at ? 1 : -1));
}

interface Progress {
  project: boolean;
  key: boolean;
  /** The name of a key that has made a request. */
  used: string | null;
  traced: boolean;
  teammate: boolean;
}

function progress_of(data: HomeData, traced: boolean): Progress {
  const keys = data.keys ?? [];
  return {
    project: data.projects.length > 0,
    key: data.keys === null || keys.length > 0,
    used: data.keys === null ? "nobody" : (keys.find((key) => key.last_used_at !== null)?.name ?? null),
    traced,
    teammate:
      data.invites === null || (data.members?.length ?? 0) > 1 || data.invites.some((one) => one.state === "open"),
  };
}

function Steps({ data, progress }: { data: HomeData; progress: Progress }) {
  const settings = `/s/${segment(space.value?.name ?? "")}/settings`;
  return (
    <ol class="steps">
      {can("project_create") && (
        <Step
          number={1}
          title="Create a project"
          done={progress.project}
          text={
            progress.project
              ? data.projects.length === 1
                ? `${data.projects[0]?.name} is here.`
                : `${plural(data.projects.length, "project")} are here.`
              : "One project is one observed application: its traces, evals and monitors live there."
          }
        >
          {!progress.project && (
            <button type="button" class="primary" onClick={() => set_query({ new: "project" })}>
              Create a project
            </button>
          )}
        </Step>
      )}
      {data.keys !== null && (
        <Step
          number={2}
          title="Create an API key and use it"
          done={progress.key && progress.used !== null}
          text={
            progress.used
              ? `${progress.used} has made its first request.`
              : progress.key
                ? "There is a key. Put its secret into this command and try it."
                : "Programs show a key with every request. Create one, then try it with this command."
          }
        >
          {progress.used === null && (
            <>
              {!progress.key && (
                <a class={progress.project ? "button primary" : "button"} href={`${settings}/keys?new=1`}>
                  Create an API key
                </a>
              )}
              <CodeBlock text={first_command()} label="first request" />
              {progress.key && (
                <p class="listening" role="status">
                  <span class="pulse" aria-hidden="true" /> Waiting for the first request with a key…
                </p>
              )}
            </>
          )}
        </Step>
      )}
      <Step
        number={3}
        title="Send a trace"
        done={progress.traced}
        text={
          progress.traced
            ? "Traces are coming in."
            : "Set these for an application with any OpenTelemetry exporter, with the key's secret in HONE_API_KEY."
        }
      >
        {!progress.traced && progress.project && (
          <>
            <SendTrace project={newest_first(data.projects)[0]?.name ?? ""} />
            <p class="listening" role="status">
              <span class="pulse" aria-hidden="true" /> Waiting for the first trace…
            </p>
          </>
        )}
      </Step>
      {data.invites !== null && (
        <Step
          number={4}
          title="Invite a teammate"
          done={progress.teammate}
          text={
            progress.teammate
              ? "Somebody is here or on the way."
              : "People review everything that workers propose. You get a link to send them yourself."
          }
        >
          {!progress.teammate && (
            <a
              class={progress.project && progress.key ? "button primary" : "button"}
              href={`${settings}/members?new=1`}
            >
              Invite a teammate
            </a>
          )}
        </Step>
      )}
    </ol>
  );
}

function ProjectLinks({ projects }: { projects: Project[] }) {
  const newest = newest_first(projects).slice(0, 8);
  return (
    <Section title="Projects">
      <ul class="plain-list">
        {newest.map((project) => (
          <li key={project.id}>
            <a class="row-link" href={project_address(project.name)}>
              <Icon name={project.restricted ? "lock" : "project"} />
              <span class="row-title">{project.name}</span>
              <span class="row-text">{project.description}</span>
              <Time time={project.created_at} />
            </a>
          </li>
        ))}
      </ul>
      {projects.length > newest.length && (
        <a href={`/s/${segment(space.value?.name ?? "")}/projects`}>All {projects.length} projects</a>
      )}
    </Section>
  );
}

function RecentChanges() {
  const current = space.value;
  const load = use_load(current && can("audit_read") ? `audit/recent/${current.id}` : null, async (signal) => {
    const page = await api.page<AuditEntry>("/v1/audit", { space: current?.id, limit: 8 }, signal);
    return page.rows;
  });
  if (!load.data || load.data.length === 0) return null;
  const audit = `/s/${segment(current?.name ?? "")}/settings/audit`;
  return (
    <Section title="Recent changes">
      <ul class="plain-list">
        {load.data.map((entry) => (
          <li key={entry.seq}>
            <a class="row-link" href={`${audit}?range=all&open=${entry.seq}`}>
              <Icon name="history" />
              <span class="row-title">{entry.actor_name || entry.actor_kind}</span>
              <code class="row-text">{entry.action}</code>
              <Time time={entry.time} />
            </a>
          </li>
        ))}
      </ul>
    </Section>
  );
}

/** Asks again now and then while a step waits for something that happens elsewhere. */
function use_watch(key: string, waiting: boolean): void {
  useEffect(() => {
    if (!waiting) return;
    const timer = setInterval(() => {
      if (document.visibilityState === "visible") void reload(key);
    }, 2000);
    return () => clearInterval(timer);
  }, [key, waiting]);
}

export function Home() {
  const current = space.value;
  const key = `projects/home/${current?.id}`;
  const load = use_load(current ? key : null, (signal) => load_home(current?.id ?? "", signal));
  const traced = use_traced(load.data?.projects);
  const known = load.data ? progress_of(load.data, traced ?? false) : null;
  const rest_done = known ? known.project && known.key && known.used !== null && known.teammate : false;
  // Until it is known whether traces came, a space that has everything else is not sent back to the steps.
  const progress = known && { ...known, traced: traced ?? rest_done };
  const finished = rest_done && progress?.traced === true;
  // Whoever saw the steps sees the last one ticked, too; the next visit shows the space.
  const [seen_steps, set_seen_steps] = useState(false);
  const setting_up = can("project_create") && progress !== null && (!finished || seen_steps);
  useEffect(() => {
    if (setting_up) set_seen_steps(true);
  }, [setting_up]);
  use_watch("projects/", setting_up && !finished);
  const name = user.value?.name || user.value?.email || "";
  return (
    <div class="page narrow">
      <PageHeader
        title={setting_up ? `Welcome${name ? `, ${name}` : ""}` : (current?.name ?? "Home")}
        text={setting_up ? "A few steps and this space is ready. Each ticks itself off." : current?.description}
      />
      {load.error && <ErrorNote error={load.error} retry={() => void reload(key)} />}
      {!load.data && !load.error && <Skeleton />}
      {load.data?.projects.length === 0 && !can("project_create") && (
        <Empty
          icon="project"
          title="No projects yet"
          text={`Your role here is ${current?.role ?? "none"}. Projects appear as soon as an admin creates them or gives you access.`}
        />
      )}
      {load.data && progress && setting_up && <Steps data={load.data} progress={progress} />}
      {setting_up && finished && (
        <Note kind="done" icon="check">
          That was all. This space is ready.
        </Note>
      )}
      {load.data && load.data.projects.length > 0 && <ProjectLinks projects={load.data.projects} />}
      {load.data && !setting_up && <RecentChanges />}
      {query.value.get("new") === "project" && (
        <CreateProject stay on_close={() => set_query({ new: null }, { replace: true })} />
      )}
    </div>
  );
}
