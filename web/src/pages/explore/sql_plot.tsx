// The result of a query as a chart: its first column of time is the axis, its columns of numbers are the lines; without
// a time, one bar for each row.

import type { ComponentChildren } from "preact";
import { useMemo } from "preact/hooks";
import { api } from "../../api";
import type { Project } from "../../api_types";
import { short_count } from "../../lib/format/number";
import { plot_of, type SqlResult } from "../../lib/view/sql_plot";
import { with_range } from "../../lib/view/sql_range";
import { type Loaded, use_load } from "../../load";
import { Chart } from "../../parts/chart";
import { current_range } from "../../parts/frame/time_range";
import { Empty } from "../../parts/state";
import { default_range } from "./data";

/** The variables of a window in a query are the time range of the page. */
export function use_sql(
  project: Project | undefined,
  sql: string,
  range: string,
): { key: string; load: Loaded<SqlResult> } {
  const key = `sql/${project?.id}/${sql.includes("{{window.") ? range : ""}/${sql}`;
  const load = use_load<SqlResult>(project && sql !== "" ? key : null, () =>
    api.post_whole<SqlResult>("/v1/sql", {
      project: project?.id,
      sql: with_range(sql, current_range(default_range), Date.now()),
    }),
  );
  return { key, load };
}

/** Four digits of what a query computed. */
const number_text = (value: number) => short_count(Number(value.toPrecision(4)));

interface SqlPlotProps {
  title: string;
  result: SqlResult;
  bars: boolean;
  actions?: ComponentChildren;
}

export function SqlPlot({ title, result, bars, actions }: SqlPlotProps) {
  const plot = useMemo(() => plot_of(result, bars), [result, bars]);
  if (!plot)
    return (
      <Empty
        icon="explore"
        title="Nothing to draw"
        text="A chart needs a column of numbers, and a column of times or of names before it."
      />
    );
  if (plot.kind === "time")
    return <Chart title={title} times={plot.times} lines={plot.lines} text={number_text} actions={actions} />;
  return (
    <figure class="chart" aria-label={title}>
      <figcaption>
        <h2>{title}</h2>
        {actions}
      </figcaption>
      <table class="rank-table name-bars">
        <caption class="off-screen">{title}</caption>
        <thead>
          <tr>
            <th scope="col">{plot.name}</th>
            <th scope="col">{plot.number}</th>
          </tr>
        </thead>
        <tbody>
          {plot.bars.map((bar, index) => (
            <tr key={index}>
              <th scope="row" title={bar.name}>
                {bar.name}
              </th>
              <td>
                <span class="name-bar" style={{ width: `${bar.share}%` }} aria-hidden="true" />
                {number_text(bar.value)}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </figure>
  );
}
