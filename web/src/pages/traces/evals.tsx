// Evals of a span, a trace or a chat session by people, models and programs: labels, scores, explanations.
// Saving an eval with the same name replaces it.

import { signal } from "@preact/signals";
import { useEffect, useMemo, useState } from "preact/hooks";
import { api, segment } from "../../api";
import type { EvalTarget, EvalView } from "../../api_types";
import { plural } from "../../lib/format/number";
import { reload, use_load } from "../../load";
import { can } from "../../login";
import { Dialog } from "../../parts/dialog";
import { Field, Form } from "../../parts/form";
import { Icon } from "../../parts/icon";
import type { MenuItem } from "../../parts/menu";
import { Data } from "../../parts/state";
import { Time } from "../../parts/time";
import { toast_done, toast_failed } from "../../parts/toast";
import { project_route } from "../projects/data";

/** The span, trace or chat session that is evaluated. */
export interface EvalSubject {
  project: { id: string };
  target: EvalTarget;
  target_id: string;
}

const words: Record<EvalTarget, string> = { span: "span", trace: "trace", chat_session: "chat session" };
const key_of = ({ project, target, target_id }: EvalSubject) => `evals/${project.id}/${target}/${target_id}`;

function use_evals(of: EvalSubject) {
  return use_load(key_of(of), (signal) =>
    api.get<EvalView[]>(
      project_route(of.project, "evals"),
      { target: of.target, target_id: of.target_id, limit: 1000 },
      signal,
    ),
  );
}

/** The eval of a person that keeps a trace beyond the retention of its project; the label no releases it. */
const keep_name = "keep";

/** A menu item that keeps the trace or releases it; null for people who write no evals. */
export function use_keep_item(project: { id: string }, trace: string): MenuItem | null {
  const of: EvalSubject = { project, target: "trace", target_id: trace };
  const mark = use_evals(of).data?.find((one) => one.name === keep_name && one.kind === "human");
  if (!can("eval_write")) return null;
  const is_kept = mark?.label === "yes";
  const save = async () => {
    try {
      const written = { target: of.target, target_id: trace, name: keep_name, label: is_kept ? "no" : "yes" };
      await api.post(project_route(project, "evals"), { data: [written] });
      toast_done(is_kept ? "No longer kept" : "Kept: the trace does not expire");
      await reload(key_of(of));
    } catch (error) {
      toast_failed("Could not change the trace", error);
    }
  };
  return { title: is_kept ? "No longer keep" : "Keep from expiry", run: () => void save() };
}

interface EvalFormProps {
  of: EvalSubject;
  known: EvalView | null;
  done: () => void;
  /** Several subjects get the same eval. */
  ids?: string[];
}

const most_together = 100;
/** How often evals of several rows were written here: lists read theirs again. */
const written = signal(0);

function EvalForm({ of, known, done, ids = [of.target_id] }: EvalFormProps) {
  const [name, set_name] = useState(known?.name ?? "");
  const [label, set_label] = useState(known?.label ?? "");
  const [score, set_score] = useState(known?.score === null || !known ? "" : String(known.score));
  const [explanation, set_explanation] = useState(known?.explanation ?? "");
  const number = score.trim() === "" ? null : Number(score);
  const wrong = number !== null && !Number.isFinite(number);
  async function save(): Promise<void> {
    const made = {
      target: of.target,
      name: name.trim(),
      label: label.trim() || null,
      score: number,
      explanation: explanation.trim() || null,
      ...(known?.identifier ? { identifier: known.identifier } : {}),
    };
    for (let at = 0; at < ids.length; at += most_together) {
      const data = ids.slice(at, at + most_together).map((target_id) => ({ ...made, target_id }));
      await api.post(project_route(of.project, "evals"), { data });
    }
    toast_done(`${made.name} saved`);
    await reload(ids.length === 1 ? key_of(of) : `evals/${of.project.id}/${of.target}/`);
    if (of.target === "span") void reload(`span_evals/${of.project.id}/`);
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

const score_text = (score: number) => String(Number(score.toPrecision(4)));

export function Evals({ of }: { of: EvalSubject }) {
  const load = use_evals(of);
  const [editing, set_editing] = useState<EvalView | "new" | null>(null);
  const may_write = can("eval_write");
  return (
    <Data load={load} retry={() => void reload(key_of(of))}>
      {(evals) => (
        <>
          {evals.length === 0 && editing === null && (
            <p class="page-text">
              This {words[of.target]} has no evals yet. Add one, or create an evaluator for the project.
            </p>
          )}
          <ol class="messages">
            {evals.map((one) => (
              <li class="message" key={one.id}>
                <div class="message-head">
                  <span class="message-role">{one.name}</span>
                  {one.label !== "" && <span class="tag">{one.label}</span>}
                  {one.score !== null && <span class="tag">{score_text(one.score)}</span>}
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
              of={of}
              known={editing === "new" ? null : editing}
              done={() => set_editing(null)}
            />
          ) : (
            may_write && (
              <button type="button" onClick={() => set_editing("new")}>
                Add eval
              </button>
            )
          )}
        </>
      )}
    </Data>
  );
}

interface EvaluateRowsProps {
  project: { id: string };
  target: EvalTarget;
  ids: string[];
  done: () => void;
}

/** One eval for all selected rows of a list. */
export function EvaluateRows({ project, target, ids, done }: EvaluateRowsProps) {
  const [open, set_open] = useState(false);
  const close = () => set_open(false);
  if (!can("eval_write")) return null;
  return (
    <>
      <button type="button" onClick={() => set_open(true)}>
        <Icon name="plus" /> Evaluate
      </button>
      {open && (
        <Dialog title={`Evaluate ${plural(ids.length, words[target])}`} on_close={close} wide>
          <EvalForm
            of={{ project, target, target_id: ids[0] ?? "" }}
            known={null}
            ids={ids}
            done={() => {
              close();
              written.value += 1;
              done();
            }}
          />
        </Dialog>
      )}
    </>
  );
}

/** "correct: yes" and "tone: 0.8", up to a limit. */
export function EvalChips({ evals, most = 3 }: { evals: EvalView[]; most?: number }) {
  return (
    <span class="chips">
      {evals.slice(0, most).map((one) => {
        const verdict = one.label || (one.score === null ? "noted" : score_text(one.score));
        const hint = [one.label, one.score === null ? "" : score_text(one.score), one.explanation, `by ${one.kind}`];
        return (
          <span class="tag" key={one.id} title={hint.filter((part) => part !== "").join(" · ")}>
            <span class="cut">{one.name}</span>
            <span>: {verdict}</span>
          </span>
        );
      })}
      {evals.length > most && <span class="faint">+{evals.length - most}</span>}
    </span>
  );
}

/** The evals of a whole trace or chat session beside its title; the button opens a dialog to read and edit them. */
export function EvalSummary({ of }: { of: EvalSubject }) {
  const load = use_evals(of);
  const [open, set_open] = useState(false);
  const evals = load.data ?? [];
  if (evals.length === 0 && !can("eval_write")) return null;
  const word = words[of.target];
  return (
    <>
      <EvalChips evals={evals} />
      <button type="button" class="quiet" onClick={() => set_open(true)}>
        <Icon name={evals.length === 0 ? "plus" : "scale"} /> {evals.length === 0 ? `Evaluate this ${word}` : "Evals"}
      </button>
      {open && (
        <Dialog title={`Evals of the ${word}`} on_close={() => set_open(false)} wide>
          <Evals of={of} />
        </Dialog>
      )}
    </>
  );
}

const none: ReadonlyMap<string, EvalView[]> = new Map();

/** The evals of all spans of a trace, by span id; limited to a few thousand. */
export function use_span_evals(project: { id: string }, trace: string): ReadonlyMap<string, EvalView[]> {
  const load = use_load(`span_evals/${project.id}/${trace}`, (signal) =>
    api.get<EvalView[]>(project_route(project, "evals"), { target: "span", trace_id: trace, limit: 1000 }, signal),
  );
  return useMemo(() => {
    if (!load.data || load.data.length === 0) return none;
    const found = new Map<string, EvalView[]>();
    for (const one of load.data) found.set(one.target_id, [...(found.get(one.target_id) ?? []), one]);
    return found;
  }, [load.data]);
}

/** The most ids in one request. */
const most_ids = 100;

/** The evals of the rows of a list, by id; requested for new rows. */
export function use_row_evals(project: { id: string } | undefined, target: EvalTarget, ids: string[]) {
  const [known, set_known] = useState<ReadonlyMap<string, EvalView[]>>(new Map());
  const version = written.value;
  useEffect(() => set_known(new Map()), [version]);
  const missing = ids.filter((id) => !known.has(id)).slice(0, most_ids);
  useEffect(() => {
    if (!project || missing.length === 0) return;
    const abort = new AbortController();
    const names = missing.map((id) => `target_id=${segment(id)}`).join("&");
    api
      .get<EvalView[]>(`${project_route(project, "evals")}?target=${target}&limit=1000&${names}`, {}, abort.signal)
      .then((found) => {
        const more = new Map(known);
        for (const id of missing) more.set(id, []);
        for (const one of found) more.get(one.target_id)?.push(one);
        set_known(more);
      })
      .catch(() => undefined); // The list works without evals.
    return () => abort.abort();
  }, [project?.id, missing.join()]);
  return known;
}
