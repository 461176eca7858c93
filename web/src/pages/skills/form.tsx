// Creating a skill: the types, then the variables of the chosen type. Secrets are written, never read.

import { useState } from "preact/hooks";
import { api } from "../../api";
import type { EnvPreview, Skill, SkillTypeInfo } from "../../api_types";
import { reload, use_load } from "../../load";
import { can_install, space } from "../../login";
import { Dialog } from "../../parts/dialog";
import { Check, Choice, Field, Form } from "../../parts/form";
import { Data, Note } from "../../parts/state";
import { query } from "../../router";
import { skills_changed } from "./data";

function Gallery({ types, on_choose }: { types: SkillTypeInfo[]; on_choose: (type: SkillTypeInfo) => void }) {
  return (
    <ul class="skill-gallery">
      {types.map((type) => (
        <li key={type.type}>
          <button type="button" onClick={() => on_choose(type)}>
            <b>{type.title}</b>
            <span class="soft">{type.summary}</span>
          </button>
        </li>
      ))}
    </ul>
  );
}

/** A preview of a pasted .env; nothing is stored. */
export function EnvPreviewList({ preview }: { preview: EnvPreview }) {
  return (
    <div class="env-preview">
      {preview.matches.length > 0 && (
        <p>
          Sets{" "}
          {preview.matches.map((match) => (
            <code key={match.variable}>
              {match.variable}
              {match.replaces ? " (replaces)" : ""}{" "}
            </code>
          ))}
        </p>
      )}
      {preview.unknown.length > 0 && <p class="soft">Ignores {preview.unknown.join(", ")}.</p>}
      {preview.problems.map((problem) => (
        <p class="soft" key={problem}>
          {problem}
        </p>
      ))}
    </div>
  );
}

function VariableFields({
  type,
  values,
  on_change,
}: {
  type: SkillTypeInfo;
  values: Record<string, string>;
  on_change: (values: Record<string, string>) => void;
}) {
  return (
    <>
      {type.variables.map((variable) => {
        const label = variable.required ? variable.name : `${variable.name} (optional)`;
        const change = (value: string) => on_change({ ...values, [variable.name]: value });
        return variable.choices.length > 0 ? (
          <Choice
            key={variable.name}
            label={label}
            hint={variable.help}
            value={values[variable.name] ?? variable.default_value}
            on_change={change}
            options={variable.choices.map((choice) => ({ value: choice, title: choice }))}
          />
        ) : (
          <Field
            key={variable.name}
            label={label}
            hint={variable.help}
            type={variable.secret ? "password" : "text"}
            autocomplete={variable.secret ? "new-password" : "off"}
            placeholder={variable.default_value}
            value={values[variable.name] ?? ""}
            on_input={change}
          />
        );
      })}
    </>
  );
}

function sorted_values(type: SkillTypeInfo, values: Record<string, string>) {
  const variables: Record<string, string> = {};
  const secrets: Record<string, string> = {};
  for (const variable of type.variables) {
    const value = (values[variable.name] ?? "").trim();
    if (value !== "") (variable.secret ? secrets : variables)[variable.name] = value;
  }
  return { variables, secrets };
}

function Details({
  type,
  on_back,
  on_done,
}: {
  type: SkillTypeInfo;
  on_back: () => void;
  on_done: (skill: Skill) => void;
}) {
  const [name, set_name] = useState<string>(type.type === "custom" ? "" : type.type);
  const [description, set_description] = useState("");
  const [values, set_values] = useState<Record<string, string>>({});
  const [env_text, set_env_text] = useState("");
  const [preview, set_preview] = useState<EnvPreview | null>(null);
  const [installation, set_installation] = useState(false);
  const env_waits = env_text.trim() !== "" && preview === null;
  async function submit(): Promise<void> {
    if (env_waits) {
      set_preview(await api.post<EnvPreview>("/v1/skill_env", { type: type.type, text: env_text }));
      return;
    }
    const made = await api.post<Skill>(
      "/v1/skills",
      {
        name: name.trim(),
        type: type.type,
        description,
        scope: installation ? "installation" : "space",
        ...sorted_values(type, values),
        ...(env_text.trim() === "" ? {} : { env_text }),
      },
      { space: space.value?.id },
    );
    await skills_changed();
    on_done(made);
  }
  return (
    <Form
      title={env_waits ? "Preview .env" : "Create skill"}
      busy_title="Working…"
      disabled={name.trim() === ""}
      on_cancel={on_back}
      submit={submit}
    >
      <p>{type.help}</p>
      <Field label="Name" value={name} on_input={set_name} required first />
      <Field label="Description" value={description} on_input={set_description} />
      <VariableFields type={type} values={values} on_change={set_values} />
      {type.variables.length > 0 && (
        <Field
          label="Or paste a .env"
          rows={3}
          value={env_text}
          placeholder="NAME=value"
          on_input={(text) => {
            set_env_text(text);
            set_preview(null);
          }}
        />
      )}
      {preview && <EnvPreviewList preview={preview} />}
      {type.type === "custom" && (
        <Note>Variables, hosts and the folder with SKILL.md are set on the page of the skill.</Note>
      )}
      {can_install("skill_share") && (
        <Check
          label="For the whole installation"
          hint="Managed by owners of the installation and shared with chosen spaces."
          checked={installation}
          on_change={set_installation}
        />
      )}
    </Form>
  );
}

export function CreateSkill({ on_close, on_done }: { on_close: () => void; on_done: (skill: Skill) => void }) {
  const load = use_load("skill_types", (signal) => api.get<SkillTypeInfo[]>("/v1/skill_types", {}, signal));
  // The address may name the type already: ?new=model.
  const [chosen, set_type] = useState<SkillTypeInfo | null | undefined>(undefined);
  const type = chosen === undefined ? load.data?.find((one) => one.type === query.value.get("new")) : chosen;
  return (
    <Dialog title={type ? `New ${type.title} skill` : "Choose a skill type"} wide on_close={on_close}>
      <Data load={load} retry={() => void reload("skill")}>
        {(types) =>
          type ? (
            <Details type={type} on_back={() => set_type(null)} on_done={on_done} />
          ) : (
            <Gallery types={types} on_choose={set_type} />
          )
        }
      </Data>
    </Dialog>
  );
}
