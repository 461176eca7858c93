// Repositories that workers can clone: credential, mirror on the server, pushed branches.

import { useState } from "preact/hooks";
import { api } from "../../api";
import type { CreateRepo, ForgeHook, PushedBranch, Ref, Repo, RepoCheck } from "../../api_types";
import { byte_size, plural } from "../../lib/format/number";
import type { Params } from "../../lib/route";
import { reload, use_load, use_pages, use_refresh } from "../../load";
import { can, can_install, space } from "../../login";
import { use_action } from "../../parts/action";
import { Confirm } from "../../parts/confirm";
import { CodeBlock, Id } from "../../parts/copy";
import { Dialog } from "../../parts/dialog";
import { Check, Choice, Field, Form } from "../../parts/form";
import { Icon } from "../../parts/icon";
import { PageHeader, Section } from "../../parts/page";
import { SearchField } from "../../parts/search_field";
import { Facts } from "../../parts/slide_over";
import { Data, Empty, Note, State } from "../../parts/state";
import { type Column, Table } from "../../parts/table";
import { Time } from "../../parts/time";
import { toast_done } from "../../parts/toast";
import { Visible } from "../../parts/visible";
import { navigate, query, set_query } from "../../router";
import { repo_page, repos_page, run_page } from "../addresses";
import { list_skills } from "../skills/data";
import { list_repos, mirror_state, repo_route, repos_changed } from "./data";

// The page is reloaded until the fetch ends.
const refresh = 2000;

function Mirror({ repo }: { repo: Repo }) {
  return <State {...mirror_state(repo)} />;
}

const columns: Column<Repo>[] = [
  {
    id: "name",
    title: "Name",
    width: "18%",
    sort: (repo) => repo.name,
    cell: (repo) => (
      <a class="cell-link" href={repo_page(repo.id)}>
        {repo.name}
      </a>
    ),
  },
  { id: "url", title: "Address", wide: true, sort: (repo) => repo.url, cell: (repo) => <Visible text={repo.url} /> },
  { id: "state", title: "Mirror", width: "120px", sort: (repo) => repo.state, cell: (repo) => <Mirror repo={repo} /> },
  {
    id: "bytes",
    title: "Size",
    width: "90px",
    align: "right",
    wide: true,
    sort: (repo) => repo.bytes,
    cell: (repo) => (repo.fetched_at === null ? "" : byte_size(repo.bytes)),
  },
  {
    id: "fetched_at",
    title: "Fetched",
    width: "100px",
    align: "right",
    sort: (repo) => repo.fetched_at,
    cell: (repo) => <Time time={repo.fetched_at} />,
  },
];

interface RepoDraft {
  url: string;
  name: string;
  default_ref: string;
  skill: string;
  path_scope: string;
  allow_private: boolean;
}

function RepoFields({
  draft,
  change,
  fixed,
}: {
  draft: RepoDraft;
  change: (part: Partial<RepoDraft>) => void;
  fixed: boolean;
}) {
  const skills = use_load(can("skill_read") ? `skills/${space.value?.id}` : null, list_skills).data ?? [];
  return (
    <>
      <Field
        label="Address"
        placeholder="https://github.com/example/shop"
        value={draft.url}
        on_input={(url) => change({ url })}
        hint={
          fixed
            ? "Change it when the repository was renamed or moved."
            : "An https address without user or token. Credentials are stored in a skill."
        }
        required
        first={!fixed}
      />
      <Choice
        label="Credential"
        value={draft.skill}
        on_change={(skill) => change({ skill })}
        options={[
          { value: "", title: "none (public repository)" },
          ...skills
            .filter((skill) => skill.type === "github" || skill.type === "custom")
            .map((skill) => ({ value: skill.id, title: `${skill.name} (${skill.type})` })),
        ]}
        hint="The server uses it to fetch and, after an approval, to push. Workers never see it."
      />
      <div class="field-row">
        <Field label="Name" placeholder="from the address" value={draft.name} on_input={(name) => change({ name })} />
        <Field
          label="Branch, tag or commit"
          placeholder="default branch"
          value={draft.default_ref}
          on_input={(default_ref) => change({ default_ref })}
        />
      </div>
      <Field
        label="Folder"
        placeholder="whole repository"
        hint="Workers get only this folder of a large repository."
        value={draft.path_scope}
        on_input={(path_scope) => change({ path_scope })}
      />
      {can_install("skill_share") && (
        <Check
          label="The forge has a private address"
          checked={draft.allow_private}
          on_change={(allow_private) => change({ allow_private })}
        />
      )}
    </>
  );
}

function AddRepo({ on_close }: { on_close: () => void }) {
  const [draft, set_draft] = useState<RepoDraft>({
    url: "",
    name: "",
    default_ref: "",
    skill: "",
    path_scope: "",
    allow_private: false,
  });
  return (
    <Dialog title="Add a repository" on_close={on_close}>
      <Form
        title="Add and fetch"
        disabled={draft.url.trim() === ""}
        on_cancel={on_close}
        submit={async () => {
          const { skill, allow_private, ...texts } = draft;
          const body = {
            ...texts,
            url: texts.url.trim(),
            ...(skill === "" ? {} : { skill }),
            ...(allow_private ? { allow_private } : {}),
          } satisfies CreateRepo;
          const repo = await api.post<Repo>("/v1/repos", body, { space: space.value?.id });
          await repos_changed();
          // What the credential can do is tried now, not when the first branch is approved.
          navigate(repo_page(repo.id) + (skill === "" ? "" : "?check=1"));
        }}
      >
        <RepoFields draft={draft} change={(part) => set_draft((known) => ({ ...known, ...part }))} fixed={false} />
      </Form>
    </Dialog>
  );
}

export function Repos() {
  const load = use_load(`repos/${space.value?.id}`, list_repos);
  const adding = query.value.get("new") !== null && can("repo_write");
  const text = (query.value.get("q") ?? "").toLowerCase();
  const fits = (repo: Repo) => `${repo.name} ${repo.url}`.toLowerCase().includes(text);
  use_refresh(load.data?.some((repo) => repo.fetching) ? "repo" : null, refresh);
  const add = can("repo_write") && (
    <button type="button" class="primary" onClick={() => set_query({ new: "1" })}>
      <Icon name="plus" /> Add repository
    </button>
  );
  return (
    <div class="page list-page">
      <PageHeader
        title="Repositories"
        text="Workers clone from a mirror on this server. Branches that they push stay here until they are approved. Workers never get credentials."
      >
        {add}
      </PageHeader>
      <Data load={load} retry={() => void reload("repos/")}>
        {(repos) =>
          repos.length === 0 ? (
            <Empty
              icon="branch"
              title="No repositories yet"
              text="Add one here or in a preset. A repository of a preset is registered when a run first uses it."
              command="hone repo add https://github.com/example/shop"
            />
          ) : (
            <Table
              label="Repositories"
              rows={repos.filter(fits)}
              columns={columns}
              row_id={(repo) => repo.id}
              row_title={(repo) => repo.name}
              order="name"
              on_open={(repo) => navigate(repo_page(repo.id))}
              bar={<SearchField label="Filter repositories" />}
            />
          )
        }
      </Data>
      {adding && <AddRepo on_close={() => set_query({ new: null })} />}
    </div>
  );
}

const ref_columns: Column<Ref>[] = [
  { id: "name", title: "Ref", cell: (ref) => <Visible text={ref.name} /> },
  { id: "commit", title: "Commit", width: "160px", cell: (ref) => <Id id={ref.commit} /> },
];

function Refs({ repo }: { repo: Repo }) {
  const load = use_pages<Ref>(`repo_refs/${repo.id}`, (cursor, signal) =>
    api.page<Ref>(`${repo_route(repo.id)}/refs`, { cursor, limit: 100 }, signal),
  );
  return (
    <Section title="Branches and tags">
      <Data load={load} retry={() => void reload("repo_refs/")}>
        {(refs) =>
          refs.length === 0 ? (
            <p class="soft">Not fetched yet.</p>
          ) : (
            <>
              <Table
                label="Branches and tags"
                fit
                secondary
                rows={refs}
                columns={ref_columns}
                row_id={(ref) => ref.name}
                row_title={(ref) => ref.name}
              />
              {load.more && (
                <button type="button" onClick={load.more}>
                  Load more
                </button>
              )}
            </>
          )
        }
      </Data>
    </Section>
  );
}

const branch_columns: Column<PushedBranch>[] = [
  {
    id: "branch",
    title: "Branch",
    cell: (branch) => (
      <code>
        <Visible text={branch.branch} />
      </code>
    ),
  },
  { id: "run", title: "Run", width: "130px", cell: (branch) => <a href={run_page(branch.run_id)}>open</a> },
  { id: "commit", title: "Commit", width: "150px", wide: true, cell: (branch) => <Id id={branch.head_commit} /> },
  { id: "pushes", title: "Pushes", width: "80px", align: "right", wide: true, cell: (branch) => branch.pushes },
  { id: "at", title: "Pushed", width: "96px", align: "right", cell: (branch) => <Time time={branch.pushed_at} /> },
];

function Branches({ repo }: { repo: Repo }) {
  const load = use_pages<PushedBranch>(`repo_branches/${repo.id}`, (cursor, signal) =>
    api.page<PushedBranch>(`${repo_route(repo.id)}/branches`, { cursor }, signal),
  );
  return (
    <Section title="Branches of workers" text="Branches stay on this server until they are approved.">
      <Data load={load} retry={() => void reload("repo_branches/")}>
        {(branches) =>
          branches.length === 0 ? (
            <p class="soft">No branches were pushed yet.</p>
          ) : (
            <Table
              label="Pushed branches"
              fit
              secondary
              rows={branches}
              columns={branch_columns}
              row_id={(branch) => branch.id}
              row_title={(branch) => branch.branch}
              on_end={load.more ?? undefined}
            />
          )
        }
      </Data>
    </Section>
  );
}

function EditRepo({ repo, on_close }: { repo: Repo; on_close: () => void }) {
  const [draft, set_draft] = useState<RepoDraft>({ ...repo, skill: repo.skill_id ?? "" });
  return (
    <Dialog title={`Edit ${repo.name}`} on_close={on_close}>
      <Form
        title="Save"
        on_cancel={on_close}
        submit={async () => {
          const { url, name, default_ref, skill, path_scope, allow_private } = draft;
          const body = {
            ...(url.trim() === repo.url ? {} : { url: url.trim() }),
            name: name.trim(),
            default_ref: default_ref.trim(),
            skill,
            path_scope: path_scope.trim(),
            ...(allow_private === repo.allow_private ? {} : { allow_private }),
          };
          await api.patch(repo_route(repo.id), body);
          await repos_changed();
          on_close();
        }}
      >
        <RepoFields draft={draft} change={(part) => set_draft((known) => ({ ...known, ...part }))} fixed />
      </Form>
    </Dialog>
  );
}

/** What the credential can do on the forge, tried now. */
function CheckDialog({ repo, on_close }: { repo: Repo; on_close: () => void }) {
  const load = use_load(`repo_check/${repo.id}`, () => api.post<RepoCheck[]>(`${repo_route(repo.id)}/check`, {}));
  const tones = { passed: "done", failed: "failed", skipped: "off" } as const;
  return (
    <Dialog title={`Access to ${repo.name}`} on_close={on_close}>
      <Data load={load} retry={() => void reload("repo_check/")}>
        {(checks) => (
          <Facts
            rows={checks.map((check) => [
              check.name.replaceAll("_", " "),
              <span key={check.name}>
                <State tone={tones[check.result]} text={check.result} /> {check.message}
              </span>,
            ])}
          />
        )}
      </Data>
      <div class="form-actions">
        <button type="button" class="primary" onClick={on_close}>
          Done
        </button>
      </div>
    </Dialog>
  );
}

/** With a webhook, changes of pull requests arrive immediately; without it they are polled. */
function WebhookDialog({ repo, on_close }: { repo: Repo; on_close: () => void }) {
  const [hook, set_hook] = useState<ForgeHook | null>(null);
  if (hook)
    return (
      <Dialog title={`Webhook of ${repo.name}`} on_close={on_close} keep_open>
        <p>
          Create a webhook on the forge for pull request events with this address and secret. The secret is shown only
          now.
        </p>
        <CodeBlock text={new URL(hook.path, window.location.href).href} label="address" />
        <CodeBlock text={hook.secret} label="secret" />
        <div class="form-actions">
          <button type="button" class="primary" onClick={on_close}>
            Done
          </button>
        </div>
      </Dialog>
    );
  return (
    <Dialog title={`Webhook of ${repo.name}`} on_close={on_close}>
      <Form
        title="Create secret"
        busy_title="Creating…"
        on_cancel={on_close}
        submit={async () => set_hook(await api.post<ForgeHook>(`${repo_route(repo.id)}/hook`, {}))}
      >
        <p>
          With a webhook the forge notifies this server when a pull request changes. An earlier secret stops working.
        </p>
      </Form>
    </Dialog>
  );
}

function RepoActions({ repo }: { repo: Repo }) {
  const [dialog, set_dialog] = useState<"edit" | "hook" | "check" | "delete" | null>(
    query.value.get("check") === null ? null : "check",
  );
  const [abandon, set_abandon] = useState(false);
  const { busy, attempt } = use_action();
  const fetch_now = attempt("Could not fetch", async () => {
    try {
      const after = await api.post<Repo>(`${repo_route(repo.id)}/fetch`, {});
      toast_done(after.fetching ? "Fetch is still running" : `${repo.name} fetched`);
    } finally {
      await repos_changed();
    }
  });
  if (!can("repo_write")) return null;
  return (
    <>
      <button type="button" class="primary" disabled={busy || repo.fetching} onClick={fetch_now}>
        {busy || repo.fetching ? "Fetching…" : "Fetch now"}
      </button>
      <button type="button" onClick={() => set_dialog("edit")}>
        Edit…
      </button>
      <button type="button" onClick={() => set_dialog("hook")}>
        Set up webhook…
      </button>
      <button type="button" onClick={() => set_dialog("check")}>
        Check access…
      </button>
      <button type="button" class="danger" onClick={() => set_dialog("delete")}>
        Delete…
      </button>
      {dialog === "hook" && <WebhookDialog repo={repo} on_close={() => set_dialog(null)} />}
      {dialog === "check" && (
        <CheckDialog
          repo={repo}
          on_close={() => {
            set_dialog(null);
            set_query({ check: null });
          }}
        />
      )}
      {dialog === "edit" && <EditRepo repo={repo} on_close={() => set_dialog(null)} />}
      {dialog === "delete" && (
        <Confirm
          title={`Delete ${repo.name}`}
          consequence="Its mirror on this server is deleted. A preset with its address registers it again with its next run. The repository on the forge is not changed."
          action={abandon ? "Abandon its pull requests and delete" : "Delete repository"}
          run={async () => {
            try {
              await api.delete(`${repo_route(repo.id)}${abandon ? "?abandon=true" : ""}`);
            } catch (error) {
              set_abandon(true); // the message names its open pull requests; a second try abandons them
              throw error;
            }
            await repos_changed();
            navigate(repos_page());
          }}
          on_close={() => set_dialog(null)}
        />
      )}
    </>
  );
}

export function RepoPage({ params }: { params: Params }) {
  const id = params.repo ?? "";
  const load = use_load(`repo/${space.value?.id}/${id}`, (signal) =>
    api.get<Repo>(repo_route(id), { space: space.value?.id }, signal),
  );
  const skills = use_load(can("skill_read") ? `skills/${space.value?.id}` : null, list_skills).data;
  use_refresh(load.data?.fetching ? "repo" : null, refresh);
  return (
    <div class="page">
      <Data load={load} retry={() => void reload("repo/")} whole_page>
        {(repo) => (
          <>
            <PageHeader title={repo.name} text={<Visible text={repo.url} />}>
              <RepoActions repo={repo} />
            </PageHeader>
            {repo.error !== "" && (
              <Note kind="failed" icon="warning">
                {repo.error}
              </Note>
            )}
            {repo.notes.map((note) => (
              <Note key={note}>{note}</Note>
            ))}
            <Facts
              rows={[
                ["Mirror", <Mirror key="state" repo={repo} />],
                ["Fetched", <Time key="time" time={repo.fetched_at} />],
                ["Size", `${byte_size(repo.bytes)}, ${plural(repo.refs, "ref")}`],
                ["Default ref", repo.default_ref || repo.head_ref.replace("refs/heads/", "") || "the default branch"],
                ["Folder", repo.path_scope || "whole repository"],
                [
                  "Credential",
                  repo.skill_id === null
                    ? "none"
                    : (skills?.find((skill) => skill.id === repo.skill_id)?.name ?? repo.skill_id),
                ],
                [
                  "Added by",
                  repo.created_by.startsWith("run_") ? (
                    <a key="by" href={run_page(repo.created_by)}>
                      a run
                    </a>
                  ) : (
                    repo.created_by
                  ),
                ],
                ["Id", <Id key="id" id={repo.id} />],
              ]}
            />
            <Branches repo={repo} />
            <Refs repo={repo} />
          </>
        )}
      </Data>
    </div>
  );
}
