// One project: overview, settings and access.

import { useState } from "preact/hooks";
import { api, segment } from "../../api";
import type { DiskView, LedgerView, Project, SignalView, UpdateProject } from "../../api_types";
import { byte_size, exact_count, plural } from "../../lib/format/number";
import { shell_quote } from "../../lib/format/text";
import type { Params } from "../../lib/route";
import { reload, use_load } from "../../load";
import { can, space } from "../../login";
import { Confirm } from "../../parts/confirm";
import { CodeBlock, Id } from "../../parts/copy";
import { Field, Form } from "../../parts/form";
import { Icon } from "../../parts/icon";
import { PageHeader, Section } from "../../parts/page";
import { Facts } from "../../parts/slide_over";
import { Data } from "../../parts/state";
import { current_tab, Tabs } from "../../parts/tabs";
import { Time } from "../../parts/time";
import { toast_done } from "../../parts/toast";
import { navigate } from "../../router";
import { project_page, projects_page, signal_page } from "../addresses";
import { ProjectAccess } from "./access";
import { Compare } from "./compare";
import { project_route, use_project } from "./data";
import { Overview } from "./overview";
import { TraceLimits } from "./trace_limits";

function About({ project }: { project: Project }) {
  const command = `curl -H "Authorization: Bearer $HONE_API_KEY" ${shell_quote(`${window.location.origin}/v1/projects/${segment(project.name)}`)}`;
  return (
    <Section title="About this project">
      <Facts
        rows={[
          ["Id", <Id key="id" id={project.id} />],
          ["Created", <Time key="time" time={project.created_at} />],
          [
            "Retention",
            project.retention_days === null ? "the default of the installation" : `${project.retention_days} days`,
          ],
          [
            "Visible to",
            project.restricted ? "people and keys with a binding" : `all members of the space ${space.value?.name}`,
          ],
        ]}
      />
      <CodeBlock text={command} label="request" />
    </Section>
  );
}

/** Disk use of the project's spans, and counts of received spans. */
function Storage({ project }: { project: Project }) {
  const key = `storage/${project.id}`;
  const load = use_load(key, async (signal) => {
    const [disk, ledger] = await Promise.all([
      api.get<DiskView>(project_route(project, "disk"), {}, signal),
      api.get<LedgerView>(project_route(project, "ledger"), {}, signal),
    ]);
    return { disk, ledger };
  });
  return (
    <Section title="Storage" text="Disk use of this project's spans, and counts of received spans.">
      <Data load={load} retry={() => void reload(key)}>
        {({ disk, ledger }) => (
          <Facts
            rows={[
              [
                "On disk",
                <span key="disk" title={`${exact_count(disk.bytes)} bytes`}>
                  {byte_size(disk.bytes)} for {plural(disk.spans, "span")}
                </span>,
              ],
              [
                "Oldest and newest",
                disk.oldest && disk.newest ? (
                  <span key="range">
                    <Time time={disk.oldest} /> to <Time time={disk.newest} />
                  </span>
                ) : (
                  "no spans"
                ),
              ],
              ["Retention", disk.retention_days === 0 ? "unlimited" : plural(disk.retention_days, "day")],
              [
                "Kept beyond it",
                `${exact_count(disk.kept_by_people)} evaluated by people (of each kind the last ${exact_count(disk.kept_by_people_limit)}), ${exact_count(disk.kept_by_datasets)} in datasets, ${exact_count(disk.kept_by_issues)} as evidence of issues`,
              ],
              [
                "Received",
                `${exact_count(ledger.received)}: ${exact_count(ledger.stored)} stored, ${exact_count(ledger.repeated)} duplicates, ${exact_count(ledger.pending)} pending`,
              ],
              [
                "Rejected",
                ledger.rejected === 0
                  ? "none"
                  : Object.entries(ledger.rejected_by_reason)
                      .map(([reason, count]) => `${exact_count(count)} ${reason}`)
                      .join(", "),
              ],
              [
                "Truncated or redacted",
                `${exact_count(ledger.truncated)} truncated, ${exact_count(ledger.redacted)} redacted`,
              ],
            ]}
          />
        )}
      </Data>
    </Section>
  );
}

function ProjectSettings({ project }: { project: Project }) {
  const [name, set_name] = useState(project.name);
  const [description, set_description] = useState(project.description);
  const [retention, set_retention] = useState(project.retention_days === null ? "" : String(project.retention_days));
  const [deleting, set_deleting] = useState(false);
  const may_edit = can("project_update");
  const days = retention.trim() === "" ? null : Number(retention);
  const changed = name !== project.name || description !== project.description || days !== project.retention_days;

  async function save(): Promise<void> {
    const body = { name: name.trim(), description, retention_days: days } satisfies UpdateProject;
    const saved = await api.patch<Project>(`/v1/projects/${segment(project.id)}`, body);
    toast_done("Project saved");
    if (saved.name !== project.name) navigate(project_page(saved.name, "settings"), { replace: true });
    await reload("project");
  }
  async function remove(): Promise<void> {
    await api.delete(`/v1/projects/${segment(project.id)}`);
    void reload("projects/");
    toast_done(`Project ${project.name} deleted`);
    navigate(projects_page(), { replace: true });
  }
  return (
    <>
      <Section title="Project">
        <Form title="Save" disabled={!changed || !may_edit || name.trim() === ""} submit={save}>
          <Field
            label="Name"
            value={name}
            on_input={set_name}
            required
            disabled={!may_edit}
            max_length={200}
            hint="An exporter that sends the old name creates a new project."
          />
          <Field label="Description" value={description} on_input={set_description} disabled={!may_edit} />
          <Field
            label="Keep spans for (days)"
            type="number"
            min={1}
            value={retention}
            on_input={set_retention}
            disabled={!may_edit}
            placeholder="installation default"
            hint="Older spans are deleted and their disk space is freed. Empty: the default of the installation."
          />
        </Form>
      </Section>
      <TraceLimits project={project} />
      <Storage project={project} />
      {can("project_delete") && (
        <Section
          title="Delete"
          text="Deletes the project with everything in it: traces, evals, monitors. This cannot be undone."
        >
          <button type="button" class="danger" onClick={() => set_deleting(true)}>
            <Icon name="trash" /> Delete project
          </button>
        </Section>
      )}
      {deleting && (
        <Confirm
          title={`Delete ${project.name}?`}
          consequence={`All data of ${project.name} is deleted for all members of the space ${space.value?.name}. This cannot be undone.`}
          action="Delete permanently"
          typed_name={project.name}
          run={remove}
          on_close={() => set_deleting(false)}
        />
      )}
    </>
  );
}

function Restriction({ project }: { project: Project }) {
  async function set_restricted(restricted: boolean): Promise<void> {
    await api.patch<Project>(`/v1/projects/${segment(project.id)}`, { restricted });
    toast_done(restricted ? "Project restricted to its bindings" : "Project opened to all members of the space");
    await reload("project");
  }
  return (
    <Section
      title="Visibility"
      text={
        project.restricted
          ? "Restricted: roles in the space do not apply here, only the bindings below."
          : `All members of the space ${space.value?.name} can see it, with their role in the space.`
      }
    >
      <Form
        title={project.restricted ? "Open to the whole space" : "Restrict to bindings"}
        plain
        disabled={!can("project_update")}
        submit={() => set_restricted(!project.restricted)}
      />
    </Section>
  );
}

/** A link to the open issues of the project. */
function SignalLink({ project }: { project: Project }) {
  const view = use_load(`signal/${project.id}`, (signal) =>
    api.get<SignalView>(project_route(project, "signal"), {}, signal),
  ).data;
  if (!view) return null;
  return (
    <a class="button" href={signal_page(project.name)}>
      <Icon name="signal" /> {view.enabled ? `Signal: ${plural(view.open_issues, "open issue")}` : "Signal is off"}
    </a>
  );
}

export function ProjectPage({ params }: { params: Params }) {
  const name = params.project ?? "";
  const load = use_project(params);
  const tabs = [
    { id: "overview", title: "Overview" },
    { id: "compare", title: "Compare" },
    { id: "settings", title: "Settings" },
    ...(can("project_bind") ? [{ id: "access", title: "Access" }] : []),
  ];
  const tab = current_tab(tabs);
  return (
    <div class="page">
      <PageHeader title={load.data?.name ?? name} text={load.data?.description}>
        {load.data && can("issue_read") && <SignalLink project={load.data} />}
      </PageHeader>
      <Tabs label="Project" tabs={tabs} />
      <Data load={load} retry={() => void reload("project/")}>
        {(project) => (
          <>
            {tab === "overview" && (
              <Overview project={project}>
                <About project={project} />
              </Overview>
            )}
            {tab === "compare" && <Compare project={project} />}
            {tab === "settings" && (
              <div class="narrow">
                <ProjectSettings key={project.name + project.created_at} project={project} />
              </div>
            )}
            {tab === "access" && (
              <div class="narrow">
                <Restriction project={project} />
                <ProjectAccess project={project} />
              </div>
            )}
          </>
        )}
      </Data>
    </div>
  );
}
