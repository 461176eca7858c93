// One evaluator: its definition and a bench that applies it to real targets, its tasks and its versions.

import { useState } from "preact/hooks";
import { api } from "../../api";
import type { EvalTask, Evaluator, EvaluatorChange, EvaluatorVersion, LlmDefinition } from "../../api_types";
import { plural } from "../../lib/format/number";
import type { Params } from "../../lib/route";
import { reload, use_load, use_pages } from "../../load";
import { can } from "../../login";
import { Confirm } from "../../parts/confirm";
import { CodeBlock } from "../../parts/copy";
import { Check, Choice, Field, Form, use_draft } from "../../parts/form";
import { Icon } from "../../parts/icon";
import { JsonValue } from "../../parts/json_view";
import { Menu } from "../../parts/menu";
import { PageHeader, Section } from "../../parts/page";
import { Facts } from "../../parts/slide_over";
import { Data, Empty, State } from "../../parts/state";
import { current_tab, Tabs } from "../../parts/tabs";
import { Time } from "../../parts/time";
import { toast_done } from "../../parts/toast";
import { navigate } from "../../router";
import { eval_task_page, evaluators_of_space } from "../addresses";
import { TextDiff } from "../datasets/text_diff";
import { Bench } from "./bench";
import { CalibrationPart } from "./calibration";
import {
  definition_text,
  evaluator_route,
  evaluators_changed,
  kind_words,
  labels_text,
  list_tasks,
  output_of,
  rate_text,
  target_words,
  task_state,
} from "./data";
import { TaskDialog } from "./task_form";
import { VerdictsPart } from "./verdicts";

interface Draft {
  system: string;
  prompt: string;
  labels: string;
  model: string;
  votes: string;
  explain: boolean;
  cache: boolean;
}

function draft_of(llm: LlmDefinition): Draft {
  return {
    system: llm.messages
      .filter((message) => message.role === "system")
      .map((message) => message.content)
      .join("\n\n"),
    prompt: llm.messages
      .filter((message) => message.role !== "system")
      .map((message) => message.content)
      .join("\n\n"),
    labels: labels_text(llm.output),
    model: llm.model.name,
    votes: String(llm.votes ?? 1),
    explain: llm.explain ?? true,
    cache: llm.cache ?? true,
  };
}

/** The definition that the form shows; what it does not show stays as it is. */
function llm_of(saved: LlmDefinition, draft: Draft): LlmDefinition {
  const is_labels = saved.output?.type !== "numeric" && saved.output?.type !== "text";
  return {
    ...saved,
    model: {
      ...saved.model,
      name: draft.model.trim(),
      ...(draft.model.trim() === saved.model.name ? {} : { skill: "", provider: "" }),
    },
    messages: [
      ...(draft.system.trim() === "" ? [] : [{ role: "system", content: draft.system }]),
      { role: "user", content: draft.prompt },
    ],
    ...(is_labels ? { output: output_of(draft.labels) } : {}),
    votes: Number(draft.votes),
    explain: draft.explain,
    cache: draft.cache,
  };
}

function ModelForm({
  evaluator,
  llm,
  draft,
  change,
}: {
  evaluator: Evaluator;
  llm: LlmDefinition;
  draft: Draft;
  change: (part: Partial<Draft>) => void;
}) {
  return (
    <Form
      title="Save as a new version"
      disabled={!can("eval_write") || draft.prompt.trim() === ""}
      submit={async () => {
        const changed = await api.patch<Evaluator>(evaluator_route(evaluator.id), {
          llm: llm_of(llm, draft),
        } satisfies EvaluatorChange);
        await evaluators_changed();
        toast_done(
          changed.revision === evaluator.revision
            ? "Nothing changed: no new version"
            : `Version ${changed.revision} saved`,
        );
      }}
    >
      <Field
        label="System message"
        rows={5}
        value={draft.system}
        on_input={(system) => change({ system })}
        hint="What is decided, and by which criteria."
      />
      <Field
        label="Message"
        rows={8}
        value={draft.prompt}
        on_input={(prompt) => change({ prompt })}
        hint="Variables such as {{input}}, {{output.text}} or {{spans}} are places in the document. Their values reach the model as data between marks."
      />
      <div class="field-row">
        <Field
          label="Labels"
          value={draft.labels}
          on_input={(labels) => change({ labels })}
          placeholder="pass=1, fail=0"
          hint="With scores. Empty: true or false. cannot_judge is always allowed."
        />
        <Field label="Model" value={draft.model} on_input={(model) => change({ model })} />
        <Choice
          label="Votes"
          value={draft.votes}
          on_change={(votes) => change({ votes })}
          options={["1", "3", "5"].map((value) => ({ value, title: value }))}
        />
      </div>
      <Check label="Explain each verdict" checked={draft.explain} on_change={(explain) => change({ explain })} />
      <Check
        label="Use stored verdicts of equal documents"
        checked={draft.cache}
        on_change={(cache) => change({ cache })}
      />
    </Form>
  );
}

function ModelPart({ evaluator, llm }: { evaluator: Evaluator; llm: LlmDefinition }) {
  const [draft, change] = use_draft(() => draft_of(llm));
  return (
    <div class="two-columns judge-columns">
      <Section title="Definition">
        <ModelForm evaluator={evaluator} llm={llm} draft={draft} change={change} />
      </Section>
      <Bench evaluator={evaluator} unsaved={{ llm: llm_of(llm, draft) }} />
    </div>
  );
}

function DefinitionPart({ evaluator }: { evaluator: Evaluator }) {
  if (evaluator.llm) return <ModelPart key={evaluator.revision} evaluator={evaluator} llm={evaluator.llm} />;
  const definition = evaluator.code ?? evaluator.agent ?? evaluator.remote;
  if (!definition)
    return (
      <Section title="Definition">
        <Facts
          rows={[
            ["Applies to", evaluator.filter || "all spans"],
            ["Matches when", evaluator.condition],
            ["Label", evaluator.label],
            ["Other spans", evaluator.other_label || "no eval"],
          ]}
        />
      </Section>
    );
  return (
    <div class="two-columns judge-columns">
      <Section title="Definition">
        {evaluator.code ? (
          <CodeBlock text={evaluator.code.source} label="the code" />
        ) : (
          <JsonValue value={definition} />
        )}
      </Section>
      <Bench evaluator={evaluator} unsaved={{}} />
    </div>
  );
}

function TasksPart({ evaluator }: { evaluator: Evaluator }) {
  const [creating, set_creating] = useState(false);
  const load = use_load(`eval_tasks/of/${evaluator.id}`, async (signal) =>
    (await list_tasks(signal)).filter((task) => task.evaluator_id === evaluator.id),
  );
  return (
    <Section title="Tasks" text="A task applies the evaluator to new spans, traces or chat sessions of a project.">
      <Data load={load} retry={() => void reload("eval_tasks/")}>
        {(tasks) =>
          tasks.length === 0 ? (
            <Empty icon="play" title="No task" text="Without a task it evaluates runs of experiments only." />
          ) : (
            <ul class="plain-list">
              {tasks.map((task) => (
                <TaskLine key={task.id} task={task} />
              ))}
            </ul>
          )
        }
      </Data>
      {can("eval_write") && evaluator.kind !== "rule" && (
        <button type="button" onClick={() => set_creating(true)}>
          <Icon name="plus" /> Create task
        </button>
      )}
      {creating && <TaskDialog evaluator={evaluator} on_close={() => set_creating(false)} />}
    </Section>
  );
}

function TaskLine({ task }: { task: EvalTask }) {
  const state = task_state(task);
  return (
    <li>
      <State tone={state.tone} text={state.text} />{" "}
      <a href={eval_task_page(task.id)}>
        {rate_text(task.rate_ppm)} of {target_words[task.target]}
      </a>{" "}
      <span class="soft">
        {task.filter === "" ? "" : `where ${task.filter} · `}
        version {task.current_version} · {plural(task.done_24h, "verdict")} in 24 h
      </span>
    </li>
  );
}

function VersionsPart({ evaluator }: { evaluator: Evaluator }) {
  const load = use_pages<EvaluatorVersion>(`judge_versions/${evaluator.id}`, (cursor, signal) =>
    api.page<EvaluatorVersion>(evaluator_route(evaluator.id, "versions"), { cursor }, signal),
  );
  return (
    <Section title="Versions" text="A version never changes. Evals carry the version that made them.">
      <Data load={load} retry={() => void reload("judge_versions/")}>
        {(versions) => (
          <ol class="plain-list" reversed>
            {versions.map((version, index) => {
              const before = versions[index + 1];
              const text = (one: EvaluatorVersion) =>
                definition_text(one.llm ?? one.code ?? one.agent ?? one.remote ?? one.rule);
              return (
                <li key={version.number}>
                  <h3>Version {version.number}</h3>
                  <p class="soft">
                    {version.created_by} · <Time time={version.created_at} />
                  </p>
                  {before && (
                    <TextDiff
                      before={text(before)}
                      after={text(version)}
                      label={`Changes of version ${version.number}`}
                    />
                  )}
                </li>
              );
            })}
          </ol>
        )}
      </Data>
    </Section>
  );
}

const tabs = [
  { id: "definition", title: "Definition" },
  { id: "tasks", title: "Tasks" },
  { id: "verdicts", title: "Verdicts" },
  { id: "calibration", title: "Calibration" },
  { id: "versions", title: "Versions" },
];

function Known({ evaluator }: { evaluator: Evaluator }) {
  const [deleting, set_deleting] = useState(false);
  const tab = current_tab(tabs);
  return (
    <>
      <PageHeader
        title={evaluator.name}
        text={`${kind_words[evaluator.kind] ?? evaluator.kind} · version ${evaluator.revision}${evaluator.description === "" ? "" : ` · ${evaluator.description}`}`}
      >
        {can("eval_write") && (
          <Menu
            label="Actions"
            class="icon-only"
            align="right"
            button={<Icon name="more" />}
            items={[{ title: "Delete…", icon: "trash", dangerous: true, run: () => set_deleting(true) }]}
          />
        )}
      </PageHeader>
      <Tabs label="Parts of the evaluator" tabs={tabs} />
      {tab === "definition" && <DefinitionPart evaluator={evaluator} />}
      {tab === "tasks" && <TasksPart evaluator={evaluator} />}
      {tab === "verdicts" && <VerdictsPart evaluator={evaluator} />}
      {tab === "calibration" && <CalibrationPart evaluator={evaluator} />}
      {tab === "versions" && <VersionsPart evaluator={evaluator} />}
      {deleting && (
        <Confirm
          title={`Delete ${evaluator.name}?`}
          consequence="Its versions, tasks and jobs are deleted. Evals are kept."
          action="Delete evaluator"
          run={async () => {
            await api.delete(evaluator_route(evaluator.id));
            await evaluators_changed();
            toast_done(`${evaluator.name} deleted`);
            navigate(evaluators_of_space());
          }}
          on_close={() => set_deleting(false)}
        />
      )}
    </>
  );
}

export function EvaluatorPage({ params }: { params: Params }) {
  const id = params.evaluator ?? "";
  const load = use_load(`judge/${id}`, (signal) => api.get<Evaluator>(evaluator_route(id), {}, signal));
  return (
    <div class="page">
      <Data load={load} retry={() => void reload("judge/")} whole_page>
        {(evaluator) => <Known evaluator={evaluator} />}
      </Data>
    </div>
  );
}
