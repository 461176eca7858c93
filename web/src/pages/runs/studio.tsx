// Starting a session: a gallery of tasks, and a form that reads like a sentence: use a worker on a project to do a task.

import { useEffect, useState } from "preact/hooks";
import { api } from "../../api";
import type { HarnessView, Preset, Project, ProviderView, Run, Skill, Upload } from "../../api_types";
import { with_subjects } from "../../lib/format/subject";
import { command_words } from "../../lib/format/words";
import { reload, use_load } from "../../load";
import { can, space } from "../../login";
import { Check, Choice, Field, Form, use_draft } from "../../parts/form";
import { PageHeader } from "../../parts/page";
import { Data, Empty, Note } from "../../parts/state";
import { navigate, query } from "../../router";
import { read_stored, write_stored } from "../../stored";
import { run_page } from "../addresses";
import { lack_of, list_providers, provider_title } from "../presets/data";
import { InstallAgent } from "../presets/install";
import { use_projects } from "../projects/data";
import { list_skills } from "../skills/data";
import { ModelField } from "../skills/model_field";
import { chosen_subjects, Subjects } from "./ask";
import { FileDrop } from "./file_drop";
import { first_own_settings, OwnSettingFields, own_settings } from "./own_settings";
import { RecentSessions } from "./recent_sessions";
import { type Purpose, purposes, subject_tasks, tasks } from "./studio_tasks";

interface WorkerProps {
  harness: HarnessView | undefined;
  skills: Skill[];
  model: string;
  skill: string;
  command: string;
  set_model: (value: string) => void;
  set_skill: (value: string) => void;
  set_command: (value: string) => void;
}

/** The settings of a worker without a preset. */
function WorkerFields({ harness, skills, model, skill, command, set_model, set_skill, set_command }: WorkerProps) {
  if (!harness) return null;
  if (!harness.ready)
    return (
      <Note kind="warning">
        <p>{harness.title} is not installed on the server.</p>
        <InstallAgent harness={harness} />
      </Note>
    );
  if (harness.name === "command")
    return (
      <Field
        label="Command"
        hint="Program and arguments, quoted as in a shell. The prompt is passed on standard input."
        value={command}
        on_input={set_command}
        required
      />
    );
  if (harness.protocols.length === 0) return null;
  return (
    <div class="field-row">
      <Choice
        label="Model skill"
        value={skill}
        on_change={set_skill}
        options={[
          { value: "", title: "choose…" },
          ...skills.filter((entry) => entry.type === "model").map((entry) => ({ value: entry.id, title: entry.name })),
        ]}
        hint={`Protocol: ${harness.protocols.join(" or ")}.`}
      />
      <ModelField value={model} on_input={set_model} source={skill === "" ? null : { skill }} />
    </div>
  );
}

interface ExtraSkillsProps {
  skills: Skill[];
  chosen: string[];
  set_chosen: (chosen: string[]) => void;
}

/** Skills for this session only, besides those of a preset. */
function ExtraSkills({ skills, chosen, set_chosen }: ExtraSkillsProps) {
  const others = skills.filter((skill) => skill.type !== "model");
  if (others.length === 0) return null;
  return (
    <fieldset class="studio-skills">
      <legend>Skills for this session</legend>
      {others.map((skill) => (
        <Check
          key={skill.id}
          label={skill.name}
          checked={chosen.includes(skill.id)}
          on_change={(on) => set_chosen(on ? [...chosen, skill.id] : chosen.filter((id) => id !== skill.id))}
        />
      ))}
    </fieldset>
  );
}

interface ComposerProps {
  projects: Project[];
  presets: Preset[];
  harnesses: HarnessView[];
  /** Model skills of the space. */
  models: Skill[];
  providers: ProviderView[];
  prompt: string;
  set_prompt: (prompt: string) => void;
  /** The chosen worker reads no prompt. */
  set_fixed: (fixed: boolean) => void;
}

/** The title of a run whose worker reads no prompt. */
const fixed_prompt = "Fixed analysis of the project";

function harness_title(harness: HarnessView): string {
  const title = harness.name === "playbook" ? "Fixed analysis (playbook)" : harness.title;
  return harness.ready ? title : `${title} (not installed)`;
}

/** A model skill that the harness can use. */
function model_for(harnesses: HarnessView[], models: Skill[], name: string): Skill | undefined {
  const harness = harnesses.find((entry) => entry.name === name);
  return models.find((skill) => {
    const protocol = skill.variables.find((variable) => variable.name === "PROTOCOL")?.value;
    return harness?.protocols.includes(protocol ?? "");
  });
}

/** The wanted preset, else one with an agent, else an agent that is installed and has a model, else the fixed analysis. An
 * agent at a model's provider needs an owner's consent: it is only used when it is chosen. */
function default_worker({ presets, harnesses, models, providers }: ComposerProps, wanted: string | null): string {
  const preset =
    presets.find((entry) => entry.id === wanted) ?? presets.find((entry) => entry.settings.harness !== "playbook");
  if (preset) return `preset:${preset.id}`;
  const is_elsewhere = (name: string) => providers.some((entry) => entry.harness === name);
  const agent = harnesses.find(
    (entry) => entry.ready && !is_elsewhere(entry.name) && model_for(harnesses, models, entry.name),
  );
  if (agent) return `harness:${agent.name}`;
  return presets[0] ? `preset:${presets[0].id}` : "harness:playbook";
}

const worker_key = () => `studio_worker/${space.value?.id}`;
const project_key = () => `studio_project/${space.value?.id}`;

/** The worker of the last session, if it still exists, is ready, and reads what the session is about. */
function remembered_worker(presets: Preset[], harnesses: HarnessView[]): string | null {
  const stored = read_stored(worker_key());
  const [kind, name = ""] = stored?.split(":", 2) ?? [];
  const preset = kind === "preset" ? presets.find((entry) => entry.id === name) : undefined;
  const harness = kind === "harness" ? harnesses.find((entry) => entry.name === name && entry.ready) : undefined;
  const used = preset?.settings.harness ?? harness?.name;
  return used === undefined || (used === "playbook" && chosen_subjects().length > 0) ? null : stored;
}

function first_worker(props: ComposerProps): string {
  const wanted = query.value.get("preset");
  const remembered = wanted === null ? remembered_worker(props.presets, props.harnesses) : null;
  return remembered ?? default_worker(props, wanted);
}

/** The project in the address, else the one of the last session. */
function first_project(projects: Project[]): string {
  const named = query.value.get("project") ?? read_stored(project_key());
  return projects.find((project) => project.name === named)?.name ?? projects[0]?.name ?? "";
}

function Composer(props: ComposerProps) {
  const { projects, presets, harnesses, models, providers, prompt, set_prompt, set_fixed } = props;
  const [worker, set_worker] = useState(() => first_worker(props));
  const [project, set_project] = useState(() => first_project(projects));
  const [model, set_model] = useState("");
  const [skill, set_skill] = useState(() => model_for(harnesses, models, worker.slice("harness:".length))?.id ?? "");
  const [command, set_command] = useState("");
  const [extra, set_extra] = useState<string[]>([]);
  const [files, set_files] = useState<Upload[]>([]);
  const [own, change_own] = use_draft(first_own_settings);
  const [provider, set_provider] = useState("");
  const skills = use_load(can("skill_read") ? `skills/${space.value?.id}` : null, list_skills).data ?? [];
  const [kind, name = ""] = worker.split(":", 2);
  const harness = kind === "harness" ? harnesses.find((entry) => entry.name === name) : undefined;
  // A harness of a provider has no other one; a preset has its own unless another is chosen.
  const owner = providers.find((entry) => entry.harness !== "" && entry.harness === name);
  const used = owner?.name ?? (provider || presets.find((entry) => entry.id === name)?.settings.provider || "local");
  const no_uploads = lack_of(
    providers.find((entry) => entry.name === used),
    "uploads",
  );
  const subjects = chosen_subjects();
  const preset = kind === "preset" ? presets.find((entry) => entry.id === name) : undefined;
  const fixed = (preset?.settings.harness ?? name) === "playbook";
  useEffect(() => set_fixed(fixed), [fixed]);
  const ready = (fixed || prompt.trim() !== "") && project !== "" && harness?.ready !== false;
  const choices = providers.filter((entry) => entry.available && entry.allowed && entry.harness === "");
  async function start(): Promise<void> {
    const settings = {
      harness: name,
      model,
      command: name === "command" ? command_words(command) : [],
      skills: [...(skill === "" ? [] : [skill]), ...extra],
      ...own_settings(own),
    };
    const worker_settings = kind === "preset" ? { preset: name, skills: extra } : { settings };
    const run = await api.post<Run>(
      "/v1/runs",
      {
        project,
        prompt: fixed ? fixed_prompt : with_subjects(prompt, subjects),
        files: files.map((file) => file.id),
        ...(owner ? { provider: owner.name } : provider === "" ? {} : { provider }),
        ...worker_settings,
      },
      { space: space.value?.id },
    );
    write_stored(worker_key(), worker);
    write_stored(project_key(), project);
    await reload("runs/");
    navigate(run_page(run.id));
  }
  return (
    <Form title="Start session" busy_title="Starting…" disabled={!ready} submit={start}>
      <div class="field-row">
        <Choice
          label="Use"
          value={worker}
          on_change={set_worker}
          options={[
            ...presets.map((preset) => ({ value: `preset:${preset.id}`, title: preset.name })),
            ...harnesses.map((entry) => ({
              value: `harness:${entry.name}`,
              title: harness_title(entry),
            })),
          ]}
        />
        <Choice
          label="on"
          value={project}
          on_change={set_project}
          options={projects.map((entry) => ({ value: entry.name, title: entry.name }))}
        />
      </div>
      {owner === undefined && choices.length > 1 && (
        <Choice
          label="Provider"
          value={provider}
          on_change={set_provider}
          options={[
            { value: "", title: kind === "preset" ? "as in the preset" : "This machine" },
            ...choices.map((entry) => ({ value: entry.name, title: provider_title(entry) })),
          ]}
        />
      )}
      <WorkerFields {...{ harness, skills, model, skill, command, set_model, set_skill, set_command }} />
      <ExtraSkills skills={skills} chosen={extra} set_chosen={set_extra} />
      {kind === "harness" && <OwnSettingFields draft={own} change={change_own} />}
      <Subjects subjects={subjects} />
      {fixed ? (
        <Note>
          Fixed analysis: it finds errors, slow and expensive steps in the project's traces, always in the same way. It
          uses no model and reads no prompt{subjects.length > 0 && ", nor what the session is about"}. For a task of
          your own choose an agent.
        </Note>
      ) : (
        <Field
          label="to"
          rows={5}
          value={prompt}
          on_input={set_prompt}
          placeholder="Describe the task"
          required
          first
        />
      )}
      {no_uploads === undefined ? <FileDrop files={files} on_change={set_files} /> : <Note>{no_uploads}</Note>}
    </Form>
  );
}

interface TaskListProps {
  tasks: { title: string; prompt: string; purpose?: string }[];
  prompt: string;
  choose: (prompt: string) => void;
}

function TaskList({ tasks: shown, prompt, choose }: TaskListProps) {
  return (
    <ul class="skill-gallery">
      {shown.map((task) => (
        <li key={task.title}>
          <button type="button" aria-pressed={prompt === task.prompt} onClick={() => choose(task.prompt)}>
            {task.purpose && <span class="caps faint">{task.purpose}</span>}
            <b>{task.title}</b>
            <span class="soft">{task.prompt}</span>
          </button>
        </li>
      ))}
    </ul>
  );
}

/** Tasks about what the session is about. */
function SubjectTasks({ prompt, choose }: Pick<TaskListProps, "prompt" | "choose">) {
  const first = chosen_subjects().find((subject) => subject_tasks[subject.kind].length > 0);
  if (!first) return null;
  return (
    <section aria-label="Suggested tasks">
      <TaskList tasks={subject_tasks[first.kind]} prompt={prompt} choose={choose} />
    </section>
  );
}

function Gallery({ prompt, choose }: { prompt: string; choose: (prompt: string) => void }) {
  const [purpose, set_purpose] = useState<Purpose | null>(null);
  // Showing all tasks would push the form out of view: the first of each purpose, or all of one.
  const shown =
    purpose === null
      ? purposes.flatMap((each) => tasks.filter((task) => task.purpose === each).slice(0, 1))
      : tasks.filter((task) => task.purpose === purpose);
  return (
    <section aria-label="Task gallery">
      <div class="table-bar">
        {[null, ...purposes].map((each) => (
          <button
            type="button"
            class="quiet"
            key={each ?? "all"}
            aria-pressed={purpose === each}
            onClick={() => set_purpose(each)}
          >
            {each ?? "All purposes"}
          </button>
        ))}
      </div>
      <TaskList tasks={shown} prompt={prompt} choose={choose} />
    </section>
  );
}

export function Studio() {
  const [fixed, set_fixed] = useState(false);
  const [prompt, set_prompt] = useState(query.value.get("prompt") ?? "");
  const projects = use_projects();
  const parts = use_load(`studio/${space.value?.id}`, async (signal) => ({
    presets: can("preset_read") ? await api.list<Preset>("/v1/presets", { space: space.value?.id }, signal) : [],
    harnesses: await api.get<HarnessView[]>("/v1/harnesses", {}, signal),
    providers: await list_providers(signal),
    models: can("skill_read") ? (await list_skills(signal)).filter((skill) => skill.type === "model") : [],
  }));
  return (
    <div class="page narrow studio">
      <PageHeader
        title="Studio"
        text="Give a worker a task. It works in its own sandbox, reads the project's traces and saves its findings."
      />
      {!fixed &&
        (chosen_subjects().length > 0 ? (
          <SubjectTasks prompt={prompt} choose={set_prompt} />
        ) : (
          <Gallery prompt={prompt} choose={set_prompt} />
        ))}
      <Data load={projects} retry={() => void reload("projects/")}>
        {(known) =>
          known.length === 0 ? (
            <Empty
              icon="project"
              title="No projects yet"
              text="A session reads the traces of a project. Create a project and send a trace first."
            />
          ) : (
            <Data load={parts} retry={() => void reload("studio/")}>
              {(loaded) => <Composer {...{ projects: known, ...loaded, prompt, set_prompt, set_fixed }} />}
            </Data>
          )
        }
      </Data>
      <RecentSessions />
    </div>
  );
}
