// One task: the funnel of its targets, spend against budget, failures by reason, backfills.

import { useState } from "preact/hooks";
import { api } from "../../api";
import type { Backfill, EvalJob, EvalTask, FunnelRow, RetriedJobs } from "../../api_types";
import { exact_count, money, plural } from "../../lib/format/number";
import type { Params } from "../../lib/route";
import { reload, use_load, use_pages, use_refresh } from "../../load";
import { can } from "../../login";
import { use_action } from "../../parts/action";
import { Confirm } from "../../parts/confirm";
import { Icon } from "../../parts/icon";
import { Menu } from "../../parts/menu";
import { PageHeader, Section } from "../../parts/page";
import { Facts } from "../../parts/slide_over";
import { Data, Empty, Note, State, type Tone } from "../../parts/state";
import { type Column, Table } from "../../parts/table";
import { Time } from "../../parts/time";
import { toast_done } from "../../parts/toast";
import { navigate } from "../../router";
import { evaluator_page } from "../addresses";
import { BackfillDialog } from "./backfill_dialog";
import { evaluators_changed, rate_text, target_words, task_route, task_state } from "./data";
import { TaskDialog } from "./task_form";
import { JobTokens, TargetLink } from "./verdicts";

const poll_interval = 5000;

const steps: { id: keyof FunnelRow & string; title: string; hint: string }[] = [
  { id: "received", title: "Received", hint: "Targets of the project" },
  { id: "matched", title: "Matched", hint: "They match the filter" },
  { id: "sampled", title: "Sampled", hint: "They are in the sample" },
  { id: "judged", title: "Evaluated", hint: "They have a verdict" },
  { id: "failed", title: "Failed", hint: "No verdict, for the reasons below" },
  { id: "skipped", title: "Skipped", hint: "Not tried, for the reasons below" },
  { id: "waiting", title: "Waiting", hint: "They wait for their evaluation" },
];

const total = (rows: FunnelRow[], field: keyof FunnelRow) => rows.reduce((sum, row) => sum + Number(row[field]), 0);

function Funnel({ rows }: { rows: FunnelRow[] }) {
  const most = Math.max(1, total(rows, "received"));
  const cached = total(rows, "cached");
  return (
    <table class="funnel" aria-label="Funnel of the last 24 hours">
      <tbody>
        {steps.map((step) => {
          const count = total(rows, step.id as keyof FunnelRow);
          return (
            <tr key={step.id} title={step.hint}>
              <th scope="row">{step.title}</th>
              <td class="funnel-count">{exact_count(count)}</td>
              <td class="funnel-bar" aria-hidden="true">
                {count > 0 && <span class={`funnel-fill ${step.id}`} style={{ width: `${(100 * count) / most}%` }} />}
              </td>
              <td class="soft">{step.id === "judged" && cached > 0 ? `${exact_count(cached)} from the cache` : ""}</td>
            </tr>
          );
        })}
      </tbody>
    </table>
  );
}

function Reasons({ task, rows }: { task: EvalTask; rows: FunnelRow[] }) {
  const { busy, attempt } = use_action();
  const counts = new Map<string, number>();
  for (const row of rows)
    for (const [reason, count] of Object.entries(row.reasons)) counts.set(reason, (counts.get(reason) ?? 0) + count);
  if (counts.size === 0) return <p class="soft">Nothing failed or was skipped in the last 24 hours.</p>;
  const retry = (reason: string) =>
    attempt("Could not evaluate the targets again", async () => {
      const retried = await api.post<RetriedJobs>(task_route(task.id, "retry"), { reason });
      await reload("eval_task");
      toast_done(`${plural(retried.jobs, "target")} queued again`);
    });
  return (
    <ul class="plain-list reasons">
      {[...counts]
        .sort((a, b) => b[1] - a[1])
        .map(([reason, count]) => (
          <li key={reason}>
            <span>{reason.replaceAll("_", " ")}</span> <b>{exact_count(count)}</b>{" "}
            {can("eval_write") && (
              <button type="button" class="quiet" disabled={busy} onClick={retry(reason)}>
                Try again
              </button>
            )}
          </li>
        ))}
    </ul>
  );
}

function Budget({ task }: { task: EvalTask }) {
  const limit = (used: string, most: string | null) => (most === null ? used : `${used} of ${most}`);
  return (
    <Facts
      rows={[
        [
          "Tokens today",
          limit(exact_count(task.tokens_today), task.tokens_per_day ? exact_count(task.tokens_per_day) : null),
        ],
        [
          "Cost today",
          limit(
            money(task.cost_micro_usd_today),
            task.cost_micro_usd_per_day ? money(task.cost_micro_usd_per_day) : null,
          ),
        ],
        [
          "Verdicts",
          task.most_per_hour
            ? `at most ${exact_count(task.most_per_hour)} an hour`
            : task.most_per_day
              ? `at most ${exact_count(task.most_per_day)} a day`
              : "no limit",
        ],
        ["When used up", task.on_budget === "skip" ? "skip targets" : "wait"],
      ]}
    />
  );
}

function Backfills({ task }: { task: EvalTask }) {
  const { busy, attempt } = use_action();
  const [starting, set_starting] = useState(false);
  const load = use_pages<Backfill>(`eval_task_backfills/${task.id}`, (cursor, signal) =>
    api.page<Backfill>(task_route(task.id, "backfills"), { cursor }, signal),
  );
  const is_working = load.data?.some((one) => one.state === "searching" || one.state === "running") ?? false;
  use_refresh(is_working ? "eval_task" : null, poll_interval);
  return (
    <Section title="Backfills" text="Evaluate past targets with the filter and the version of now, newest first.">
      <Data load={load} retry={() => void reload("eval_task_backfills/")}>
        {(backfills) =>
          backfills.length === 0 ? (
            <p class="soft">None yet.</p>
          ) : (
            <ul class="plain-list">
              {backfills.map((one) => (
                <li key={one.id}>
                  <State
                    tone={one.state === "done" ? "done" : one.state === "cancelled" ? "off" : "running"}
                    text={one.state}
                  />{" "}
                  <Time time={one.from} /> to <Time time={one.to} /> · version {one.version} ·{" "}
                  {exact_count(one.done + one.failed)} of {plural(one.queued, "target")}
                  {one.known > 0 && ` · ${exact_count(one.known)} known before`}
                  {one.failed > 0 && ` · ${exact_count(one.failed)} without a verdict`}{" "}
                  {(one.state === "searching" || one.state === "running") && can("eval_write") && (
                    <button
                      type="button"
                      class="quiet"
                      disabled={busy}
                      onClick={attempt("Could not cancel the backfill", async () => {
                        await api.post(task_route(task.id, `backfills/${one.id}/cancel`), {});
                        await reload("eval_task");
                      })}
                    >
                      Cancel
                    </button>
                  )}
                </li>
              ))}
            </ul>
          )
        }
      </Data>
      {can("eval_write") && (
        <button type="button" onClick={() => set_starting(true)}>
          <Icon name="history" /> Evaluate past targets…
        </button>
      )}
      {starting && <BackfillDialog task={task} on_close={() => set_starting(false)} />}
    </Section>
  );
}

const job_tones: Partial<Record<EvalJob["state"], Tone>> = { done: "done", failed: "failed", skipped: "off" };

const job_columns = (task: EvalTask): Column<EvalJob>[] => [
  {
    id: "state",
    title: "State",
    width: "104px",
    cell: (job) => <State tone={job_tones[job.state] ?? "waiting"} text={job.state} />,
  },
  { id: "target", title: "Target", width: "30%", cell: (job) => <TargetLink task={task} job={job} /> },
  {
    id: "verdict",
    title: "Verdict",
    width: "110px",
    cell: (job) => job.label ?? (job.score === null || job.score === undefined ? "" : String(job.score)),
  },
  {
    id: "reason",
    title: "Reason",
    cell: (job) => (
      <span class="soft" title={job.error}>
        {job.reason.replaceAll("_", " ")}
      </span>
    ),
  },
  { id: "tokens", title: "Tokens", width: "80px", align: "right", wide: true, cell: (job) => <JobTokens job={job} /> },
  {
    id: "ended",
    title: "Ended",
    width: "96px",
    align: "right",
    wide: true,
    cell: (job) => <Time time={job.ended_at ?? null} missing="not yet" />,
  },
];

function Jobs({ task }: { task: EvalTask }) {
  const load = use_pages<EvalJob>(`eval_task_jobs/${task.id}`, (cursor, signal) =>
    api.page<EvalJob>(task_route(task.id, "jobs"), { cursor, limit: 200 }, signal),
  );
  return (
    <Section title="Targets" text="The outcome of each target, and why.">
      <Data load={load} retry={() => void reload("eval_task_jobs/")}>
        {(jobs) =>
          jobs.length === 0 ? (
            <Empty
              icon="scale"
              title="No targets yet"
              text="Each target of the sample is listed here once it is complete."
            />
          ) : (
            <Table
              label="Targets"
              rows={jobs}
              columns={job_columns(task)}
              row_id={(job) => job.key}
              row_title={(job) => job.target_id}
              on_end={load.more ?? undefined}
              fit
            />
          )
        }
      </Data>
    </Section>
  );
}

function Known({ task }: { task: EvalTask }) {
  const [dialog, set_dialog] = useState<"" | "edit" | "delete">("");
  const { attempt } = use_action();
  const funnel = use_load(`eval_task_funnel/${task.id}`, (signal) =>
    api.get<FunnelRow[]>(task_route(task.id, "funnel"), {}, signal),
  );
  use_refresh("eval_task", poll_interval);
  const state = task_state(task);
  const turn = attempt("Could not save the task", async () => {
    await api.patch(task_route(task.id), { enabled: task.state === "paused" || !task.enabled });
    await evaluators_changed();
  });
  return (
    <>
      <PageHeader
        title={`${task.evaluator_name}: ${target_words[task.target]}`}
        text={
          <>
            <State tone={state.tone} text={state.text} /> {rate_text(task.rate_ppm)}
            {task.strata.map((stratum) => `, ${rate_text(stratum.rate_ppm)} where ${stratum.filter}`)}
            {task.filter === "" ? "" : ` · only where ${task.filter}`} ·{" "}
            <a href={evaluator_page(task.evaluator_id)}>version {task.current_version}</a>
            {task.version === null ? " (the newest)" : ""}
          </>
        }
      >
        {can("eval_write") && (
          <>
            <button type="button" onClick={turn}>
              <Icon name={task.enabled && task.state === "active" ? "stop" : "play"} />{" "}
              {task.state === "paused" ? "Resume" : task.enabled ? "Turn off" : "Turn on"}
            </button>
            <Menu
              label="Actions"
              class="icon-only"
              align="right"
              button={<Icon name="more" />}
              items={[
                { title: "Edit…", icon: "settings", run: () => set_dialog("edit") },
                { title: "Delete…", icon: "trash", dangerous: true, run: () => set_dialog("delete") },
              ]}
            />
          </>
        )}
      </PageHeader>
      {task.reason !== "" && (
        <Note kind="warning" icon="warning">
          {task.reason}
          {task.waits_until && (
            <>
              {" "}
              The next attempt is <Time time={task.waits_until} />.
            </>
          )}
        </Note>
      )}
      <div class="two-columns">
        <Section title="Last 24 hours" text="New targets. Backfills are counted below.">
          <Data load={funnel} retry={() => void reload("eval_task_funnel/")}>
            {(rows) => <Funnel rows={rows} />}
          </Data>
        </Section>
        <Section title="Limits">
          <Budget task={task} />
        </Section>
      </div>
      <Section title="Failures by reason">{funnel.data && <Reasons task={task} rows={funnel.data} />}</Section>
      <Backfills task={task} />
      <Jobs task={task} />
      {dialog === "edit" && (
        <TaskDialog
          evaluator={{ id: task.evaluator_id, name: task.evaluator_name }}
          task={task}
          on_close={() => set_dialog("")}
        />
      )}
      {dialog === "delete" && (
        <Confirm
          title="Delete this task?"
          consequence="New targets are no longer evaluated, and the list of evaluated targets is deleted. Evals are kept."
          action="Delete task"
          run={async () => {
            await api.delete(task_route(task.id));
            await evaluators_changed();
            toast_done("Task deleted");
            navigate(evaluator_page(task.evaluator_id));
          }}
          on_close={() => set_dialog("")}
        />
      )}
    </>
  );
}

export function EvalTaskPage({ params }: { params: Params }) {
  const id = params.task ?? "";
  const load = use_load(`eval_task/${id}`, (signal) => api.get<EvalTask>(task_route(id), {}, signal));
  return (
    <div class="page">
      <Data load={load} retry={() => void reload("eval_task/")} whole_page>
        {(task) => <Known task={task} />}
      </Data>
    </div>
  );
}
