// Comments on an issue, and its history.

import { useState } from "preact/hooks";
import { api } from "../../api";
import type { Change, Issue, IssueComment } from "../../api_types";
import { reload, use_load } from "../../load";
import { can } from "../../login";
import { Field, Form } from "../../parts/form";
import { Avatar } from "../../parts/frame/avatar";
import { Markdown } from "../../parts/markdown";
import { Section } from "../../parts/page";
import { Data } from "../../parts/state";
import { Time } from "../../parts/time";
import { issue_route } from "./data";

function Comments({ issue }: { issue: Issue }) {
  const key = `issue_comments/${issue.id}`;
  const [body, set_body] = useState("");
  const load = use_load(key, (signal) => api.list<IssueComment>(issue_route(issue.id, "/comments"), {}, signal));
  async function send(): Promise<void> {
    await api.post(issue_route(issue.id, "/comments"), { text: body.trim() });
    set_body("");
    await Promise.all([reload(key), reload("issue_history/")]);
  }
  return (
    <Section title="Comments">
      <Data load={load} retry={() => void reload(key)}>
        {(comments) => (
          <ol class="talk">
            {[...comments].reverse().map((comment) => (
              <li key={comment.id}>
                <Avatar name={comment.author} />
                <div>
                  <p class="talk-head">
                    <b>{comment.author}</b> <Time time={comment.created_at} />
                  </p>
                  <Markdown text={comment.text} />
                </div>
              </li>
            ))}
          </ol>
        )}
      </Data>
      {can("issue_write") && (
        <Form title="Comment" plain disabled={body.trim() === ""} submit={send}>
          <Field label="Your comment" rows={3} value={body} on_input={set_body} />
        </Form>
      )}
    </Section>
  );
}

const change_words: Record<string, string> = {
  found: "Found",
  reopened: "Reopened",
  status: "Status",
  severity: "Severity",
  title: "Title",
  assignee: "Assigned",
  merged: "Merged",
  split: "Split",
  investigation: "Investigation",
  fix: "Fix",
  monitor: "Monitor",
};

function History({ issue }: { issue: Issue }) {
  const key = `issue_history/${issue.id}`;
  const load = use_load(key, (signal) => api.list<Change>(issue_route(issue.id, "/history"), {}, signal));
  return (
    <Section title="History">
      <Data load={load} retry={() => void reload(key)}>
        {(changes) => (
          <ol class="history">
            {changes.map((change) => (
              <li key={change.time + change.what}>
                <Time time={change.time} />
                <span>
                  <b>{change_words[change.what] ?? change.what}</b> {change.detail}{" "}
                  <span class="faint">{change.who}</span>
                </span>
              </li>
            ))}
          </ol>
        )}
      </Data>
    </Section>
  );
}

export function Conversation({ issue }: { issue: Issue }) {
  return (
    <>
      <Comments issue={issue} />
      <History issue={issue} />
    </>
  );
}
