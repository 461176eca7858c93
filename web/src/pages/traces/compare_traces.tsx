// Two traces beside each other: their numbers, the steps that differ most, and how their inputs and outputs differ.
// Which two is in the address, so that the comparison can be shared.

import { api, segment } from "../../api";
import type { Project, SpanPayload, SpanRow, TraceOutline, TraceRow } from "../../api_types";
import { change_text, verdict } from "../../lib/format/change";
import { exact_count, money, short_count, span_duration } from "../../lib/format/number";
import { local_time } from "../../lib/format/time";
import { outline_rows } from "../../lib/view/outline";
import { build_tree } from "../../lib/view/span_tree";
import { compared_steps, type StepPair } from "../../lib/view/trace_steps";
import { reload, use_load } from "../../load";
import { Dialog } from "../../parts/dialog";
import { Icon } from "../../parts/icon";
import { Data } from "../../parts/state";
import { query, set_query } from "../../router";
import { trace_page } from "../addresses";
import { TextDiff } from "../datasets/text_diff";
import { project_route } from "../projects/data";

const most_steps = 12;

/** The older one is compared with the newer one. */
export function CompareTracesButton({ rows }: { rows: TraceRow[] }) {
  const [first, second] = [...rows].sort((a, b) => (a.start_time < b.start_time ? -1 : 1));
  return (
    <button type="button" onClick={() => set_query({ compare: `${first?.trace_id ?? ""}..${second?.trace_id ?? ""}` })}>
      <Icon name="compare" /> Compare
    </button>
  );
}

interface Side {
  spans: SpanRow[];
  root: SpanRow | undefined;
  duration: number;
  errors: number;
  input: string;
  output: string;
}

async function read_side(project: Project, trace: string, signal: AbortSignal): Promise<Side> {
  const at = project_route(project, `traces/${segment(trace)}`);
  const spans = outline_rows(trace, await api.get<TraceOutline>(`${at}/outline`, {}, signal));
  const tree = build_tree(spans);
  const root = tree.spans[0]?.span;
  const payload = root && (await api.get<SpanPayload>(`${at}/spans/${segment(root.span_id)}`, {}, signal));
  return {
    spans,
    root,
    duration: tree.duration,
    errors: tree.errors,
    input: payload?.input ?? "",
    output: payload?.output ?? "",
  };
}

const sum = (spans: SpanRow[], of: (span: SpanRow) => number) => spans.reduce((total, span) => total + of(span), 0);

/** Value, value, and the change; `metric` is a name of lib/format/change.ts. */
function Numbers({ title, metric, sides, text }: NumbersProps) {
  const [before, after] = sides;
  return (
    <tr>
      <th scope="row">{title}</th>
      <td class="right">{text(before)}</td>
      <td class="right">{text(after)}</td>
      <td class="right">
        <Change metric={metric} before={before} after={after} />
      </td>
    </tr>
  );
}

interface NumbersProps {
  title: string;
  metric: string;
  sides: [number, number];
  text: (value: number) => string;
}

function Change({ metric, before, after }: { metric: string; before: number; after: number }) {
  const tone = verdict(metric, before, after);
  return (
    <span class={`change ${tone}`}>
      {change_text(before, after)}
      {tone === "worse" && <span class="off-screen"> (worse)</span>}
      {tone === "better" && <span class="off-screen"> (better)</span>}
    </span>
  );
}

function Steps({ pairs }: { pairs: StepPair[] }) {
  const calls = (count: number, errors: number) =>
    count === 0 ? "–" : `${exact_count(count)} ×${errors > 0 ? `, ${errors} failed` : ""}`;
  return (
    <table class="plain-table" aria-label="Steps">
      <thead>
        <tr>
          <th scope="col">Steps that differ most</th>
          <th scope="col" class="right">
            Calls before
          </th>
          <th scope="col" class="right">
            Calls after
          </th>
          <th scope="col" class="right">
            Time before
          </th>
          <th scope="col" class="right">
            Time after
          </th>
        </tr>
      </thead>
      <tbody>
        {pairs.slice(0, most_steps).map(({ name, before, after }) => (
          <tr key={name}>
            <th scope="row">{name}</th>
            <td class="right">{calls(before.count, before.errors)}</td>
            <td class="right">{calls(after.count, after.errors)}</td>
            <td class="right">{before.count === 0 ? "–" : span_duration(before.duration)}</td>
            <td class="right">{after.count === 0 ? "–" : span_duration(after.duration)}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

function Comparison({ project, ids, sides }: { project: Project; ids: [string, string]; sides: [Side, Side] }) {
  const [before, after] = sides;
  const both = (of: (side: Side) => number): [number, number] => [of(before), of(after)];
  const head = (side: Side, id: string) => (
    <th scope="col" class="right">
      <a href={trace_page(project.name, id)}>{side.root ? local_time(side.root.start_time).slice(0, 16) : id}</a>
    </th>
  );
  return (
    <>
      <div class="matrix-scroll">
        <table class="plain-table" aria-label="Numbers">
          <thead>
            <tr>
              <th scope="col">{before.root?.name ?? ""}</th>
              {head(before, ids[0])}
              {head(after, ids[1])}
              <th scope="col" class="right">
                Change
              </th>
            </tr>
          </thead>
          <tbody>
            <Numbers
              title="Duration"
              metric="latency_mean"
              sides={both((side) => side.duration)}
              text={span_duration}
            />
            <Numbers title="Spans" metric="spans" sides={both((side) => side.spans.length)} text={exact_count} />
            <Numbers title="Errors" metric="errors" sides={both((side) => side.errors)} text={exact_count} />
            <Numbers
              title="Tokens"
              metric="tokens"
              sides={both((side) => sum(side.spans, (span) => span.tokens.total))}
              text={short_count}
            />
            <Numbers
              title="Cost"
              metric="cost"
              sides={both((side) => sum(side.spans, (span) => span.cost_nano_usd) / 1000)}
              text={money}
            />
          </tbody>
        </table>
        <Steps pairs={compared_steps(before.spans, after.spans)} />
      </div>
      <h3>Input</h3>
      <TextDiff before={before.input} after={after.input} label="Differences of the inputs" />
      <h3>Output</h3>
      <TextDiff before={before.output} after={after.output} label="Differences of the outputs" />
    </>
  );
}

export function CompareTraces({ project }: { project: Project }) {
  const [first = "", second = ""] = (query.value.get("compare") ?? "").split("..");
  const chosen = first !== "" && second !== "";
  const key = `compare_traces/${project.id}/${first}/${second}`;
  const load = use_load(chosen ? key : null, (signal) =>
    Promise.all([read_side(project, first, signal), read_side(project, second, signal)]),
  );
  if (!chosen) return null;
  return (
    <Dialog title="Two traces" on_close={() => set_query({ compare: null })} wide>
      <Data load={load} retry={() => void reload(key)}>
        {(sides) => <Comparison project={project} ids={[first, second]} sides={sides} />}
      </Data>
    </Dialog>
  );
}
