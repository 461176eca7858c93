// The examples of a version: version switch, splits, detail beside the list, selected examples into a split.

import { useState } from "preact/hooks";
import { api } from "../../api";
import type { DatasetSplitView, ExampleRow } from "../../api_types";
import { plural } from "../../lib/format/number";
import { reload, use_pages } from "../../load";
import { can } from "../../login";
import { CopyButton } from "../../parts/copy";
import { Dialog } from "../../parts/dialog";
import { Field, Form } from "../../parts/form";
import { Icon } from "../../parts/icon";
import { JsonValue } from "../../parts/json_view";
import { Menu } from "../../parts/menu";
import { Facts, SlideOver } from "../../parts/slide_over";
import { Data, Empty } from "../../parts/state";
import { type Column, Table } from "../../parts/table";
import { Time } from "../../parts/time";
import { toast_done } from "../../parts/toast";
import { query, set_query } from "../../router";
import { trace_page } from "../addresses";
import { dataset_route, datasets_changed, one_line } from "./data";
import { type DatasetParts, LabelChip } from "./dataset";
import { ExampleFiles } from "./example_files";

/** Any value of an example or a run, with its title and a copy button. `of` distinguishes values with the same title. */
export function Value({ title, value, of = "" }: { title: string; value: unknown; of?: string }) {
  const empty = value === null || value === undefined || (typeof value === "object" && Object.keys(value).length === 0);
  return (
    <section class="payload" aria-label={of === "" ? title : `${title} of ${of}`}>
      <div class="payload-head">
        <h3>{title}</h3>
        <span class="spring" />
        {!empty && (
          <CopyButton
            text={typeof value === "string" ? value : JSON.stringify(value, null, 2)}
            label={`Copy ${title.toLowerCase()}`}
            small
          />
        )}
      </div>
      {empty ? <p class="faint">None.</p> : <JsonValue value={value} />}
      <ExampleFiles value={value} />
    </section>
  );
}

/** The trace that an example came from. */
export function SourceLink({ example }: { example: ExampleRow }) {
  if (!example.source_project || !example.source_trace) return <span class="faint">–</span>;
  const at = trace_page(example.source_project, example.source_trace);
  return (
    <a href={example.source_span ? `${at}?span=${example.source_span}` : at} title="Open the trace it came from">
      trace
    </a>
  );
}

/** Without reference outputs the inputs get their room. */
const columns = (splits: DatasetSplitView[], rows: ExampleRow[]): Column<ExampleRow>[] =>
  all_columns(splits).filter(
    (column) => column.id !== "output" || rows.some((example) => one_line(example.output) !== ""),
  );

const all_columns = (splits: DatasetSplitView[]): Column<ExampleRow>[] => [
  {
    id: "input",
    title: "Input",
    cell: (example) => <span title={one_line(example.input)}>{one_line(example.input)}</span>,
  },
  {
    id: "output",
    title: "Reference output",
    width: "34%",
    cell: (example) => (
      <span class="soft" title={one_line(example.output)}>
        {one_line(example.output)}
      </span>
    ),
  },
  {
    id: "splits",
    title: "Splits",
    width: "132px",
    wide: true,
    cell: (example) =>
      example.splits.map((name) => (
        <LabelChip key={name} label={{ name, color: splits.find((split) => split.name === name)?.color ?? "gray" }} />
      )),
  },
  { id: "source", title: "Source", width: "68px", wide: true, cell: (example) => <SourceLink example={example} /> },
  {
    id: "id",
    title: "Id",
    width: "120px",
    wide: true,
    extra: true,
    cell: (example) => <code title={example.id}>{example.external_id ?? example.id}</code>,
  },
  {
    id: "updated_at",
    title: "Changed",
    width: "96px",
    align: "right",
    wide: true,
    cell: (example) => <Time time={example.updated_at} />,
  },
];

function Detail({ example, rows }: { example: ExampleRow; rows: ExampleRow[] }) {
  const at = rows.indexOf(example);
  const open = (index: number) => {
    const row = rows[index];
    return row ? () => set_query({ open: row.id }, { replace: true }) : undefined;
  };
  return (
    <SlideOver
      title={example.external_id ?? "Example"}
      on_close={() => set_query({ open: null })}
      on_previous={open(at - 1)}
      on_next={open(at + 1)}
    >
      <Value title="Input" value={example.input} />
      <Value title="Reference output" value={example.output} />
      <Value title="Metadata" value={example.metadata} />
      <h3>About</h3>
      <Facts
        rows={[
          ["Splits", example.splits.join(", ") || "none"],
          ["Source", <SourceLink key="source" example={example} />],
          ["Changed", <Time key="time" time={example.updated_at} />],
          ["Id", <code key="id">{example.id}</code>],
        ]}
      />
    </SlideOver>
  );
}

interface ToSplitProps {
  parts: DatasetParts;
  examples: ExampleRow[];
  clear: () => void;
}

function ToSplit({ parts, examples, clear }: ToSplitProps) {
  const [naming, set_naming] = useState(false);
  const [name, set_name] = useState("");
  const ids = examples.map((example) => example.id);
  async function finish(split: string, what: string): Promise<void> {
    await datasets_changed();
    toast_done(`${plural(examples.length, "example")} ${what} ${split}`);
    clear();
  }
  return (
    <>
      <Menu
        label="Splits of the selected examples"
        class=""
        button={
          <>
            <Icon name="tag" /> Splits…
          </>
        }
        items={[
          ...parts.splits.flatMap((split) => [
            {
              title: `Add to ${split.name}`,
              run: () =>
                void api
                  .patch(dataset_route(parts.dataset.id, `splits/${encodeURIComponent(split.id)}`), {
                    add_example_ids: ids,
                  })
                  .then(() => finish(split.name, "added to")),
            },
            {
              title: `Remove from ${split.name}`,
              run: () =>
                void api
                  .patch(dataset_route(parts.dataset.id, `splits/${encodeURIComponent(split.id)}`), {
                    remove_example_ids: ids,
                  })
                  .then(() => finish(split.name, "removed from")),
            },
          ]),
          { title: "New split…", icon: "plus" as const, divided: true, run: () => set_naming(true) },
        ]}
      />
      {naming && (
        <Dialog title={`A split with ${plural(examples.length, "example")}`} on_close={() => set_naming(false)}>
          <Form
            title="Create split"
            disabled={name.trim() === ""}
            on_cancel={() => set_naming(false)}
            submit={async () => {
              await api.post(dataset_route(parts.dataset.id, "splits"), { name: name.trim(), example_ids: ids });
              set_naming(false);
              await finish(name.trim(), "added to");
            }}
          >
            <Field label="Name" placeholder="test" value={name} on_input={set_name} required first />
          </Form>
        </Dialog>
      )}
    </>
  );
}

export function Examples({ parts }: { parts: DatasetParts }) {
  const { dataset, versions, splits } = parts;
  const version = query.value.get("version") ?? "";
  const split = query.value.get("split") ?? "";
  const route = dataset_route(dataset.id, "example_rows");
  const key = `dataset_examples/${dataset.id}/${dataset.version}/${version}/${split}`;
  const load = use_pages<ExampleRow>(key, (cursor, signal) =>
    api.page<ExampleRow>(route, { version_id: version, split, cursor, limit: 100 }, signal),
  );
  const rows = load.data ?? [];
  const open = rows.find((example) => example.id === query.value.get("open"));
  const newest = version === "" || version === String(dataset.version);
  return (
    <div class="with-slide-over">
      <Data load={load} retry={() => void reload(key)}>
        {() => (
          <Table
            label="Examples"
            rows={rows}
            columns={columns(splits, rows)}
            row_id={(example) => example.id}
            row_title={(example) => one_line(example.input)}
            on_open={(example) => set_query({ open: example.id })}
            open_id={open?.id ?? null}
            on_end={load.more ?? undefined}
            selection_actions={
              can("dataset_write") && newest
                ? (chosen, clear) => <ToSplit parts={parts} examples={chosen} clear={clear} />
                : undefined
            }
            bar={
              <>
                <label class="bar-choice">
                  <span>Version</span>
                  <select
                    value={version === "" ? String(dataset.version) : version}
                    onChange={(event) => {
                      const value = event.currentTarget.value;
                      set_query({ version: value === String(dataset.version) ? null : value, open: null });
                    }}
                  >
                    {versions.map((one) => (
                      <option key={one.number} value={one.number}>
                        {one.number}
                        {one.number === dataset.version ? " (newest)" : ""}
                      </option>
                    ))}
                  </select>
                </label>
                {splits.length > 0 && (
                  <label class="bar-choice">
                    <span>Split</span>
                    <select
                      value={split}
                      onChange={(event) => set_query({ split: event.currentTarget.value || null, open: null })}
                    >
                      <option value="">all</option>
                      {splits.map((one) => (
                        <option key={one.id} value={one.name}>
                          {one.name} ({one.example_count})
                        </option>
                      ))}
                    </select>
                  </label>
                )}
              </>
            }
            foot={
              rows.length > 0 ? (
                <p class="table-end">{load.more ? "Loading more…" : plural(rows.length, "example")}</p>
              ) : (
                <Empty
                  icon="dataset"
                  title={split === "" ? "No examples in this version" : `No examples in ${split}`}
                  text="Import a file, or add a span on the page of its trace."
                />
              )
            }
          />
        )}
      </Data>
      {open && <Detail example={open} rows={rows} />}
    </div>
  );
}
