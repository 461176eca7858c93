// The newest verdicts of an evaluator, task by task: about which target, by which version, at which cost, and the trace
// of the call.

import { api } from "../../api";
import type { EvalJob, EvalTask, Evaluator } from "../../api_types";
import { duration, money, short_count } from "../../lib/format/number";
import { short_id } from "../../lib/format/text";
import { reload, use_load, use_pages } from "../../load";
import { Section } from "../../parts/page";
import { Data, Empty } from "../../parts/state";
import { type Column, Table } from "../../parts/table";
import { Time } from "../../parts/time";
import { chat_session_page, eval_task_page, run_page, trace_page } from "../addresses";
import { list_tasks, rate_text, target_words, task_route } from "./data";

/** The hidden project that has the traces of calls that evaluators make. */
const judge_project = "hone-evals";

function target_page(task: EvalTask, job: EvalJob): string {
  if (task.target === "chat_session") return chat_session_page(task.project_id, job.target_id);
  return trace_page(task.project_id, task.target === "span" ? job.trace_id : job.target_id);
}

/** The name of a chat session, otherwise a shortened id. */
export function TargetLink({ task, job }: { task: EvalTask; job: EvalJob }) {
  return (
    <a class="cell-link" href={target_page(task, job)} title={job.target_id}>
      <code>{task.target === "chat_session" ? job.target_id : short_id(job.target_id)}</code>
    </a>
  );
}

export function JobTokens({ job }: { job: EvalJob }) {
  if (job.estimated_tokens === 0) return <>{short_count(job.tokens)}</>;
  return (
    <span title={`${short_count(job.estimated_tokens)} of them are estimated: not reported`}>
      ~{short_count(job.tokens)}
    </span>
  );
}

const columns_for = (task: EvalTask): Column<EvalJob>[] => [
  {
    id: "verdict",
    title: "Verdict",
    width: "120px",
    cell: (job) => job.label ?? (job.score === null || job.score === undefined ? "" : String(job.score)),
  },
  {
    id: "target",
    title: "Target",
    cell: (job) => <TargetLink task={task} job={job} />,
  },
  { id: "version", title: "Version", width: "76px", align: "right", wide: true, cell: (job) => job.version },
  {
    id: "cost",
    title: "Cost",
    width: "88px",
    align: "right",
    wide: true,
    cell: (job) => (job.cached ? "cached" : money(job.cost_nano_usd / 1000)),
  },
  { id: "tokens", title: "Tokens", width: "80px", align: "right", wide: true, cell: (job) => <JobTokens job={job} /> },
  { id: "time", title: "Time", width: "76px", align: "right", wide: true, cell: (job) => duration(job.duration_ms) },
  {
    id: "call",
    title: "Call",
    width: "64px",
    wide: true,
    cell: (job) =>
      job.judge_trace !== "" && (
        <a
          href={
            task.evaluator_kind === "agent" ? run_page(job.judge_trace) : trace_page(judge_project, job.judge_trace)
          }
        >
          {task.evaluator_kind === "agent" ? "run" : "trace"}
        </a>
      ),
  },
  {
    id: "ended",
    title: "Ended",
    width: "96px",
    align: "right",
    cell: (job) => <Time time={job.ended_at ?? null} missing="not yet" />,
  },
];

function VerdictsOfTask({ task }: { task: EvalTask }) {
  const key = `eval_task_verdicts/${task.id}`;
  const load = use_pages<EvalJob>(key, (cursor, signal) =>
    api.page<EvalJob>(task_route(task.id, "jobs"), { state: "done", cursor, limit: 100 }, signal),
  );
  return (
    <Section
      title={`${rate_text(task.rate_ppm)} of ${target_words[task.target]}`}
      text={task.filter === "" ? "all of the project" : `where ${task.filter}`}
    >
      <p>
        <a href={eval_task_page(task.id)}>Open the task</a>
      </p>
      <Data load={load} retry={() => void reload(key)}>
        {(jobs) =>
          jobs.length === 0 ? (
            <p class="soft">No verdicts yet.</p>
          ) : (
            <Table
              label={`Verdicts about ${target_words[task.target]}`}
              rows={jobs}
              columns={columns_for(task)}
              row_id={(job) => job.key}
              row_title={(job) => job.target_id}
              on_end={load.more ?? undefined}
              secondary
              fit
            />
          )
        }
      </Data>
    </Section>
  );
}

/** The verdicts tab of an evaluator. */
export function VerdictsPart({ evaluator }: { evaluator: Evaluator }) {
  const load = use_load(`eval_tasks/of/${evaluator.id}`, async (signal) =>
    (await list_tasks(signal)).filter((task) => task.evaluator_id === evaluator.id),
  );
  return (
    <Data load={load} retry={() => void reload("eval_tasks/")}>
      {(tasks) =>
        tasks.length === 0 ? (
          <Empty
            icon="scale"
            title="No verdicts of tasks"
            text={
              evaluator.kind === "rule"
                ? "The verdicts of a rule are evals of the spans of its project."
                : "A task makes verdicts about new traces. Verdicts about runs are on the pages of their experiments."
            }
          />
        ) : (
          tasks.map((task) => <VerdictsOfTask key={task.id} task={task} />)
        )
      }
    </Data>
  );
}
