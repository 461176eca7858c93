// One prompt: its versions, the text of one, its difference to another, tags, and the experiments that used it.

import { useState } from "preact/hooks";
import { api, segment } from "../../api";
import type { ExperimentRow, PromptTagMove, PromptTraceRow, PromptVersionRow, PromptView } from "../../api_types";
import { plural } from "../../lib/format/number";
import type { Params } from "../../lib/route";
import { reload, use_load, use_pages } from "../../load";
import { can, space } from "../../login";
import { use_action } from "../../parts/action";
import { Confirm } from "../../parts/confirm";
import { CopyButton } from "../../parts/copy";
import { Dialog } from "../../parts/dialog";
import { Field, Form } from "../../parts/form";
import { Icon } from "../../parts/icon";
import { JsonValue } from "../../parts/json_view";
import { PageHeader, Section } from "../../parts/page";
import { Facts } from "../../parts/slide_over";
import { Data, Empty } from "../../parts/state";
import { Time } from "../../parts/time";
import { toast_done } from "../../parts/toast";
import { Visible } from "../../parts/visible";
import { navigate, query, set_query } from "../../router";
import { experiment_page, playground_page, prompts_page, trace_page } from "../addresses";
import { plain_id } from "../datasets/data";
import { EvalMean } from "../datasets/experiments";
import { TextDiff } from "../datasets/text_diff";
import { content_of, message_text, prompt_route, prompts_changed, version_text } from "./data";
import { use_protected_tags } from "./protected_tags";

const version_route = (id: string, part: string) => `/v1/prompt_versions/${segment(id)}/${part}`;

function TagDialog({ version, on_close }: { version: PromptVersionRow; on_close: () => void }) {
  const [name, set_name] = useState("");
  return (
    <Dialog title={`Tag version ${version.number}`} on_close={on_close}>
      <Form
        title="Set tag"
        disabled={name.trim() === ""}
        on_cancel={on_close}
        submit={async () => {
          await api.post(version_route(version.id, "tags"), { name: name.trim() });
          await prompts_changed();
          toast_done(`${name.trim()} points at version ${version.number}`);
          on_close();
        }}
      >
        <Field
          label="Tag"
          placeholder="production"
          hint="Applications that use this tag get this version from now on. Another version loses the tag."
          value={name}
          on_input={set_name}
          required
          first
        />
      </Form>
    </Dialog>
  );
}

function Tags({ version }: { version: PromptVersionRow }) {
  const { busy, attempt } = use_action();
  const [tagging, set_tagging] = useState(false);
  const protected_tags = use_protected_tags().data ?? [];
  const is_protected = (tag: string) => protected_tags.some((one) => one.name === tag);
  return (
    <p class="tag-line">
      {version.tags.map((tag) => (
        <span class="chip" key={tag}>
          {is_protected(tag) && <Icon name="lock" />}
          {tag}
          {can(is_protected(tag) ? "space_update" : "prompt_write") && (
            <button
              type="button"
              class="quiet icon-only"
              aria-label={`Remove the tag ${tag}`}
              disabled={busy}
              onClick={attempt("Could not remove the tag", async () => {
                await api.delete(version_route(version.id, `tags/${segment(tag)}`));
                await prompts_changed();
              })}
            >
              <Icon name="close" />
            </button>
          )}
        </span>
      ))}{" "}
      {can("prompt_write") && (
        <button type="button" onClick={() => set_tagging(true)}>
          <Icon name="tag" /> Tag…
        </button>
      )}{" "}
      {tagging && <TagDialog version={version} on_close={() => set_tagging(false)} />}
    </p>
  );
}

function Content({ version }: { version: PromptVersionRow }) {
  const content = content_of(version.content);
  const parameters = content.invocation_parameters?.[String(content.invocation_parameters?.type ?? "")];
  return (
    <>
      <Facts
        rows={[
          ["Model", `${content.model_name ?? ""} (${(content.model_provider ?? "").toLowerCase()})`],
          ["Variables", (content.template_format ?? "NONE").toLowerCase().replace("_", " ")],
          ...(parameters && Object.keys(parameters).length > 0
            ? [["Parameters", <JsonValue key="parameters" value={parameters} />] as [string, preact.ComponentChildren]]
            : []),
          ...(content.description ? [["Note", content.description] as [string, string]] : []),
        ]}
      />
      <ol class="messages" aria-label="Messages of the template">
        {(content.template?.messages ?? []).map((message, index) => (
          <li class={`message role-${message.role}`} key={index}>
            <div class="message-head">
              <span class="message-role">{message.role}</span>
              <span class="spring" />
              <CopyButton text={message_text(message)} label="Copy message" small />
            </div>
            <div class="long-text">
              <Visible text={message_text(message)} />
            </div>
          </li>
        ))}
      </ol>
      {content.tools !== undefined && (
        <Section title="Tools">
          <JsonValue value={content.tools} />
        </Section>
      )}
      {content.response_format !== undefined && (
        <Section title="Response format">
          <JsonValue value={content.response_format} />
        </Section>
      )}
    </>
  );
}

function UsedBy({ prompt }: { prompt: PromptView }) {
  const load = use_load(`prompt_uses/${prompt.id}`, (signal) =>
    api.get<ExperimentRow[]>(prompt_route(prompt.id, "used_by"), {}, signal),
  );
  return (
    <Section title="Used by">
      <Data load={load} retry={() => void reload("prompt_uses/")}>
        {(rows) =>
          rows.length === 0 ? (
            <p class="soft">No experiment names a version of this prompt in its metadata.</p>
          ) : (
            <ul class="plain-list">
              {rows.map((row) => (
                <li key={row.id}>
                  <a href={experiment_page(row.id)}>{row.name}</a>{" "}
                  {row.evals.slice(0, 3).map((one) => (
                    <span class="eval-inline" key={one.name}>
                      {one.name} <EvalMean eval={one} />
                    </span>
                  ))}{" "}
                  <Time time={row.created_at} />
                </li>
              ))}
            </ul>
          )
        }
      </Data>
    </Section>
  );
}

const version_name = (number: number | null) => (number === null ? "none" : `version ${number}`);

function TagHistory({ prompt }: { prompt: PromptView }) {
  const key = `prompt_tag_history/${prompt.id}`;
  const load = use_pages<PromptTagMove>(key, (cursor, signal) =>
    api.page<PromptTagMove>(prompt_route(prompt.id, "tag_history"), { cursor, limit: 20 }, signal),
  );
  return (
    <Section title="History of tags">
      <Data load={load} retry={() => void reload(key)}>
        {(rows) =>
          rows.length === 0 ? (
            <p class="soft">No tag was set yet. A tag such as production marks the version that applications use.</p>
          ) : (
            <>
              <ul class="plain-list" aria-label="History of tags">
                {rows.map((row) => (
                  <li key={row.id}>
                    <span class="tag">{row.tag}</span>{" "}
                    {row.to_version === null
                      ? `removed from ${version_name(row.from_version)}`
                      : row.from_version === null
                        ? `set to ${version_name(row.to_version)}`
                        : `moved from ${version_name(row.from_version)} to ${version_name(row.to_version)}`}
                    <span class="soft">
                      {row.moved_by && ` by ${row.moved_by}`} · <Time time={row.moved_at} />
                    </span>
                  </li>
                ))}
              </ul>
              {load.more && (
                <button type="button" onClick={load.more}>
                  Older changes
                </button>
              )}
            </>
          )
        }
      </Data>
    </Section>
  );
}

function UsedByTraces({ prompt }: { prompt: PromptView }) {
  const load = use_load(`prompt_traces/${prompt.id}`, (signal) =>
    api.get<PromptTraceRow[]>(prompt_route(prompt.id, "traces"), { limit: "20" }, signal),
  );
  return (
    <Section title="Traces of the last 7 days">
      <Data load={load} retry={() => void reload("prompt_traces/")}>
        {(rows) =>
          rows.length === 0 ? (
            <p class="soft">
              No span names a version of this prompt in <code>prompt.id</code> or{" "}
              <code>llm.prompt_template.version</code>.
            </p>
          ) : (
            <ul class="plain-list">
              {rows.map((row) => (
                <li key={`${row.trace_id} ${row.version_id}`}>
                  <a href={trace_page(row.project_name, row.trace_id)}>{row.name || row.trace_id}</a> version{" "}
                  {row.version_number} <span class="soft">{row.project_name}</span> <Time time={row.started_at} />
                </li>
              ))}
            </ul>
          )
        }
      </Data>
    </Section>
  );
}

function VersionList({ versions, shown }: { versions: PromptVersionRow[]; shown: PromptVersionRow }) {
  return (
    <nav class="version-list" aria-label="Versions">
      {versions.map((version) => (
        <a
          key={version.id}
          href={`?version=${version.number}`}
          aria-current={version.number === shown.number ? "page" : undefined}
        >
          <span>
            <b>Version {version.number}</b>{" "}
            {version.tags.map((tag) => (
              <span class="tag" key={tag}>
                {tag}
              </span>
            ))}
          </span>
          <span class="soft">
            {version.created_by} · <Time time={version.created_at} />
          </span>
        </a>
      ))}
    </nav>
  );
}

interface BodyProps {
  prompt: PromptView;
  versions: PromptVersionRow[];
  more: (() => void) | null;
}

function Body({ prompt, versions, more }: BodyProps) {
  const wanted = Number(query.value.get("version") ?? versions[0]?.number);
  const shown = versions.find((version) => version.number === wanted) ?? versions[0];
  const against = Number(query.value.get("against") ?? Number.NaN);
  const other = versions.find((version) => version.number === against);
  if (!shown)
    return <Empty icon="prompt" title="No versions" text="POST /v1/prompts adds the first version of this prompt." />;
  return (
    <div class="prompt-layout">
      <div>
        <VersionList versions={versions} shown={shown} />
        {more && (
          <button type="button" onClick={more}>
            Older versions
          </button>
        )}
      </div>
      <div class="prompt-body">
        <div class="prompt-bar">
          <h2>Version {shown.number}</h2>
          <label class="bar-choice">
            <span>Compare with</span>
            <select
              value={other ? String(other.number) : ""}
              onChange={(event) => set_query({ against: event.currentTarget.value || null })}
            >
              <option value="">nothing</option>
              {versions
                .filter((version) => version.number !== shown.number)
                .map((version) => (
                  <option key={version.id} value={version.number}>
                    version {version.number}
                    {version.tags.length > 0 ? ` (${version.tags.join(", ")})` : ""}
                  </option>
                ))}
            </select>
          </label>
        </div>
        <div class="prompt-tools">
          <Tags version={shown} />
          {can("run_start") && (
            <a
              class="button"
              href={playground_page({
                prompt: plain_id(prompt.id),
                version: String(shown.number),
                name: prompt.name,
              })}
            >
              <Icon name="play" /> Open in playground
            </a>
          )}
        </div>
        {other ? (
          <TextDiff
            label={`From version ${other.number} to ${shown.number}`}
            before={version_text(other.content)}
            after={version_text(shown.content)}
          />
        ) : (
          <Content version={shown} />
        )}
        <TagHistory prompt={prompt} />
        <UsedBy prompt={prompt} />
        <UsedByTraces prompt={prompt} />
      </div>
    </div>
  );
}

export function PromptPage({ params }: { params: Params }) {
  const id = params.prompt ?? "";
  const [deleting, set_deleting] = useState(false);
  const load = use_load(`prompt/${space.value?.id}/${id}`, async (signal) => {
    const all = await api.list<PromptView>("/v1/prompts", { space: space.value?.id }, signal);
    const found = all.find((prompt) => plain_id(prompt.id) === id || prompt.id === id || prompt.name === id);
    // The error of the server states why it is not among them.
    if (!found) await api.get(prompt_route(id, "latest"), { space: space.value?.id }, signal);
    return found as PromptView;
  });
  const versions = use_pages<PromptVersionRow>(load.data ? `prompt_versions/${load.data.id}` : null, (cursor, signal) =>
    api.page<PromptVersionRow>(prompt_route(load.data?.id ?? "", "version_rows"), { cursor, limit: 50 }, signal),
  );
  return (
    <Data load={load} whole_page retry={() => void reload("prompt/")}>
      {(prompt) => (
        <div class="page">
          <PageHeader
            title={prompt.name}
            text={[prompt.description, versions.data && plural(versions.data.length, "version")]
              .filter((text) => text)
              .join(" · ")}
          >
            {can("prompt_write") && (
              <button type="button" class="danger" onClick={() => set_deleting(true)}>
                Delete…
              </button>
            )}
          </PageHeader>
          <Data load={versions} retry={() => void reload("prompt_versions/")}>
            {(rows) => <Body prompt={prompt} versions={rows} more={versions.more} />}
          </Data>
          {deleting && (
            <Confirm
              title={`Delete ${prompt.name}?`}
              consequence="All its versions and tags are deleted. Applications that use it get an error. This cannot be undone."
              action="Delete permanently"
              typed_name={prompt.name}
              run={async () => {
                await api.delete(prompt_route(prompt.id));
                await prompts_changed();
                toast_done(`${prompt.name} deleted`);
                navigate(prompts_page());
              }}
              on_close={() => set_deleting(false)}
            />
          )}
        </div>
      )}
    </Data>
  );
}
