// Skills of the space, the age and use of their secrets, and the network access that skills give.

import { useState } from "preact/hooks";
import { api } from "../../api";
import type { SecretRow, Skill } from "../../api_types";
import { use_keys } from "../../keyboard";
import { reload, use_load } from "../../load";
import { can, space } from "../../login";
import { Check } from "../../parts/form";
import { Icon } from "../../parts/icon";
import { PageHeader } from "../../parts/page";
import { SearchField } from "../../parts/search_field";
import { Data, Empty, State } from "../../parts/state";
import { type Column, Table } from "../../parts/table";
import { current_tab, Tabs } from "../../parts/tabs";
import { Time } from "../../parts/time";
import { navigate, query, set_query } from "../../router";
import { skill_page } from "../addresses";
import { list_skills } from "./data";
import { CreateSkill } from "./form";
import { ReachList } from "./reach";

const tabs = [
  { id: "skills", title: "Skills" },
  { id: "secrets", title: "Secrets" },
  { id: "reach", title: "Network access" },
];

function SkillState({ skill }: { skill: Skill }) {
  if (skill.missing.length > 0) return <State tone="limit" text={`needs ${skill.missing.join(", ")}`} />;
  const reminders = skill.variables.flatMap((variable) => variable.reminders);
  if (reminders.length > 0) return <State tone="limit" text={reminders.includes("old") ? "old secret" : "unused"} />;
  return <State tone="done" text="ready" />;
}

const skill_columns: Column<Skill>[] = [
  {
    id: "name",
    title: "Name",
    sort: (skill) => skill.name,
    cell: (skill) => (
      <a class="cell-link" href={skill_page(skill.id)}>
        {skill.name}
      </a>
    ),
  },
  { id: "type", title: "Type", width: "100px", wide: true, sort: (skill) => skill.type, cell: (skill) => skill.type },
  {
    id: "scope",
    title: "Scope",
    width: "110px",
    wide: true,
    sort: (skill) => skill.scope,
    cell: (skill) => (skill.scope === "space" ? "this space" : "installation"),
  },
  {
    id: "secrets",
    title: "Secrets",
    wide: true,
    cell: (skill) => (
      <span class="soft">
        {skill.variables
          .filter((variable) => variable.secret && variable.set)
          .map((variable) => (variable.exposure === "env" ? `${variable.name} (env)` : variable.name))
          .join(", ")}
      </span>
    ),
  },
  { id: "state", title: "State", width: "150px", cell: (skill) => <SkillState skill={skill} /> },
  {
    id: "used_by",
    title: "Used by",
    width: "80px",
    align: "right",
    wide: true,
    sort: (skill) => skill.used_by.length,
    cell: (skill) => skill.used_by.length,
  },
  {
    id: "updated_at",
    title: "Changed",
    width: "96px",
    align: "right",
    sort: (skill) => skill.updated_at,
    cell: (skill) => <Time time={skill.updated_at} />,
  },
];

function SkillList() {
  const load = use_load(`skills/${space.value?.id}`, list_skills);
  const text = (query.value.get("q") ?? "").toLowerCase();
  return (
    <Data load={load} retry={() => void reload("skills/")}>
      {(skills) =>
        skills.length === 0 ? (
          <Empty
            icon="tool"
            title="No skills yet"
            text="A skill lets workers use GitHub, a model, your metrics or any API. Workers never get its secret."
            command="hone skill create github --type github --secret GH_TOKEN"
          >
            {can("skill_write") && (
              <button type="button" class="primary" onClick={() => set_query({ new: "1" })}>
                Create a skill
              </button>
            )}
          </Empty>
        ) : (
          <Table
            label="Skills"
            rows={skills.filter((skill) => `${skill.name} ${skill.type}`.toLowerCase().includes(text))}
            columns={skill_columns}
            row_id={(skill) => skill.id}
            row_title={(skill) => skill.name}
            order="name"
            bar={<SearchField label="Filter skills" />}
          />
        )
      }
    </Data>
  );
}

const secret_columns: Column<SecretRow>[] = [
  { id: "name", title: "Secret", sort: (secret) => secret.name, cell: (secret) => <code>{secret.name}</code> },
  {
    id: "skill",
    title: "Skill",
    sort: (secret) => secret.skill_name,
    cell: (secret) => <a href={skill_page(secret.skill_id)}>{secret.skill_name}</a>,
  },
  {
    id: "exposure",
    title: "Exposure",
    width: "130px",
    sort: (secret) => secret.exposure,
    cell: (secret) =>
      secret.exposure === "env" ? (
        <State tone="limit" text="readable by workers" />
      ) : (
        <State tone="done" text="brokered" />
      ),
  },
  {
    id: "set_at",
    title: "Replaced",
    width: "96px",
    align: "right",
    sort: (secret) => secret.set_at,
    cell: (secret) => <Time time={secret.set_at} />,
  },
  {
    id: "last_used_at",
    title: "Last used",
    width: "96px",
    align: "right",
    wide: true,
    sort: (secret) => secret.last_used_at,
    cell: (secret) => <Time time={secret.last_used_at} />,
  },
  {
    id: "look",
    title: "Reminder",
    width: "170px",
    sort: (secret) => secret.reminders.length,
    cell: (secret) =>
      secret.reminders.length === 0 ? (
        ""
      ) : (
        <State tone="limit" text={secret.reminders.includes("old") ? "old; replace it" : "unused; delete it"} />
      ),
  },
];

function SecretList() {
  const load = use_load(`skill_secrets/${space.value?.id}`, (signal) =>
    api.get<SecretRow[]>("/v1/secrets", { space: space.value?.id }, signal),
  );
  return (
    <Data load={load} retry={() => void reload("skill_secrets/")}>
      {(secrets) =>
        secrets.length === 0 ? (
          <Empty
            icon="key"
            title="No secrets"
            text="The secrets of skills are listed here with their age and last use."
          />
        ) : (
          <Table
            label="Secrets"
            rows={secrets}
            columns={secret_columns}
            row_id={(secret) => secret.id}
            row_title={(secret) => secret.name}
            order="-look"
          />
        )
      }
    </Data>
  );
}

function Reach() {
  const load = use_load(`skills/${space.value?.id}`, list_skills);
  const [chosen, set_chosen] = useState<string[] | null>(null);
  return (
    <Data load={load} retry={() => void reload("skill")}>
      {(skills) => {
        const ids = chosen ?? skills.map((skill) => skill.id);
        return (
          <>
            <p class="page-text">The hosts that a worker with these skills can access, and the secrets used.</p>
            <fieldset class="scope-list">
              <legend>Skills</legend>
              {skills.map((skill) => (
                <Check
                  key={skill.id}
                  label={skill.name}
                  checked={ids.includes(skill.id)}
                  on_change={(checked) =>
                    set_chosen(checked ? [...ids, skill.id] : ids.filter((other) => other !== skill.id))
                  }
                />
              ))}
            </fieldset>
            {ids.length > 0 && <ReachList ids={ids} />}
          </>
        );
      }}
    </Data>
  );
}

export function Skills() {
  const may_write = can("skill_write");
  const open_dialog = () => set_query({ new: "1" });
  use_keys(may_write ? [{ keys: "c", title: "Create a skill", group: "This page", run: open_dialog }] : []);
  const tab = current_tab(tabs);
  return (
    <div class="page list-page">
      <PageHeader
        title="Skills"
        text="Integrations that workers can use. Secrets stay on the server: workers get a placeholder."
      >
        {may_write && (
          <button type="button" class="primary" onClick={open_dialog}>
            <Icon name="plus" /> Create skill
          </button>
        )}
      </PageHeader>
      <Tabs label="Skills" tabs={tabs} />
      {tab === "skills" && <SkillList />}
      {tab === "secrets" && <SecretList />}
      {tab === "reach" && <Reach />}
      {query.value.has("new") && may_write && (
        <CreateSkill
          on_close={() => set_query({ new: null }, { replace: true })}
          on_done={(skill) => navigate(skill_page(skill.id))}
        />
      )}
    </div>
  );
}
