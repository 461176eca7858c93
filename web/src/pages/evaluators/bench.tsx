// A bench for an evaluator: applies what the page shows, saved or not, to real targets, and stores nothing.

import { useState } from "preact/hooks";
import { api, segment, to_api_error } from "../../api";
import type { Evaluator, Project, TestEvaluator, TestedDocument, TraceRow, Verdict } from "../../api_types";
import { duration, money, plural, short_count } from "../../lib/format/number";
import { use_load } from "../../load";
import { can, space } from "../../login";
import { Check, Choice } from "../../parts/form";
import { Icon } from "../../parts/icon";
import { JsonValue } from "../../parts/json_view";
import { Section } from "../../parts/page";
import { Note, State } from "../../parts/state";
import { Visible } from "../../parts/visible";
import { trace_page } from "../addresses";
import { evaluator_route } from "./data";

const most_targets = 5;

interface Tested {
  trace: string;
  project: string;
  result: TestedDocument;
}

function verdict_text(verdict: Verdict): string {
  const several = verdict.results?.length ?? 0;
  if (several > 0 && verdict.label === null && verdict.score === null) return plural(several, "result");
  return verdict.label ?? String(verdict.score ?? "");
}

function Result({ tested }: { tested: Tested }) {
  const { result } = tested;
  const facts = [
    duration(result.duration_ms),
    ...(result.cached ? ["cached"] : []),
    ...(result.tokens > 0
      ? [`${short_count(result.tokens)} tokens${result.estimated_tokens > 0 ? " (estimated)" : ""}`]
      : []),
    ...(result.tokens > 0 && result.cost_micro_usd !== null && result.cost_micro_usd !== undefined
      ? [money(result.cost_micro_usd)]
      : []),
  ];
  return (
    <li class="bench-result">
      <p>
        {result.verdict ? (
          <State tone={result.verdict.score === 0 ? "limit" : "done"} text={verdict_text(result.verdict)} />
        ) : (
          <State tone="failed" text={(result.reason ?? "failed").replaceAll("_", " ")} />
        )}{" "}
        <a href={trace_page(tested.project, tested.trace)}>{tested.trace.slice(0, 8)}</a>{" "}
        <span class="soft">{facts.join(" · ")}</span>
      </p>
      {result.verdict?.explanation && (
        <p>
          <Visible text={result.verdict.explanation} />
        </p>
      )}
      {(result.verdict?.results ?? []).map((one) => (
        <p key={one.name}>
          <State tone={one.score === 0 ? "limit" : "done"} text={one.label ?? String(one.score ?? "")} /> {one.name}
          {one.explanation && (
            <span class="soft">
              {" "}
              <Visible text={one.explanation} />
            </span>
          )}
        </p>
      ))}
      {result.error && (
        <p class="soft">
          <Visible text={result.error} />
        </p>
      )}
      {result.document !== null && result.document !== undefined && (
        <details>
          <summary>Document</summary>
          <JsonValue value={result.document} />
        </details>
      )}
    </li>
  );
}

export function Bench({ evaluator, unsaved }: { evaluator: Evaluator; unsaved: Partial<TestEvaluator> }) {
  const [project, set_project] = useState("");
  const [uses_cache, set_uses_cache] = useState(true);
  const [busy, set_busy] = useState(false);
  const [why, set_why] = useState("");
  const [results, set_results] = useState<Tested[] | null>(null);
  const projects = use_load(`bench_projects/${space.value?.id}`, (signal) =>
    api.list<Project>("/v1/projects", { space: space.value?.id }, signal),
  );
  const chosen = projects.data?.find((one) => one.id === project) ?? projects.data?.[0];
  const allowed = can("eval_write") && (can("run_start") || evaluator.kind === "code" || evaluator.kind === "remote");
  async function apply(): Promise<void> {
    if (!chosen || busy) return;
    set_busy(true);
    set_why("");
    try {
      const traces = await api.page<TraceRow>(`/v1/projects/${segment(chosen.id)}/trace_rows`, { limit: most_targets });
      if (traces.rows.length === 0) throw new Error(`${chosen.name} has no traces yet`);
      const tested = await api.post<TestedDocument[]>(evaluator_route(evaluator.id, "test"), {
        ...unsaved,
        cache: uses_cache,
        targets: traces.rows.map((trace) => ({ kind: "trace", project: chosen.id, id: trace.trace_id })),
      } satisfies TestEvaluator);
      set_results(
        tested.map((result, index) => ({ trace: traces.rows[index]?.trace_id ?? "", project: chosen.name, result })),
      );
    } catch (error) {
      set_why(to_api_error(error).message);
    } finally {
      set_busy(false);
    }
  }
  return (
    <Section title="Test" text="Applies what is shown here, saved or not, to the newest traces. Nothing is stored.">
      <div class="bench">
        <Choice
          label="Project"
          value={chosen?.id ?? ""}
          on_change={set_project}
          options={(projects.data ?? []).map((one) => ({ value: one.id, title: one.name }))}
        />
        <Check label="Use stored verdicts" checked={uses_cache} on_change={set_uses_cache} />
        <button type="button" disabled={!allowed || busy || !chosen} onClick={() => void apply()}>
          <Icon name="play" /> {busy ? "Testing…" : `Test on the newest ${most_targets} traces`}
        </button>
      </div>
      <div aria-live="polite">
        {why !== "" && (
          <Note kind="warning" icon="warning">
            {why}
          </Note>
        )}
        {results && (
          <ul class="plain-list">
            {results.map((tested) => (
              <Result key={tested.trace} tested={tested} />
            ))}
          </ul>
        )}
      </div>
    </Section>
  );
}
