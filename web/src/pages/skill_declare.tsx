// Declaring variables of a custom skill: each with the hosts that its secret may go to.

import { useState } from "preact/hooks";
import { api } from "../api";
import { reload, use_load } from "../load";
import { Dialog } from "../parts/dialog";
import { Check, Field, Form } from "../parts/form";
import { Data } from "../parts/state";
import { type SkillHost, type SkillView, skill_address, skills_changed } from "./skill_data";

interface Declared {
  name: string;
  secret: boolean;
  required: boolean;
  default_value: string;
  help: string;
  header: string;
  format: string;
  hosts: SkillHost[];
}

/** "https://api.example.com/v1" → a host rule; null when it is no address. */
export function parse_host(text: string): SkillHost | null {
  let url: URL;
  try {
    url = new URL(text.includes("://") ? text : `https://${text}`);
  } catch {
    return null;
  }
  if (url.protocol !== "https:" && url.protocol !== "http:") return null;
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

function DeclareForm({ skill, known, on_close }: { skill: SkillView; known: Declared[]; on_close: () => void }) {
  const [name, set_name] = useState("");
  const [secret, set_secret] = useState(true);
  const [hosts, set_hosts] = useState("");
  const [header, set_header] = useState("authorization");
  const [format, set_format] = useState("Bearer {}");
  const [help, set_help] = useState("");
  const lines = hosts
    .split("\n")
    .map((line) => line.trim())
    .filter((line) => line !== "");
  const rules = lines.map(parse_host);
  const wrong = lines.filter((_, index) => rules[index] === null);
  async function submit(): Promise<void> {
    const declared: Declared = {
      name: name.trim(),
      secret,
      required: secret,
      default_value: "",
      help,
      header: secret ? header.trim().toLowerCase() : "",
      format: secret ? format : "{}",
      hosts: secret ? rules.filter((rule): rule is SkillHost => rule !== null) : [],
    };
    const others = known.filter((one) => one.name !== declared.name);
    await api.patch(skill_address(skill.id), { declared: [...others, declared] });
    await skills_changed();
    on_close();
  }
  return (
    <Form title="Declare" disabled={name.trim() === "" || wrong.length > 0} on_cancel={on_close} submit={submit}>
      <Field label="Name" placeholder="STATUS_TOKEN" value={name} on_input={set_name} first />
      <Field label="What it is" value={help} on_input={set_help} />
      <Check label="It is a secret" checked={secret} on_change={set_secret} />
      {secret && (
        <>
          <Field
            label="Hosts it may go to"
            rows={3}
            placeholder="https://api.example.com/v1"
            hint={
              wrong.length > 0 ? `Not an address: ${wrong.join(", ")}` : "One address per line; its path is the prefix."
            }
            value={hosts}
            on_input={set_hosts}
          />
          <div class="field-row">
            <Field label="Header" value={header} on_input={set_header} />
            <Field label="Format" value={format} on_input={set_format} />
          </div>
        </>
      )}
    </Form>
  );
}

export function DeclareVariable({ skill, on_close }: { skill: SkillView; on_close: () => void }) {
  const load = use_load(`skill_setup/${skill.id}/${skill.version}`, async (signal) => {
    const versions = await api.get<{ setup: { declared: Declared[] } }[]>(
      `${skill_address(skill.id)}/versions`,
      {},
      signal,
    );
    return versions[0]?.setup.declared ?? [];
  });
  return (
    <Dialog title="Declare a variable" on_close={on_close}>
      <Data load={load} retry={() => void reload("skill")}>
        {(known) => <DeclareForm skill={skill} known={known} on_close={on_close} />}
      </Data>
    </Dialog>
  );
}
