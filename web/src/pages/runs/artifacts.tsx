// The artifacts of a run: investigations, images, files, labels; each with its review.

import { useState } from "preact/hooks";
import { api, api_url, segment } from "../../api";
import type { Artifact, ReviewState } from "../../api_types";
import { safe_name, unique_names, type ZipEntry, zip } from "../../lib/code/zip";
import { byte_size } from "../../lib/format/number";
import { reload, use_load } from "../../load";
import { can } from "../../login";
import { use_action } from "../../parts/action";
import { Dialog } from "../../parts/dialog";
import { Field, Form } from "../../parts/form";
import { Icon } from "../../parts/icon";
import { JsonValue, parsed_container } from "../../parts/json_view";
import { Markdown } from "../../parts/markdown";
import { Preview } from "../../parts/preview";
import { Data, Empty, State } from "../../parts/state";
import { Time } from "../../parts/time";
import { toast_done, toast_failed } from "../../parts/toast";
import { Visible } from "../../parts/visible";
import { review_page } from "../addresses";
import { project_name, use_projects } from "../projects/data";
import { is_branch, review_tones, review_words, reviews_changed } from "../reviews/data";
import { BranchMarks } from "../reviews/marks";
import { ArtifactMenu } from "./artifact_menu";
import { content_route } from "./data";
import { LabelList, read_labels } from "./label_list";

const largest_preview = 1 << 20;

async function fetch_text(address: string, signal: AbortSignal): Promise<string> {
  const response = await fetch(address, { signal, credentials: "same-origin" });
  if (!response.ok) throw new Error(`The server responded with ${response.status}`);
  return response.text();
}

interface ContentProps {
  artifact: Artifact;
  siblings: Artifact[];
  /** Removes the title of the text when the page shows the same title above. */
  is_titled?: boolean;
}

export function TextContent({ artifact, siblings, is_titled }: ContentProps) {
  const load = use_load(`artifact_text/${artifact.id}/${artifact.digest}`, (signal) =>
    fetch_text(content_route(artifact.id), signal),
  );
  const projects = use_projects().data;
  // `file:NAME` is another artifact of the same run; no other address is loaded for a text.
  const image = (source: string): string | null => {
    const name = source.startsWith("file:") ? decodeURI(source.slice(5)) : null;
    const found = siblings.find((other) => other.kind === "file" && other.name === name);
    return found?.media_type.startsWith("image/") ? content_route(found.id) : null;
  };
  return (
    <Data load={load} retry={() => void reload("artifact_text/")}>
      {(text) => {
        const held = artifact.media_type === "application/json" ? parsed_container(text) : undefined;
        const labels = artifact.kind === "labels" ? read_labels(held) : null;
        if (labels) return <LabelList labels={labels} project={project_name(projects, artifact.project_id)} />;
        if (held !== undefined) return <JsonValue value={held} />;
        if (artifact.kind === "investigation" || artifact.media_type === "text/markdown")
          return <Markdown text={is_titled ? text.replace(/^# .*\n+/, "") : text} image={image} />;
        return (
          // biome-ignore lint/a11y/noNoninteractiveTabindex: a scrolling block must be reachable by keyboard
          <pre class="artifact-text" tabIndex={0}>
            <Visible text={text} />
          </pre>
        );
      }}
    </Data>
  );
}

export function Content({ artifact, siblings }: ContentProps) {
  if (is_branch(artifact))
    return (
      <p class="review-summary">
        <a class="button" href={review_page(artifact.id)}>
          <Icon name="branch" /> View changes
        </a>
        <BranchMarks run={artifact.run_id} artifact={artifact.id} />
      </p>
    );
  if (artifact.media_type.startsWith("image/"))
    return <img src={content_route(artifact.id)} alt={artifact.summary || artifact.name} />;
  const readable = artifact.media_type.startsWith("text/") || artifact.media_type === "application/json";
  if (artifact.kind === "file" && (readable || artifact.media_type === "application/pdf"))
    return (
      <Preview
        name={artifact.name}
        bytes={artifact.bytes}
        address={content_route(artifact.id)}
        page_address={api_url(content_route(artifact.id), { preview: "page" })}
        version={artifact.digest}
      />
    );
  if (!readable || artifact.bytes > largest_preview)
    return <p class="faint">No preview. Download the file to open it.</p>;
  return <TextContent artifact={artifact} siblings={siblings} />;
}

async function decide(artifact: Artifact, decision: ReviewState, comment?: string): Promise<void> {
  await api.post(`/v1/artifacts/${segment(artifact.id)}/review`, {
    decision,
    digest: artifact.digest,
    ...(comment ? { comment } : {}),
  });
  await reviews_changed();
  toast_done(`${artifact.name}: ${review_words[decision]}`);
}

/** Approves directly; the other decisions open a dialog with a comment. */
function ReviewButtons({ artifact }: { artifact: Artifact }) {
  const [dialog, set_dialog] = useState<"rejected" | "changes_requested" | null>(null);
  const [comment, set_comment] = useState("");
  // A branch is reviewed on the page with its changes.
  if (artifact.review !== "pending" || !can("artifact_review") || is_branch(artifact)) return null;
  return (
    <>
      <span class="review-buttons">
        <button
          type="button"
          class="primary"
          onClick={() => void decide(artifact, "approved").catch((error) => toast_failed("Could not approve", error))}
        >
          Approve
        </button>
        <button type="button" onClick={() => set_dialog("changes_requested")}>
          Request changes
        </button>
        <button type="button" onClick={() => set_dialog("rejected")}>
          Reject
        </button>
      </span>
      {dialog && (
        <Dialog
          title={dialog === "rejected" ? `Reject ${artifact.name}` : `Request changes to ${artifact.name}`}
          on_close={() => set_dialog(null)}
        >
          <Form
            title={dialog === "rejected" ? "Reject" : "Request changes"}
            dangerous={dialog === "rejected"}
            disabled={dialog === "changes_requested" && comment.trim() === ""}
            on_cancel={() => set_dialog(null)}
            submit={async () => {
              await decide(artifact, dialog, comment.trim());
              set_dialog(null);
            }}
          >
            <Field
              label="Comment"
              hint={
                dialog === "rejected"
                  ? "Visible to everyone who can see the artifact."
                  : "Sent to the session as a follow-up."
              }
              rows={4}
              value={comment}
              on_input={set_comment}
              first
            />
          </Form>
        </Dialog>
      )}
    </>
  );
}

function ArtifactView({ artifact, siblings }: ContentProps) {
  return (
    <section class="artifact" aria-label={artifact.name}>
      <header class="artifact-head">
        <div>
          <h2>
            <Visible text={artifact.name} />
          </h2>
          <p class="soft">
            {artifact.kind} · {byte_size(artifact.bytes)} · <Time time={artifact.created_at} />
            {artifact.summary !== "" && (
              <>
                {" "}
                · <Visible text={artifact.summary} />
              </>
            )}
          </p>
        </div>
        <span class="spring" />
        <State tone={review_tones[artifact.review]} text={review_words[artifact.review]} />
        {!is_branch(artifact) && (
          <a class="button quiet icon-only" href={content_route(artifact.id)} download={artifact.name}>
            <Icon name="download" />
            <span class="off-screen">Download {artifact.name}</span>
          </a>
        )}
        <ArtifactMenu artifact={artifact} />
      </header>
      {artifact.comment !== "" && (
        <p class="soft">
          {artifact.reviewer}: {artifact.comment}
        </p>
      )}
      <ReviewButtons artifact={artifact} />
      <Content artifact={artifact} siblings={siblings} />
    </section>
  );
}

/** Larger downloads use the API: the archive is created in the browser. */
const largest_archive = 256 << 20;

async function download_all(artifacts: Artifact[]): Promise<void> {
  const names = unique_names(artifacts.map((artifact) => safe_name(artifact.name)));
  const entries: ZipEntry[] = [];
  for (const [index, artifact] of artifacts.entries()) {
    const response = await fetch(content_route(artifact.id), { credentials: "same-origin" });
    if (!response.ok) throw new Error(`${artifact.name}: the server responded with ${response.status}`);
    const content = new Uint8Array(await response.arrayBuffer());
    entries.push({ name: names[index] ?? artifact.id, content, time: new Date(artifact.created_at) });
  }
  const address = URL.createObjectURL(new Blob(zip(entries), { type: "application/zip" }));
  const link = document.createElement("a");
  link.href = address;
  link.download = `${artifacts[0]?.run_id ?? "artifacts"}.zip`;
  link.click();
  setTimeout(() => URL.revokeObjectURL(address), 60_000);
}

function DownloadAll({ artifacts }: { artifacts: Artifact[] }) {
  const { busy, attempt } = use_action();
  const files = artifacts.filter((artifact) => !is_branch(artifact));
  const bytes = files.reduce((sum, artifact) => sum + artifact.bytes, 0);
  if (files.length < 2) return null;
  const start = attempt("Could not download", () => download_all(files));
  return (
    <p>
      <button type="button" disabled={busy || bytes > largest_archive} onClick={start}>
        <Icon name="download" /> {busy ? "Downloading…" : `Download all ${files.length} (${byte_size(bytes)})`}
      </button>
    </p>
  );
}

const kind_order = ["branch", "investigation", "labels", "file"];

export function ArtifactList({ artifacts }: { artifacts: Artifact[] }) {
  if (artifacts.length === 0)
    return (
      <Empty
        icon="download"
        title="No artifacts yet"
        text="Investigations, labels and files appear here as the worker saves them."
      />
    );
  const ordered = [...artifacts].sort((a, b) => kind_order.indexOf(a.kind) - kind_order.indexOf(b.kind));
  return (
    <>
      <DownloadAll artifacts={artifacts} />
      {ordered.map((artifact) => (
        <ArtifactView key={artifact.id} artifact={artifact} siblings={artifacts} />
      ))}
    </>
  );
}
