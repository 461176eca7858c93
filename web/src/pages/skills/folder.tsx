// The folder of a custom skill: its files and their git repository.

import { useState } from "preact/hooks";
import { api } from "../../api";
import type { FileView, Skill } from "../../api_types";
import { reload, use_load } from "../../load";
import { can, space } from "../../login";
import { use_action } from "../../parts/action";
import { Dialog } from "../../parts/dialog";
import { Field, Form } from "../../parts/form";
import { Section } from "../../parts/page";
import { Data, Note } from "../../parts/state";
import { toast_done } from "../../parts/toast";
import { skill_route, skills_changed } from "./data";

async function fetch_folder(skill: Skill): Promise<void> {
  const through = skill.scope === "installation" ? { space: space.value?.id } : {};
  const fetched = await api.post<Skill>(`${skill_route(skill.id)}/fetch`, {}, through);
  await skills_changed();
  const commit = fetched.git?.commit.slice(0, 12);
  toast_done(fetched.version === skill.version ? `No changes: still at ${commit}` : `Fetched ${commit}`);
}

function GitForm({ skill, on_close }: { skill: Skill; on_close: () => void }) {
  const [url, set_url] = useState(skill.git?.url ?? "");
  const [ref, set_ref] = useState(skill.git?.ref ?? "");
  const [path, set_path] = useState(skill.git?.path ?? "");
  return (
    <Dialog title="Folder from git" on_close={on_close}>
      <Form
        title="Save and fetch"
        disabled={url.trim() === ""}
        on_cancel={on_close}
        submit={async () => {
          const git = { url: url.trim(), ref: ref.trim(), path: path.trim() };
          const changed = await api.patch<Skill>(skill_route(skill.id), { git });
          await skills_changed();
          await fetch_folder(changed);
          on_close();
        }}
      >
        <Field
          label="Repository"
          hint={
            skill.scope === "installation"
              ? `Fetched with the credential that the repository has in the space ${space.value?.name}.`
              : "A private repository is fetched with its credential under Repositories."
          }
          placeholder="https://github.com/team/skills.git"
          value={url}
          on_input={set_url}
          first
        />
        <div class="field-row">
          <Field label="Branch, tag or commit" hint="Empty: the default branch." value={ref} on_input={set_ref} />
          <Field label="Folder" hint="The folder with SKILL.md. Empty: the root." value={path} on_input={set_path} />
        </div>
      </Form>
    </Dialog>
  );
}

function Source({ skill }: { skill: Skill }) {
  const [edits, set_edits] = useState(false);
  const { busy: fetching, attempt } = use_action();
  return (
    <>
      {skill.git && (
        <p>
          From <code>{skill.git.url}</code>
          {skill.git.path !== "" && (
            <>
              , folder <code>{skill.git.path}</code>
            </>
          )}
          {skill.git.ref !== "" && (
            <>
              , at <code>{skill.git.ref}</code>
            </>
          )}
          .{" "}
          {skill.git.commit === "" ? (
            "Not fetched yet."
          ) : (
            <>
              Workers use commit <code title={skill.git.commit}>{skill.git.commit.slice(0, 12)}</code> until the next
              fetch.
            </>
          )}
        </p>
      )}
      {can("skill_write") && (
        <p class="page-actions">
          {skill.git && (
            <button type="button" disabled={fetching} onClick={attempt("Could not fetch", () => fetch_folder(skill))}>
              {fetching ? "Fetching…" : "Fetch now"}
            </button>
          )}
          <button type="button" onClick={() => set_edits(true)}>
            {skill.git ? "Change repository" : "Use a git repository"}
          </button>
        </p>
      )}
      {edits && <GitForm skill={skill} on_close={() => set_edits(false)} />}
    </>
  );
}

export function Folder({ skill }: { skill: Skill }) {
  const load = use_load(`skill_files/${skill.id}/${skill.version}`, (signal) =>
    api.get<FileView[]>(`${skill_route(skill.id)}/folder`, {}, signal),
  );
  return (
    <Section title="Folder" text={skill.folder ? skill.folder.description : "SKILL.md and its files."}>
      {!skill.folder && !skill.git && (
        <Note>Use a git repository, or upload a folder: hone skill set {skill.name} --folder DIR</Note>
      )}
      <Source skill={skill} />
      <Data load={load} retry={() => void reload("skill")}>
        {(files) => (
          <>
            {files.map((file) => (
              <details key={file.path}>
                <summary>
                  <code>{file.path}</code> <span class="soft">{file.bytes} bytes</span>
                </summary>
                <pre>{file.text ?? "Binary file."}</pre>
              </details>
            ))}
          </>
        )}
      </Data>
    </Section>
  );
}
