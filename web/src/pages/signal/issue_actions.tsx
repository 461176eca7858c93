// Actions on an issue: open its traces, investigate, fix, monitor, assign, mute, resolve, dismiss, merge.

import { useState } from "preact/hooks";
import { api, segment } from "../../api";
import type { ForgeIssueDraft, Issue, Member, Monitor, Preset, Project, SignalView } from "../../api_types";
import { use_keys } from "../../keyboard";
import { titled } from "../../lib/format/subject";
import { use_load } from "../../load";
import { can, space, user } from "../../login";
import { use_action } from "../../parts/action";
import { Dialog } from "../../parts/dialog";
import { Choice, Field, Form } from "../../parts/form";
import { Icon } from "../../parts/icon";
import { Menu, type MenuItem } from "../../parts/menu";
import { toast_done } from "../../parts/toast";
import { navigate } from "../../router";
import { evaluators_page, issue_page, monitor_page, run_page, signal_page, traces_page } from "../addresses";
import { AddToDataset } from "../datasets/add_to_dataset";
import { use_presets } from "../presets/data";
import { list_repos } from "../repos/data";
import { ask_address } from "../runs/ask";
import { is_live, issue_route, issues_changed, severities, use_issues, use_signal } from "./data";

type DialogName = "mute" | "dismiss" | "assign" | "merge" | "severity" | "forge" | "dataset" | "monitor";

async function change(issue: Issue, body: object, done: string): Promise<void> {
  await api.patch(issue_route(issue.id), body);
  await issues_changed();
  toast_done(done);
}

interface ActionDialogProps {
  issue: Issue;
  project: Project;
  on_close: () => void;
}

function DatasetDialog({ issue, project, on_close }: ActionDialogProps) {
  const sources = { kind: "issue", id: issue.id, is_resolved: issue.status === "resolved" } as const;
  return <AddToDataset project={project} sources={sources} on_close={on_close} />;
}

const dismissals = ["expected behaviour", "not worth fixing", "false positive", "cannot be reproduced"];

function DismissDialog({ issue, on_close }: ActionDialogProps) {
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
          await change(issue, { status: "dismissed", reason: text }, "Issue dismissed");
          on_close();
        }}
      >
        <p>The same finding is only counted from now on, without notices. You can reopen the issue.</p>
        <Choice
          label="Reason"
          value={reason}
          on_change={set_reason}
          options={dismissals.map((text) => ({ value: text, title: text }))}
        />
        <Field label="Comment" rows={3} value={words} on_input={set_words} />
      </Form>
    </Dialog>
  );
}

function MuteDialog({ issue, on_close }: ActionDialogProps) {
  const [hours, set_hours] = useState("24");
  const [reason, set_reason] = useState("");
  return (
    <Dialog title="Mute this issue" on_close={on_close}>
      <Form
        title="Mute"
        on_cancel={on_close}
        submit={async () => {
          const until = hours === "" ? null : new Date(Date.now() + Number(hours) * 3_600_000).toISOString();
          await change(issue, { status: "muted", reason: reason.trim(), muted_until: until }, "Issue muted");
          on_close();
        }}
      >
        <Choice
          label="Duration"
          value={hours}
          on_change={set_hours}
          options={[
            { value: "4", title: "4 hours" },
            { value: "24", title: "24 hours" },
            { value: "168", title: "a week" },
            { value: "", title: "until unmuted" },
          ]}
        />
        <Field label="Reason" value={reason} on_input={set_reason} placeholder="a fix is in progress" first />
      </Form>
    </Dialog>
  );
}

function AssignDialog({ issue, on_close }: ActionDialogProps) {
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
            who === "" ? "Assignee removed" : `Assigned to ${name}`,
          );
          on_close();
        }}
      >
        <Choice
          label="Assignee"
          value={who}
          on_change={set_who}
          options={[{ value: "", title: "no assignee" }, ...(known ?? [own])]}
        />
      </Form>
    </Dialog>
  );
}

function MergeDialog({ issue, project, on_close }: ActionDialogProps) {
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
          toast_done("Issues merged");
          on_close();
          navigate(issue_page(project.name, into));
        }}
      >
        <p>Traces, comments and future findings of “{issue.title}” move to the other issue.</p>
        <Choice
          label="Merge into"
          value={into}
          on_change={set_into}
          options={[
            { value: "", title: others.length === 0 ? "no other open issues" : "choose an issue" },
            ...others.map((other) => ({ value: other.id, title: other.title })),
          ]}
        />
      </Form>
    </Dialog>
  );
}

function SeverityDialog({ issue, on_close }: ActionDialogProps) {
  const [severity, set_severity] = useState<string>(issue.severity);
  return (
    <Dialog title="Set severity" on_close={on_close}>
      <Form
        title="Set severity"
        on_cancel={on_close}
        submit={async () => {
          await change(issue, { severity }, `Severity set to ${severity}`);
          on_close();
        }}
      >
        <Choice
          label="Severity"
          value={severity}
          on_change={set_severity}
          options={severities.map((one) => ({ value: one, title: one }))}
          hint="Scans no longer change it."
        />
      </Form>
    </Dialog>
  );
}

/** Creates an issue on the forge, or links an existing one. */
function ForgeDialog({ issue, project, on_close }: ActionDialogProps) {
  const repos = use_load(can("repo_read") ? "repos/choice" : null, list_repos).data ?? [];
  const own = use_signal(project).data?.settings.repo?.url;
  const usual = repos.find((repo) => repo.url === own)?.id ?? repos[0]?.id ?? "";
  const [repo, set_repo] = useState<string | null>(null);
  const [title, set_title] = useState(issue.title);
  const [url, set_url] = useState("");
  const draft = use_load(`issues/${issue.id}/draft`, (signal) =>
    api.get<ForgeIssueDraft>(issue_route(issue.id, "/forge_issue"), {}, signal),
  ).data;
  const [text, set_text] = useState<string | null>(null);
  const shown = text ?? draft?.body ?? "";
  const linking = url.trim() !== "";
  const chosen = repo ?? usual;
  return (
    <Dialog title="Forge issue" on_close={on_close}>
      <Form
        title={linking ? "Link issue" : "Create issue"}
        disabled={!linking && (chosen === "" || shown === "")}
        on_cancel={on_close}
        submit={async () => {
          const body = linking ? { url: url.trim() } : { repo: chosen, title: title.trim(), body: shown };
          const changed = await api.post<Issue>(issue_route(issue.id, "/forge_issue"), body);
          await issues_changed();
          toast_done(linking ? "Issue linked" : `Created ${changed.forge_issue ?? ""}`);
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
              ? [{ value: "", title: "no repositories in this space" }]
              : repos.map((one) => ({ value: one.id, title: one.name }))
          }
          hint="Created with the repository's credential. Contains the title, numbers and trace ids, no text of traces."
        />
        <Field label="Title" value={title} on_input={set_title} disabled={linking} />
        <Field label="Text" rows={8} value={shown} on_input={set_text} disabled={linking} />
        <Field
          label="Or link an existing issue"
          value={url}
          on_input={set_url}
          placeholder="https://github.com/acme/shop/issues/7"
        />
      </Form>
    </Dialog>
  );
}

/** A monitor notifies people: its limit is chosen before it exists. */
function MonitorDialog({ issue, project, on_close }: ActionDialogProps) {
  const [limit, set_limit] = useState("0");
  const number = Number(limit);
  const valid = limit.trim() !== "" && Number.isFinite(number) && number >= 0;
  return (
    <Dialog title="Create a monitor" on_close={on_close}>
      <Form
        title="Create monitor"
        disabled={!valid}
        on_cancel={on_close}
        submit={async () => {
          const changed = await api.post<Issue>(issue_route(issue.id, "/monitor"), {});
          const id = changed.monitor_id ?? "";
          if (number > 0) {
            const route = `/v1/monitors/${segment(id)}`;
            const { settings } = await api.get<Monitor>(route, {});
            await api.patch(route, {
              settings: { ...settings, condition: { ...settings.condition, threshold: number } },
            });
          }
          await issues_changed();
          on_close();
          navigate(monitor_page(project.name, id));
        }}
      >
        <p>
          It counts the traces of this issue in the last hour, every 10 minutes, and sends notices when it triggers.
        </p>
        <Field
          label="Triggers above, traces per hour"
          type="number"
          min={0}
          value={limit}
          on_input={set_limit}
          hint="0: when the issue is seen again."
          first
        />
      </Form>
    </Dialog>
  );
}

const dialogs: Record<DialogName, (props: ActionDialogProps) => preact.JSX.Element> = {
  dismiss: DismissDialog,
  mute: MuteDialog,
  assign: AssignDialog,
  merge: MergeDialog,
  severity: SeverityDialog,
  forge: ForgeDialog,
  dataset: DatasetDialog,
  monitor: MonitorDialog,
};

/** What a fix still needs; null when it can start, or when the settings cannot be read. */
function fix_obstacle(signal: SignalView | undefined, presets: Preset[] | undefined): string | null {
  if (!signal) return null;
  if (signal.settings.preset === null) return "A fix needs a coding agent: choose a preset with a model.";
  const preset = presets?.find((one) => one.id === signal.settings.preset || one.name === signal.settings.preset);
  if (preset?.settings.harness === "playbook") return "A fix needs a coding agent: choose a preset with a model.";
  if (signal.settings.repo === null && preset?.settings.repos.length === 0)
    return "A fix needs the application's repository: name it.";
  return null;
}

export function IssueActions({ issue, project }: { issue: Issue; project: Project }) {
  const [dialog, set_dialog] = useState<DialogName | null>(null);
  const { busy, attempt } = use_action();
  const investigate = attempt("Could not start the investigation", async () => {
    await api.post(issue_route(issue.id, "/investigate"), {});
    await issues_changed();
    toast_done("Investigation started");
  });
  const fix = attempt("Could not start the fix", async () => {
    const changed = await api.post<Issue>(issue_route(issue.id, "/fix"), {});
    await issues_changed();
    if (changed.fix_run) navigate(run_page(changed.fix_run));
  });
  const evaluator = attempt("Could not create the evaluator", async () => {
    await api.post<Issue>(issue_route(issue.id, "/evaluator"), {});
    await issues_changed();
    toast_done("Evaluator created; it labels new spans and those of the last day", {
      title: "Open evaluators",
      run: () => navigate(evaluators_page(project.name)),
    });
  });
  const unlink = attempt("Could not remove the link", async () => {
    await api.delete(issue_route(issue.id, "/forge_issue"));
    await issues_changed();
    toast_done("Link removed; the issue on the forge is unchanged");
  });
  const set_status = (status: string, done: string) =>
    attempt("Could not change the issue", () => change(issue, { status }, done));
  const live = is_live(issue);
  const obstacle = fix_obstacle(use_signal(project).data, use_presets().data);
  const may_write = can("issue_write");
  const may_start = can("run_start");
  const open_traces = () => navigate(traces_page(project.name, issue.filter, "7d"));
  // The title has the room: three buttons, the others are in the menu.
  const items: MenuItem[] = [{ title: "Open traces", icon: "trace", run: open_traces }];
  if (may_start)
    items.push({
      title: "Ask a worker",
      icon: "agent",
      run: () => navigate(ask_address(project.name, [{ kind: "issue", value: titled(issue.id, issue.title) }])),
    });
  if (issue.monitor_id && can("monitor_read"))
    items.push({
      title: "Open monitor",
      icon: "gauge",
      run: () => navigate(monitor_page(project.name, issue.monitor_id ?? "")),
    });
  else if (can("monitor_write"))
    items.push({ title: "Create a monitor…", icon: "gauge", run: () => set_dialog("monitor") });
  if (issue.evaluator_id)
    items.push({ title: "Open evaluator", icon: "scale", run: () => navigate(evaluators_page(project.name)) });
  else if (can("eval_write")) items.push({ title: "Create an evaluator", icon: "scale", run: evaluator });
  if (can("dataset_write"))
    items.push({
      title: issue.status === "resolved" ? "Keep as regression tests…" : "Add to a dataset…",
      icon: "dataset",
      run: () => set_dialog("dataset"),
    });
  if (may_write && !issue.forge_issue)
    items.push({ title: "Create or link a forge issue…", icon: "chain", run: () => set_dialog("forge") });
  if (may_write && issue.forge_issue) items.push({ title: "Unlink the forge issue", icon: "chain", run: unlink });
  if (may_write)
    items.push(
      { title: "Assign…", icon: "person", run: () => set_dialog("assign") },
      { title: "Set severity…", icon: "signal", run: () => set_dialog("severity") },
      { title: "Merge into…", icon: "chain", run: () => set_dialog("merge") },
    );
  if (may_write && live)
    items.push(
      { title: "Mute…", icon: "clock", divided: true, run: () => set_dialog("mute") },
      { title: "Dismiss…", icon: "stop", run: () => set_dialog("dismiss") },
    );
  const OpenDialog = dialog && dialogs[dialog];
  use_keys([
    {
      keys: "t",
      title: "Open traces",
      group: "This issue",
      run: open_traces,
    },
    ...(may_start && live ? [{ keys: "i", title: "Investigate", group: "This issue", run: investigate }] : []),
    ...(may_write ? [{ keys: "a", title: "Assign", group: "This issue", run: () => set_dialog("assign") }] : []),
    ...(may_write && live ? [{ keys: "m", title: "Mute", group: "This issue", run: () => set_dialog("mute") }] : []),
  ]);
  return (
    <>
      {live && may_start && (
        <>
          <button
            type="button"
            class={issue.investigation_id ? undefined : "primary"}
            disabled={busy || issue.status === "investigating"}
            onClick={investigate}
          >
            <Icon name="search" /> {issue.investigation_id ? "Investigate again" : "Investigate"}
          </button>
          {obstacle ? (
            <a class="button" href={`${signal_page(project.name)}?settings=1`} title={obstacle}>
              <Icon name="tool" /> Set up fixes
            </a>
          ) : (
            <button type="button" class={issue.investigation_id ? "primary" : undefined} disabled={busy} onClick={fix}>
              <Icon name="tool" /> Start fix
            </button>
          )}
        </>
      )}
      {live && may_write && (
        <button
          type="button"
          disabled={busy}
          onClick={set_status("resolved", "Issue resolved; it reopens if it occurs again")}
        >
          <Icon name="check" /> Resolve
        </button>
      )}
      {!live && may_write && (
        <button type="button" class="primary" disabled={busy} onClick={set_status("open", "Issue reopened")}>
          <Icon name="rotate" /> {issue.status === "muted" ? "Unmute" : "Reopen"}
        </button>
      )}
      <Menu label="More actions" class="icon-only" align="right" button={<Icon name="more" />} items={items} />
      {OpenDialog && <OpenDialog issue={issue} project={project} on_close={() => set_dialog(null)} />}
    </>
  );
}
