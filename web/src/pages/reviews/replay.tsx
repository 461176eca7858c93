// Verified fix: recorded traces of the issue and a control set, run on the base and on the branch.

import { useState } from "preact/hooks";
import { api } from "../../api";
import type {
  BranchReplay,
  ReplayedExample,
  ReplayOutcome,
  ReplaySide,
  ReplayState,
  ReviewView,
  StartReplay,
} from "../../api_types";
import { money, plural } from "../../lib/format/number";
import { can } from "../../login";
import { Dialog } from "../../parts/dialog";
import { Field, Form } from "../../parts/form";
import { Section } from "../../parts/page";
import { Note, State, type Tone } from "../../parts/state";
import { toast_done, toast_failed } from "../../parts/toast";
import { Visible } from "../../parts/visible";
import { compare_page, issue_page, trace_page } from "../addresses";
import { review_route, reviews_changed } from "./data";

export const outcome_words: Record<ReplayOutcome, string> = {
  none: "no outcome",
  not_reproduced: "not reproduced",
  fixed: "fixed",
  partly: "partly fixed",
  unchanged: "unchanged",
  regressed: "regressed",
};

const outcome_tones: Record<ReplayOutcome, Tone> = {
  none: "off",
  not_reproduced: "limit",
  fixed: "done",
  partly: "limit",
  unchanged: "failed",
  regressed: "failed",
};

const state_words: Record<ReplayState, string> = {
  queued: "replay queued",
  running: "replaying",
  done: "replayed",
  failed: "replay failed",
  stopped: "replay stopped",
};

const state_tones: Record<ReplayState, Tone> = {
  queued: "waiting",
  running: "running",
  done: "done",
  failed: "failed",
  stopped: "off",
};

export const replay_moves = (replay: BranchReplay | null) => replay?.state === "queued" || replay?.state === "running";

export function ReplayMark({ replay }: { replay: BranchReplay | null }) {
  if (!replay) return null;
  return replay.state === "done" ? (
    <State tone={outcome_tones[replay.outcome]} text={`replay: ${outcome_words[replay.outcome]}`} />
  ) : (
    <State tone={state_tones[replay.state]} text={state_words[replay.state]} />
  );
}

const p_text = (p: number) => (p < 0.001 ? "p < 0.001" : `p = ${Number(p.toPrecision(2))}`);

/** The sentence that the pull request has, too. */
export function replay_sentence(replay: BranchReplay): string {
  const { result, settings } = replay;
  const parts = [
    `base ${result.reproduced}/${result.evidence} fail → branch ${result.fixed}/${result.reproduced} pass`,
    ...(result.control > 0
      ? [`control ${result.control_base_passed}/${result.control} → ${result.control_branch_passed}/${result.control}`]
      : []),
    `exact ${p_text(result.p)}`,
    plural(settings.repetitions, "repetition"),
    money(result.spent_micro_usd),
  ];
  return parts.join(", ");
}

function Verdict({ side, of }: { side: ReplaySide; of: number }) {
  const tone: Tone = side.verdict === "pass" ? "done" : side.verdict === "fail" ? "failed" : "limit";
  const words = side.verdict === "none" ? "no verdict" : side.verdict === "pass" ? "passes" : "fails";
  return <State tone={tone} text={`${words} ${side.verdict === "fail" ? side.failed : side.passed}/${of}`} />;
}

function Examples({ replay, project }: { replay: BranchReplay; project: string }) {
  const of = replay.settings.repetitions;
  return (
    <div class="table-scroll">
      <table class="checks">
        <thead>
          <tr>
            <th scope="col">Trace</th>
            <th scope="col">Set</th>
            <th scope="col">Base</th>
            <th scope="col">Branch</th>
          </tr>
        </thead>
        <tbody>
          {replay.result.examples.map((example: ReplayedExample) => (
            <tr key={example.example_id}>
              <td>
                <a href={trace_page(project, example.trace_id)}>
                  <code>{example.trace_id.slice(0, 12)}</code>
                </a>
                {example.tool_results > 0 && (
                  <span class="tag" title={`${plural(example.tool_results, "recorded result")} instead of calls`}>
                    recorded tools
                  </span>
                )}
              </td>
              <td>{example.set}</td>
              <td>
                <Verdict side={example.base} of={of} />
              </td>
              <td>
                <Verdict side={example.branch} of={of} />
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function Result({ replay, project }: { replay: BranchReplay; project: string }) {
  const { result } = replay;
  return (
    <>
      <p>{replay_sentence(replay)}</p>
      {replay.outcome === "not_reproduced" && (
        <Note kind="warning" icon="warning">
          The evidence does not fail on the base commit, so nothing is known about the fix.
        </Note>
      )}
      {result.evidence < 6 && (
        <p class="soft">
          {plural(result.evidence, "trace")} of the issue: fewer than 6 cannot show p &lt; 0.05, even if all are fixed.
        </p>
      )}
      <Examples replay={replay} project={project} />
      <p>
        <a href={compare_page(replay.dataset_id, [replay.base_experiment_id, replay.branch_experiment_id])}>
          Compare the outputs
        </a>{" "}
        <span class="soft">
          evaluated by {replay.settings.evaluator}
          {replay.settings.control_evaluator !== "" && `, control by ${replay.settings.control_evaluator}`}
        </span>
      </p>
    </>
  );
}

function NotReplayed({ replay, project }: { replay: BranchReplay; project: string }) {
  const left = replay.result.not_replayed;
  if (left.length === 0) return null;
  return (
    <details>
      <summary>{plural(left.length, "trace")} not replayed</summary>
      <ul class="plain-list">
        {left.map((one) => (
          <li key={one.trace_id}>
            <a href={trace_page(project, one.trace_id)}>
              <code>{one.trace_id.slice(0, 12)}</code>
            </a>{" "}
            <span class="soft">
              {one.set}: <Visible text={one.reason} />
            </span>
          </li>
        ))}
      </ul>
    </details>
  );
}

function StartDialog({ review, on_close }: { review: ReviewView; on_close: () => void }) {
  const before = review.replay?.settings;
  const policy = review.branch?.policy.replay;
  const [issue, set_issue] = useState(before?.issue || review.branch?.fix_of || "");
  const [command, set_command] = useState(before?.command || policy?.command || "");
  const [evaluator, set_evaluator] = useState(before?.evaluator || policy?.evaluator || "");
  const [repetitions, set_repetitions] = useState(String(before?.repetitions ?? policy?.repetitions ?? 3));
  return (
    <Dialog title="Replay the fix" on_close={on_close}>
      <Form
        title="Replay"
        busy_title="Starting…"
        submit={async () => {
          const body: Partial<StartReplay> = { repetitions: Number(repetitions) };
          if (issue !== "") body.issue = issue;
          if (command !== "") body.command = command;
          if (evaluator !== "") body.evaluator = evaluator;
          await api.post(`${review_route(review.artifact.id)}/replay`, body);
          toast_done("The replay is queued");
          await reviews_changed();
          on_close();
        }}
        on_cancel={on_close}
      >
        <Field
          label="Issue"
          hint="Its newest traces are the evidence; passing traces of the same entry point are the control set."
          value={issue}
          on_input={set_issue}
        />
        <Field
          label="Command"
          hint="Runs the application on one example: JSON on stdin, JSON on stdout. In a sandbox without network."
          placeholder="python3 replay.py"
          value={command}
          on_input={set_command}
        />
        <Field
          label="Evaluator"
          hint="Decides whether an output passes. Empty: the evaluator of the issue."
          value={evaluator}
          on_input={set_evaluator}
        />
        <Field label="Repetitions" type="number" min={1} value={repetitions} on_input={set_repetitions} />
      </Form>
    </Dialog>
  );
}

async function stop(artifact: string): Promise<void> {
  try {
    await api.post(`${review_route(artifact)}/replay/stop`, {});
    toast_done("Replay stopped");
  } catch (error) {
    toast_failed("Could not stop the replay", error);
  }
  await reviews_changed();
}

export function VerifiedFix({ review }: { review: ReviewView }) {
  const [starting, set_starting] = useState(false);
  const { replay, branch, artifact } = review;
  if (!branch) return null;
  const policy = branch.policy;
  const wanted = policy.require_replayed || policy.replay.command !== "" || branch.fix_of !== "";
  if (!replay && !wanted && !can("experiment_write")) return null;
  const moves = replay_moves(replay);
  return (
    <Section
      title="Verified fix"
      text="Recorded traces of the issue and a control set, run on the base and on the branch."
    >
      <p>
        {replay ? <ReplayMark replay={replay} /> : <State tone="off" text="not replayed" />}
        {policy.require_replayed && <span class="tag">required</span>}{" "}
        {replay && replay.settings.issue !== "" && (
          <a href={issue_page(artifact.project_id, replay.settings.issue)}>issue</a>
        )}
      </p>
      {replay && replay.reason !== "" && (
        <Note kind={replay.state === "failed" ? "failed" : "plain"} icon="warning">
          <Visible text={replay.reason} />
        </Note>
      )}
      {replay?.state === "done" && <Result replay={replay} project={artifact.project_id} />}
      {replay && replay.result.problem !== "" && (
        <p class="soft">
          First error: <Visible text={replay.result.problem} />
        </p>
      )}
      {replay && <NotReplayed replay={replay} project={artifact.project_id} />}
      {can("experiment_write") && (
        <p>
          {moves ? (
            <button type="button" onClick={() => void stop(artifact.id)}>
              Stop replay
            </button>
          ) : (
            <button type="button" onClick={() => set_starting(true)}>
              {replay ? "Replay again…" : "Replay…"}
            </button>
          )}
        </p>
      )}
      {starting && <StartDialog review={review} on_close={() => set_starting(false)} />}
    </Section>
  );
}
