// SQL: one SELECT over the project's spans, evals, traces and chat sessions. A query that was run is in the address;
// recent queries are stored in this browser.

import { useEffect, useRef, useState } from "preact/hooks";
import { type ApiError, api, to_api_error } from "../../api";
import { use_keys } from "../../keyboard";
import { duration, exact_count, plural } from "../../lib/format/number";
import type { Params } from "../../lib/route";
import { reload, use_load } from "../../load";
import { CopyButton } from "../../parts/copy";
import { Icon } from "../../parts/icon";
import { PageHeader } from "../../parts/page";
import { Empty, ErrorNote, Skeleton } from "../../parts/state";
import { Table } from "../../parts/table";
import { query, set_query } from "../../router";
import { stored_signal } from "../../stored";
import { use_project } from "../projects/data";
import { AskButton } from "../runs/ask";

const tables = ["spans", "traces", "chat_sessions", "evals", "logs", "metric_points"];
const most_remembered = 30;
const first_query = `SELECT model, count() AS calls, round(quantile(0.95)(duration_ns) / 1e6) AS p95_ms, sum(cost_nano_usd) / 1e9 AS usd
FROM spans
WHERE kind = 'llm'
GROUP BY model
ORDER BY calls DESC`;

interface SqlResult {
  meta: { name: string; type: string }[];
  data: Record<string, unknown>[];
  rows: number;
  statistics?: { elapsed: number; rows_read: number };
}

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

function cell_text(value: unknown): string {
  if (value === null || value === undefined) return "";
  return typeof value === "object" ? JSON.stringify(value) : String(value);
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

function Result({ result }: { result: SqlResult }) {
  const numeric = (type: string) => /^(Nullable\()?(U?Int|Float|Decimal)/.test(type);
  if (result.data.length === 0) {
    return <Empty icon="database" title="No rows" text="The query returned no rows." />;
  }
  const rows = result.data.map((row, index) => ({ row, index }));
  return (
    <Table
      label="Result"
      rows={rows}
      row_id={({ index }) => String(index)}
      row_title={({ index }) => `row ${index + 1}`}
      columns={result.meta.map((column) => ({
        id: column.name,
        title: column.name,
        width: result.meta.length > 6 ? "160px" : undefined,
        align: numeric(column.type) ? ("right" as const) : undefined,
        cell: ({ row }: (typeof rows)[number]) => {
          const text = cell_text(row[column.name]);
          return (
            <span class="mono" title={text}>
              {text.slice(0, 300)}
            </span>
          );
        },
      }))}
      bar={
        <span class="soft">
          {plural(result.rows, "row")}
          {result.statistics &&
            ` in ${duration(result.statistics.elapsed * 1000)}, ${exact_count(result.statistics.rows_read)} read`}
        </span>
      }
      foot={<p class="table-end" />}
    />
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
  const key = `sql/${id}/${sql}`;
  const load = use_load<SqlResult>(id && sql ? key : null, () =>
    api.post_whole<SqlResult>("/v1/sql", { project: id, sql }),
  );
  const run = () => {
    const text = draft.trim();
    if (text === "") return;
    remember(text);
    if (text === sql) void reload(key);
    else set_query({ sql: text });
  };
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
      <PageHeader title="SQL" text="Read-only. One SELECT over the tables of this project." />
      <div class="faceted">
        <div class="facets wide-only">
          {id && tables.map((table) => <TableColumns key={table} project={id} table={table} insert={insert} />)}
        </div>
        <div class="sql-right">
          <textarea
            ref={editor}
            class="sql-editor"
            aria-label="SQL query"
            spellcheck={false}
            rows={7}
            value={draft}
            onInput={(event) => set_draft(event.currentTarget.value)}
          />
          <div class="sql-bar">
            <button type="button" class="primary" disabled={draft.trim() === "" || !id} onClick={run}>
              <Icon name="play" /> Run
            </button>
            <span class="faint">
              <kbd>Ctrl</kbd> <kbd>Enter</kbd>
            </span>
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
            {sql && <AskButton project={params.project ?? ""} about={[{ kind: "sql", value: sql }]} quiet />}
            <CopyButton text={draft} label="Copy query" small />
          </div>
          {failure && <ErrorNote error={failure} />}
          {!failure && load.data && <Result result={load.data} />}
          {sql && load.loading && !load.data && <Skeleton />}
        </div>
      </div>
    </div>
  );
}
