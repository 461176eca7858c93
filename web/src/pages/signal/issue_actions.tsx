// What can be done with an issue: look at its traces, investigate, fix, watch, hand over, silence, close, merge.

import { useState } from "preact/hooks";
import { api, to_api_error } from "../../api";
import type { Issue, Member, Project } from "../../api_types";
import { use_keys } from "../../keyboard";
import { use_load } from "../../load";
import { Dialog } from "../../parts/dialog";
import { Choice, Field, Form } from "../../parts/form";
import { Icon } from "../../parts/icon";
import { Menu, type MenuItem } from "../../parts/menu";
import { toast_done, toast_failed } from "../../parts/toast";
import { navigate } from "../../router";
import { can, space, user } from "../../session";
import { evaluators_page, issue_page, monitor_page, run_page, traces_page } from "../addresses";
import { list_repos } from "../repos/data";
import { is_live, issue_route, issues_changed, severities, use_issues, use_signal } from "./data";

type Asked = "mute" | "dismiss" | "assign" | "merge" | "severity" | "forge";

async function change(issue: Issue, body: object, done: string): Promise<void> {
  await api.patch(issue_route(issue.id), body);
  await issues_changed();
  toast_done(done);
}

interface AskProps {
  issue: Issue;
  project: Project;
  on_close: () => void;
}

const dismissals = ["expected behaviour", "not worth fixing", "wrongly found", "cannot be reproduced"];

function DismissDialog({ issue, on_close }: AskProps) {
  const [reason, set_reason] = useState(dismissals[0] ?? "");
  const [words, set_words] = useState("");
  return (
    <Dialog title="Dismiss this issue" on_close={on_close}>
      <Form
        title="Dismiss"
        dangerous
        on_cancel={on_close}
        submit={async () => {
          const text = words.trim() === "" ? reason : `${reason}: ${words.trim()}`;
          await change(issue, { status: "dismissed", reason: text }, "Dismissed; the same finding stays quiet");
          on_close();
        }}
      >
        <p>The same finding stays quiet from now on and is only counted. You can reopen it.</p>
        <Choice
          label="Because it is"
          value={reason}
          on_change={set_reason}
          options={dismissals.map((text) => ({ value: text, title: text }))}
        />
        <Field label="In your words" rows={3} value={words} on_input={set_words} />
      </Form>
    </Dialog>
  );
}

function MuteDialog({ issue, on_close }: AskProps) {
  const [hours, set_hours] = useState("24");
  const [reason, set_reason] = useState("");
  return (
    <Dialog title="Mute this issue" on_close={on_close}>
      <Form
        title="Mute"
        on_cancel={on_close}
        submit={async () => {
          const until = hours === "" ? null : new Date(Date.now() + Number(hours) * 3_600_000).toISOString();
          await change(issue, { status: "muted", reason: reason.trim(), muted_until: until }, "Muted");
          on_close();
        }}
      >
        <Choice
          label="For"
          value={hours}
          on_change={set_hours}
          options={[
            { value: "4", title: "4 hours" },
            { value: "24", title: "24 hours" },
            { value: "168", title: "a week" },
            { value: "", title: "until somebody unmutes it" },
          ]}
        />
        <Field label="Why" value={reason} on_input={set_reason} placeholder="a fix is on its way" first />
      </Form>
    </Dialog>
  );
}

function AssignDialog({ issue, on_close }: AskProps) {
  const [who, set_who] = useState(issue.assignee ?? "");
  const members = use_load(can("member_read") ? `members/${space.value?.id}` : null, (signal) =>
    api.list<Member>(`/v1/spaces/${space.value?.id}/members`, {}, signal),
  ).data;
  const own = { value: user.value?.id ?? "", title: user.value?.email ?? "" };
  const known = members?.map((member) => ({ value: member.user_id, title: member.name || member.email }));
  const name = (known ?? [own]).find((one) => one.value === who)?.title ?? who;
  return (
    <Dialog title="Assign this issue" on_close={on_close}>
      <Form
        title="Assign"
        on_cancel={on_close}
        submit={async () => {
          await change(
            issue,
            { assignee: who === "" ? null : who },
            who === "" ? "Assigned to nobody" : `Assigned to ${name}`,
          );
          on_close();
        }}
      >
        <Choice
          label="To"
          value={who}
          on_change={set_who}
          options={[{ value: "", title: "nobody" }, ...(known ?? [own])]}
        />
      </Form>
    </Dialog>
  );
}

function MergeDialog({ issue, project, on_close }: AskProps) {
  const [into, set_into] = useState("");
  const others = (use_issues(project).data ?? []).filter((other) => other.id !== issue.id && is_live(other));
  return (
    <Dialog title="Merge into another issue" on_close={on_close}>
      <Form
        title="Merge"
        disabled={into === ""}
        on_cancel={on_close}
        submit={async () => {
          await api.post(issue_route(into, "/merge"), { issue: issue.id });
          await issues_changed();
          toast_done("Merged");
          on_close();
          navigate(issue_page(project.name, into));
        }}
      >
        <p>Traces, comments and future findings of “{issue.title}” belong to the other issue from now on.</p>
        <Choice
          label="Into"
          value={into}
          on_change={set_into}
          options={[
            { value: "", title: others.length === 0 ? "there is no other open issue" : "choose an issue" },
            ...others.map((other) => ({ value: other.id, title: other.title })),
          ]}
        />
      </Form>
    </Dialog>
  );
}

function SeverityDialog({ issue, on_close }: AskProps) {
  const [severity, set_severity] = useState<string>(issue.severity);
  return (
    <Dialog title="Severity of this issue" on_close={on_close}>
      <Form
        title="Set severity"
        on_cancel={on_close}
        submit={async () => {
          await change(issue, { severity }, `Severity: ${severity}`);
          on_close();
        }}
      >
        <Choice
          label="Severity"
          value={severity}
          on_change={set_severity}
          options={severities.map((one) => ({ value: one, title: one }))}
          hint="Scans leave it alone from then on."
        />
      </Form>
    </Dialog>
  );
}

/** Opens one where the team keeps its work, or links one that is there. */
function ForgeDialog({ issue, project, on_close }: AskProps) {
  const repos = use_load(can("repo_read") ? "repos/choice" : null, list_repos).data ?? [];
  const own = use_signal(project).data?.settings.repo?.url;
  const usual = repos.find((repo) => repo.url === own)?.id ?? repos[0]?.id ?? "";
  const [repo, set_repo] = useState<string | null>(null);
  const [title, set_title] = useState(issue.title);
  const [url, set_url] = useState("");
  const linking = url.trim() !== "";
  const chosen = repo ?? usual;
  return (
    <Dialog title="Issue on the forge" on_close={on_close}>
      <Form
        title={linking ? "Link it" : "Open it there"}
        disabled={!linking && chosen === ""}
        on_cancel={on_close}
        submit={async () => {
          const body = linking ? { url: url.trim() } : { repo: chosen, title: title.trim() };
          const changed = await api.post<Issue>(issue_route(issue.id, "/forge_issue"), body);
          await issues_changed();
          toast_done(linking ? "Linked" : `Opened ${changed.forge_issue ?? ""}`);
          on_close();
        }}
      >
        <Choice
          label="Repository"
          value={chosen}
          on_change={set_repo}
          disabled={linking}
          options={
            repos.length === 0
              ? [{ value: "", title: "the space has none yet" }]
              : repos.map((one) => ({ value: one.id, title: one.name }))
          }
          hint="It is opened with the repository's own credential: title, numbers and trace ids, no text of traces."
        />
        <Field label="Title" value={title} on_input={set_title} disabled={linking} />
        <Field
          label="Or link one that is there"
          value={url}
          on_input={set_url}
          placeholder="https://github.com/acme/shop/issues/7"
        />
      </Form>
    </Dialog>
  );
}

const dialogs: Record<Asked, (props: AskProps) => preact.JSX.Element> = {
  dismiss: DismissDialog,
  mute: MuteDialog,
  assign: AssignDialog,
  merge: MergeDialog,
  severity: SeverityDialog,
  forge: ForgeDialog,
};

export function IssueActions({ issue, project }: { issue: Issue; project: Project }) {
  const [asked, set_asked] = useState<Asked | null>(null);
  const [busy, set_busy] = useState("");
  /** One thing at a time; a failure is said, never lost. */
  const run = (name: string, failed: string, action: () => Promise<void>) => async () => {
    if (busy !== "") return;
    set_busy(name);
    try {
      await action();
    } catch (error) {
      toast_failed(failed, to_api_error(error));
    } finally {
      set_busy("");
    }
  };
  const investigate = run("investigate", "No worker was started", async () => {
    await api.post(issue_route(issue.id, "/investigate"), {});
    await issues_changed();
    toast_done("A worker looks into it");
  });
  const fix = run("fix", "No worker was started", async () => {
    const changed = await api.post<Issue>(issue_route(issue.id, "/fix"), {});
    await issues_changed();
    if (changed.fix_run) navigate(run_page(changed.fix_run));
  });
  const monitor = run("monitor", "No monitor was created", async () => {
    const changed = await api.post<Issue>(issue_route(issue.id, "/monitor"), {});
    await issues_changed();
    if (changed.monitor_id) navigate(monitor_page(project.name, changed.monitor_id));
  });
  const evaluator = run("evaluator", "No evaluator was created", async () => {
    await api.post<Issue>(issue_route(issue.id, "/evaluator"), {});
    await issues_changed();
    toast_done("It marks the spans of this issue, new ones and those of the last day", {
      title: "Evaluators",
      run: () => navigate(evaluators_page(project.name)),
    });
  });
  const unlink = run("unlink", "The link is as before", async () => {
    await api.delete(issue_route(issue.id, "/forge_issue"));
    await issues_changed();
    toast_done("The link is gone; the issue on the forge stays");
  });
  const set_status = (status: string, done: string) =>
    run(status, "The issue is as before", () => change(issue, { status }, done));
  const live = is_live(issue);
  const may_write = can("issue_write");
  const may_start = can("run_start");
  const items: MenuItem[] = [];
  if (issue.monitor_id && can("monitor_read"))
    items.push({
      title: "Open its monitor",
      icon: "gauge",
      run: () => navigate(monitor_page(project.name, issue.monitor_id ?? "")),
    });
  else if (can("monitor_write")) items.push({ title: "Create a monitor", icon: "gauge", run: () => void monitor() });
  if (issue.evaluator_id)
    items.push({ title: "Open its evaluator", icon: "check", run: () => navigate(evaluators_page(project.name)) });
  else if (can("eval_write")) items.push({ title: "Create an evaluator", icon: "check", run: () => void evaluator() });
  if (may_write && !issue.forge_issue)
    items.push({ title: "Issue on the forge…", icon: "chain", run: () => set_asked("forge") });
  if (may_write && issue.forge_issue)
    items.push({ title: "Unlink the forge's issue", icon: "chain", run: () => void unlink() });
  if (may_write)
    items.push(
      { title: "Assign…", icon: "person", run: () => set_asked("assign") },
      { title: "Severity…", icon: "signal", run: () => set_asked("severity") },
      { title: "Merge into…", icon: "chain", run: () => set_asked("merge") },
    );
  if (may_write && live)
    items.push(
      { title: "Mute…", icon: "clock", divided: true, run: () => set_asked("mute") },
      { title: "Dismiss…", icon: "stop", run: () => set_asked("dismiss") },
    );
  const Ask = asked && dialogs[asked];
  use_keys([
    {
      keys: "t",
      title: "Open its traces",
      group: "This issue",
      run: () => navigate(traces_page(project.name, issue.filter, "7d")),
    },
    ...(may_start && live
      ? [{ keys: "i", title: "Investigate", group: "This issue", run: () => void investigate() }]
      : []),
    ...(may_write ? [{ keys: "a", title: "Assign", group: "This issue", run: () => set_asked("assign") }] : []),
    ...(may_write && live ? [{ keys: "m", title: "Mute", group: "This issue", run: () => set_asked("mute") }] : []),
  ]);
  return (
    <>
      <a class="button" href={traces_page(project.name, issue.filter, "7d")}>
        <Icon name="trace" /> Open traces
      </a>
      {live && may_start && (
        <>
          <button
            type="button"
            class={issue.investigation_id ? undefined : "primary"}
            disabled={busy !== "" || issue.status === "investigating"}
            onClick={() => void investigate()}
          >
            <Icon name="search" /> {issue.investigation_id ? "Investigate again" : "Investigate"}
          </button>
          <button
            type="button"
            class={issue.investigation_id ? "primary" : undefined}
            disabled={busy !== ""}
            onClick={() => void fix()}
          >
            <Icon name="tool" /> Start fix
          </button>
        </>
      )}
      {live && may_write && (
        <button
          type="button"
          disabled={busy !== ""}
          onClick={() => void set_status("resolved", "Resolved; it reopens by itself if it comes back")()}
        >
          <Icon name="check" /> Resolve
        </button>
      )}
      {!live && may_write && (
        <button
          type="button"
          class="primary"
          disabled={busy !== ""}
          onClick={() => void set_status("open", "Open again")()}
        >
          <Icon name="rotate" /> {issue.status === "muted" ? "Unmute" : "Reopen"}
        </button>
      )}
      {items.length > 0 && (
        <Menu label="More actions" class="icon-only" align="right" button={<Icon name="more" />} items={items} />
      )}
      {Ask && <Ask issue={issue} project={project} on_close={() => set_asked(null)} />}
    </>
  );
}
