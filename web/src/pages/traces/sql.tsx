// SQL: one SELECT over the project's spans, evals, traces, chat sessions, logs and metrics. A query that was run is in the
// address; recent queries are stored in this browser, saved ones on the server for all members of the project.

import { useEffect, useRef, useState } from "preact/hooks";
import { type ApiError, api, to_api_error } from "../../api";
import { use_keys } from "../../keyboard";
import { format_sql } from "../../lib/code/sql_text";
import { plural } from "../../lib/format/number";
import type { Params } from "../../lib/route";
import { read_chart } from "../../lib/view/explore";
import type { SqlResult } from "../../lib/view/sql_plot";
import { with_range } from "../../lib/view/sql_range";
import { reload, use_load } from "../../load";
import { CopyButton } from "../../parts/copy";
import { current_range } from "../../parts/frame/time_range";
import { Icon } from "../../parts/icon";
import { PageHeader } from "../../parts/page";
import { ErrorNote, Skeleton } from "../../parts/state";
import { query, set_query } from "../../router";
import { stored_signal } from "../../stored";
import { ExploreChart } from "../explore/chart";
import { default_range } from "../explore/data";
import { Select } from "../explore/explore";
import { use_sql } from "../explore/sql_plot";
import { use_project } from "../projects/data";
import { AskButton } from "../runs/ask";
import { SavedQueries } from "./saved_queries";
import { SqlEditor } from "./sql_editor";
import { Result, SaveResult } from "./sql_result";

const tables = ["spans", "traces", "chat_sessions", "evals", "logs", "metric_points"];
const most_remembered = 30;
const first_query = `SELECT model, count() AS calls, round(quantile(0.95)(duration_ns) / 1e6) AS p95_ms, sum(cost_nano_usd) / 1e9 AS usd
FROM spans
WHERE kind = 'llm' AND start_ns >= {{window.from}} AND start_ns < {{window.to}}
GROUP BY model
ORDER BY calls DESC`;

const history = stored_signal("sql_history", "[]");

function remembered(): string[] {
  try {
    const list: unknown = JSON.parse(history.value);
    return Array.isArray(list) ? list.filter((text) => typeof text === "string") : [];
  } catch {
    return [];
  }
}

function remember(text: string): void {
  history.value = JSON.stringify([text, ...remembered().filter((known) => known !== text)].slice(0, most_remembered));
}

/** The columns of every table, for completion; one that cannot be read is left out. */
async function load_columns(project: string): Promise<Record<string, string[]>> {
  const found: Record<string, string[]> = {};
  for (const table of tables) {
    const body = { project, sql: `SELECT * FROM ${table} LIMIT 0` };
    const result = await api.post_whole<SqlResult>("/v1/sql", body).catch(() => null);
    if (result) found[table] = result.meta.map((column) => column.name).filter((name) => name !== "project");
  }
  return found;
}

function TableColumns({ project, table, insert }: { project: string; table: string; insert: (name: string) => void }) {
  const [open, set_open] = useState(table === "spans");
  const load = use_load(open ? `sql_columns/${project}/${table}` : null, () =>
    api.post_whole<SqlResult>("/v1/sql", { project, sql: `SELECT * FROM ${table} LIMIT 0` }),
  );
  return (
    <details open={open} onToggle={(event) => set_open(event.currentTarget.open)}>
      <summary>
        <code>{table}</code>
      </summary>
      {load.error && <p class="faint">{load.error.message}</p>}
      <ul>
        {load.data?.meta
          .filter((column) => column.name !== "project")
          .map((column) => (
            <li key={column.name}>
              <button
                type="button"
                class="facet"
                title={`${column.type}; click to insert`}
                onClick={() => insert(column.name)}
              >
                <span class="facet-value mono">{column.name}</span>
                <span class="facet-count">
                  {column.type.replace(/LowCardinality\((.*)\)/, "$1").replace(/[(].*/, "")}
                </span>
              </button>
            </li>
          ))}
      </ul>
    </details>
  );
}

export function Sql({ params }: { params: Params }) {
  const project = use_project(params);
  const editor = useRef<HTMLTextAreaElement>(null);
  const sql = query.value.get("sql");
  const [draft, set_draft] = useState(sql ?? remembered()[0] ?? first_query);
  useEffect(() => {
    if (sql !== null) set_draft(sql);
  }, [sql]);
  const id = project.data?.id;
  const range = query.value.get("range") ?? default_range;
  const { key, load } = use_sql(project.data, sql ?? "", range);
  const columns = use_load(id ? `sql_columns/${id}` : null, () => load_columns(id ?? ""));
  const names = { tables, columns: columns.data ?? {} };
  const draw = query.value.get("draw");
  const run = () => {
    const text = draft.trim();
    if (text === "") return;
    remember(text);
    if (text === sql) void reload(key);
    else set_query({ sql: text });
  };
  const open_saved = (saved: URLSearchParams) => set_query({ sql: saved.get("sql"), draw: saved.get("draw") });
  const insert = (name: string) => {
    const box = editor.current;
    const at = box?.selectionStart ?? draft.length;
    set_draft(draft.slice(0, at) + name + draft.slice(box?.selectionEnd ?? at));
    box?.focus();
  };
  use_keys([
    { keys: "ctrl+Enter", title: "Run the query", group: "SQL", run, everywhere: true },
    { keys: "/", title: "Go to the editor", group: "SQL", run: () => editor.current?.focus() },
  ]);
  const failure: ApiError | null = load.error && to_api_error(load.error);
  return (
    <div class="page list-page">
      <PageHeader
        title="SQL"
        text={
          <>
            Read-only. One SELECT over the tables of this project. <code>{"{{window.from}}"}</code> and{" "}
            <code>{"{{window.to}}"}</code> are the time range of the page in nanoseconds.
          </>
        }
      />
      <div class="faceted">
        <div class="facets sql-tables wide-only">
          {id && tables.map((table) => <TableColumns key={table} project={id} table={table} insert={insert} />)}
        </div>
        <div class="sql-right">
          <SqlEditor editor={editor} text={draft} names={names} on_input={set_draft} />
          <div class="sql-bar">
            <button type="button" class="primary" disabled={draft.trim() === "" || !id} onClick={run}>
              <Icon name="play" /> Run
            </button>
            <span class="faint">
              <kbd>Ctrl</kbd> <kbd>Enter</kbd>
            </span>
            <button
              type="button"
              class="quiet"
              title="Clauses on lines of their own, keywords in capitals"
              onClick={() => set_draft(format_sql(draft))}
            >
              Format
            </button>
            <span class="spring" />
            {remembered().length > 0 && (
              <label class="levels">
                Recent queries
                <select
                  value=""
                  onChange={(event) => {
                    set_draft(event.currentTarget.value);
                    event.currentTarget.value = "";
                  }}
                >
                  <option value="" disabled hidden>
                    {plural(remembered().length, "query", "queries")}
                  </option>
                  {remembered().map((text) => (
                    <option key={text} value={text}>
                      {text.replaceAll(/\s+/g, " ").slice(0, 90)}
                    </option>
                  ))}
                </select>
              </label>
            )}
            {project.data && <SavedQueries project={project.data} sql={draft} open={open_saved} />}
            {sql && <AskButton project={params.project ?? ""} about={[{ kind: "sql", value: sql }]} quiet />}
            <CopyButton text={draft} label="Copy query" small />
          </div>
          {failure && <ErrorNote error={failure} />}
          {!failure && load.data && project.data && sql && (
            <>
              <div class="sql-bar">
                <Select
                  label="Chart"
                  value={draw ?? ""}
                  options={[
                    ["", "none"],
                    ["lines", "lines"],
                    ["bars", "bars"],
                  ]}
                  on_change={(value) => set_query({ draw: value || null })}
                />
                <span class="spring" />
                <SaveResult
                  project={project.data}
                  sql={() => with_range(sql, current_range(default_range), Date.now())}
                />
              </div>
              {draw && (
                <ExploreChart
                  project={project.data}
                  chart={{ ...read_chart(new URLSearchParams()), sql, draw: draw === "bars" ? "bars" : "lines" }}
                  title="Query"
                />
              )}
              <Result project={params.project ?? ""} result={load.data} />
            </>
          )}
          {sql && load.loading && !load.data && <Skeleton />}
        </div>
      </div>
    </div>
  );
}
