// The examples of two experiments side by side: the rows of the table, and one example with both outputs and traces.

import { api } from "../../api";
import type { ComparedExample, Comparison, ExperimentRow, RunRow } from "../../api_types";
import { duration } from "../../lib/format/number";
import { delta_text } from "../../lib/sentences/comparison";
import { reload, use_load } from "../../load";
import { SlideOver } from "../../parts/slide_over";
import { Data, Note, State } from "../../parts/state";
import type { Column } from "../../parts/table";
import { set_query } from "../../router";
import { trace_page } from "../addresses";
import { AddToDatasetButton } from "./add_to_dataset";
import { ExamplePairs, Winner } from "./compare_pairs";
import { Corrections, CorrectVerdictButton } from "./correct_verdict";
import { experiment_route, one_line, score_text } from "./data";
import { Value } from "./examples";
import { EvalResult } from "./experiment";

/** Repetitions as dots: filled passes. */
function Scores({ scores }: { scores: number[] | undefined }) {
  if (!scores || scores.length === 0) return <span class="faint">–</span>;
  if (!scores.every((score) => score === 0 || score === 1))
    return <span>{scores.map((score) => score_text(score)).join(", ")}</span>;
  const passes = scores.filter((score) => score === 1).length;
  return (
    <span
      class="dots"
      role="img"
      aria-label={`${passes} of ${scores.length} passed`}
      title={`${passes} of ${scores.length} passed`}
    >
      {scores.map((score, index) => (
        <span key={index} class={score === 1 ? "dot full" : "dot"} />
      ))}
    </span>
  );
}

const has_flip = (row: ComparedExample, flip: string) => Object.values(row.flip).includes(flip);
const prefers = (row: ComparedExample, winner: string) => Object.values(row.preferred).includes(winner);
export const shows: Record<
  string,
  {
    title: string;
    fits: (row: ComparedExample) => boolean;
  }
> = {
  all: { title: "All examples", fits: () => true },
  broken: {
    title: "Regressions",
    fits: (row) =>
      has_flip(row, "broken") || prefers(row, "base") || Object.values(row.delta).some((delta) => delta < 0),
  },
  fixed: {
    title: "Improvements",
    fits: (row) =>
      has_flip(row, "fixed") || prefers(row, "other") || Object.values(row.delta).some((delta) => delta > 0),
  },
  flaky: { title: "Flaky", fits: (row) => row.flaky },
  inconsistent: { title: "Changes with the order", fits: (row) => prefers(row, "inconsistent") },
};

/** The id that the sender gave; those of examples from traces are no names. */
const sender_id = (row: ComparedExample) => (/^(span|trace):/.test(row.external_id ?? "") ? null : row.external_id);

export const example_name = (row: ComparedExample, inputs: ReadonlyMap<string, string>) =>
  sender_id(row) ?? (inputs.get(row.example) || row.example.slice(-8));

/** `inputs`: the input of an example by its id, as far as they are loaded. */
export function columns_of(comparison: Comparison, inputs: ReadonlyMap<string, string>): Column<ComparedExample>[] {
  return [
    {
      id: "example",
      title: "Example",
      cell: (row) => (
        <>
          <span title={row.external_id ?? row.example}>{example_name(row, inputs)}</span>{" "}
          {sender_id(row) && <span class="soft">{inputs.get(row.example)}</span>}{" "}
          {row.flaky && <span class="tag">flaky</span>}
        </>
      ),
    },
    ...comparison.metrics.flatMap((metric, index): Column<ComparedExample>[] => [
      {
        id: `base ${metric.name}`,
        title: `${metric.name}, base`,
        width: "170px",
        wide: index > 0,
        cell: (row) => <Scores scores={row.base[metric.name]} />,
      },
      {
        id: `other ${metric.name}`,
        title: "Other",
        width: "92px",
        wide: index > 0,
        cell: (row) => <Scores scores={row.other[metric.name]} />,
      },
      {
        id: `delta ${metric.name}`,
        title: "Change",
        width: "110px",
        wide: index > 0,
        cell: (row) => {
          const delta = row.delta[metric.name];
          if (delta === undefined) return <span class="faint">–</span>;
          const flip = row.flip[metric.name];
          if (flip === "broken") return <State tone="failed" text="broken" />;
          if (flip === "fixed") return <State tone="done" text="fixed" />;
          return delta === 0 ? <span class="faint">=</span> : delta_text({ is_pass_fail: false }, delta);
        },
      },
    ]),
    ...comparison.pairwise.map(
      (pair): Column<ComparedExample> => ({
        id: `pair ${pair.task_id}`,
        title: pair.name,
        width: "170px",
        cell: (row) => <Winner winner={row.preferred[pair.task_id]} />,
      }),
    ),
  ];
}

function Side({
  title,
  experiment,
  example,
}: {
  title: string;
  experiment: ExperimentRow | undefined;
  example: string;
}) {
  const load = use_load(experiment ? `experiment_example/${experiment.id}/${example}` : null, (signal) =>
    api.get<RunRow[]>(experiment_route(experiment?.id ?? "", "run_rows"), { example }, signal),
  );
  return (
    <section class="compared-side" aria-label={title}>
      <h3>{title}</h3>
      <Data load={load} retry={() => void reload("experiment_example/")}>
        {(runs) => (
          <>
            {runs.map((run) => (
              <div key={run.id}>
                {experiment && <AddToDatasetButton quiet sources={{ kind: "run", experiment: experiment.id, run }} />}
                {run.error === null ? (
                  <Value
                    title={runs.length > 1 ? `Output ${run.repetition}` : "Output"}
                    value={run.output}
                    of={title}
                  />
                ) : (
                  <Note kind="failed" icon="warning">
                    {run.error}
                  </Note>
                )}
                <p class="soft">
                  {run.evals.map((one) => (
                    <span key={one.name} class="eval-inline">
                      {one.name} <EvalResult eval={one} /> <CorrectVerdictButton run={run} eval={one} runs={runs} />
                    </span>
                  ))}{" "}
                  {duration(run.latency_ms)}{" "}
                  {run.trace_id && experiment && (
                    <>
                      {" · "}
                      <a href={trace_page(run.trace_project ?? experiment.project_name, run.trace_id)}>trace</a>
                    </>
                  )}
                </p>
                {run.evals.map((one) => (
                  <Corrections key={one.name} corrections={one.corrections} />
                ))}
              </div>
            ))}{" "}
            {runs.length === 0 && <p class="faint">No run.</p>}
          </>
        )}
      </Data>
    </section>
  );
}

interface DetailProps {
  comparison: Comparison;
  base: ExperimentRow | undefined;
  other: ExperimentRow | undefined;
  row: ComparedExample;
  rows: ComparedExample[];
}

export function Detail({ comparison, base, other, row, rows }: DetailProps) {
  const at = rows.indexOf(row);
  const open = (index: number) => {
    const next = rows[index];
    return next ? () => set_query({ open: next.example }, { replace: true }) : undefined;
  };
  const example = use_load(base ? `experiment_example/${base.id}/${row.example}` : null, (signal) =>
    api.get<RunRow[]>(experiment_route(base?.id ?? "", "run_rows"), { example: row.example }, signal),
  );
  const first = example.data?.[0];
  return (
    <SlideOver
      title={row.external_id ?? "Example"}
      on_close={() => set_query({ open: null })}
      on_previous={open(at - 1)}
      on_next={open(at + 1)}
    >
      {first && <p class="clamped">{one_line(first.input)}</p>}
      {first && <Value title="Reference output" value={first.reference} />}
      <Side title={comparison.base_name} experiment={base} example={row.example} />
      <Side title={comparison.other_name} experiment={other} example={row.example} />
      <ExamplePairs comparison={comparison} example={row.example} />
      {first && <Value title="Input" value={first.input} />}
    </SlideOver>
  );
}
