// The workspace of a run: folders, files, previews, downloads; and files for the worker.

import { useState } from "preact/hooks";
import { api, api_url } from "../../api";
import type { FileEntry, Run, Upload } from "../../api_types";
import { byte_size } from "../../lib/format/number";
import { reload, use_load } from "../../load";
import { can } from "../../login";
import { Icon } from "../../parts/icon";
import { Preview } from "../../parts/preview";
import { Data, Empty } from "../../parts/state";
import { type Column, Table } from "../../parts/table";
import { Time } from "../../parts/time";
import { toast_done, toast_failed } from "../../parts/toast";
import { query, set_query } from "../../router";
import { run_route } from "./data";
import { FileDrop } from "./file_drop";

const content_address = (run: Run, path: string) => api_url(`${run_route(run.id)}/files/content`, { path });

function Crumbs({ path }: { path: string }) {
  const parts = path === "" ? [] : path.split("/");
  return (
    <nav class="folder-crumbs" aria-label="Folder">
      <button type="button" class="quiet" onClick={() => set_query({ folder: null, file: null })}>
        /workspace
      </button>
      {parts.map((part, at) => {
        const folder = parts.slice(0, at + 1).join("/");
        return (
          <button
            type="button"
            class="quiet"
            key={folder}
            aria-current={at === parts.length - 1 ? "location" : undefined}
            onClick={() => set_query({ folder, file: null })}
          >
            / {part}
          </button>
        );
      })}
    </nav>
  );
}

const columns: Column<FileEntry>[] = [
  {
    id: "name",
    title: "Name",
    cell: (entry) => (
      <span title={entry.path === "" ? "Its name is not text: it cannot be opened" : entry.name}>
        <Icon name={entry.kind === "folder" ? "project" : entry.kind === "link" ? "link" : "dot"} /> {entry.name}
      </span>
    ),
  },
  {
    id: "bytes",
    title: "Size",
    width: "100px",
    align: "right",
    cell: (entry) =>
      entry.kind === "file" ? (
        byte_size(entry.bytes)
      ) : (
        <span class="faint">{entry.kind === "folder" ? "" : entry.kind}</span>
      ),
  },
  {
    id: "modified_at",
    title: "Changed",
    width: "110px",
    align: "right",
    wide: true,
    cell: (entry) => <Time time={entry.modified_at} />,
  },
];

function FileView({ run, entry }: { run: Run; entry: FileEntry }) {
  const address = content_address(run, entry.path);
  return (
    <section class="artifact" aria-label={entry.name}>
      <header class="artifact-head">
        <div>
          <h2>{entry.name}</h2>
          <p class="soft">
            {byte_size(entry.bytes)} · <Time time={entry.modified_at} />
          </p>
        </div>
        <span class="spring" />
        <a class="button" href={address} download={entry.name}>
          <Icon name="download" /> Download
        </a>
        <button type="button" class="quiet" onClick={() => set_query({ file: null })}>
          Close
        </button>
      </header>
      <Preview
        name={entry.name}
        bytes={entry.bytes}
        address={address}
        page_address={api_url(`${run_route(run.id)}/files/content`, { path: entry.path, preview: "page" })}
        version={entry.modified_at}
      />
    </section>
  );
}

function GiveFiles({ run }: { run: Run }) {
  const [files, set_files] = useState<Upload[]>([]);
  const [busy, set_busy] = useState(false);
  if (!can("run_start") || !run.takes_follow_ups) return null;
  async function give(): Promise<void> {
    set_busy(true);
    try {
      await api.post(`${run_route(run.id)}/files`, { uploads: files.map((file) => file.id) });
      toast_done("Files given to the session");
      set_files([]);
      await reload(`run_files/${run.id}`);
    } catch (error) {
      toast_failed("Could not give the files to the session", error);
    }
    set_busy(false);
  }
  return (
    <div class="give-files">
      <FileDrop files={files} on_change={set_files} disabled={busy} />
      {files.length > 0 && (
        <button type="button" class="primary" disabled={busy} onClick={() => void give()}>
          {busy ? "Working…" : "Put into the workspace"}
        </button>
      )}
    </div>
  );
}

export function WorkspaceFiles({ run }: { run: Run }) {
  const folder = query.value.get("folder") ?? "";
  const key = `run_files/${run.id}/${folder}`;
  const load = use_load(run.workspace_removed_at ? null : key, (signal) =>
    api.get<FileEntry[]>(`${run_route(run.id)}/files`, { path: folder }, signal),
  );
  const shown = load.data?.find((entry) => entry.path === query.value.get("file"));
  if (run.workspace_removed_at)
    return (
      <Empty
        icon="project"
        title="The workspace has expired"
        text="Artifacts and the transcript stay until the run expires."
      />
    );
  return (
    <>
      <GiveFiles run={run} />
      <div class="files-bar">
        <Crumbs path={folder} />
        <button type="button" class="quiet" onClick={() => void reload(key)}>
          <Icon name="rotate" /> Refresh
        </button>
        <a class="button" href={api_url(`${run_route(run.id)}/files/archive`, { path: folder })} download>
          <Icon name="download" /> Download as tar
        </a>
      </div>
      <Data load={load} retry={() => void reload(key)}>
        {(entries) => (
          <Table
            label="Files"
            rows={entries}
            columns={columns}
            row_id={(entry) => `${entry.kind}/${entry.path || entry.name}`}
            row_title={(entry) => entry.name}
            on_open={(entry) => {
              if (entry.path === "") return;
              if (entry.kind === "folder") set_query({ folder: entry.path, file: null });
              else if (entry.kind === "file") set_query({ file: entry.path });
            }}
            open_id={shown ? `file/${shown.path}` : null}
            fit
            foot={entries.length === 0 ? <p class="table-end">This folder is empty.</p> : undefined}
          />
        )}
      </Data>
      {shown && <FileView run={run} entry={shown} />}
    </>
  );
}
