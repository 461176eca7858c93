// Shared by the lists of traces, spans and chat sessions: filter, range and pages. An error of the filter is shown under the
// filter, other errors above the list.

import type { ComponentChildren } from "preact";
import { useEffect } from "preact/hooks";
import { type ApiError, api } from "../../api";
import type { Project } from "../../api_types";
import { carry_filter, choose_range_text } from "../../carried";
import { parse_order } from "../../lib/filter/sort";
import { server_error } from "../../lib/filter/span_filter";
import { range_bounds, wider_range } from "../../lib/format/range";
import type { Params } from "../../lib/route";
import { type Loaded, type Pages, reload, use_pages } from "../../load";
import { current_range } from "../../parts/frame/time_range";
import { PageHeader } from "../../parts/page";
import { Data, Empty, ErrorNote } from "../../parts/state";
import { query, set_query } from "../../router";
import { project_route, use_project } from "../projects/data";
import { SpanBacklog } from "./span_backlog";
import { SpanFilterBar } from "./span_filter_bar";

export const filter_text = () => query.value.get("filter") ?? "";
export const set_filter = (text: string) => set_query({ filter: text || null });

export interface SpanList<Row> {
  /** The name of the project in the address. */
  name: string;
  project: Loaded<Project>;
  filter: string;
  range: string;
  bounds: () => { after?: string; before?: string };
  /** The cache key: everything that the list depends on. */
  key: string;
  is_newest_first: boolean;
  load: Pages<Row>;
  rows: Row[];
  filter_error: ApiError | null;
  /** Loads the newest rows again, to count new ones. */
  newest: (signal: AbortSignal) => Promise<Row[]>;
}

/** The columns that the server sorts by, and its names of them. */
const orders: Record<string, string> = {
  ago: "start",
  duration: "duration",
  tokens: "tokens",
  cost: "cost",
  status: "errors",
};
export const newest_first = "-ago";

/** The order in the address, as the server names it; nothing for the newest first. */
function order_of(sort: string | null): Record<string, string> {
  if (sort === null || sort === newest_first) return {};
  const { column, descending } = parse_order(sort);
  const order = orders[column];
  return order === undefined ? {} : { order, ...(descending ? {} : { ascending: "true" }) };
}

interface SpanListOptions {
  /** The last part of the route: trace_rows. */
  rows: string;
  /** The server can sort it. */
  sorted?: boolean;
  default_range: string;
  /** Other conditions in the address. */
  more?: Record<string, string>;
}

export function use_span_list<Row>(
  params: Params,
  { rows: part, sorted, default_range, more = {} }: SpanListOptions,
): SpanList<Row> {
  const project = use_project(params);
  const filter = filter_text();
  useEffect(() => carry_filter(params.project ?? "", filter), [params.project, filter]);
  const range = query.value.get("range") ?? default_range;
  const bounds = () => range_bounds(current_range(default_range), Date.now());
  const id = project.data?.id;
  const order = sorted ? order_of(query.value.get("sort")) : {};
  const conditions = { ...more, ...order };
  const key = `${part}/${id}/${range}/${Object.values(conditions).join("/")}/${filter}`;
  const fetch_page = (cursor: string | null, signal: AbortSignal) =>
    api.page<Row>(
      project_route(project.data, part),
      { filter, ...conditions, ...bounds(), limit: 100, ...(cursor === null ? {} : { cursor }) },
      signal,
    );
  const load = use_pages(id ? key : null, fetch_page);
  return {
    name: params.project ?? "",
    project,
    filter,
    range,
    bounds,
    key,
    is_newest_first: order.order === undefined,
    load,
    rows: load.data ?? [],
    filter_error: load.error && server_error(load.error.message, filter) ? load.error : null,
    newest: async (signal) => (await fetch_page(null, signal)).rows,
  };
}

interface FrameProps<Row> {
  list: SpanList<Row>;
  title: string;
  text: string;
  /** Buttons beside the title. */
  actions?: ComponentChildren;
  /** Between the title and the list. */
  above?: ComponentChildren;
  /** Beside the list. */
  aside?: ComponentChildren;
  children: () => ComponentChildren;
}

export function SpanListPage<Row>({ list, title, text, actions, above, aside, children }: FrameProps<Row>) {
  const { project, load, key, filter_error } = list;
  const retry = () => void reload(key);
  return (
    <div class="page list-page">
      <PageHeader title={title} text={text}>
        {actions}
      </PageHeader>
      <SpanBacklog />
      {project.error && <ErrorNote error={project.error} retry={() => void reload("project/")} />}
      {load.error && !filter_error && <ErrorNote error={load.error} retry={retry} />}
      {above}
      <div class="faceted">
        {aside}
        <Data load={{ ...load, data: load.data ?? (filter_error ? [] : undefined), error: null }} retry={retry}>
          {children}
        </Data>
      </div>
    </div>
  );
}

export function ListFilter<Row>({ list }: { list: SpanList<Row> }) {
  return (
    <SpanFilterBar
      project={list.project.data}
      text={list.filter}
      bounds={list.bounds()}
      range={list.range}
      error={list.filter_error}
      on_change={set_filter}
    />
  );
}

/** Under an empty list: the filter error or the filter, if there is one. */
export function NothingFits<Row>({ list, children }: { list: SpanList<Row>; children: ComponentChildren }) {
  if (list.filter_error)
    return (
      <Empty
        icon="filter"
        title="Invalid filter"
        text="The error is underlined above. Fields, operators and values are suggested while you type."
      />
    );
  const wider = wider_range(list.range);
  if (list.filter !== "" || list.load.error)
    return (
      <Empty icon="filter" title="No matches" text="No span in this range matches the filter.">
        {wider && (
          <button type="button" onClick={() => choose_range_text(wider.value)}>
            Search the {wider.title}
          </button>
        )}
        {list.filter !== "" && (
          <button type="button" onClick={() => set_filter("")}>
            Clear the filter
          </button>
        )}
      </Empty>
    );
  return <>{children}</>;
}
