// Pull requests of approved branches: state, checks on the forge, retry.

import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import { api, segment } from "../../api";
import type { ForgeCommentView, PullRequest, PullRequestEvent } from "../../api_types";
import { reload, use_load } from "../../load";
import { can, space } from "../../login";
import { Confirm } from "../../parts/confirm";
import { PageHeader, Section } from "../../parts/page";
import { SearchField } from "../../parts/search_field";
import { Facts, SlideOver } from "../../parts/slide_over";
import { Data, Empty, Note, State } from "../../parts/state";
import { type Column, Table } from "../../parts/table";
import { Time } from "../../parts/time";
import { toast_done, toast_failed } from "../../parts/toast";
import { Visible, VisibleLines } from "../../parts/visible";
import { query, set_query } from "../../router";
import { inbox_page, review_page, run_page } from "../addresses";
import { Checks } from "./checks";
import { can_abandon, can_cancel, people_words, pull_request_tones, pull_request_words, reviews_changed } from "./data";
import { TheirCommits } from "./overview";

/** Only http and https addresses become links. */
function ForgeLink({ pr }: { pr: PullRequest }) {
  const name = pr.number === null ? pr.repo_name : `${pr.repo_name} #${pr.number}`;
  if (!/^https?:\/\//.test(pr.url)) return <>{name}</>;
  return (
    <a href={pr.url} target="_blank" rel="noopener noreferrer">
      {name}
    </a>
  );
}

function ForgeState({ pr }: { pr: PullRequest }) {
  return (
    <span class="inbox-marks">
      {pr.checks !== "" && (
        <State
          tone={pr.checks === "passed" ? "done" : pr.checks === "failed" ? "failed" : "running"}
          text={`checks ${pr.checks}`}
        />
      )}
      {pr.forge_review !== "" && (
        <State tone={pr.forge_review === "approved" ? "done" : "limit"} text={pr.forge_review.replaceAll("_", " ")} />
      )}
      {pr.mergeable === "conflicts" && <State tone="limit" text="conflicts" />}
      {pr.people !== "" && <State tone="limit" text={people_words[pr.people] ?? pr.people} />}
      {pr.update_state !== "" && (
        <State tone={pr.update_state === "failed" ? "failed" : "waiting"} text={`update ${pr.update_state}`} />
      )}
      {pr.error !== "" && <span class="soft">{pr.error}</span>}
    </span>
  );
}

const columns: Column<PullRequest>[] = [
  {
    id: "title",
    title: "Title",
    sort: (pr) => pr.title,
    cell: (pr) => (
      <>
        <a class="cell-link" href={review_page(pr.artifact_id)}>
          <Visible text={pr.title} />
        </a>
        {pr.draft && pr.state === "open" && <span class="tag">draft</span>}
      </>
    ),
  },
  {
    id: "state",
    title: "State",
    width: "190px",
    sort: (pr) => pr.state,
    cell: (pr) => <State tone={pull_request_tones[pr.state]} text={pull_request_words[pr.state]} />,
  },
  {
    id: "forge",
    title: "On the forge",
    width: "160px",
    wide: true,
    sort: (pr) => pr.repo_name,
    cell: (pr) => <ForgeLink pr={pr} />,
  },
  { id: "says", title: "Checks and reviews", wide: true, cell: (pr) => <ForgeState pr={pr} /> },
  {
    id: "updated_at",
    title: "Changed",
    width: "96px",
    align: "right",
    sort: (pr) => pr.updated_at,
    cell: (pr) => <Time time={pr.updated_at} />,
  },
];

/** Cancel, abandon, take over: each with its result. */
async function act(pr: PullRequest, action: string, done: string): Promise<void> {
  try {
    await api.post(`/v1/pull_requests/${segment(pr.id)}/${action}`, {});
    toast_done(done);
  } catch (error) {
    toast_failed("Could not change the pull request", error);
  }
  await reviews_changed();
}

function History({ pr }: { pr: PullRequest }) {
  const load = use_load(`pull_request_events/${pr.id}/${pr.updated_at}`, (signal) =>
    api.list<PullRequestEvent>(`/v1/pull_requests/${segment(pr.id)}/events`, {}, signal),
  );
  if (!load.data || load.data.length === 0) return null;
  return (
    <Section title="History">
      <ol class="plain-list">
        {load.data.map((event) => (
          <li key={event.id} class="history-line">
            <div>
              {event.kind.replaceAll("_", " ")}{" "}
              <span class="soft">
                <Visible text={event.message} />
              </span>
            </div>
            <span class="faint">
              <Time time={event.created_at} />
            </span>
          </li>
        ))}
      </ol>
    </Section>
  );
}

/** Read from the forge when the person opens them: the forge may be slow. */
function ForgeComments({ pr }: { pr: PullRequest }) {
  const [shown, set_shown] = useState(false);
  const load = use_load(shown ? `pull_request_comments/${pr.id}` : null, (signal) =>
    api.list<ForgeCommentView>(`/v1/pull_requests/${segment(pr.id)}/comments`, {}, signal),
  );
  if (pr.number === null) return null;
  return (
    <Section title="Comments on the forge">
      {!shown && (
        <button type="button" onClick={() => set_shown(true)}>
          Load comments
        </button>
      )}
      {shown && (
        <Data load={load} retry={() => void reload("pull_request_comments/")}>
          {(comments) =>
            comments.length === 0 ? (
              <p class="soft">No comments on the forge.</p>
            ) : (
              <ul class="plain-list">
                {comments.map((comment, index) => (
                  <li key={index}>
                    <b>
                      <Visible text={comment.author} />
                    </b>{" "}
                    {comment.path !== "" && (
                      <code>
                        <Visible text={comment.line === null ? comment.path : `${comment.path}:${comment.line}`} />
                      </code>
                    )}
                    <p class="pre">
                      <VisibleLines text={comment.body} />
                    </p>
                  </li>
                ))}
              </ul>
            )
          }
        </Data>
      )}
    </Section>
  );
}

async function sync(pr: PullRequest): Promise<void> {
  try {
    await api.post(`/v1/pull_requests/${segment(pr.id)}/sync`, {});
    toast_done(pr.state === "failed" ? "Retry started" : "Refresh started");
  } catch (error) {
    toast_failed("Could not refresh the pull request", error);
  }
  await reload("pull_request");
}

function Detail({ pr, rows }: { pr: PullRequest; rows: PullRequest[] }) {
  const [abandoning, set_abandoning] = useState(false);
  const at = rows.findIndex((other) => other.id === pr.id);
  const go = (step: number) => {
    const next = at < 0 ? undefined : rows[at + step];
    return next && (() => set_query({ open: next.id }, { replace: true }));
  };
  return (
    <SlideOver title={pr.title} on_close={() => set_query({ open: null })} on_previous={go(-1)} on_next={go(1)}>
      {pr.error !== "" && <Note kind={pr.state === "failed" ? "failed" : "warning"}>{pr.error}</Note>}
      {pr.people !== "" && (
        <Note kind="warning">
          <TheirCommits pr={pr} />
        </Note>
      )}
      <Facts
        rows={[
          ["State", <State key="state" tone={pull_request_tones[pr.state]} text={pull_request_words[pr.state]} />],
          ["On the forge", <ForgeLink key="link" pr={pr} />],
          ["Branch", <code key="branch">{pr.branch}</code>],
          ["Target", pr.target === "" ? <span class="faint">unknown</span> : <code key="target">{pr.target}</code>],
          ["Checks", pr.checks || <span class="faint">none</span>],
          ["Reviews", pr.forge_review.replaceAll("_", " ") || <span class="faint">none</span>],
          ["Can be merged", pr.mergeable || <span class="faint">unknown</span>],
          ["Revision", `${pr.delivered_revision} delivered, ${pr.revision} approved`],
          ...((can_abandon(pr) ? [["Next check", <Time key="next" time={pr.next_try_at} />]] : []) as [
            string,
            ComponentChildren,
          ][]),
          ["Approved", <Time key="created" time={pr.created_at} />],
          ["Last checked", <Time key="polled" time={pr.polled_at} />],
          ...((pr.merged_at ? [["Merged", <Time key="merged" time={pr.merged_at} />]] : []) as [
            string,
            ComponentChildren,
          ][]),
        ]}
      />
      <div class="page-actions">
        <a class="button primary" href={review_page(pr.artifact_id)}>
          Open review
        </a>
        <a class="button" href={run_page(pr.run_id)}>
          Open run
        </a>
        {can("artifact_review") && (
          <button type="button" onClick={() => void sync(pr)}>
            {pr.state === "failed" ? "Retry" : "Refresh"}
          </button>
        )}
        {can("artifact_review") && pr.people !== "" && pr.state === "open" && (
          <button type="button" onClick={() => void act(pr, "take_over", "The session receives the commits")}>
            Take over
          </button>
        )}
        {can("artifact_review") && can_cancel(pr) && (
          <button type="button" onClick={() => void act(pr, "cancel", "Delivery cancelled; the review is pending")}>
            Cancel delivery
          </button>
        )}
        {can("artifact_review") && can_abandon(pr) && (
          <button type="button" class="danger" onClick={() => set_abandoning(true)}>
            Abandon…
          </button>
        )}
      </div>
      {abandoning && (
        <Confirm
          title={`Abandon ${pr.title}`}
          consequence="Hone no longer follows this pull request. It is unchanged on the forge."
          action="Abandon"
          run={async () => {
            await act(pr, "abandon", "Pull request abandoned");
            set_abandoning(false);
          }}
          on_close={() => set_abandoning(false)}
        />
      )}
      <Checks key={`checks/${pr.id}`} pr={pr} />
      <ForgeComments key={pr.id} pr={pr} />
      <History pr={pr} />
    </SlideOver>
  );
}

export function PullRequests() {
  const load = use_load(`pull_requests/${space.value?.id}`, (signal) =>
    api.list<PullRequest>("/v1/pull_requests", { space: space.value?.id }, signal),
  );
  const text = (query.value.get("q") ?? "").toLowerCase();
  const rows = (load.data ?? []).filter((pr) =>
    `${pr.title} ${pr.repo_name} ${pr.branch}`.toLowerCase().includes(text),
  );
  const open = load.data?.find((pr) => pr.id === query.value.get("open"));
  return (
    <div class="beside">
      <div class="page list-page">
        <PageHeader title="Pull requests" text="Pull requests of approved branches." />
        <Data load={load} retry={() => void reload("pull_request")}>
          {(all) =>
            all.length === 0 ? (
              <Empty
                icon="merge"
                title="No pull requests yet"
                text="When a branch is approved in the Inbox, it is pushed and a pull request is opened for it."
              >
                <a class="button" href={inbox_page()}>
                  Open Inbox
                </a>
              </Empty>
            ) : (
              <Table
                label="Pull requests"
                rows={rows}
                columns={columns}
                row_id={(pr) => pr.id}
                row_title={(pr) => pr.title}
                order="-updated_at"
                on_open={(pr) => set_query({ open: pr.id })}
                open_id={query.value.get("open")}
                foot={rows.length > 0 ? null : <p class="table-note">No rows match the filter.</p>}
                bar={<SearchField label="Filter pull requests" />}
              />
            )
          }
        </Data>
      </div>
      {open && <Detail pr={open} rows={rows} />}
    </div>
  );
}
