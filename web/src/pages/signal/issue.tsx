// One issue: summary, affected traces, examples, investigation, actions, comments and history.

import { useMemo } from "preact/hooks";
import { api } from "../../api";
import type { Advice, Artifact, Fingerprint, Issue, IssueDetail, Project } from "../../api_types";
import { plural, short_count } from "../../lib/format/number";
import { first_sentence } from "../../lib/format/sentence";
import { local_time, to_milliseconds } from "../../lib/format/time";
import type { Params } from "../../lib/route";
import { capital } from "../../lib/sentences/metric";
import { reload, use_load, use_refresh } from "../../load";
import { can } from "../../login";
import { Chart } from "../../parts/chart";
import { PageHeader, Section } from "../../parts/page";
import { Facts } from "../../parts/slide_over";
import { Data, Note, State } from "../../parts/state";
import { Terms } from "../../parts/strip";
import { Time } from "../../parts/time";
import { toast_done, toast_failed } from "../../parts/toast";
import { navigate } from "../../router";
import { evaluators_page, issue_page, monitor_page, run_page, trace_page } from "../addresses";
import { use_project } from "../projects/data";
import { TextContent } from "../runs/artifacts";
import { list_artifacts } from "../runs/data";
import { BeforeAfter } from "./before_after";
import {
  detector_word,
  growth_text,
  issue_route,
  issues_changed,
  share_text,
  status_tones,
  status_words,
  use_issue_points,
} from "./data";
import { IssueActions } from "./issue_actions";
import { Conversation } from "./issue_comments";
import { Excerpt, facts_of, NextSteps, Versions } from "./next_steps";
import { SeverityMark } from "./severity_mark";
import { Where } from "./where";

const hour = 3_600_000;
const refresh = 3000;

/** "312 traces, 14 % of all, ×3.2, since 2 d ago." */
function Summary({ issue }: { issue: Issue }) {
  return (
    <p class="issue-summary">
      <SeverityMark severity={issue.severity} />
      <State tone={status_tones[issue.status]} text={status_words[issue.status]} />
      <span>
        <b>{plural(issue.traces, "trace")}</b>, {share_text(issue.share)} of all
      </span>
      <span>{growth_text(issue.growth)} compared to the previous period</span>
      <span>
        first seen <Time time={issue.first_seen} />, last seen <Time time={issue.last_seen} />
      </span>
    </p>
  );
}

function StatusNotes({ issue }: { issue: Issue }) {
  return (
    <>
      {issue.verdict !== "" && (
        <Note icon={issue.verdict === "confirmed" ? "check" : "info"}>
          A worker with a model read an example and {issue.verdict} it: {issue.verdict_reason}{" "}
          {issue.verdict_run && <a href={run_page(issue.verdict_run)}>Open the run</a>}
        </Note>
      )}
      {issue.status === "investigating" && issue.investigation_run && (
        <Note icon="rotate">
          A worker is investigating this issue. <a href={run_page(issue.investigation_run)}>Open the run</a>
        </Note>
      )}
      {issue.status === "fix_proposed" && issue.fix_run && (
        <Note icon="tool">
          A fix was proposed. <a href={run_page(issue.fix_run)}>Open the run</a>
        </Note>
      )}
      {(issue.reason !== "" || issue.muted_until) && (
        <Note>
          {status_words[issue.status]}
          {issue.muted_until && (
            <>
              {" "}
              until <Time time={issue.muted_until} />
            </>
          )}
          {issue.reason !== "" && `: ${issue.reason}`}
          {issue.quiet_matches > 0 && ` (found ${plural(issue.quiet_matches, "more time")} since, without notices)`}
        </Note>
      )}
    </>
  );
}

function Volume({ issue }: { issue: Issue }) {
  const load = use_issue_points(issue.id);
  const chart = useMemo(() => {
    const known = new Map((load.data ?? []).map((point) => [to_milliseconds(point.time), point.traces]));
    const times: number[] = [];
    if (known.size === 0) return { times, lines: [] };
    // Hours without traces are zero. At least a day, so that a new issue has a trend too.
    const now = Math.floor(Date.now() / hour) * hour;
    for (let at = Math.min(now - 24 * hour, ...known.keys()); at <= now && times.length < 800; at += hour)
      times.push(at);
    const values = times.map((time) => known.get(time) ?? 0);
    return { times, lines: [{ title: "traces", colour: "--failed", bars: true, values }] };
  }, [load.data]);
  if (chart.times.length === 0) return null;
  return (
    <section class="section" aria-label="Trend">
      <Chart title="Affected traces" {...chart} text={short_count} height={96} />
    </section>
  );
}

function Examples({ issue, project }: { issue: Issue; project: Project }) {
  return (
    <Section title="Example traces">
      {issue.examples.length === 0 ? (
        <p class="faint">No example traces.</p>
      ) : (
        <ul class="row-links">
          {issue.examples.map((example) => (
            <li key={example.trace_id + example.span_id}>
              <a
                class="row-link"
                href={`${trace_page(project.name, example.trace_id)}${example.span_id ? `?span=${example.span_id}` : ""}`}
              >
                <code>{example.trace_id}</code>
                <span class="row-text" />
                <time dateTime={example.time}>{local_time(example.time)}</time>
              </a>
            </li>
          ))}
        </ul>
      )}
    </Section>
  );
}

/** The text with the images of the same run. */
function WithCharts({ artifact }: { artifact: Artifact }) {
  const load = use_load(`artifacts/run/${artifact.run_id}`, (signal) =>
    list_artifacts({ run: artifact.run_id }, signal),
  );
  return <TextContent artifact={artifact} siblings={load.data ?? []} is_titled />;
}

/** The investigation that a worker wrote. */
function Investigation({ issue }: { issue: Issue }) {
  const id = issue.investigation_id;
  const load = use_load(id ? `artifacts/one/${id}` : null, (signal) =>
    api.get<Artifact>(`/v1/artifacts/${id}`, {}, signal),
  );
  if (!id)
    return (
      <Section title="Investigation">
        <p class="soft">
          {issue.status === "investigating"
            ? "The investigation appears here when the worker has saved it."
            : "Not investigated yet. “Investigate” starts a worker that reads the traces and describes the cause and a fix."}
        </p>
      </Section>
    );
  return (
    <Section title="Investigation">
      <Data load={load} retry={() => void reload("artifacts/one/")}>
        {(artifact) => (
          <>
            <p class="soft">
              Written <Time time={artifact.created_at} /> by <a href={run_page(artifact.run_id)}>a worker</a>
            </p>
            <WithCharts artifact={artifact} />
          </>
        )}
      </Data>
    </Section>
  );
}

const term_words: Record<string, string> = {
  affected_traces: "traces",
  share: "share",
  growth: "growth",
  severity: "severity",
  novelty: "novelty",
  confidence: "confidence",
};

/** The findings of a merged issue; each can be split off again. */
function Parts({ issue, parts, project }: { issue: Issue; parts: Fingerprint[]; project: Project }) {
  async function split(part: Fingerprint): Promise<void> {
    try {
      const created = await api.post<Issue>(issue_route(issue.id, "/split"), { fingerprint: part.fingerprint });
      await issues_changed();
      toast_done("Split into a new issue", {
        title: "Open",
        run: () => navigate(issue_page(project.name, created.id)),
      });
    } catch (error) {
      toast_failed("Could not split the issue", error);
    }
  }
  if (parts.length < 2) return null;
  return (
    <section aria-label="Merged findings">
      <h2>Merged from {parts.length} findings</h2>
      <ul class="issue-parts">
        {parts.map((part) => (
          <li key={part.fingerprint}>
            <span title={part.title}>{part.title}</span>
            {can("issue_write") && (
              <button type="button" class="quiet" onClick={() => void split(part)}>
                Split
              </button>
            )}
          </li>
        ))}
      </ul>
    </section>
  );
}

interface BodyProps {
  issue: Issue;
  parts: Fingerprint[];
  advice: Advice;
  project: Project;
}

function Aside({ issue, parts, advice, project }: BodyProps) {
  return (
    <aside class="issue-side" aria-label="About this issue">
      <NextSteps issue={issue} advice={advice} />
      <Versions issue={issue} project={project} />
      <section aria-label="Score">
        <h2>Score {Math.round(issue.score)}</h2>
        <Terms
          label="Parts of the score"
          terms={issue.score_terms.map((term) => ({
            name: term_words[term.name] ?? term.name,
            points: term.points,
            text: term.why,
          }))}
        />
      </section>
      <section aria-label="Details">
        <h2>Details</h2>
        <Facts
          rows={[
            ["Kind", detector_word(issue.detector)],
            ...facts_of(issue).others.map((fact): [string, string] => [capital(fact.name), fact.value]),
            ["Confidence", share_text(issue.confidence)],
            ["Assignee", issue.assignee_name ?? "none"],
            ["Found", plural(issue.matches, "time")],
            ...(issue.forge_issue
              ? [
                  [
                    "On the forge",
                    <a key="forge" href={issue.forge_issue} rel="noreferrer noopener" target="_blank">
                      {issue.forge_issue.replace(/^https?:\/\//, "")}
                    </a>,
                  ] as [string, preact.JSX.Element],
                ]
              : []),
            ...(issue.evaluator_id
              ? [
                  [
                    "Evaluator",
                    <a key="evaluator" href={evaluators_page(project.name)}>
                      labels its spans
                    </a>,
                  ] as [string, preact.JSX.Element],
                ]
              : []),
            ...(issue.monitor_id
              ? [
                  [
                    "Monitor",
                    <a key="monitor" href={monitor_page(project.name, issue.monitor_id)}>
                      open
                    </a>,
                  ] as [string, preact.JSX.Element],
                ]
              : []),
            ...(issue.reopened > 0 ? [["Reopened", plural(issue.reopened, "time")] as [string, string]] : []),
          ]}
        />
      </section>
      <Parts issue={issue} parts={parts} project={project} />
    </aside>
  );
}

function Body({ issue, parts, advice, project }: BodyProps) {
  const [lead, rest] = first_sentence(issue.explanation);
  // A worker changes the issue while the page is open.
  use_refresh(issue.status === "investigating" ? "issue" : null, refresh);
  return (
    <>
      <PageHeader title={issue.title} text={lead}>
        <IssueActions issue={issue} project={project} />
      </PageHeader>
      <Summary issue={issue} />
      <StatusNotes issue={issue} />
      <div class="issue">
        <div class="issue-main">
          <Excerpt issue={issue} />
          <Where issue={issue} project={project} />
          <BeforeAfter issue={issue} project={project} />
          <Volume issue={issue} />
          <Investigation issue={issue} />
          {rest !== "" && (
            <Section title="Why it was found">
              <p class="issue-reason">{rest}</p>
            </Section>
          )}
          <Examples issue={issue} project={project} />
          <Conversation issue={issue} />
        </div>
        <Aside issue={issue} parts={parts} advice={advice} project={project} />
      </div>
    </>
  );
}

export function IssuePage({ params }: { params: Params }) {
  const id = params.issue ?? "";
  const project = use_project(params);
  const load = use_load(`issue/${id}`, (signal) => api.get<IssueDetail>(issue_route(id), {}, signal));
  return (
    <div class="page">
      <Data load={project} retry={() => void reload("project/")}>
        {(known) => (
          <Data load={load} retry={() => void reload("issue/")} whole_page>
            {({ issue, fingerprints, advice }) =>
              issue.merged_into ? (
                <Note icon="chain">
                  {issue.title} was merged into <a href={issue_page(known.name, issue.merged_into)}>another issue</a>.
                </Note>
              ) : (
                <Body issue={issue} parts={fingerprints} advice={advice} project={known} />
              )
            }
          </Data>
        )}
      </Data>
    </div>
  );
}
