// One skill: variables with write-only secrets, allowed hosts, folder, versions, usage.

import { useState } from "preact/hooks";
import { api, segment } from "../../api";
import type { EnvPreview, Exposure, Skill, SkillVersion, VariableView } from "../../api_types";
import type { Params } from "../../lib/route";
import { reload, use_load } from "../../load";
import { can, can_install, space, spaces } from "../../login";
import { Confirm } from "../../parts/confirm";
import { Id } from "../../parts/copy";
import { Dialog } from "../../parts/dialog";
import { Choice, Field, Form } from "../../parts/form";
import { Icon } from "../../parts/icon";
import { Menu } from "../../parts/menu";
import { PageHeader, Section } from "../../parts/page";
import { Data, Note, State } from "../../parts/state";
import { type Column, Table } from "../../parts/table";
import { Time } from "../../parts/time";
import { toast_done } from "../../parts/toast";
import { navigate } from "../../router";
import { skills_page } from "../addresses";
import { env_warning, host_text, skill_route, skills_changed } from "./data";
import { DeclareVariable, EditHosts, remove_declared } from "./declare";
import { Folder } from "./folder";
import { EnvPreviewList } from "./form";

const exposures = [
  { value: "brokered", title: "brokered: the worker cannot read it" },
  { value: "env", title: "env: in the worker's environment" },
];

function SetSecret({ skill, variable, on_close }: { skill: Skill; variable: VariableView; on_close: () => void }) {
  const [value, set_value] = useState("");
  const [exposure, set_exposure] = useState<string>(variable.exposure ?? "brokered");
  return (
    <Dialog title={`${variable.set ? "Replace" : "Set"} ${variable.name}`} on_close={on_close}>
      <Form
        title={variable.set ? "Replace" : "Set"}
        disabled={value.trim() === ""}
        on_cancel={on_close}
        submit={async () => {
          await api.put(`${skill_route(skill.id)}/secrets/${segment(variable.name)}`, {
            value: value.trim(),
            exposure,
          });
          await skills_changed();
          toast_done(`${variable.name} stored`);
          on_close();
        }}
      >
        <Field
          label={variable.name}
          hint={variable.help}
          type="password"
          autocomplete="new-password"
          value={value}
          on_input={set_value}
          first
        />
        {skill.type !== "model" && (
          <Choice
            label="Exposure"
            value={exposure}
            on_change={(chosen) => set_exposure(chosen as Exposure)}
            options={exposures}
          />
        )}
        {exposure === "env" && (
          <Note kind="warning" icon="warning">
            {env_warning}
          </Note>
        )}
        <p class="soft">The value is encrypted and cannot be read again.</p>
      </Form>
    </Dialog>
  );
}

function SetValue({ skill, variable, on_close }: { skill: Skill; variable: VariableView; on_close: () => void }) {
  const [value, set_value] = useState(variable.value ?? "");
  const text = value.trim();
  return (
    <Dialog title={`Edit ${variable.name}`} on_close={on_close}>
      <Form
        title="Save"
        on_cancel={on_close}
        submit={async () => {
          await api.patch(skill_route(skill.id), { variables: { [variable.name]: text === "" ? null : text } });
          await skills_changed();
          on_close();
        }}
      >
        {variable.choices.length > 0 ? (
          <Choice
            label={variable.name}
            hint={variable.help}
            value={value}
            on_change={set_value}
            options={variable.choices.map((choice) => ({ value: choice, title: choice }))}
          />
        ) : (
          <Field
            label={variable.name}
            hint={variable.help}
            value={value}
            placeholder={variable.default_value}
            on_input={set_value}
            first
          />
        )}
      </Form>
    </Dialog>
  );
}

function SecretState({ variable }: { variable: VariableView }) {
  if (!variable.set)
    return <State tone={variable.required ? "limit" : "off"} text={variable.required ? "missing" : "not set"} />;
  if (variable.reminders.includes("old")) return <State tone="limit" text="old; replace it" />;
  if (variable.reminders.includes("unused")) return <State tone="limit" text="unused" />;
  return <State tone="done" text="set" />;
}

function Ways({ variable }: { variable: VariableView }) {
  const hosts = variable.ways.flatMap((way) =>
    way.hosts.map((host) => ({ host, how: way.header ? `${way.header}: ${way.format}` : "any header" })),
  );
  if (variable.exposure === "env") return <State tone="limit" text="readable by workers" />;
  return (
    <ul class="plain-list">
      {hosts.map(({ host, how }) => (
        <li key={host_text(host) + how} title={how}>
          <code>{host_text(host)}</code>
        </li>
      ))}
    </ul>
  );
}

type Open =
  | { kind: "secret" | "value" | "remove" | "edit" | "undeclare"; variable: VariableView }
  | { kind: "delete" | "env" | "share" | "declare" | "hosts" }
  | null;

function Variables({ skill, set_open }: { skill: Skill; set_open: (open: Open) => void }) {
  const columns: Column<VariableView>[] = [
    {
      id: "name",
      title: "Variable",
      cell: (variable) => (
        <span title={variable.help}>
          <code>{variable.name}</code>
        </span>
      ),
    },
    {
      id: "value",
      title: "Value",
      cell: (variable) =>
        variable.secret ? <SecretState variable={variable} /> : variable.value || <span class="soft">none</span>,
    },
    { id: "ways", title: "Sent to", wide: true, cell: (variable) => variable.secret && <Ways variable={variable} /> },
    {
      id: "last_used_at",
      title: "Last used",
      width: "96px",
      align: "right",
      wide: true,
      cell: (variable) => (variable.secret ? <Time time={variable.last_used_at} /> : ""),
    },
    {
      id: "actions",
      title: "",
      width: skill.type === "custom" ? "230px" : "170px",
      align: "right",
      cell: (variable) => {
        if (!can(variable.secret ? "secret_write" : "skill_write")) return "";
        return (
          <>
            <button
              type="button"
              aria-label={`${variable.set ? "Replace" : "Set"} ${variable.name}`}
              onClick={() => set_open({ kind: variable.secret ? "secret" : "value", variable })}
            >
              {variable.secret ? (variable.set ? "Replace" : "Set") : "Edit"}
            </button>
            {variable.secret && variable.set && (
              <button
                type="button"
                class="quiet icon-only"
                aria-label={`Delete ${variable.name}`}
                onClick={() => set_open({ kind: "remove", variable })}
              >
                <Icon name="trash" />
              </button>
            )}
            {skill.type === "custom" && can("skill_write") && (
              <Menu
                label={`Actions for ${variable.name}`}
                class="quiet icon-only"
                align="right"
                button={<Icon name="more" />}
                items={[
                  { title: "Edit…", icon: "settings", run: () => set_open({ kind: "edit", variable }) },
                  {
                    title: "Remove…",
                    icon: "trash",
                    dangerous: true,
                    run: () => set_open({ kind: "undeclare", variable }),
                  },
                ]}
              />
            )}
          </>
        );
      },
    },
  ];
  return (
    <Section title="Variables" text="Stored secrets can be replaced, but not read.">
      {skill.variables.length === 0 ? (
        <Note>This skill has no variables.</Note>
      ) : (
        <Table
          label="Variables"
          fit
          rows={skill.variables}
          columns={columns}
          row_id={(variable) => variable.name}
          row_title={(variable) => variable.name}
        />
      )}
      {skill.type === "custom" && can("skill_write") && (
        <button type="button" onClick={() => set_open({ kind: "declare" })}>
          Add variable…
        </button>
      )}
    </Section>
  );
}

function PasteEnv({ skill, on_close }: { skill: Skill; on_close: () => void }) {
  const [text, set_text] = useState("");
  const [preview, set_preview] = useState<EnvPreview | null>(null);
  return (
    <Dialog title="Paste a .env" on_close={on_close}>
      <Form
        title={preview ? "Store variables" : "Preview"}
        disabled={text.trim() === "" || (preview !== null && preview.matches.length === 0)}
        on_cancel={on_close}
        submit={async () => {
          if (!preview) {
            set_preview(await api.post<EnvPreview>("/v1/skill_env", { skill: skill.id, text }));
            return;
          }
          await api.patch(skill_route(skill.id), { env_text: text });
          await skills_changed();
          toast_done("Variables stored");
          on_close();
        }}
      >
        <Field
          label=".env"
          rows={6}
          value={text}
          placeholder="NAME=value"
          on_input={(changed) => {
            set_text(changed);
            set_preview(null);
          }}
          first
        />
        {preview && <EnvPreviewList preview={preview} />}
      </Form>
    </Dialog>
  );
}

function Share({ skill, on_close }: { skill: Skill; on_close: () => void }) {
  const free = spaces.value.filter((one) => !skill.shared_with.some((share) => share.space_id === one.id));
  const [chosen, set_chosen] = useState(free[0]?.id ?? "");
  return (
    <Dialog title={`Share ${skill.name}`} on_close={on_close}>
      <Form
        title="Share"
        disabled={chosen === ""}
        on_cancel={on_close}
        submit={async () => {
          await api.put(`${skill_route(skill.id)}/shares/${segment(chosen)}`, {});
          await skills_changed();
          on_close();
        }}
      >
        <Choice
          label="Space"
          value={chosen}
          on_change={set_chosen}
          options={free.map((one) => ({ value: one.id, title: one.name }))}
        />
      </Form>
    </Dialog>
  );
}

const version_columns: Column<SkillVersion>[] = [
  { id: "version", title: "Version", width: "70px", align: "right", cell: (version) => version.version },
  { id: "summary", title: "Changes", cell: (version) => version.summary },
  { id: "by", title: "By", width: "180px", wide: true, cell: (version) => version.changed_by },
  { id: "at", title: "When", width: "96px", align: "right", cell: (version) => <Time time={version.changed_at} /> },
];

function Versions({ skill }: { skill: Skill }) {
  const load = use_load(`skill_versions/${skill.id}/${skill.version}`, (signal) =>
    api.get<SkillVersion[]>(`${skill_route(skill.id)}/versions`, {}, signal),
  );
  return (
    <Section title="Versions">
      <Data load={load} retry={() => void reload("skill")}>
        {(versions) => (
          <Table
            label="Versions"
            fit
            rows={versions}
            columns={version_columns}
            row_id={(version) => String(version.version)}
            row_title={(version) => `Version ${version.version}`}
          />
        )}
      </Data>
    </Section>
  );
}

function Uses({ skill, set_open }: { skill: Skill; set_open: (open: Open) => void }) {
  return (
    <Section title="Used by">
      {skill.used_by.length === 0 ? (
        <p class="soft">No preset uses this skill.</p>
      ) : (
        <ul class="plain-list">
          {skill.used_by.map((use) => (
            <li key={use.id}>
              {use.kind} <b>{use.name}</b>
            </li>
          ))}
        </ul>
      )}
      {skill.scope === "installation" && can_install("skill_share") && (
        <>
          <h3>Shared with</h3>
          <ul class="plain-list">
            {skill.shared_with.map((share) => (
              <li key={share.space_id}>
                {share.name}{" "}
                <button
                  type="button"
                  class="quiet"
                  aria-label={`Stop sharing with ${share.name}`}
                  onClick={() =>
                    void api
                      .delete(`${skill_route(skill.id)}/shares/${segment(share.space_id)}`)
                      .then(() => skills_changed())
                  }
                >
                  stop
                </button>
              </li>
            ))}
          </ul>
          <button type="button" onClick={() => set_open({ kind: "share" })}>
            Share…
          </button>
        </>
      )}
    </Section>
  );
}

export function SkillPage({ params }: { params: Params }) {
  const id = params.skill ?? "";
  const load = use_load(`skill/${space.value?.id}/${id}`, (signal) =>
    api.get<Skill>(skill_route(id), { space: space.value?.id }, signal),
  );
  const [open, set_open] = useState<Open>(null);
  const close = () => set_open(null);
  return (
    <div class="page">
      <Data load={load} retry={() => void reload("skill/")} whole_page>
        {(skill) => (
          <>
            <PageHeader
              title={skill.name}
              text={
                <>
                  {skill.type}, version {skill.version}. {skill.description} <Id id={skill.id} />
                </>
              }
            >
              {can("skill_write") && (
                <>
                  <button type="button" onClick={() => set_open({ kind: "env" })}>
                    Paste .env…
                  </button>
                  <button type="button" class="danger" onClick={() => set_open({ kind: "delete" })}>
                    Delete…
                  </button>
                </>
              )}
            </PageHeader>
            {skill.missing.length > 0 && (
              <Note kind="warning" icon="warning">
                Runs cannot use this skill yet: {skill.missing.join(", ")} is missing.
              </Note>
            )}
            {skill.warnings.map((warning) => (
              <Note key={warning} kind="warning" icon="warning">
                {warning}
              </Note>
            ))}
            <Variables skill={skill} set_open={set_open} />
            {(skill.allow.length > 0 || skill.type === "custom") && (
              <Section title="Hosts without a secret">
                <p>
                  {skill.allow.length === 0 && <span class="soft">None. </span>}
                  {skill.allow.map((host) => (
                    <code key={host_text(host)}>{host_text(host)} </code>
                  ))}
                </p>
                {skill.type === "custom" && can("skill_write") && (
                  <button type="button" onClick={() => set_open({ kind: "hosts" })}>
                    Edit hosts…
                  </button>
                )}
              </Section>
            )}
            {skill.type === "custom" && <Folder skill={skill} />}
            <Uses skill={skill} set_open={set_open} />
            <Versions skill={skill} />
            {open?.kind === "secret" && <SetSecret skill={skill} variable={open.variable} on_close={close} />}
            {open?.kind === "value" && <SetValue skill={skill} variable={open.variable} on_close={close} />}
            {open?.kind === "env" && <PasteEnv skill={skill} on_close={close} />}
            {open?.kind === "declare" && <DeclareVariable skill={skill} on_close={close} />}
            {open?.kind === "edit" && <DeclareVariable skill={skill} name={open.variable.name} on_close={close} />}
            {open?.kind === "hosts" && <EditHosts skill={skill} on_close={close} />}
            {open?.kind === "undeclare" && (
              <Confirm
                title={`Remove ${open.variable.name}?`}
                consequence={`${skill.name} no longer has this variable${open.variable.set && open.variable.secret ? ", and its stored secret is deleted" : ""}.`}
                action="Remove"
                run={() => remove_declared(skill, open.variable)}
                on_close={close}
              />
            )}
            {open?.kind === "share" && <Share skill={skill} on_close={close} />}
            {open?.kind === "remove" && (
              <Confirm
                title={`Delete ${open.variable.name}?`}
                consequence={`Workers that use ${skill.name} can no longer use it. This cannot be undone.`}
                action="Delete"
                run={async () => {
                  await api.delete(`${skill_route(skill.id)}/secrets/${segment(open.variable.name)}`);
                  await skills_changed();
                }}
                on_close={close}
              />
            )}
            {open?.kind === "delete" && (
              <Confirm
                title={`Delete ${skill.name}?`}
                consequence="The skill, its versions and its secrets are deleted. This cannot be undone."
                action="Delete"
                typed_name={skill.name}
                run={async () => {
                  await api.delete(`${skill_route(skill.id)}?confirm=${segment(skill.name)}`);
                  navigate(skills_page());
                  await skills_changed();
                }}
                on_close={close}
              />
            )}
          </>
        )}
      </Data>
    </div>
  );
}
