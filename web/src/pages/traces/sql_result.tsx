// The rows of a query: ids are links, and the whole result can be saved.

import { post_file, to_api_error } from "../../api";
import type { Project } from "../../api_types";
import { duration, exact_count, plural } from "../../lib/format/number";
import { is_number_type, type SqlResult } from "../../lib/view/sql_plot";
import { Icon } from "../../parts/icon";
import { Menu } from "../../parts/menu";
import { save_file } from "../../parts/save_file";
import { Empty } from "../../parts/state";
import { Table } from "../../parts/table";
import { toast_failed } from "../../parts/toast";
import { chat_session_page, run_page, trace_page } from "../addresses";

function cell_text(value: unknown): string {
  if (value === null || value === undefined) return "";
  return typeof value === "object" ? JSON.stringify(value) : String(value);
}

/** The page of the thing that a value names; null: it names nothing that has a page. */
export function value_page(project: string, column: string, text: string, row: Record<string, unknown>): string | null {
  if (/^run_[0-9A-Za-z]{20,}$/.test(text)) return run_page(text);
  if (/trace_id$/.test(column) && /^[0-9a-f]{32}$/.test(text)) return trace_page(project, text);
  const trace = cell_text(row.trace_id);
  if (/^(span_id|parent_id)$/.test(column) && /^[0-9a-f]{16}$/.test(text) && /^[0-9a-f]{32}$/.test(trace))
    return `${trace_page(project, trace)}?span=${text}`;
  if (column === "chat_session" && text !== "") return chat_session_page(project, text);
  return null;
}

const formats = [
  { format: "csv", title: "Download as CSV" },
  { format: "json_lines", title: "Download as JSON lines" },
  { format: "parquet", title: "Download as Parquet" },
  { format: "arrow", title: "Download as Arrow" },
];
const most_rows = 100_000;
const endings: Record<string, string> = { json_lines: "jsonl" };

/** The server runs the query again and writes the file. */
export function SaveResult({ project, sql }: { project: Project; sql: () => string }) {
  const save = async (format: string) => {
    const body = { project: project.id, sql: sql(), format, limit: most_rows };
    save_file(`query.${endings[format] ?? format}`, await post_file("/v1/sql", body));
  };
  return (
    <Menu
      label="Download the result"
      align="right"
      button={
        <>
          <Icon name="download" /> Download
        </>
      }
      items={formats.map(({ format, title }) => ({
        title,
        run: () => void save(format).catch((error) => toast_failed("Could not save the result", to_api_error(error))),
      }))}
    />
  );
}

interface ResultProps {
  project: string;
  result: SqlResult;
}

export function Result({ project, result }: ResultProps) {
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
        align: is_number_type(column.type) ? ("right" as const) : undefined,
        cell: ({ row }: (typeof rows)[number]) => {
          const text = cell_text(row[column.name]);
          const page = value_page(project, column.name, text, row);
          const shown = (
            <span class="mono" title={text}>
              {text.slice(0, 300)}
            </span>
          );
          return page ? <a href={page}>{shown}</a> : shown;
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
