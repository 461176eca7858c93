// Shared by the pages about datasets and experiments: API routes, ids, loading, short texts of JSON.

import { api, segment } from "../../api";
import type { DatasetView, ExperimentRow } from "../../api_types";
import { reload } from "../../load";
import { space } from "../../login";

/** The plain id in an id of the API, which is base64 of "Dataset:dataset_…". */
export function plain_id(id: string): string {
  try {
    const text = atob(id);
    const at = text.indexOf(":");
    return at > 0 && /^[A-Za-z]+$/.test(text.slice(0, at)) ? text.slice(at + 1) : id;
  } catch {
    return id;
  }
}

export const dataset_route = (id: string, part = "") => `/v1/datasets/${segment(id)}${part === "" ? "" : `/${part}`}`;
export const experiment_route = (id: string, part = "") =>
  `/v1/experiments/${segment(id)}${part === "" ? "" : `/${part}`}`;

export function list_datasets(signal: AbortSignal): Promise<DatasetView[]> {
  return api.list<DatasetView>("/v1/datasets", { space: space.value?.id }, signal);
}

export async function datasets_changed(): Promise<void> {
  await reload("dataset");
}

/** One line of a value: the text of an object with one text, else compact JSON. */
export function one_line(value: unknown): string {
  if (typeof value === "string") return value.replace(/\s+/g, " ");
  if (value === null || value === undefined) return "";
  if (typeof value === "object" && !Array.isArray(value)) {
    const entries = Object.values(value as Record<string, unknown>);
    if (entries.length === 0) return "";
    if (entries.length === 1 && typeof entries[0] === "string") return entries[0].replace(/\s+/g, " ");
  }
  return JSON.stringify(value);
}

/** 0.93, 12, −0.4: at most three digits after the point. */
export function score_text(score: number): string {
  const rounded = Math.abs(score) >= 100 ? Math.round(score) : Number(score.toFixed(3));
  return String(rounded).replace("-", "−");
}

/** The whole experiment ran. */
export const is_complete = (row: ExperimentRow) => row.failed_run_count === 0 && row.missing_run_count === 0;
