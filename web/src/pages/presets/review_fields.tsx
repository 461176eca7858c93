// The part of a preset's form about branches: approvals, protected paths, verification, pull requests.

import { plural } from "../../lib/format/number";
import { Check, Choice, Field } from "../../parts/form";
import { GroupList } from "../../parts/group_list";
import type { ReviewDraft } from "./draft";

interface PartProps {
  draft: ReviewDraft;
  change: (part: Partial<ReviewDraft>) => void;
}

export function review_summary(draft: ReviewDraft): string {
  const parts = [`${plural(Number(draft.approvals) || 1, "approval")} by at least a ${draft.role}`];
  const commands = draft.verification.map((one) => one.name).filter((name) => name !== "");
  if (commands.length > 0) parts.push(`verified by ${commands.join(", ")}`);
  if (draft.require_replayed) parts.push("replayed");
  parts.push(draft.open_pull_request ? (draft.draft ? "draft pull request" : "pull request") : "only pushed");
  return parts.join(", ");
}

function Verification({ draft, change }: PartProps) {
  return (
    <>
      <GroupList
        noun="Verification"
        add="Add a verification command"
        rows={draft.verification}
        blank={{ name: "", command: "", timeout_seconds: "600" }}
        on_change={(verification) => change({ verification })}
      >
        {(one, set) => (
          <>
            <div class="field-row">
              <Field label="Name" placeholder="tests" value={one.name} on_input={(name) => set({ name })} />
              <Field
                label="Timeout, s"
                type="number"
                min={1}
                value={one.timeout_seconds}
                on_input={(timeout_seconds) => set({ timeout_seconds })}
              />
            </div>
            <Field
              label="Command"
              placeholder="make test"
              value={one.command}
              on_input={(command) => set({ command })}
            />
          </>
        )}
      </GroupList>
      {draft.verification.length > 0 && (
        <Check
          label="Only verified branches can be approved"
          hint="Commands run on the base and on the branch, in a new sandbox with the setup and the network of the preset."
          checked={draft.require_verified}
          on_change={(require_verified) => change({ require_verified })}
        />
      )}
    </>
  );
}

function Replay({ draft, change }: PartProps) {
  return (
    <>
      <div class="field-row">
        <Field
          label="Replay command"
          hint="Runs the application on one recorded input: JSON on stdin, JSON on stdout."
          placeholder="python3 replay.py"
          value={draft.replay_command}
          on_input={(replay_command) => change({ replay_command })}
        />
        <Field
          label="Evaluator of replays"
          hint="Decides whether an output passes. Empty: the evaluator of the issue."
          value={draft.replay_evaluator}
          on_input={(replay_evaluator) => change({ replay_evaluator })}
        />
      </div>
      {draft.replay_command.trim() !== "" && (
        <Check
          label="Only replayed fixes can be approved"
          hint="Traces of the issue run on the base and on the branch with each push."
          checked={draft.require_replayed}
          on_change={(require_replayed) => change({ require_replayed })}
        />
      )}
    </>
  );
}

function Delivery({ draft, change }: PartProps) {
  return (
    <>
      <Check
        label="Open a pull request"
        hint="Off: the branch is only pushed."
        checked={draft.open_pull_request}
        on_change={(open_pull_request) => change({ open_pull_request })}
      />
      {draft.open_pull_request && (
        <>
          <Check label="As a draft" checked={draft.draft} on_change={(on) => change({ draft: on })} />
          <Check
            label="Send comments from the forge to the session"
            hint="Comments of bots and of the token's own account are never sent."
            checked={draft.follow_forge_comments}
            on_change={(follow_forge_comments) => change({ follow_forge_comments })}
          />
          {draft.follow_forge_comments && (
            <Choice
              label="Comments of"
              value={draft.follow_comments_of}
              on_change={(follow_comments_of) => change({ follow_comments_of })}
              options={[
                { value: "writers", title: "people who can write to the repository" },
                { value: "anyone", title: "anyone who can comment on the forge" },
              ]}
            />
          )}
          <div class="field-row">
            <Field
              label="Open pull requests at most"
              type="number"
              min={1}
              value={draft.open_pull_requests}
              on_input={(open_pull_requests) => change({ open_pull_requests })}
            />
            <Field
              label="Labels"
              hint="Separated by commas."
              value={draft.labels}
              on_input={(labels) => change({ labels })}
            />
            <Field
              label="Reviewers"
              hint="User names on the forge, separated by commas."
              value={draft.reviewers}
              on_input={(reviewers) => change({ reviewers })}
            />
          </div>
        </>
      )}
      <Choice
        label="Commits"
        value={draft.commits}
        on_change={(commits) => change({ commits })}
        options={[
          { value: "keep", title: "keep the worker's commits" },
          { value: "squash", title: "squash into one commit" },
        ]}
      />
      <Field
        label="Author"
        placeholder="Name <mail@example.com>"
        value={draft.author}
        on_input={(author) => change({ author })}
      />
      <Field
        label="Trailers"
        hint="One “Key: value” per line."
        rows={2}
        value={draft.trailers}
        on_input={(trailers) => change({ trailers })}
      />
      <Check label="Sign off" checked={draft.sign_off} on_change={(sign_off) => change({ sign_off })} />
    </>
  );
}

export function ReviewPart({ draft, change }: PartProps) {
  return (
    <>
      <div class="field-row">
        <Field
          label="Approvals"
          type="number"
          min={1}
          value={draft.approvals}
          on_input={(approvals) => change({ approvals })}
        />
        <Choice
          label="Minimum role of approvers"
          value={draft.role}
          on_change={(role) => change({ role })}
          options={["annotator", "member", "admin", "owner"].map((role) => ({ value: role, title: role }))}
        />
      </div>
      <Check
        label="The person who started the run cannot approve"
        checked={draft.not_starter}
        on_change={(not_starter) => change({ not_starter })}
      />
      <Field
        label="Protected paths"
        hint="One pattern per line: deploy/**, *.tf. Workflow files of forges are always protected."
        rows={2}
        value={draft.protected_paths}
        on_input={(protected_paths) => change({ protected_paths })}
      />
      <Check
        label="Protect lock files"
        checked={draft.protect_lock_files}
        on_change={(protect_lock_files) => change({ protect_lock_files })}
      />
      <Verification draft={draft} change={change} />
      <Replay draft={draft} change={change} />
      <Delivery draft={draft} change={change} />
    </>
  );
}
