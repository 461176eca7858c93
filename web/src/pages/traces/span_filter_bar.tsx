// The filter bar of spans: completes fields, and values of the field with their counts.

import { useState } from "preact/hooks";
import { type ApiError, api } from "../../api";
import type { AttributeKeyCount, EvalNameView, FacetValue, FilterFieldInfo, Project } from "../../api_types";
import { complete_span_filter, place_at, server_error, unfinished } from "../../lib/filter/span_filter";
import { use_load } from "../../load";
import { FilterBar } from "../../parts/filter_bar";
import { project_route } from "../projects/data";

/** Field names and types; they change only with the server's version. */
export function use_filter_fields(): FilterFieldInfo[] {
  return use_load("filter_fields", (signal) => api.get<FilterFieldInfo[]>("/v1/filter_fields", {}, signal)).data ?? [];
}

/** Fields whose values are listed: short texts, not numbers or long texts. */
const has_values = (fields: FilterFieldInfo[], operand: string) => {
  const type = fields.find((field) => field.name === operand)?.type;
  return type === undefined ? operand.startsWith("attributes[") : type === "text" || type.includes("|");
};

interface SpanFilterBarProps {
  project: Project | undefined;
  text: string;
  bounds: { after?: string; before?: string };
  /** The time range, as a part of cache keys. */
  range: string;
  error: ApiError | null;
  on_change: (text: string) => void;
}

export function SpanFilterBar({ project, text, bounds, range, error, on_change }: SpanFilterBarProps) {
  const [operand, set_operand] = useState("");
  const [wanted, set_wanted] = useState(false);
  const fields = use_filter_fields();
  const keys = use_load(wanted && project ? `attribute_keys/${project.id}/${range}` : null, (signal) =>
    api.get<AttributeKeyCount[]>(project_route(project, "attribute_keys"), bounds, signal),
  );
  const listed = project && has_values(fields, operand) ? operand : null;
  const values = use_load(listed === null ? null : `facets/${project?.id}/${range}/${listed}/`, (signal) =>
    api.get<FacetValue[]>(project_route(project, "facets"), { field: listed, ...bounds }, signal),
  );
  const names = use_load(wanted && project ? `eval_names/${project.id}` : null, (signal) =>
    api.get<EvalNameView[]>(project_route(project, "eval_names"), {}, signal),
  );
  const words = {
    fields,
    attribute_keys: keys.data ?? [],
    eval_names: names.data ?? [],
    values: values.data ?? [],
  };
  return (
    <FilterBar
      label="Filter traces by their spans"
      placeholder='status = error and latency > 2s and model ~ "mini"'
      text={text}
      complete={(draft, cursor) => complete_span_filter(draft, cursor, words)}
      check={unfinished}
      error={error && server_error(error.message, text)}
      on_type={(draft, cursor) => {
        set_wanted(true);
        const place = place_at(draft, cursor);
        set_operand(place.expected === "value" ? place.operand : "");
      }}
      on_change={on_change}
    />
  );
}
