// Which columns of a query's result can be drawn, and their values.

import type { GroupLine } from "./explore";

export interface SqlResult {
  meta: { name: string; type: string }[];
  data: Record<string, unknown>[];
  rows: number;
  statistics?: { elapsed: number; rows_read: number };
}

export const is_number_type = (type: string) => /^(Nullable\()?(U?Int|Float|Decimal)/.test(type);
const is_time_type = (type: string) => /^(Nullable\()?Date/.test(type);

export type SqlPlot =
  | { kind: "time"; times: number[]; lines: GroupLine[] }
  | { kind: "names"; name: string; number: string; bars: { name: string; value: number; share: number }[] };

const most_lines = 8;
const most_bars = 40;

/** The engine writes times without a zone, in UTC; 64-bit numbers may be texts. */
function time_of(value: unknown): number {
  const text = String(value);
  return Date.parse(
    /[zZ]|[+-]\d\d:?\d\d$/.test(text) ? text : `${text.replace(" ", "T")}${text.includes(":") ? "Z" : ""}`,
  );
}
const number_of = (value: unknown) => (value === null || value === undefined || value === "" ? null : Number(value));

/** Null: there is nothing to draw. */
export function plot_of(result: SqlResult, bars: boolean): SqlPlot | null {
  const numbers = result.meta.filter((column) => is_number_type(column.type)).slice(0, most_lines);
  const time = result.meta.find((column) => is_time_type(column.type));
  if (numbers.length === 0 || result.data.length === 0) return null;
  if (time) {
    const rows = result.data
      .map((row) => ({ row, time: time_of(row[time.name]) }))
      .filter((one) => Number.isFinite(one.time))
      .sort((one, other) => one.time - other.time);
    const lines = numbers.map((column, index) => ({
      title: column.name,
      colour: `--g${index + 1}`,
      bars,
      values: rows.map(({ row }) => number_of(row[column.name])),
    }));
    return rows.length === 0 ? null : { kind: "time", times: rows.map((one) => one.time), lines };
  }
  const name = result.meta.find((column) => !is_number_type(column.type));
  const number = numbers[0];
  if (!name || !number) return null;
  const values = result.data.slice(0, most_bars).map((row) => number_of(row[number.name]) ?? 0);
  const most = Math.max(...values.map(Math.abs), Number.MIN_VALUE);
  return {
    kind: "names",
    name: name.name,
    number: number.name,
    bars: values.map((value, index) => ({
      name: String(result.data[index]?.[name.name] ?? ""),
      value,
      share: (100 * Math.abs(value)) / most,
    })),
  };
}
