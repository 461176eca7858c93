// The playground: prompts side by side, each with a model; variables, streamed replies with tokens, cost and time. A
// column is saved as a version of a prompt, or all run on a dataset as experiments.

import type { ComponentChildren } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { api, segment, to_api_error } from "../../api";
import type { CallsEstimate, DatasetView, PromptVersionRow, Skill, SpanPayload } from "../../api_types";
import { use_keys } from "../../keyboard";
import { duration, exact_count, money, short_count } from "../../lib/format/number";
import { post_events } from "../../live";
import { reload, use_load } from "../../load";
import { can, space } from "../../login";
import { Dialog } from "../../parts/dialog";
import { Choice, Field, Form } from "../../parts/form";
import { Icon } from "../../parts/icon";
import { PageHeader } from "../../parts/page";
import { Data, Note, State } from "../../parts/state";
import { toast_done } from "../../parts/toast";
import { Visible } from "../../parts/visible";
import { navigate, query } from "../../router";
import { compare_page, experiment_page, trace_page } from "../addresses";
import { dataset_route, experiment_route, list_datasets, plain_id } from "../datasets/data";
import { project_route } from "../projects/data";
import { BudgetNote, calls_ended } from "./budget";
import { type PlaygroundReply, prompt_route, prompts_changed } from "./data";
import {
  type Draft,
  type DraftMessage,
  draft_of_span,
  draft_of_version,
  empty_draft,
  formats,
  providers,
  roles,
  variable_value,
  variables_of,
  version_of,
} from "./draft";

const most_columns = 4;

interface Column {
  id: number;
  draft: Draft;
  /** Of the prompt that it comes from. */
  name: string;
}

interface Reply {
  state: "running" | "done" | "failed" | "stopped";
  text: string;
  error: string;
  done: PlaygroundReply | null;
}

/** What the page begins with: a version of a prompt, the request of a span, or nothing. */
async function load_first(signal: AbortSignal): Promise<{ draft: Draft; name: string }> {
  const prompt = query.value.get("prompt");
  const project = query.value.get("project");
  if (prompt) {
    const number = Number(query.value.get("version") ?? Number.NaN);
    const rows = await api.list<PromptVersionRow>(prompt_route(prompt, "version_rows"), {}, signal);
    const row = rows.find((version) => version.number === number) ?? rows[0];
    if (row) return { draft: draft_of_version(row.content), name: query.value.get("name") ?? "" };
  }
  if (project) {
    const at = `traces/${segment(query.value.get("trace") ?? "")}/spans/${segment(query.value.get("span") ?? "")}`;
    const found = await api.get<{ id: string }>(`/v1/projects/${segment(project)}`, { space: space.value?.id }, signal);
    return { draft: draft_of_span(await api.get<SpanPayload>(project_route(found, at), {}, signal)), name: "" };
  }
  return { draft: empty_draft(), name: "" };
}

/** Models that the model skills of the space list. */
function use_models(): string[] {
  const load = use_load(`playground_models/${space.value?.id}`, (signal) =>
    api.list<Skill>("/v1/skills", { space: space.value?.id, type: "model" }, signal),
  );
  const listed = (load.data ?? []).flatMap((skill) =>
    skill.variables.filter((variable) => variable.name === "MODELS").map((variable) => variable.value ?? ""),
  );
  return [...new Set(listed.flatMap((text) => text.split(/[\s,]+/)).filter((name) => name && !name.includes("*")))];
}

function Picker({ label, value, options, on_change }: PickerProps) {
  return (
    <select aria-label={label} value={value} onChange={(event) => on_change(event.currentTarget.value)}>
      {[...new Set([...options, value])].map((option) => (
        <option key={option} value={option}>
          {option.toLowerCase().replace("_", " ")}
        </option>
      ))}
    </select>
  );
}
interface PickerProps {
  label: string;
  value: string;
  options: string[];
  on_change: (value: string) => void;
}

interface MessagesProps {
  messages: DraftMessage[];
  on_change: (messages: DraftMessage[]) => void;
}

function Messages({ messages, on_change }: MessagesProps) {
  const set = (index: number, part: Partial<DraftMessage>) =>
    on_change(messages.map((message, at) => (at === index ? { ...message, ...part } : message)));
  return (
    <>
      <ol class="draft-messages" aria-label="Messages">
        {messages.map((message, index) => (
          <li key={index}>
            <div class="draft-message-head">
              <Picker
                label={`Role of message ${index + 1}`}
                value={message.role}
                options={roles}
                on_change={(role) => set(index, { role })}
              />
              {message.is_parts && <span class="faint">parts as JSON</span>}
              <span class="spring" />
              <button
                type="button"
                class="quiet icon-only"
                aria-label={`Remove message ${index + 1}`}
                disabled={messages.length === 1}
                onClick={() => on_change(messages.filter((_, at) => at !== index))}
              >
                <Icon name="close" />
              </button>
            </div>
            <textarea
              aria-label={`Text of message ${index + 1}`}
              class={message.is_parts ? "mono" : undefined}
              rows={Math.min(14, Math.max(3, message.content.split("\n").length + 1))}
              value={message.content}
              spellcheck={false}
              onInput={(event) => set(index, { content: event.currentTarget.value })}
            />
          </li>
        ))}
      </ol>
      <button
        type="button"
        class="quiet"
        onClick={() => on_change([...messages, { role: "user", content: "", is_parts: false }])}
      >
        <Icon name="plus" /> Add message
      </button>
    </>
  );
}

/** JSON that most prompts leave empty. */
function More({ draft, on_change }: { draft: Draft; on_change: (part: Partial<Draft>) => void }) {
  const fields: [keyof Draft, string, string][] = [
    ["parameters", "Parameters", '{"temperature": 0}'],
    ["tools", "Tools", '{"type": "tools", "tools": [{"type": "function", "function": {"name": "…"}}]}'],
    ["response_format", "Response format", '{"type": "json_schema", "json_schema": {"name": "…", "schema": {}}}'],
  ];
  const used = fields.filter(([field]) => draft[field] !== "").map(([, title]) => title.toLowerCase());
  return (
    <details class="draft-more">
      <summary>
        Parameters, tools, response format {used.length > 0 && <span class="faint">({used.join(", ")} set)</span>}
      </summary>
      {fields.map(([field, title, example]) => (
        <Field
          key={field}
          label={title}
          rows={4}
          placeholder={example}
          value={String(draft[field])}
          on_input={(text) => on_change({ [field]: text })}
        />
      ))}
      <Choice
        label="Variables"
        value={draft.format}
        options={formats.map((value) => ({
          value,
          title: { MUSTACHE: "{{mustache}}", F_STRING: "{f-string}", NONE: "none: braces are text" }[value] ?? value,
        }))}
        on_change={(format) => on_change({ format })}
      />
    </details>
  );
}

function Numbers({ reply }: { reply: PlaygroundReply }) {
  const tokens = reply.input_tokens + reply.output_tokens + reply.estimated_tokens;
  const estimated = reply.estimated_tokens > 0 ? `, ${exact_count(reply.estimated_tokens)} not reported` : "";
  const counts = `${exact_count(reply.input_tokens)} in, ${exact_count(reply.output_tokens)} out${estimated}`;
  const parts: ComponentChildren[] = [
    <span key="tokens" title={counts}>
      {short_count(tokens)} tokens{estimated && " (estimated)"}
    </span>,
    reply.cost_micro_usd === null ? "no price" : money(reply.cost_micro_usd),
    <span key="time" title={reply.first_text_ms === null ? "" : `first text after ${duration(reply.first_text_ms)}`}>
      {duration(reply.duration_ms)}
    </span>,
    ...(reply.finish_reason ? [reply.finish_reason] : []),
  ];
  return (
    <p class="reply-numbers">
      {parts.map((part, index) => (
        <span key={index}>
          {index > 0 && " · "}
          {part}
        </span>
      ))}
      {reply.trace_id && (
        <>
          {" · "}
          <a href={trace_page(reply.project_id, reply.trace_id)}>trace</a>
        </>
      )}
    </p>
  );
}

function ReplyView({ reply }: { reply: Reply | undefined }) {
  if (!reply) return <p class="faint">No response yet.</p>;
  return (
    <>
      {reply.state === "running" && <State tone="running" text="running" />}
      {reply.state === "stopped" && <State tone="off" text="stopped" />}
      <div class="long-text" aria-live="polite">
        <Visible text={reply.text} />
      </div>
      {reply.done?.tool_calls.map((call, index) => (
        <div class="tool-call" key={call.id || index}>
          <p>
            <Icon name="tool" /> <b>{call.name}</b>
          </p>
          <code>{call.arguments}</code>
        </div>
      ))}
      {reply.error !== "" && (
        <Note kind="failed" icon="warning">
          {reply.error}
        </Note>
      )}
      {reply.done && <Numbers reply={reply.done} />}
    </>
  );
}

/** The request for an estimate; null: there is nothing to estimate yet. */
function estimate_body(column: Column, more: Record<string, unknown>, variables: Record<string, unknown> = {}) {
  const { draft } = column;
  if (draft.model.trim() === "" || draft.messages.every((message) => message.content.trim() === "")) return null;
  try {
    return { call: { prompt_version: version_of(draft), variables }, ...more };
  } catch {
    return null; // JSON that is being typed
  }
}

/** What the responses on the page cost. */
function Spent({ replies }: { replies: PlaygroundReply[] }) {
  if (replies.length === 0) return null;
  const tokens = replies.reduce((sum, one) => sum + one.input_tokens + one.output_tokens + one.estimated_tokens, 0);
  const priced = replies.filter((one) => one.cost_micro_usd !== null);
  const cost = priced.reduce((sum, one) => sum + (one.cost_micro_usd ?? 0), 0);
  return (
    <span>
      {" "}
      The {replies.length === 1 ? "response" : "responses"} below used {priced.length > 0 && `${money(cost)} and `}
      {short_count(tokens)} tokens.
    </span>
  );
}

function SaveDialog({ column, on_close }: { column: Column; on_close: (name?: string) => void }) {
  const [name, set_name] = useState(column.name);
  const [note, set_note] = useState("");
  return (
    <Dialog title="Save as a version" on_close={() => on_close()}>
      <Form
        title="Save version"
        disabled={name.trim() === ""}
        on_cancel={() => on_close()}
        submit={async () => {
          const version = { ...version_of(column.draft), ...(note.trim() ? { description: note.trim() } : {}) };
          const query = { space: space.value?.id };
          await api.post("/v1/prompts", { prompt: { name: name.trim() }, version }, query);
          await prompts_changed();
          toast_done(`Saved as the newest version of ${name.trim()}`);
          on_close(name.trim());
        }}
      >
        <Field
          label="Prompt"
          placeholder="support-reply"
          hint="Letters in lower case, digits, - and _. A prompt with this name gets a new version; else it is created."
          value={name}
          on_input={set_name}
          required
          first
        />
        <Field label="Note" value={note} on_input={set_note} />
      </Form>
    </Dialog>
  );
}

async function start_experiment(dataset: string, column: Column, split: string, repeat: number, cost: string) {
  const version = version_of(column.draft);
  const made = await api.post<{ id: string }>(
    dataset_route(dataset, "experiments"),
    {
      name: `${column.name || "playground"} ${column.draft.model}`,
      repetitions: repeat,
      ...(split ? { splits: [split] } : {}),
    },
    { space: space.value?.id },
  );
  try {
    const budget = cost.trim() === "" ? {} : { budget_micro_usd: Math.round(Number(cost) * 1e6) };
    await api.post(experiment_route(made.id, "start"), {
      task: { kind: "prompt", prompt_version: version },
      ...budget,
    });
  } catch (error) {
    // Nothing was run: leave no empty experiment behind.
    await api.delete(experiment_route(made.id), { delete_project: true });
    throw error;
  }
  return plain_id(made.id);
}

function DatasetDialog({ columns, on_close }: { columns: Column[]; on_close: () => void }) {
  const load = use_load(`datasets/${space.value?.id}`, list_datasets);
  const [chosen, set_chosen] = useState("");
  const [split, set_split] = useState("");
  const [repeat, set_repeat] = useState("1");
  const [cost, set_cost] = useState("");
  const dataset = chosen || load.data?.[0]?.id || "";
  const split_name = split.trim();
  const wanted = {
    dataset,
    ...(split_name ? { split: split_name } : {}),
    repetitions: Math.max(1, Number(repeat) || 1),
  };
  const bodies = columns.map((column) => (dataset === "" ? null : estimate_body(column, wanted)));
  const own_limit = cost.trim() === "" ? Number.NaN : Number(cost) * 1e6;
  const beyond_limit = (made: CallsEstimate[]) => {
    const over = made.find((one) => (one.cost_micro_usd ?? 0) > own_limit);
    return over
      ? `The experiment with ${over.model} stops at its limit of ${money(own_limit)}: the estimate is ${money(over.cost_micro_usd ?? 0)}.`
      : "";
  };
  return (
    <Dialog title={columns.length === 1 ? "Run on a dataset" : "Run all columns on a dataset"} on_close={on_close}>
      <Data load={load} retry={() => void reload("datasets/")}>
        {(datasets: DatasetView[]) =>
          datasets.length === 0 ? (
            <p>There is no dataset in this space yet. Create one on the page Datasets.</p>
          ) : (
            <Form
              title={columns.length === 1 ? "Start experiment" : `Start ${columns.length} experiments`}
              on_cancel={on_close}
              submit={async () => {
                const started: string[] = [];
                for (const column of columns)
                  started.push(await start_experiment(dataset, column, split.trim(), Number(repeat), cost));
                const [first = ""] = started;
                navigate(started.length === 1 ? experiment_page(first) : compare_page(plain_id(dataset), started));
              }}
            >
              <Choice
                label="Dataset"
                value={dataset}
                options={datasets.map((one) => ({ value: one.id, title: `${one.name} (${one.example_count})` }))}
                on_change={set_chosen}
                hint="The input of each example fills the variables."
              />
              <Field label="Split" placeholder="all examples" value={split} on_input={set_split} />
              <Field label="Repetitions" type="number" min={1} value={repeat} on_input={set_repeat} />
              <Field
                label="Stop at a cost of (USD)"
                placeholder="no limit"
                hint="For each experiment. The model needs a price."
                value={cost}
                on_input={set_cost}
              />
              <BudgetNote bodies={bodies} warn={beyond_limit} />
            </Form>
          )
        }
      </Data>
    </Dialog>
  );
}

interface ColumnViewProps {
  column: Column;
  number: number;
  reply: Reply | undefined;
  only: boolean;
  on_change: (part: Partial<Draft>) => void;
  on_copy: (() => void) | null;
  on_remove: () => void;
  on_run: () => void;
  on_stop: () => void;
  on_save: () => void;
}

function ColumnView(props: ColumnViewProps) {
  const { column, number, reply } = props;
  const { draft } = column;
  const models_id = "playground-models";
  const is_running = reply?.state === "running";
  return (
    <section class="playground-column" aria-label={`Column ${number}`}>
      <header class="playground-column-head">
        <Picker
          label="Provider"
          value={draft.provider}
          options={providers}
          on_change={(provider) => props.on_change({ provider })}
        />
        <input
          aria-label="Model"
          placeholder="model"
          list={models_id}
          value={draft.model}
          spellcheck={false}
          onInput={(event) => props.on_change({ model: event.currentTarget.value })}
        />
        {props.on_copy && (
          <button type="button" class="quiet icon-only" aria-label={`Copy column ${number}`} onClick={props.on_copy}>
            <Icon name="copy" />
          </button>
        )}
        {!props.only && (
          <button
            type="button"
            class="quiet icon-only"
            aria-label={`Remove column ${number}`}
            onClick={props.on_remove}
          >
            <Icon name="close" />
          </button>
        )}
      </header>
      <Messages messages={draft.messages} on_change={(messages) => props.on_change({ messages })} />
      <More draft={draft} on_change={props.on_change} />
      <div class="playground-actions">
        {is_running ? (
          <button type="button" onClick={props.on_stop}>
            <Icon name="stop" /> Stop
          </button>
        ) : (
          <button type="button" onClick={props.on_run}>
            <Icon name="play" /> Run
          </button>
        )}
        {can("prompt_write") && (
          <button type="button" class="quiet" onClick={props.on_save}>
            Save…
          </button>
        )}
      </div>
      <section class="playground-reply" aria-label={`Response ${number}`}>
        <ReplyView reply={reply} />
      </section>
    </section>
  );
}

function Variables({
  names,
  values,
  on_change,
}: {
  names: string[];
  values: Record<string, string>;
  on_change: (name: string, value: string) => void;
}) {
  if (names.length === 0) return null;
  return (
    <section class="playground-variables" aria-label="Variables">
      {names.map((name) => (
        <Field
          key={name}
          label={name}
          rows={2}
          value={values[name] ?? ""}
          on_input={(value) => on_change(name, value)}
        />
      ))}
    </section>
  );
}

function Bench({ first, name }: { first: Draft; name: string }) {
  const [columns, set_columns] = useState<Column[]>([{ id: 1, draft: first, name }]);
  const [values, set_values] = useState<Record<string, string>>({});
  const [replies, set_replies] = useState<Record<number, Reply>>({});
  const [saving, set_saving] = useState<Column | null>(null);
  const [on_dataset, set_on_dataset] = useState(false);
  const running = useRef(new Map<number, AbortController>());
  const models = use_models();
  // A closed page ends its calls.
  useEffect(
    () => () => {
      for (const abort of running.current.values()) abort.abort();
    },
    [],
  );

  const names = [...new Set(columns.flatMap((column) => variables_of(column.draft)))];
  const change = (id: number, part: Partial<Draft>) =>
    set_columns((known) => known.map((one) => (one.id === id ? { ...one, draft: { ...one.draft, ...part } } : one)));
  const set_reply = (id: number, part: Partial<Reply>) =>
    set_replies((known) => {
      const before = known[id] ?? { state: "running", text: "", error: "", done: null };
      return { ...known, [id]: { ...before, ...part } };
    });

  const given_variables = (column: Column) => {
    const given = variables_of(column.draft).filter((name) => (values[name] ?? "") !== "");
    return Object.fromEntries(given.map((name) => [name, variable_value(values[name] ?? "")]));
  };

  async function run(column: Column): Promise<void> {
    running.current.get(column.id)?.abort();
    const abort = new AbortController();
    running.current.set(column.id, abort);
    set_reply(column.id, { state: "running", text: "", error: "", done: null });
    let text = "";
    let ended = false;
    try {
      const body = { prompt_version: version_of(column.draft), variables: given_variables(column) };
      await post_events("/v1/playground/run", { space: space.value?.id }, body, abort.signal, (event) => {
        const data = JSON.parse(event.data) as PlaygroundReply & { message?: string };
        if (event.event === "text") {
          text += data.text;
          set_reply(column.id, { text });
        }
        if (event.event === "done") set_reply(column.id, { state: "done", text: data.text, done: data });
        if (event.event === "error") set_reply(column.id, { state: "failed", error: data.message ?? "" });
        ended = ended || event.event !== "text";
      });
      if (!ended) set_reply(column.id, { state: "failed", error: "The connection to the server was lost." });
    } catch (error) {
      if (abort.signal.aborted) set_reply(column.id, { state: "stopped" });
      else set_reply(column.id, { state: "failed", error: to_api_error(error).message });
    } finally {
      if (running.current.get(column.id) === abort) running.current.delete(column.id);
      void calls_ended();
    }
  }
  const run_all = () => {
    for (const column of columns) void run(column);
  };
  const add = (from: Column) =>
    set_columns((known) => [...known, { ...from, id: Math.max(...known.map((one) => one.id)) + 1 }]);
  use_keys([{ keys: "ctrl+Enter", title: "Run all columns", group: "Playground", everywhere: true, run: run_all }]);

  return (
    <div class="page playground-page">
      <PageHeader title="Playground" text="Prompts and models side by side. Every call is counted, limited and traced.">
        <button type="button" class="primary" onClick={run_all}>
          <Icon name="play" /> {columns.length === 1 ? "Run" : "Run all"}
        </button>
        {can("experiment_write") && (
          <button type="button" onClick={() => set_on_dataset(true)}>
            <Icon name="dataset" /> Run on a dataset…
          </button>
        )}
      </PageHeader>
      <datalist id="playground-models">
        {models.map((model) => (
          <option key={model} value={model} />
        ))}
      </datalist>
      <Variables
        names={names}
        values={values}
        on_change={(changed, value) => set_values((known) => ({ ...known, [changed]: value }))}
      />
      <BudgetNote bodies={columns.map((column) => estimate_body(column, {}, given_variables(column)))}>
        <Spent replies={columns.flatMap((column) => replies[column.id]?.done ?? [])} />
      </BudgetNote>
      <div class="playground-columns">
        {columns.map((column, index) => (
          <ColumnView
            key={column.id}
            column={column}
            number={index + 1}
            reply={replies[column.id]}
            only={columns.length === 1}
            on_change={(part) => change(column.id, part)}
            on_copy={columns.length < most_columns ? () => add(column) : null}
            on_remove={() => {
              running.current.get(column.id)?.abort();
              set_columns((known) => known.filter((one) => one.id !== column.id));
            }}
            on_run={() => void run(column)}
            on_stop={() => running.current.get(column.id)?.abort()}
            on_save={() => set_saving(column)}
          />
        ))}
      </div>
      {saving && (
        <SaveDialog
          column={saving}
          on_close={(saved) => {
            if (saved)
              set_columns((known) => known.map((one) => (one.id === saving.id ? { ...one, name: saved } : one)));
            set_saving(null);
          }}
        />
      )}
      {on_dataset && <DatasetDialog columns={columns} on_close={() => set_on_dataset(false)} />}
    </div>
  );
}

export function Playground() {
  const key = `playground/${space.value?.id}/${query.value.toString()}`;
  const load = use_load(key, load_first);
  return (
    <Data load={load} whole_page retry={() => void reload("playground/")}>
      {(first) => <Bench key={key} first={first.draft} name={first.name} />}
    </Data>
  );
}
