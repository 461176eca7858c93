// The second step: a model that responded to a test call, and an agent that can use it. Without them the fixed analysis
// works.

import { useState } from "preact/hooks";
import { ApiError, api, segment } from "../../api";
import type { FacetValue, Skill } from "../../api_types";
import { reload, use_load } from "../../load";
import { can, can_install, space } from "../../login";
import { use_action } from "../../parts/action";
import { Check, Choice, Field, Form, use_draft } from "../../parts/form";
import { State } from "../../parts/state";
import { toast_done } from "../../parts/toast";
import { harnesses_page } from "../addresses";
import { InstallAgent } from "../presets/install";
import { skill_route } from "../skills/data";
import { ModelField } from "../skills/model_field";
import { agent_of, type Connected, test_model, tested_model, testing, variable_of } from "./data";

const providers = [
  { value: "anthropic", title: "Anthropic" },
  { value: "openai", title: "OpenAI" },
  { value: "gemini", title: "Google Gemini" },
];

interface ModelDraft {
  protocol: string;
  own: boolean;
  base_url: string;
  is_private: boolean;
  key: string;
  model: string;
}

const first_draft = (): ModelDraft => ({
  protocol: "anthropic",
  own: false,
  base_url: "",
  is_private: false,
  key: "",
  model: "",
});

const endpoint_of = (draft: ModelDraft) => ({
  PROTOCOL: draft.protocol,
  ...(draft.own ? { BASE_URL: draft.base_url.trim() } : {}),
  ...(draft.own && draft.is_private ? { ALLOW_PRIVATE: "true" } : {}),
});

/** The skill is stored only if its model responds. */
async function add_and_test(draft: ModelDraft, name: string): Promise<void> {
  const variables = { ...endpoint_of(draft), MODELS: draft.model.trim() };
  const secrets = draft.key.trim() === "" ? {} : { API_KEY: draft.key.trim() };
  const skill = await api.post<Skill>(
    "/v1/skills",
    { name, type: "model", variables, secrets },
    { space: space.value?.id },
  );
  try {
    await test_model(skill, draft.model.trim());
    toast_done("The model responded");
  } catch (error) {
    await api.delete(skill_route(skill.id), { confirm: name });
    const reason = error instanceof Error ? error.message : String(error);
    throw new ApiError(0, "unavailable", `Not saved: the test call failed. ${reason}`, null, null);
  } finally {
    await Promise.all([reload("connect/"), reload("skill")]);
  }
}

/** The form stays while its model is tested. */
async function add_model(draft: ModelDraft, name: string): Promise<void> {
  testing.value = true;
  try {
    await add_and_test(draft, name);
  } finally {
    testing.value = false;
  }
}

/** "anthropic", or "anthropic-2" if there is one already. */
function free_name(wanted: string, models: Skill[]): string {
  const taken = new Set(models.map((skill) => skill.name));
  if (!taken.has(wanted)) return wanted;
  let number = 2;
  while (taken.has(`${wanted}-${number}`)) number++;
  return `${wanted}-${number}`;
}

/** Names of models that the application's own traces have, the most frequent first. */
function use_seen_models(project: string | undefined): string[] {
  const load = use_load(project ? `connect_models/${project}` : null, (signal) =>
    api.get<FacetValue[]>(
      `/v1/projects/${segment(project ?? "")}/facets`,
      { space: space.value?.id, field: "model", limit: 50 },
      signal,
    ),
  );
  return (load.data ?? []).map((one) => one.value).filter((name) => name !== "");
}

function AddModel({ taken, project }: { taken: Skill[]; project: string | undefined }) {
  const seen = use_seen_models(project);
  const [draft, change] = use_draft(first_draft);
  const reachable = draft.own ? draft.base_url.trim() !== "" : draft.key.trim() !== "";
  return (
    <Form
      title="Add and test"
      busy_title="Waiting for the model…"
      disabled={!reachable || draft.model.trim() === ""}
      submit={() => add_model(draft, free_name(draft.own ? "own-model" : draft.protocol, taken))}
    >
      <Choice
        label={draft.own ? "Protocol" : "Provider"}
        value={draft.protocol}
        on_change={(protocol) => change({ protocol })}
        options={providers}
      />
      <Field
        label={draft.own ? "Key (optional)" : "Key"}
        type="password"
        autocomplete="new-password"
        hint="Stored encrypted. Workers never get it: the gateway adds it outside of their sandboxes."
        value={draft.key}
        on_input={(key) => change({ key })}
      />
      <Check label="My own endpoint" checked={draft.own} on_change={(own) => change({ own })} />
      {draft.own && (
        <>
          <Field
            label="Address"
            placeholder="https://models.example.com"
            value={draft.base_url}
            on_input={(base_url) => change({ base_url })}
          />
          {can_install("skill_share") && (
            <Check
              label="On a private address or without TLS"
              checked={draft.is_private}
              on_change={(is_private) => change({ is_private })}
            />
          )}
        </>
      )}
      <ModelField
        value={draft.model}
        on_input={(model) => change({ model })}
        source={reachable ? { variables: endpoint_of(draft), key: draft.key.trim() } : null}
        seen={seen}
        required
      />
    </Form>
  );
}

/** A model that was added elsewhere: a test call shows whether it works. */
function KnownModel({ skill }: { skill: Skill }) {
  const { busy, attempt } = use_action();
  const [tested, set_tested] = useState(() => tested_model(skill));
  const model = variable_of(skill, "MODELS")
    .split(/[\s,]+/)
    .find((name) => name !== "" && !name.includes("*"));
  const test = attempt(`${skill.name} did not respond`, async () => {
    await test_model(skill, model ?? "");
    set_tested(model ?? null);
  });
  return (
    <li>
      <b>{skill.name}</b> {model && <code>{model}</code>}
      {tested ? <State tone="done" text="responded" /> : <span class="faint">not tested here</span>}
      {model && can("run_start") && (
        <button type="button" class="quiet" disabled={busy} onClick={test}>
          {busy ? "Waiting for the model…" : "Test"}
        </button>
      )}
    </li>
  );
}

/** Which agent will work, or what is missing for one. */
function Agent({ connected }: { connected: Connected }) {
  const agent = agent_of(connected);
  if (agent)
    return (
      <p>
        Sessions use <b>{agent.harness.title}</b> with <b>{agent.skill.name}</b>.
      </p>
    );
  const protocols = connected.models.map((skill) => variable_of(skill, "PROTOCOL"));
  const fits = connected.harnesses.filter(
    (one) => !one.ready && one.protocols.some((name) => protocols.includes(name)),
  );
  const fit = fits[0];
  if (!fit) return null;
  const others = fits.length > 1 ? "Other agents" : "All agents";
  return (
    <section class="install-agent" aria-label="Agent">
      <p>
        {can_install("user_manage")
          ? "No agent that uses this model is installed on the server yet."
          : "No agent that uses this model is installed on the server yet. An owner of the installation can run this; this page notices it."}{" "}
        Until then sessions use the fixed analysis.
      </p>
      <InstallAgent harness={fit} primary />
      <p>
        <a href={harnesses_page()}>{others}</a>
      </p>
    </section>
  );
}

export function ModelStep({ connected, skip }: { connected: Connected; skip: () => void }) {
  // A model under test is stored already.
  const models = testing.value ? [] : connected.models;
  return (
    <>
      {models.length > 0 && (
        <ul class="known-models" aria-label="Models">
          {models.map((skill) => (
            <KnownModel key={skill.id} skill={skill} />
          ))}
        </ul>
      )}
      <Agent connected={{ ...connected, models }} />
      {models.length === 0 && can("skill_write") && can("secret_write") && (
        <AddModel taken={connected.models} project={connected.first_trace?.project} />
      )}
      {models.length === 0 && !(can("skill_write") && can("secret_write")) && (
        <p class="soft">
          A member with <code>skill_write</code> and <code>secret_write</code> can add a model.
        </p>
      )}
      {models.length === 0 && (
        <p>
          <button type="button" onClick={skip}>
            Continue without a model
          </button>
        </p>
      )}
    </>
  );
}
