// Variables of a custom skill: declaring, editing and removing them, with the hosts that may receive the secret; and
// the hosts that need no secret.

import { useState } from "preact/hooks";
import { api, segment } from "../../api";
import type { Declared, Host, Skill, SkillVersion, VariableView } from "../../api_types";
import { reload, use_load } from "../../load";
import { Dialog } from "../../parts/dialog";
import { Check, Field, Form } from "../../parts/form";
import { Data } from "../../parts/state";
import { host_text, skill_route, skills_changed } from "./data";

/** "https://api.example.com/v1" → a host rule; null for an invalid address. */
function parse_host(text: string): Host | null {
  let url: URL;
  try {
    url = new URL(text.includes("://") ? text : `https://${text}`);
  } catch {
    return null;
  }
  if (url.protocol !== "https:" && url.protocol !== "http:") return null;
  // Browsers accept blanks and other characters, encoded.
  if (!/^(\*\.)?[a-z0-9.-]+$|^\[[0-9a-f:.]+\]$/.test(url.hostname)) return null;
  const tls = url.protocol === "https:";
  return {
    host: url.hostname,
    port: url.port === "" ? (tls ? 443 : 80) : Number(url.port),
    tls,
    methods: [],
    path_prefix: url.pathname,
    websocket: false,
  };
}

const lines_of = (text: string) =>
  text
    .split("\n")
    .map((line) => line.trim())
    .filter((line) => line !== "");

/** One address per line; fields that the form does not show (methods, WebSockets) are kept with their address. */
function read_hosts(text: string, before: Host[]): { hosts: Host[]; wrong: string[] } {
  const hosts: Host[] = [];
  const wrong: string[] = [];
  for (const line of lines_of(text)) {
    const parsed = before.find((host) => host_text(host) === line) ?? parse_host(line);
    if (parsed) hosts.push(parsed);
    else wrong.push(line);
  }
  return { hosts, wrong };
}

const write_hosts = (hosts: Host[]) => hosts.map(host_text).join("\n");

function hosts_hint(wrong: string[]): string {
  return wrong.length > 0 ? `Not an address: ${wrong.join(", ")}` : "One address per line. Its path is a prefix.";
}

interface DeclareProps {
  skill: Skill;
  known: Declared[];
  /** Null: a new variable. */
  before: Declared | null;
  on_close: () => void;
}

function DeclareForm({ skill, known, before, on_close }: DeclareProps) {
  const [name, set_name] = useState(before?.name ?? "");
  const [secret, set_secret] = useState(before?.secret ?? true);
  const [required, set_required] = useState(before?.required ?? true);
  const [default_value, set_default] = useState(before?.default_value ?? "");
  const [text, set_text] = useState(write_hosts(before?.hosts ?? []));
  const [header, set_header] = useState(before?.header ?? "authorization");
  const [format, set_format] = useState(before?.format ?? "Bearer {}");
  const [help, set_help] = useState(before?.help ?? "");
  const { hosts, wrong } = read_hosts(text, before?.hosts ?? []);
  async function submit(): Promise<void> {
    const declared: Declared = {
      name: name.trim(),
      secret,
      required,
      default_value: secret ? "" : default_value,
      help,
      header: secret ? header.trim().toLowerCase() : "",
      format: secret ? format : "{}",
      hosts: secret ? hosts : [],
    };
    const at = known.findIndex((one) => one.name === (before?.name ?? declared.name));
    const all = at < 0 ? [...known, declared] : known.map((one, index) => (index === at ? declared : one));
    await api.patch(skill_route(skill.id), { declared: all });
    await skills_changed();
    on_close();
  }
  return (
    <Form
      title={before ? "Save" : "Add variable"}
      disabled={name.trim() === "" || wrong.length > 0}
      on_cancel={on_close}
      submit={submit}
    >
      <Field
        label="Name"
        placeholder="STATUS_TOKEN"
        value={name}
        on_input={set_name}
        disabled={before !== null}
        first={before === null}
      />
      <Field label="Description" value={help} on_input={set_help} />
      <Check label="Secret" checked={secret} on_change={set_secret} disabled={before !== null} />
      <Check label="Required" checked={required} on_change={set_required} />
      {secret ? (
        <>
          <Field
            label="Allowed hosts"
            rows={3}
            placeholder="https://api.example.com/v1"
            hint={hosts_hint(wrong)}
            value={text}
            on_input={set_text}
          />
          {before && <p class="soft">A stored secret must be set again before it is sent to a new host.</p>}
          <div class="field-row">
            <Field label="Header" value={header} on_input={set_header} />
            <Field label="Format" value={format} on_input={set_format} />
          </div>
        </>
      ) : (
        <Field label="Default" value={default_value} on_input={set_default} />
      )}
    </Form>
  );
}

async function load_declared(skill: Skill, signal: AbortSignal): Promise<Declared[]> {
  const versions = await api.get<SkillVersion[]>(`${skill_route(skill.id)}/versions`, {}, signal);
  return versions[0]?.setup.declared ?? [];
}

/** Adds a variable, or edits the one with this name. */
export function DeclareVariable({ skill, name, on_close }: { skill: Skill; name?: string; on_close: () => void }) {
  const load = use_load(`skill_setup/${skill.id}/${skill.version}`, (signal) => load_declared(skill, signal));
  return (
    <Dialog title={name ? `Edit ${name}` : "Add a variable"} on_close={on_close}>
      <Data load={load} retry={() => void reload("skill")}>
        {(known) => (
          <DeclareForm
            skill={skill}
            known={known}
            before={known.find((one) => one.name === name) ?? null}
            on_close={on_close}
          />
        )}
      </Data>
    </Dialog>
  );
}

/** Removes a variable and its secret from the skill. */
export async function remove_declared(skill: Skill, variable: VariableView): Promise<void> {
  const known = await load_declared(skill, new AbortController().signal);
  if (variable.secret && variable.set) await api.delete(`${skill_route(skill.id)}/secrets/${segment(variable.name)}`);
  await api.patch(skill_route(skill.id), { declared: known.filter((one) => one.name !== variable.name) });
  await skills_changed();
}

/** Hosts that workers with this skill may reach without any secret. */
export function EditHosts({ skill, on_close }: { skill: Skill; on_close: () => void }) {
  const [text, set_text] = useState(write_hosts(skill.allow));
  const { hosts, wrong } = read_hosts(text, skill.allow);
  return (
    <Dialog title="Hosts without a secret" on_close={on_close}>
      <Form
        title="Save"
        disabled={wrong.length > 0}
        on_cancel={on_close}
        submit={async () => {
          await api.patch(skill_route(skill.id), { allow: hosts });
          await skills_changed();
          on_close();
        }}
      >
        <Field
          label="Hosts"
          rows={4}
          placeholder="https://status.example.com"
          hint={hosts_hint(wrong)}
          value={text}
          on_input={set_text}
          first
        />
      </Form>
    </Dialog>
  );
}
