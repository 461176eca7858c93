// A person's verdict about a run of an experiment, beside the eval of an evaluator or a client.

import { useId, useState } from "preact/hooks";
import { api, segment } from "../../api";
import type { CorrectedView, CorrectionView, RunEval, RunRow } from "../../api_types";
import { reload } from "../../load";
import { can, user } from "../../login";
import { Dialog } from "../../parts/dialog";
import { Field, Form } from "../../parts/form";
import { Icon } from "../../parts/icon";
import { Time } from "../../parts/time";
import { toast_done } from "../../parts/toast";
import { score_text } from "./data";

const result_text = (one: { score: number | null; label: string | null }) =>
  [one.score === null ? "" : score_text(one.score), one.label ?? ""].filter((text) => text).join(" · ");

/** What people say about an eval; nothing without a correction. */
export function Corrections({ corrections }: { corrections: CorrectionView[] }) {
  return (
    <>
      {corrections.map((one) => (
        <p class="correction" key={one.by}>
          <Icon name="person" /> Corrected by {one.by} to <b>{result_text(one)}</b> <Time time={one.updated_at} />
          {one.explanation && <span class="soft"> {one.explanation}</span>}
        </p>
      ))}
    </>
  );
}

/** The score that evals of this name have for a label, as far as it is known. */
function score_of(label: string, name: string, runs: RunRow[]): number | null {
  for (const run of runs)
    for (const one of run.evals) if (one.name === name && one.label === label && one.score !== null) return one.score;
  return null;
}

function labels_of(name: string, runs: RunRow[]): string[] {
  const labels = runs.flatMap((run) => run.evals.filter((one) => one.name === name).map((one) => one.label ?? ""));
  return [...new Set(labels.filter((label) => label !== ""))].sort();
}

interface CorrectProps {
  run: RunRow;
  eval: RunEval;
  /** Runs whose labels are suggested. */
  runs: RunRow[];
}

function CorrectDialog({ run, eval: one, runs, on_close }: CorrectProps & { on_close: () => void }) {
  const own = one.corrections.find((correction) => correction.by === user.value?.email);
  const [label, set_label] = useState(own?.label ?? "");
  const [score, set_score] = useState(typeof own?.score === "number" ? String(own.score) : "");
  const [explanation, set_explanation] = useState(own?.explanation ?? "");
  const list = useId();
  const number = Number(score.trim());
  const has_score = score.trim() !== "";
  const is_bad = has_score && !Number.isFinite(number);
  function choose_label(value: string): void {
    set_label(value);
    const known = score_of(value, one.name, runs);
    if (known !== null) set_score(String(known));
  }
  async function submit(): Promise<void> {
    const done = await api.put<CorrectedView>(`/v1/experiment_runs/${segment(run.id)}/corrections`, {
      name: one.name,
      label: label.trim() === "" ? null : label.trim(),
      score: has_score ? number : null,
      explanation: explanation.trim(),
    });
    await Promise.all([reload("experiment_runs/"), reload("experiment_example/")]);
    on_close();
    toast_done(
      done.labelled_project === null ? "Verdict stored" : "Verdict stored; calibrations count it as a person's label",
    );
  }
  return (
    <Dialog title={`Correct the verdict of ${one.name}`} on_close={on_close}>
      <Form
        title="Save verdict"
        disabled={is_bad || (label.trim() === "" && !has_score)}
        on_cancel={on_close}
        submit={submit}
      >
        <p class="soft">
          The eval {one.error === null ? <b>{result_text(one)}</b> : "without a result"} and the numbers of the
          experiment stay as they are; your verdict is shown beside it.
        </p>
        <Field label="Label" value={label} on_input={choose_label} list={list} first />
        <datalist id={list}>
          {labels_of(one.name, runs).map((known) => (
            <option value={known} key={known} />
          ))}
        </datalist>
        <Field
          label="Score"
          value={score}
          on_input={set_score}
          hint={is_bad ? "Not a number." : "A label, a score or both are needed."}
        />
        <Field label="Explanation" value={explanation} on_input={set_explanation} rows={3} />
      </Form>
    </Dialog>
  );
}

/** A button that opens the dialog; absent for people who may not write evals. */
export function CorrectVerdictButton(props: CorrectProps) {
  const [correcting, set_correcting] = useState(false);
  if (!can("eval_write")) return null;
  return (
    <>
      <button
        type="button"
        class="quiet"
        aria-label={`Correct the verdict of ${props.eval.name}`}
        onClick={() => set_correcting(true)}
      >
        Correct the verdict
      </button>
      {correcting && <CorrectDialog {...props} on_close={() => set_correcting(false)} />}
    </>
  );
}
