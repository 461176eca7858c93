// The state of a project: volume, errors, latency, tokens and cost over time, and the spans that fail or cost most.

import type { ComponentChildren } from "preact";
import { useMemo, useRef } from "preact/hooks";
import { api } from "../../api";
import type { Project, SpanSeries } from "../../api_types";
import { quoted } from "../../lib/filter/span_filter";
import { exact_count, money, short_count, span_duration } from "../../lib/format/number";
import { range_bounds } from "../../lib/format/range";
import { read_chart } from "../../lib/view/explore";
import { bucket_for, outcome_lines, to_chart } from "../../lib/view/series";
import { reload, use_load } from "../../load";
import { Chart, choose_range, type Line } from "../../parts/chart";
import { current_range } from "../../parts/frame/time_range";
import { Data, Empty } from "../../parts/state";
import { query } from "../../router";
import { traces_page } from "../addresses";
import { ChartActions, lines_table } from "../explore/chart";
import { SpanBacklog } from "../traces/span_backlog";
import { project_route } from "./data";
import { Diagnosis } from "./diagnosis";
import { SendTrace } from "./send_languages";
import { SentMetrics } from "./sent_metrics";

const default_range = "24h";

/** One group of a query without buckets, by the names of its metrics. */
type Totals = { group: string } & Record<string, number | string>;

function totals_of(series: SpanSeries): Totals[] {
  return series.buckets.map((bucket) => {
    const entries = series.metrics.map((metric, index) => [metric, bucket.values[index] ?? 0]);
    return { ...Object.fromEntries(entries), group: bucket.group } as Totals;
  });
}

const number_of = (totals: Totals | undefined, metric: string) => Number(totals?.[metric] ?? 0);
const usd = (value: number) => money(value * 1e6);

interface OverviewData {
  series: SpanSeries;
  total: Totals | undefined;
  by_name: Totals[];
  by_model: Totals[];
  from: number | null;
  to: number;
}

async function load_overview(project: Project, signal: AbortSignal): Promise<OverviewData> {
  const range = current_range(default_range);
  const to = Date.now();
  const bounds = range_bounds(range, to);
  const from = bounds.after ? Date.parse(bounds.after) : null;
  const end = bounds.before ? Date.parse(bounds.before) : to;
  const bucket = from === null ? { text: "24h" } : bucket_for(end - from);
  const fetch_series = (metrics: string, more: Record<string, string | number>) =>
    api.get<SpanSeries>(project_route(project, "series"), { metrics, ...bounds, ...more }, signal);
  const all = "count,errors,latency_p50,latency_p95,tokens,cost,traces";
  const [series, total, by_name, by_model] = await Promise.all([
    fetch_series(all, { bucket: bucket.text }),
    fetch_series(all, { bucket: "0s" }),
    fetch_series("errors,count,latency_p95", { bucket: "0s", group_by: "name", filter: "status = error", groups: 8 }),
    fetch_series("count,errors,latency_p95,tokens,cost", {
      bucket: "0s",
      group_by: "model",
      filter: "kind = llm",
      groups: 8,
    }),
  ]);
  return {
    series,
    total: totals_of(total)[0],
    by_name: totals_of(by_name),
    by_model: totals_of(by_model),
    from,
    to: end,
  };
}

function Figure({ title, value, exact, href }: { title: string; value: string; exact: string; href?: string }) {
  return (
    <div class="figure">
      <dt>{title}</dt>
      <dd title={exact}>{href ? <a href={href}>{value}</a> : value}</dd>
    </div>
  );
}

function Figures({ total, project }: { total: Totals; project: string }) {
  const spans = number_of(total, "count");
  const errors = number_of(total, "errors");
  const share = spans > 0 ? (100 * errors) / spans : 0;
  const failing = traces_page(project, "status = error", query.value.get("range") ?? "");
  return (
    <dl class="figures">
      <Figure
        title="Traces"
        value={short_count(number_of(total, "traces"))}
        exact={exact_count(number_of(total, "traces"))}
        href={traces_page(project, "", query.value.get("range") ?? "")}
      />
      <Figure title="Spans" value={short_count(spans)} exact={exact_count(spans)} />
      <Figure
        title="Failed spans"
        value={errors === 0 ? "0" : `${short_count(errors)} (${share < 1 ? "<1" : Math.round(share)} %)`}
        exact={exact_count(errors)}
        href={errors > 0 ? failing : undefined}
      />
      <Figure
        title="Latency p50"
        value={span_duration(number_of(total, "latency_p50"))}
        exact={`${number_of(total, "latency_p50")} ns`}
      />
      <Figure
        title="Latency p95"
        value={span_duration(number_of(total, "latency_p95"))}
        exact={`${number_of(total, "latency_p95")} ns`}
      />
      <Figure
        title="Tokens"
        value={short_count(number_of(total, "tokens"))}
        exact={exact_count(number_of(total, "tokens"))}
      />
      <Figure title="Cost" value={usd(number_of(total, "cost"))} exact={`$${number_of(total, "cost")}`} />
    </dl>
  );
}

interface RankProps {
  title: string;
  label: string;
  rows: Totals[];
  columns: [string, (row: Totals) => string][];
  address: (row: Totals) => string;
  none: string;
}

/** A short list, largest first. */
function Rank({ title, label, rows, columns, address, none }: RankProps) {
  return (
    <section class="rank" aria-label={title}>
      <h2>{title}</h2>
      {rows.length === 0 ? (
        <p class="faint">{none}</p>
      ) : (
        <table class="rank-table">
          <thead>
            <tr>
              <th scope="col">{label}</th>
              {columns.map(([name]) => (
                <th key={name} scope="col">
                  {name}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {rows.map((row) => (
              <tr key={row.group}>
                <th scope="row">
                  <a class="cell-link" href={address(row)} title={row.group}>
                    {row.group}
                  </a>
                </th>
                {columns.map(([name, text]) => (
                  <td key={name}>{text(row)}</td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      )}
    </section>
  );
}

function Charts({ data, project }: { data: OverviewData; project: Project }) {
  const chart = useMemo(() => to_chart(data.series, data.from, data.to), [data]);
  const charts = useMemo(() => {
    const line = (title: string, metric: string, colour: string, bars = false): Line => ({
      title,
      colour,
      bars,
      values: chart.values[metric] ?? [],
    });
    return [
      {
        title: "Spans",
        explore: "draw=bars&by=status",
        text: short_count,
        lines: outcome_lines(chart),
      },
      {
        title: "Latency",
        explore: "metric=latency_p95",
        text: span_duration,
        lines: [line("p95", "latency_p95", "--waiting"), line("p50", "latency_p50", "--running")],
      },
      {
        title: "Tokens",
        explore: "metric=tokens&by=model&draw=bars",
        text: short_count,
        lines: [line("tokens", "tokens", "--bar", true)],
      },
      {
        title: "Cost",
        explore: "metric=cost&by=model&draw=bars",
        text: usd,
        lines: [line("cost", "cost", "--accent", true)],
      },
    ];
  }, [chart]);
  const box = useRef<HTMLDivElement>(null);
  const figure = (title: string) =>
    [...(box.current?.querySelectorAll("figure") ?? [])].find((one) => one.ariaLabel === title) ?? null;
  return (
    <div class="charts" ref={box}>
      {charts.map(({ explore, ...one }) => (
        <Chart
          key={one.title}
          {...one}
          times={chart.times}
          on_range={choose_range}
          actions={
            <ChartActions
              project={project}
              chart={read_chart(new URLSearchParams(explore))}
              title={one.title}
              about={`${one.title} over time (${one.lines.map((line) => line.title).join(", ")})`}
              figure={() => figure(one.title)}
              table={() => lines_table(chart.times, one.lines)}
            />
          }
        />
      ))}
    </div>
  );
}

export function Overview({ project, children }: { project: Project; children?: ComponentChildren }) {
  const range = query.value.get("range") ?? default_range;
  const key = `overview/${project.id}/${range}`;
  const load = use_load(key, (signal) => load_overview(project, signal));
  const name = project.name;
  const with_range = (filter: string) => traces_page(name, filter, query.value.get("range") ?? "");
  return (
    <>
      <SpanBacklog />
      <Diagnosis project={project} />
      <Data load={load} retry={() => void reload(key)}>
        {(data) =>
          number_of(data.total, "count") === 0 || !data.total ? (
            <Empty
              icon="trace"
              title="No spans in this range"
              text="Volume, errors, latency, tokens and cost appear here after the first trace. Configure an exporter:"
            >
              <SendTrace project={name} />
            </Empty>
          ) : (
            <>
              <Figures total={data.total} project={name} />
              <Charts data={data} project={project} />
              <div class="ranks">
                <Rank
                  title="Most errors"
                  label="Span"
                  rows={data.by_name}
                  columns={[
                    ["Errors", (row) => short_count(number_of(row, "errors"))],
                    ["p95", (row) => span_duration(number_of(row, "latency_p95"))],
                  ]}
                  address={(row) => with_range(`status = error and name = ${quoted(row.group)}`)}
                  none="No span failed in this range."
                />
                <Rank
                  title="Models"
                  label="Model"
                  rows={data.by_model.filter((row) => row.group !== "")}
                  columns={[
                    ["Calls", (row) => short_count(number_of(row, "count"))],
                    ["p95", (row) => span_duration(number_of(row, "latency_p95"))],
                    ["Tokens", (row) => short_count(number_of(row, "tokens"))],
                    ["Cost", (row) => usd(number_of(row, "cost"))],
                  ]}
                  address={(row) => with_range(`model = ${quoted(row.group)}`)}
                  none="No model was called in this range."
                />
              </div>
            </>
          )
        }
      </Data>
      <SentMetrics project={project} />
      {children}
    </>
  );
}
