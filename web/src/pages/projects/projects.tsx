// All projects of the space.

import type { Project } from "../../api_types";
import { use_keys } from "../../keyboard";
import { short_count } from "../../lib/format/number";
import { shell_quote } from "../../lib/format/text";
import { reload } from "../../load";
import { can } from "../../login";
import { Id } from "../../parts/copy";
import { current_range } from "../../parts/frame/time_range";
import { Icon } from "../../parts/icon";
import { PageHeader } from "../../parts/page";
import { SearchField } from "../../parts/search_field";
import { Data, Empty, ErrorNote } from "../../parts/state";
import { type Column, Table } from "../../parts/table";
import { Time } from "../../parts/time";
import { navigate, query, set_query } from "../../router";
import { project_page } from "../addresses";
import { use_projects } from "./data";
import { CreateProject } from "./form";
import { Health, Measured } from "./measured";
import { type ProjectNumbers, use_project_numbers } from "./numbers";

interface Row extends Project {
  numbers: ProjectNumbers | undefined;
}

/** A number of the time range: empty until it is known, faint when there is none. */
function number_column(id: string, title: string, value: (numbers: ProjectNumbers) => number | null): Column<Row> {
  return {
    id,
    title,
    width: "92px",
    align: "right",
    wide: true,
    sort: (row) => (row.numbers ? (value(row.numbers) ?? -1) : -1),
    cell: (row) => {
      const number = row.numbers ? value(row.numbers) : null;
      if (number === null) return "";
      return number === 0 ? <span class="faint">0</span> : <span title={String(number)}>{short_count(number)}</span>;
    },
  };
}

/** A number of the time range with its change since the period before. */
function measured_column(id: "traces" | "errors" | "p95" | "cost", title: string, width: string): Column<Row> {
  return {
    id,
    title,
    width,
    align: "right",
    // A phone has room for the name, the traffic and the last trace.
    wide: id !== "traces",
    sort: (row) => row.numbers?.[id] ?? -1,
    cell: ({ numbers }) => numbers && <Measured what={id} now={numbers[id]} before={numbers.before?.[id] ?? null} />,
  };
}

const columns: Column<Row>[] = [
  {
    id: "name",
    title: "Name",
    width: "20%",
    sort: (project) => project.name,
    cell: (project) => (
      <a class="cell-link" href={project_page(project.name)}>
        {project.name}
        {project.restricted && (
          <span class="tag" title="Only people and keys with a binding can see it">
            <Icon name="lock" /> restricted
          </span>
        )}
      </a>
    ),
  },
  {
    id: "health",
    title: "Health",
    width: "124px",
    wide: true,
    sort: (row) => -(row.numbers?.triggered ?? -1),
    cell: ({ numbers }) => numbers && <Health numbers={numbers} />,
  },
  measured_column("traces", "Traces", "100px"),
  measured_column("errors", "Failed spans", "108px"),
  measured_column("p95", "p95", "108px"),
  measured_column("cost", "Cost", "112px"),
  number_column("issues", "Open issues", (numbers) => numbers.issues),
  {
    id: "last_trace",
    title: "Last trace",
    width: "96px",
    align: "right",
    sort: (row) => row.numbers?.last_trace ?? "",
    cell: ({ numbers }) =>
      numbers && (numbers.last_trace ? <Time time={numbers.last_trace} /> : <span class="faint">never</span>),
  },
  {
    id: "description",
    title: "Description",
    wide: true,
    extra: true,
    cell: (project) => <span class="soft">{project.description}</span>,
  },
  {
    id: "retention_days",
    title: "Retention",
    width: "96px",
    align: "right",
    wide: true,
    extra: true,
    sort: (project) => project.retention_days,
    cell: (project) =>
      project.retention_days === null ? <span class="faint">default</span> : `${project.retention_days} d`,
  },
  { id: "id", title: "Id", width: "150px", wide: true, extra: true, cell: (project) => <Id id={project.id} /> },
  {
    id: "created_at",
    title: "Created",
    width: "110px",
    align: "right",
    wide: true,
    extra: true,
    sort: (project) => project.created_at,
    cell: (project) => <Time time={project.created_at} />,
  },
];

function create_command(): string {
  return `curl -X POST ${shell_quote(`${window.location.origin}/v1/projects`)} \\
  -H "Authorization: Bearer $HONE_API_KEY" \\
  -H "Content-Type: application/json" -d '{"name": "support-agent"}'`;
}

export function Projects() {
  const load = use_projects();
  const measured = use_project_numbers(load.data, current_range("24h"));
  const numbers = measured.data;
  const open_dialog = () => set_query({ new: "1" });
  use_keys(
    can("project_create") ? [{ keys: "c", title: "Create a project", group: "This page", run: open_dialog }] : [],
  );
  const text = query.value.get("q") ?? "";
  const matches = (project: Project) =>
    `${project.name} ${project.description}`.toLowerCase().includes(text.toLowerCase());
  return (
    <div class={`page list-page ${measured.loading && !numbers ? "measuring" : ""}`}>
      <PageHeader
        title="Projects"
        text="One project is one observed application. Numbers are those of the time range, with the change since the period before."
      >
        {can("project_create") && (
          <button type="button" class="primary" onClick={open_dialog}>
            <Icon name="plus" /> Create project
          </button>
        )}
      </PageHeader>
      {measured.error && <ErrorNote error={measured.error} retry={() => void reload("project_numbers/")} />}
      {measured.loading && !numbers && <span class="off-screen" role="status" aria-label="Loading" />}
      <Data load={load} retry={() => void reload("projects/")}>
        {(projects) =>
          projects.length === 0 ? (
            <Empty
              icon="project"
              title="No projects yet"
              text={
                can("project_create")
                  ? "A project holds the traces, evals and monitors of one application. Create one here or with a command."
                  : "Projects appear here when an admin creates one or gives you access."
              }
              command={can("project_create") ? create_command() : undefined}
            >
              {can("project_create") && (
                <button type="button" class="primary" onClick={open_dialog}>
                  Create a project
                </button>
              )}
            </Empty>
          ) : (
            <Table
              label="Projects"
              rows={projects.filter(matches).map((project) => ({ ...project, numbers: numbers?.[project.id] }))}
              columns={columns}
              row_id={(project) => project.id}
              row_title={(project) => project.name}
              order="name"
              on_open={(project) => navigate(project_page(project.name))}
              bar={<SearchField label="Filter projects" />}
            />
          )
        }
      </Data>
      {query.value.has("new") && <CreateProject on_close={() => set_query({ new: null }, { replace: true })} />}
    </div>
  );
}
