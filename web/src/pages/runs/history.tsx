// All runs that are kept, page by page, with filters that the server applies; export of what is shown.

import { api, api_url } from "../../api";
import type { Run } from "../../api_types";
import { plural } from "../../lib/format/number";
import { range_bounds } from "../../lib/format/range";
import { reload, use_pages } from "../../load";
import { space } from "../../login";
import { current_range } from "../../parts/frame/time_range";
import { Icon } from "../../parts/icon";
import { Menu } from "../../parts/menu";
import { PageHeader } from "../../parts/page";
import { SearchField } from "../../parts/search_field";
import { Data, Empty } from "../../parts/state";
import { Table } from "../../parts/table";
import { navigate, query, set_query } from "../../router";
import { run_page, swarm_page } from "../addresses";
import { use_automations } from "../automations/data";
import { use_presets, use_providers } from "../presets/data";
import { use_projects } from "../projects/data";
import { run_list_columns } from "./swarm";

const page_size = 100;
const default_range = "30d";

const states: [string, string][] = [
  ["queued,preparing,running,waiting", "Active"],
  ["succeeded", "Succeeded"],
  ["failed,lost", "Failed"],
  ["timed_out,budget_stopped", "Stopped by a limit"],
  ["cancelled", "Cancelled"],
];
const costs: [string, string][] = [
  ["100000", "From $0.10"],
  ["1000000", "From $1"],
  ["10000000", "From $10"],
];

function filter(): Record<string, string | undefined> {
  const of = (name: string) => query.value.get(name) ?? undefined;
  return {
    space: space.value?.id,
    project: of("project"),
    preset: of("preset"),
    automation: of("automation"),
    provider: of("provider"),
    harness: of("harness"),
    person: of("person"),
    state: of("state"),
    cost_from: of("cost_from"),
    title: of("q"),
    ...range_bounds(current_range(default_range), Date.now()),
  };
}

interface Chosen {
  name: string;
  label: string;
  options: [string, string][];
}

function Choose({ name, label, options }: Chosen) {
  return (
    <select
      aria-label={label}
      value={query.value.get(name) ?? ""}
      onChange={(event) => set_query({ [name]: event.currentTarget.value || null }, { replace: true })}
    >
      <option value="">{label}</option>
      {options.map(([value, title]) => (
        <option key={value} value={value}>
          {title}
        </option>
      ))}
    </select>
  );
}

function Filters({ people, harnesses }: { people: string[]; harnesses: string[] }) {
  const named = (rows: { id: string; name: string }[] | undefined): [string, string][] =>
    (rows ?? []).map((row) => [row.id, row.name]);
  const with_chosen = (name: string, values: string[]): [string, string][] => {
    const chosen = query.value.get(name);
    return [...new Set(chosen ? [chosen, ...values] : values)].sort().map((value) => [value, value]);
  };
  return (
    <div class="run-filters">
      <Choose name="state" label="All states" options={states} />
      <Choose name="project" label="All projects" options={named(use_projects().data)} />
      <Choose name="preset" label="All presets" options={named(use_presets().data)} />
      <Choose name="automation" label="All automations" options={named(use_automations().data)} />
      <Choose
        name="provider"
        label="All providers"
        options={use_providers().map((entry) => [entry.name, entry.title])}
      />
      <Choose name="harness" label="All harnesses" options={with_chosen("harness", harnesses)} />
      <Choose name="person" label="All people" options={with_chosen("person", people)} />
      <Choose name="cost_from" label="Any cost" options={costs} />
    </div>
  );
}

function ExportMenu() {
  const go = (format: string) => () => window.location.assign(api_url("/v1/runs/export", { ...filter(), format }));
  return (
    <Menu
      label="Export"
      button={
        <>
          <Icon name="download" /> Export
        </>
      }
      align="right"
      items={[
        { title: "CSV", run: go("csv") },
        { title: "JSON Lines", run: go("jsonl") },
      ]}
    />
  );
}

export function History() {
  const wanted = filter();
  // The bounds of a relative range move with every render; the key has the range itself.
  const { after: _after, before: _before, ...kept } = wanted;
  const key = `runs/history/${JSON.stringify([kept, current_range(default_range)])}`;
  const load = use_pages<Run>(key, (cursor, signal) =>
    api.page<Run>("/v1/runs", { ...filter(), limit: page_size, cursor }, signal),
  );
  const rows = load.data ?? [];
  return (
    <div class="page list-page">
      <PageHeader title="Run history" text="All runs that are kept, newest first.">
        <a class="button" href={swarm_page()}>
          Swarm
        </a>
        <ExportMenu />
      </PageHeader>
      <Filters people={rows.map((run) => run.started_by)} harnesses={rows.map((run) => run.harness)} />
      <Data load={load} retry={() => void reload(key)}>
        {(runs) => (
          <Table
            label="Run history"
            rows={runs}
            columns={run_list_columns}
            row_id={(run) => run.id}
            row_title={(run) => run.title}
            on_open={(run) => navigate(run_page(run.id))}
            on_end={load.more ?? undefined}
            bar={<SearchField label="Filter by title" />}
            foot={
              runs.length > 0 ? (
                <p class="table-end">{load.more ? "Loading more…" : plural(runs.length, "run")}</p>
              ) : (
                <Empty
                  icon="swarm"
                  title="No runs match"
                  text="Choose a longer time range or fewer filters. A run is deleted when it expires; Storage in the settings shows when."
                />
              )
            }
          />
        )}
      </Data>
    </div>
  );
}
