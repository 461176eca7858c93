// One run: transcript, artifacts, network requests, manifest, events. The stop button is always visible.

import type { ComponentChildren } from "preact";
import { useEffect, useState } from "preact/hooks";
import { api } from "../../api";
import type { Artifact, Manifest, Run, RunEvent } from "../../api_types";
import { duration, exact_count, money, short_count } from "../../lib/format/number";
import { titled } from "../../lib/format/subject";
import { short_id } from "../../lib/format/text";
import { working_time } from "../../lib/view/working_time";
import { reload, use_load } from "../../load";
import { can } from "../../login";
import { Id } from "../../parts/copy";
import { Dialog } from "../../parts/dialog";
import { Field, Form } from "../../parts/form";
import { JsonValue } from "../../parts/json_view";
import { PageHeader } from "../../parts/page";
import { Facts } from "../../parts/slide_over";
import { Data, Note, State } from "../../parts/state";
import { current_tab, Tabs } from "../../parts/tabs";
import { Time } from "../../parts/time";
import { toast_done, toast_failed } from "../../parts/toast";
import { navigate } from "../../router";
import { automation_page, preset_page, run_page, run_trace_page } from "../addresses";
import { project_name, use_projects } from "../projects/data";
import { ArtifactList } from "./artifacts";
import { AskButton } from "./ask";
import { has_failed_turn, is_over, list_artifacts, run_route, run_time, run_tokens, run_tone, run_word } from "./data";
import { EgressList } from "./egress";
import { EventList } from "./events";
import { WorkspaceFiles } from "./files";
import { RecordMenu } from "./records";
import { TranscriptView, use_transcript } from "./transcript";

export function cost_text(run: Run): string {
  return run.cost_micro_usd === null ? (run_tokens(run) === 0 ? "$0" : "unknown") : money(run.cost_micro_usd);
}

function use_clock(ticks: boolean): number {
  const [now, set_now] = useState(Date.now());
  useEffect(() => {
    if (!ticks) return;
    const timer = setInterval(() => set_now(Date.now()), 1000);
    return () => clearInterval(timer);
  }, [ticks]);
  return now;
}

interface FactsProps {
  run: Run;
  /** With them the duration leaves out the time between two turns. */
  events?: RunEvent[];
}

export function RunFacts({ run, events = [] }: FactsProps) {
  const now = use_clock(!is_over(run.state));
  const worked = working_time(events, now);
  const projects = use_projects().data;
  const project = project_name(projects, run.project_id);
  const tokens = run_tokens(run);
  return (
    <Facts
      rows={[
        ["State", <State key="state" tone={run_tone(run)} text={run_word(run)} />],
        [
          "Duration",
          worked === null ? (
            run_time(run, now)
          ) : (
            <span key="duration" title="Without the time it waited for follow-ups">
              {duration(worked)}
            </span>
          ),
        ],
        [
          "Tokens",
          <span key="tokens" title={exact_count(tokens)}>
            {short_count(tokens)}
          </span>,
        ],
        ["Cost", cost_text(run)],
        ["Turns", exact_count(run.turns)],
        ["Tool calls", exact_count(run.steps)],
        ["Harness", run.model === "" ? run.harness : `${run.harness}, ${run.model}`],
        [
          "Preset",
          run.preset_id ? (
            <a href={preset_page(run.preset_id)}>{run.preset_name}</a>
          ) : (
            <span key="none" class="soft">
              none
            </span>
          ),
        ],
        ["Project", project],
        [
          "Started by",
          run.automation_id ? (
            <a key="by" href={automation_page(run.automation_id)}>
              {run.started_by}
            </a>
          ) : (
            run.started_by
          ),
        ],
        ["Created", <Time key="time" time={run.created_at} />],
        ...(run.kept_by ? ([["Kept by", run.kept_by]] as [string, ComponentChildren][]) : []),
        ...(run.workspace_removed_at
          ? ([["Workspace expired", <Time key="expired" time={run.workspace_removed_at} />]] as [
              string,
              ComponentChildren,
            ][])
          : []),
        ...(run.from_run
          ? ([
              [
                "Forked from",
                <a key="from" href={run_page(run.from_run)}>
                  {short_id(run.from_run)}
                </a>,
              ],
            ] as [string, ComponentChildren][])
          : []),
        ["Id", <Id key="id" id={run.id} />],
      ]}
    />
  );
}

function ForkDialog({ run, on_close }: { run: Run; on_close: () => void }) {
  const [prompt, set_prompt] = useState("");
  return (
    <Dialog title={`Fork ${run.title}`} on_close={on_close}>
      <Form
        title="Fork"
        busy_title="Forking…"
        disabled={prompt.trim() === ""}
        on_cancel={on_close}
        submit={async () => {
          const forked = await api.post<Run>(`${run_route(run.id)}/fork`, { prompt: prompt.trim() });
          await reload("runs/");
          on_close();
          navigate(run_page(forked.id));
        }}
      >
        <Field
          label="First prompt"
          hint="Starts a new session on a copy of this workspace. This session is unchanged."
          rows={4}
          value={prompt}
          on_input={set_prompt}
          first
        />
      </Form>
    </Dialog>
  );
}

/** The actions that are possible in the current state of the run. */
export function RunActions({ run }: { run: Run }) {
  const [forking, set_forking] = useState(false);
  if (!can("run_start")) return null;
  const act = (what: string, done: string, failed: string) => async () => {
    try {
      const changed = await api.post<Run>(`${run_route(run.id)}/${what}`, {});
      toast_done(done);
      await reload("run");
      if (what === "rerun") navigate(run_page(changed.id));
    } catch (error) {
      toast_failed(failed, error);
    }
  };
  return (
    <>
      {run.state === "running" && (
        <button type="button" onClick={() => void act("interrupt", "Turn interrupted", "Could not interrupt")()}>
          Interrupt
        </button>
      )}
      {is_over(run.state) ? (
        <>
          {run.takes_follow_ups && run.origin === "session" && (
            <button type="button" onClick={() => set_forking(true)}>
              Fork…
            </button>
          )}
          <button
            type="button"
            title="Pinned: the same commits, versions and data"
            onClick={() => void act("rerun", "New run started", "Could not start a run")()}
          >
            Run again
          </button>
        </>
      ) : (
        <button
          type="button"
          class="danger"
          onClick={() => void act("cancel", "Run stopped", "Could not stop the run")()}
        >
          Stop
        </button>
      )}
      {forking && <ForkDialog run={run} on_close={() => set_forking(false)} />}
    </>
  );
}

/** A run that ended badly cannot explain itself: another worker can. */
function AskAboutRun({ run }: { run: Run }) {
  const project = project_name(use_projects().data, run.project_id);
  const failed = (is_over(run.state) && run.state !== "succeeded") || has_failed_turn(run);
  if (!failed || project === "") return null;
  return <AskButton project={project} about={[{ kind: "run", value: titled(run.id, run.title) }]} />;
}

function FollowUp({ run }: { run: Run }) {
  const [text, set_text] = useState("");
  if (!can("run_start") || !run.takes_follow_ups) return null;
  return (
    <div class="follow-up">
      <Form
        title="Send"
        busy_title="Sending…"
        disabled={text.trim() === ""}
        submit={async () => {
          await api.post(`${run_route(run.id)}/messages`, { text: text.trim() });
          set_text("");
          await reload(`run/${run.id}`);
        }}
      >
        <Field
          label="Follow-up"
          hint={`${is_over(run.state) ? "Resumes the session in a new sandbox with the same workspace. " : ""}Ctrl+Enter sends.`}
          rows={2}
          value={text}
          on_input={set_text}
        />
      </Form>
    </div>
  );
}

function ManifestView({ run }: { run: string }) {
  const load = use_load(`run_manifest/${run}`, (signal) => api.get<Manifest>(`${run_route(run)}/manifest`, {}, signal));
  return (
    <Data load={load} retry={() => void reload("run_manifest/")}>
      {(manifest) => <JsonValue value={manifest} open={3} />}
    </Data>
  );
}

const usage_period = 3000; // as often as the server counts what a run costs, about

function Body({ run, artifacts }: { run: Run; artifacts: Artifact[] }) {
  const is_live = run.state === "running" || run.state === "preparing";
  useEffect(() => {
    if (!is_live) return;
    const timer = setInterval(() => void reload(`run/${run.id}`), usage_period);
    return () => clearInterval(timer);
  }, [run.id, is_live]);
  const transcript = use_transcript(run.id, (event) => {
    void reload(`run/${run.id}`);
    if (event.artifact || event.state) void reload("artifacts/");
    void reload("run_egress/");
  });
  const tabs = [
    { id: "transcript", title: "Transcript" },
    { id: "artifacts", title: artifacts.length === 0 ? "Artifacts" : `Artifacts ${artifacts.length}` },
    { id: "files", title: "Files" },
    { id: "network", title: "Network" },
    { id: "manifest", title: "Manifest" },
    { id: "events", title: "Events" },
  ];
  const tab = current_tab(tabs);
  return (
    <>
      <RunFacts run={run} events={transcript.events} />
      {run.reason !== "" && (
        <Note kind={is_over(run.state) && run.state !== "succeeded" ? "failed" : "plain"}>{run.reason}</Note>
      )}
      <Tabs label="Run" tabs={tabs} />
      {transcript.reconnecting && (
        <p class="faint" role="status">
          Reconnecting…
        </p>
      )}
      {tab === "transcript" && (
        <>
          <TranscriptView run={run.id} events={transcript.events} artifacts={artifacts} />
          <FollowUp run={run} />
        </>
      )}
      {tab === "artifacts" && <ArtifactList artifacts={artifacts} />}
      {tab === "files" && <WorkspaceFiles run={run} />}
      {tab === "network" && <EgressList run={run} />}
      {tab === "manifest" && <ManifestView run={run.id} />}
      {tab === "events" && <EventList events={transcript.events} began={run.created_at} />}
    </>
  );
}

export function RunPage({ params }: { params: Record<string, string> }) {
  const id = params.run ?? "";
  const load = use_load(`run/${id}`, (signal) => api.get<Run>(run_route(id), {}, signal));
  const artifacts = use_load(`artifacts/run/${id}`, (signal) => list_artifacts({ run: id }, signal));
  return (
    <div class="page run-page">
      <Data load={load} retry={() => void reload("run/")} whole_page>
        {(run) => (
          <>
            <PageHeader title={run.title}>
              {run.trace_id !== "" && (
                <a class="button" href={run_trace_page(run.trace_id)}>
                  View traces
                </a>
              )}
              <AskAboutRun run={run} />
              <RunActions run={run} />
              <RecordMenu run={run} />
            </PageHeader>
            <Body run={run} artifacts={artifacts.data ?? []} />
          </>
        )}
      </Data>
    </div>
  );
}
