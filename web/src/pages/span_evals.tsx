// What people, models and programs think of a span: labels, scores, explanations. Writing the same name again replaces it.

import { useState } from "preact/hooks";
import { api } from "../api";
import type { EvalView } from "../api_types";
import { reload, use_load } from "../load";
import { Field, Form } from "../parts/form";
import { Data } from "../parts/state";
import { Time } from "../parts/time";
import { toast_done } from "../parts/toast";
import { can } from "../session";
import { project_route } from "./project_scope";

interface SpanEvalsProps {
  project: { id: string };
  span_id: string;
}

const key_of = ({ project, span_id }: SpanEvalsProps) => `evals/${project.id}/${span_id}`;

export function use_evals(props: SpanEvalsProps) {
  return use_load(key_of(props), (signal) =>
    api.get<EvalView[]>(project_route(props.project, "evals"), { target: "span", target_id: props.span_id }, signal),
  );
}

function EvalForm({ project, span_id, known, done }: SpanEvalsProps & { known: EvalView | null; done: () => void }) {
  const [name, set_name] = useState(known?.name ?? "");
  const [label, set_label] = useState(known?.label ?? "");
  const [score, set_score] = useState(known?.score === null || !known ? "" : String(known.score));
  const [explanation, set_explanation] = useState(known?.explanation ?? "");
  const number = score.trim() === "" ? null : Number(score);
  const wrong = number !== null && !Number.isFinite(number);
  async function save(): Promise<void> {
    const written = {
      target: "span",
      target_id: span_id,
      name: name.trim(),
      label: label.trim() || null,
      score: number,
      explanation: explanation.trim() || null,
      ...(known?.identifier ? { identifier: known.identifier } : {}),
    };
    await api.post(project_route(project, "evals"), { data: [written] });
    toast_done(`${written.name} saved`);
    await reload(key_of({ project, span_id }));
    done();
  }
  const nothing = label.trim() === "" && number === null && explanation.trim() === "";
  return (
    <Form title="Save" disabled={name.trim() === "" || nothing || wrong} submit={save} on_cancel={done}>
      <div class="field-row">
        <Field
          label="Name"
          placeholder="correct"
          value={name}
          on_input={set_name}
          disabled={known !== null}
          required
          first
        />
        <Field label="Label" placeholder="yes" value={label} on_input={set_label} />
        <Field
          label="Score"
          placeholder="0.8"
          value={score}
          on_input={set_score}
          hint={wrong ? "A number" : undefined}
        />
      </div>
      <Field label="Explanation" value={explanation} on_input={set_explanation} rows={3} />
    </Form>
  );
}

export function SpanEvals({ project, span_id }: SpanEvalsProps) {
  const load = use_evals({ project, span_id });
  const [editing, set_editing] = useState<EvalView | "new" | null>(null);
  const may_write = can("eval_write");
  return (
    <Data load={load} retry={() => void reload(key_of({ project, span_id }))}>
      {(evals) => (
        <>
          {evals.length === 0 && editing === null && (
            <p class="page-text">Nobody has judged this span yet: no person, no evaluator.</p>
          )}
          <ol class="messages">
            {evals.map((one) => (
              <li class="message" key={one.id}>
                <div class="message-head">
                  <span class="message-role">{one.name}</span>
                  {one.label !== "" && <span class="tag">{one.label}</span>}
                  {one.score !== null && <span class="tag">{Number(one.score.toPrecision(4))}</span>}
                  <span class="spring" />
                  <span class="faint">{one.kind}</span>
                  <Time time={one.updated_at} />
                  {may_write && (
                    <button type="button" class="quiet" onClick={() => set_editing(one)}>
                      Edit
                    </button>
                  )}
                </div>
                {one.explanation !== "" && <p class="long-text">{one.explanation}</p>}
              </li>
            ))}
          </ol>
          {editing !== null ? (
            <EvalForm
              key={editing === "new" ? "new" : editing.id}
              project={project}
              span_id={span_id}
              known={editing === "new" ? null : editing}
              done={() => set_editing(null)}
            />
          ) : (
            may_write && (
              <button type="button" onClick={() => set_editing("new")}>
                Add an eval
              </button>
            )
          )}
        </>
      )}
    </Data>
  );
}
