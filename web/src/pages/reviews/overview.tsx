// The overview of a review: flags, verification results, commits, decisions, pull request, evidence of the same run.

import type { Artifact, PullRequest, ReviewView, Revision, VerificationRun } from "../../api_types";
import { duration } from "../../lib/format/number";
import { use_load } from "../../load";
import { Id } from "../../parts/copy";
import { Icon } from "../../parts/icon";
import { Section } from "../../parts/page";
import { Note, State } from "../../parts/state";
import { Time } from "../../parts/time";
import { Visible, VisibleLines } from "../../parts/visible";
import { set_query } from "../../router";
import { TextContent } from "../runs/artifacts";
import { list_artifacts } from "../runs/data";
import { Checks } from "./checks";
import {
  people_words,
  pull_request_tones,
  pull_request_words,
  review_tones,
  review_words,
  type Thread,
  verification_tones,
  verification_words,
} from "./data";
import { VerifiedFix } from "./replay";
import { type Drafts, ThreadView } from "./threads";

/** Opens the line in the changes. */
const go_to = (path: string, side: string, line: number | null) =>
  set_query({ tab: null, at: line === null ? path : `${path}:${side}:${line}` });

function Flags({ revision }: { revision: Revision }) {
  if (revision.flags.length === 0) return null;
  return (
    <Section title="Flags">
      <ul class="flag-list">
        {revision.flags.map((flag, index) => (
          <li key={index}>
            <span class={`state ${flag.blocking ? "failed" : "limit"}`}>
              <Icon name="warning" /> {flag.blocking ? "needs approval" : "check"}
            </span>
            <p>
              <Visible text={flag.message} />{" "}
              {flag.path !== "" && (
                <button type="button" class="flag-place" onClick={() => go_to(flag.path, "new", flag.line)}>
                  <Visible text={flag.line === null ? flag.path : `${flag.path}:${flag.line}`} />
                </button>
              )}
            </p>
          </li>
        ))}
      </ul>
    </Section>
  );
}

function RunState({ run }: { run: VerificationRun | null }) {
  if (!run) return <span class="faint">not run</span>;
  if (run.timed_out) return <State tone="limit" text={`timed out after ${duration(run.duration_ms)}`} />;
  const green = run.exit_code === 0;
  const text = green ? "passed" : run.exit_code === null ? "killed" : `exit ${run.exit_code}`;
  return <State tone={green ? "done" : "failed"} text={`${text}, ${duration(run.duration_ms)}`} />;
}

function Output({ title, run }: { title: string; run: VerificationRun | null }) {
  return (
    <div>
      <h3>{title}</h3>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a scrolling block must be reachable by keyboard */}
      <pre tabIndex={0} role="group" aria-label={`Output on ${title}`}>
        <code>{run?.output ? <VisibleLines text={run.output.trimEnd()} /> : "(no output)"}</code>
      </pre>
    </div>
  );
}

export function Verification({ revision }: { revision: Revision }) {
  if (revision.verification === "none") return null;
  return (
    <Section title="Verification" text="Each command runs in a new sandbox, before and after the change.">
      <p>
        <State tone={verification_tones[revision.verification]} text={verification_words[revision.verification]} />
      </p>
      {revision.verification_results.length > 0 && (
        <table class="checks">
          <thead>
            <tr>
              <th scope="col">Command</th>
              <th scope="col">Base</th>
              <th scope="col">Branch</th>
            </tr>
          </thead>
          <tbody>
            {revision.verification_results.map((result) => (
              <tr key={result.name}>
                <td>
                  <details>
                    <summary>
                      <b>{result.name}</b> <code class="soft">{result.command}</code>
                    </summary>
                    <div class="side-by-side">
                      <Output title="base" run={result.base} />
                      <Output title="branch" run={result.branch} />
                    </div>
                  </details>
                </td>
                <td>
                  <RunState run={result.base} />
                </td>
                <td>
                  <RunState run={result.branch} />
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
    </Section>
  );
}

function Commits({ revision }: { revision: Revision }) {
  return (
    <Section title="Commits">
      <ul class="plain-list">
        {revision.commits.map((commit) => (
          <li key={commit.id} class="commit">
            <Id id={commit.id} />
            <div>
              <b>
                <Visible text={commit.message.split("\n", 1)[0] ?? ""} />
              </b>
              {commit.message.includes("\n") && (
                <p class="soft pre">
                  <VisibleLines text={commit.message.slice(commit.message.indexOf("\n")).trim()} />
                </p>
              )}
              <p class="faint">
                <Visible text={commit.author} />
              </p>
            </div>
          </li>
        ))}
      </ul>
    </Section>
  );
}

export function PullRequestNote({ review }: { review: ReviewView }) {
  const pr = review.pull_request;
  if (!pr) return null;
  const safe = /^https?:\/\//.test(pr.url);
  return (
    <Note kind={pr.state === "failed" ? "failed" : pr.state === "merged" ? "done" : "plain"} icon="link">
      <State tone={pull_request_tones[pr.state]} text={pull_request_words[pr.state]} />{" "}
      {safe ? (
        <a href={pr.url} target="_blank" rel="noopener noreferrer">
          {pr.repo_name}
          {pr.number !== null && ` #${pr.number}`}
        </a>
      ) : (
        <>
          {pr.repo_name}, branch <code>{pr.branch}</code>
        </>
      )}
      {pr.draft && pr.state === "open" && <span class="tag">draft</span>}
      {pr.checks !== "" && <span class="tag">checks {pr.checks}</span>}
      {pr.forge_review !== "" && <span class="tag">{pr.forge_review.replaceAll("_", " ")}</span>}
      {pr.mergeable === "conflicts" && <span class="tag">conflicts</span>}
      {pr.update_state === "pending" && <span class="tag">update pending</span>}
      {pr.update_state === "failed" && <span class="tag">update failed</span>}
      {pr.error !== "" && <p>{pr.error}</p>}
      {pr.people !== "" && <TheirCommits pr={pr} />}
      {review.earlier_pull_requests.length > 0 && (
        <p class="soft">
          Earlier:{" "}
          {review.earlier_pull_requests
            .map((one) => `${one.number === null ? one.branch : `#${one.number}`} ${pull_request_words[one.state]}`)
            .join(", ")}
        </p>
      )}
    </Note>
  );
}

/** Commits that people pushed to the branch on the forge. They are never overwritten. */
export function TheirCommits({ pr }: { pr: PullRequest }) {
  return (
    <>
      <p>{people_words[pr.people] ?? pr.people}:</p>
      <ul class="plain-list">
        {pr.their_commits.map((commit) => (
          <li key={commit.id}>
            <Id id={commit.id} /> <Visible text={commit.title} />{" "}
            <span class="soft">
              <Visible text={commit.author} />
            </span>
          </li>
        ))}
      </ul>
    </>
  );
}

function History({ review }: { review: ReviewView }) {
  const entries = [
    ...review.revisions.map((revision) => ({
      at: revision.pushed_at,
      key: `r${revision.revision}`,
      content: (
        <>
          <Icon name="up" /> Revision {revision.revision} pushed, +{revision.additions} −{revision.deletions}
        </>
      ),
    })),
    ...review.decisions.map((decision) => ({
      at: decision.created_at,
      key: decision.id,
      content: (
        <>
          <State tone={review_tones[decision.decision]} text={review_words[decision.decision]} /> by {decision.reviewer}
          {decision.revision > 0 && <span class="soft"> on revision {decision.revision}</span>}
          {decision.decision === "approved" && !decision.counts && (
            <span class="tag">{decision.withdrawn_at === null ? "outdated" : "withdrawn"}</span>
          )}
          {decision.allow_protected && <span class="tag">flags allowed</span>}
          {decision.comment !== "" && <p class="soft">{decision.comment}</p>}
        </>
      ),
    })),
  ].sort((a, b) => (a.at < b.at ? -1 : 1));
  if (entries.length === 0) return null;
  return (
    <Section title="History">
      <ol class="plain-list">
        {entries.map((entry) => (
          <li key={entry.key} class="history-line">
            <div>{entry.content}</div>
            <span class="faint">
              <Time time={entry.at} />
            </span>
          </li>
        ))}
      </ol>
    </Section>
  );
}

/** Investigations of the same run. */
function Evidence({ review }: { review: ReviewView }) {
  const { run_id } = review.artifact;
  const load = use_load(`artifacts/run/${run_id}`, (signal) => list_artifacts({ run: run_id }, signal));
  const found = (load.data ?? []).filter((artifact: Artifact) => artifact.kind === "investigation");
  if (found.length === 0) return null;
  return (
    <Section title="Evidence" text="Investigations of the same run.">
      {found.map((artifact: Artifact) => (
        <details key={artifact.id}>
          <summary>
            <b>{artifact.name}</b> <span class="soft">{artifact.summary}</span>
          </summary>
          <TextContent artifact={artifact} siblings={load.data ?? []} />
        </details>
      ))}
    </Section>
  );
}

export function Conversation({ review, threads, drafts }: { review: ReviewView; threads: Thread[]; drafts: Drafts }) {
  if (threads.length === 0) return null;
  return (
    <Section title="Conversation">
      <div class="thread-list">
        {threads.map((thread) => (
          <ThreadView
            key={thread.first.id}
            artifact={review.artifact.id}
            thread={thread}
            drafts={drafts}
            outdated={thread.first.revision > 0 && thread.first.revision < review.revisions.length}
            on_place={() => {
              const { first } = thread;
              const newest = first.revision === review.revisions.length;
              set_query({
                tab: null,
                revision: newest ? null : String(first.revision),
                against: null,
                at: first.line === null ? first.path : `${first.path}:${first.side}:${first.line}`,
              });
            }}
          />
        ))}
      </div>
    </Section>
  );
}

/** The same beside the diff on wide screens. */
export function ReviewAside({ review }: { review: ReviewView }) {
  const newest = review.revisions[review.revisions.length - 1];
  if (!newest) return null;
  return (
    <aside class="review-aside" aria-label="Evidence and verification">
      <Flags revision={newest} />
      <VerifiedFix review={review} />
      <Verification revision={newest} />
      <Checks pr={review.pull_request} />
      <Evidence review={review} />
      <History review={review} />
    </aside>
  );
}

export function Overview({ review, threads, drafts }: { review: ReviewView; threads: Thread[]; drafts: Drafts }) {
  const newest = review.revisions[review.revisions.length - 1];
  return (
    <>
      {newest && <Flags revision={newest} />}
      <VerifiedFix review={review} />
      {newest && <Verification revision={newest} />}
      <Checks pr={review.pull_request} />
      <Evidence review={review} />
      <Conversation review={review} threads={threads} drafts={drafts} />
      {newest && <Commits revision={newest} />}
      <History review={review} />
    </>
  );
}
