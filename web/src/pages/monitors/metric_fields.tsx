// The fields of a metric: its name, the filter of spans, and the eval where one is needed.

import { useMemo } from "preact/hooks";
import type { ApiError } from "../../api";
import type { Project } from "../../api_types";
import { capital, metric_info, metric_names, sql_metric } from "../../lib/sentences/metric";
import { Choice, Field } from "../../parts/form";
import { SpanFilterBar } from "../traces/span_filter_bar";

const sql_example =
  "SELECT countIf(status = 'error') / count() FROM spans\nWHERE start_ns >= {{window.from}} AND start_ns < {{window.to}}";

export interface MetricDraft {
  metric: string;
  filter: string;
  eval_name: string;
  eval_label: string;
  /** The query, with the metric `sql`. */
  sql?: string;
}

interface MetricFieldsProps {
  value: MetricDraft;
  project: Project | undefined;
  on_change: (part: Partial<MetricDraft>) => void;
  /** The server's error about the filter. */
  error?: ApiError | null;
}

export function MetricFields({ value, project, on_change, error = null }: MetricFieldsProps) {
  // Completions use the last week.
  const bounds = useMemo(() => ({ after: new Date(Date.now() - 7 * 86_400_000).toISOString() }), []);
  const by_sql = value.metric === sql_metric;
  const names = value.sql === undefined ? metric_names : [...metric_names, sql_metric];
  const of_evals = value.metric.startsWith("eval_");
  return (
    <>
      <div class="field-row">
        <Choice
          label="Metric"
          value={value.metric}
          on_change={(metric) => on_change({ metric })}
          options={names.map((name) => ({ value: name, title: capital(metric_info(name).title) }))}
        />
        {of_evals && (
          <Field label="Eval" value={value.eval_name} on_input={(eval_name) => on_change({ eval_name })} required />
        )}
        {value.metric === "eval_rate" && (
          <Field label="Label" value={value.eval_label} on_input={(eval_label) => on_change({ eval_label })} required />
        )}
      </div>
      {by_sql && (
        <Field
          label="Query"
          rows={4}
          value={value.sql ?? ""}
          on_input={(sql) => on_change({ sql })}
          placeholder={sql_example}
          hint={
            <>
              A SELECT that returns one number, within 10 seconds. It uses <code>{"{{window.from}}"}</code> and{" "}
              <code>{"{{window.to}}"}</code>. in nanoseconds, for its window. No row, or NULL: no data.
            </>
          }
          required
        />
      )}
      <div class="field" hidden={by_sql}>
        <span class="field-label">Filter</span>
        <SpanFilterBar
          project={project}
          text={value.filter}
          bounds={bounds}
          range="7d"
          error={error}
          on_change={(filter) => on_change({ filter })}
        />
        <p class="hint">Empty: all spans of the project.</p>
      </div>
    </>
  );
}

interface LengthProps {
  label: string;
  seconds: number;
  on_change: (seconds: number) => void;
  choices: number[];
  text: (seconds: number) => string;
}

/** A duration from a few usual ones; another value that is already set can be kept. */
export function DurationChoice({ label, seconds, on_change, choices, text }: LengthProps) {
  const known = choices.includes(seconds) ? choices : [...choices, seconds].sort((a, b) => a - b);
  return (
    <Choice
      label={label}
      value={String(seconds)}
      on_change={(value) => on_change(Number(value))}
      options={known.map((one) => ({ value: String(one), title: text(one) }))}
    />
  );
}
