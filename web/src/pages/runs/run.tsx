// One run: transcript, artifacts, network requests, manifest, events. The stop button is always visible.

import type { ComponentChildren } from "preact";
import { useEffect, useState } from "preact/hooks";
import { api } from "../../api";
import type { Artifact, Run } from "../../api_types";
import { exact_count, money, short_count } from "../../lib/format/number";
import { titled } from "../../lib/format/subject";
import { short_id } from "../../lib/format/text";
import { reload, use_load } from "../../load";
import { can } from "../../login";
import { Id } from "../../parts/copy";
import { Dialog } from "../../parts/dialog";
import { Choice, Field, Form } from "../../parts/form";
import { JsonValue } from "../../parts/json_view";
import { PageHeader } from "../../parts/page";
import { Facts } from "../../parts/slide_over";
import { Data, Note, State } from "../../parts/state";
import { current_tab, Tabs } from "../../parts/tabs";
import { Time } from "../../parts/time";
import { toast_done, toast_failed } from "../../parts/toast";
import { navigate } from "../../router";
import { automation_page, preset_page, run_page, run_trace_page } from "../addresses";
import { lack_of, use_providers } from "../presets/data";
import { project_name, use_projects } from "../projects/data";
import { ArtifactList } from "./artifacts";
import { AskButton } from "./ask";
import {
  has_failed_turn,
  is_over,
  list_artifacts,
  run_route,
  run_time,
  run_tokens,
  run_tone,
  run_word,
  use_manifest,
} from "./data";
import { EgressList } from "./egress";
import { EventList } from "./events";
import { WorkspaceFiles } from "./files";
import { FollowUpBox } from "./follow_up_box";
import { time_limits, used_of_budget } from "./limits";
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

export function RunFacts({ run }: { run: Run }) {
  const now = use_clock(!is_over(run.state));
  const projects = use_projects().data;
  const providers = use_providers();
  const project = project_name(projects, run.project_id);
  const tokens = run_tokens(run);
  const settings = use_manifest(run.id).data?.settings;
  const used = used_of_budget(
    {
      tokens: short_count(tokens),
      cost: cost_text(run),
      turns: exact_count(run.turns),
      steps: exact_count(run.steps),
    },
    settings,
  );
  return (
    <Facts
      rows={[
        ["State", <State key="state" tone={run_tone(run)} text={run_word(run)} />],
        [
          "Duration",
          <span key="duration" title="Without the time it waited for a place or a follow-up">
            {run_time(run, now)}
          </span>,
        ],
        [
          "Tokens",
          <span key="tokens" title={exact_count(tokens)}>
            {used.tokens}
          </span>,
        ],
        ["Cost", used.cost],
        ["Turns", used.turns],
        ["Tool calls", used.steps],
        ...(settings && !is_over(run.state)
          ? ([["Time limits", time_limits(settings)]] as [string, ComponentChildren][])
          : []),
        ["Provider", providers.find((entry) => entry.name === run.provider)?.title ?? run.provider],
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

/** A fork from the end has the workspace and the conversation; after an earlier turn, the turns as text. */
function ForkDialog({ run, on_close }: { run: Run; on_close: () => void }) {
  const can_copy = can_fork_from_end(run);
  const [prompt, set_prompt] = useState("");
  const [turn, set_turn] = useState(can_copy ? "" : String(last_ended_turn(run)));
  const turns = Array.from({ length: last_ended_turn(run) }, (_, i) => last_ended_turn(run) - i).filter(
    (each) => !can_copy || each < run.turns,
  );
  return (
    <Dialog title={`Fork ${run.title}`} on_close={on_close}>
      <Form
        title="Fork"
        busy_title="Forking…"
        disabled={prompt.trim() === ""}
        on_cancel={on_close}
        submit={async () => {
          const body = { prompt: prompt.trim(), ...(turn === "" ? {} : { turn: Number(turn) }) };
          const forked = await api.post<Run>(`${run_route(run.id)}/fork`, body);
          await reload("runs/");
          on_close();
          navigate(run_page(forked.id));
        }}
      >
        <Choice
          label="Begin"
          hint={
            turn === ""
              ? "With a copy of this workspace; the worker remembers the conversation if its harness can resume one."
              : "In a new workspace with the same commits and uploaded files, without what the worker wrote. The worker gets the turns until there as text, long ones cut."
          }
          value={turn}
          options={[
            ...(can_copy ? [{ value: "", title: "at the end" }] : []),
            ...turns.map((each) => ({ value: String(each), title: `after turn ${each}` })),
          ]}
          on_change={set_turn}
        />
        <Field
          label="First prompt"
          hint="Starts a new session. This session is unchanged."
          rows={4}
          value={prompt}
          on_input={set_prompt}
          first
        />
      </Form>
    </Dialog>
  );
}

const use_run_provider = (run: Run) => use_providers().find((entry) => entry.name === run.provider);

/** A tab that the provider of the run lacks, with the reason. */
function Lacking({ reason, children }: { reason: string | undefined; children: ComponentChildren }) {
  return reason === undefined ? children : <Note>{reason}</Note>;
}

function can_fork_from_end(run: Run): boolean {
  return is_over(run.state) && run.takes_follow_ups;
}

/** The newest turn that a fork can begin after; 0: none. */
function last_ended_turn(run: Run): number {
  return run.state === "running" || run.state === "preparing" ? run.turns - 1 : run.turns;
}

/** The actions that are possible in the current state of the run. */
export function RunActions({ run }: { run: Run }) {
  const [forking, set_forking] = useState(false);
  const no_fork = lack_of(use_run_provider(run), "fork");
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
      {run.origin === "session" && (can_fork_from_end(run) || last_ended_turn(run) > 0) && (
        <button type="button" disabled={no_fork !== undefined} title={no_fork} onClick={() => set_forking(true)}>
          Fork…
        </button>
      )}
      {is_over(run.state) ? (
        <button
          type="button"
          title="Pinned: the same commits, versions and data"
          onClick={() => void act("rerun", "New run started", "Could not start a run")()}
        >
          Run again
        </button>
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

function ManifestView({ run }: { run: string }) {
  const load = use_manifest(run);
  return (
    <Data load={load} retry={() => void reload("run_manifest/")}>
      {(manifest) => <JsonValue value={manifest} open={3} />}
    </Data>
  );
}

const usage_period = 3000; // as often as the server counts what a run costs, about

function Body({ run, artifacts }: { run: Run; artifacts: Artifact[] }) {
  const is_live = run.state === "running" || run.state === "preparing";
  const provider = use_run_provider(run);
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
      <RunFacts run={run} />
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
          <TranscriptView run={run.id} events={transcript.events} artifacts={artifacts} is_live={is_live} />
          <FollowUpBox run={run} artifacts={artifacts} events={transcript.events} provider={provider} />
        </>
      )}
      {tab === "artifacts" && <ArtifactList artifacts={artifacts} />}
      {tab === "files" && (
        <Lacking reason={lack_of(provider, "workspace")}>
          <WorkspaceFiles run={run} />
        </Lacking>
      )}
      {tab === "network" && (
        <Lacking reason={lack_of(provider, "network")}>
          <EgressList run={run} />
        </Lacking>
      )}
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
