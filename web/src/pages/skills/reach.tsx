// The hosts that skills give a worker access to, and the secrets used; for the page of skills and for presets.

import { api, segment } from "../../api";
import type { Reach } from "../../api_types";
import { reload, use_load } from "../../load";
import { space } from "../../login";
import { Data, Note, State } from "../../parts/state";
import { type Column, Table } from "../../parts/table";
import { host_text } from "./data";

const reach_words: Record<string, string> = {
  brokered: "with a secret that the worker cannot read",
  open: "without a secret",
  env: "in the worker's environment",
  model: "through the model gateway",
  gateway: "through Hone's gateway",
};

const reach_columns: Column<Reach>[] = [
  {
    id: "where",
    title: "Host",
    cell: (line) =>
      line.host ? (
        <code>{host_text(line.host)}</code>
      ) : line.kind === "env" ? (
        <span title={line.detail}>any host the worker sends it to</span>
      ) : (
        line.detail || line.variable
      ),
  },
  {
    id: "methods",
    title: "Methods",
    width: "120px",
    wide: true,
    cell: (line) => (line.host && line.host.methods.length > 0 ? line.host.methods.join(", ") : line.host ? "all" : ""),
  },
  {
    id: "kind",
    title: "Access",
    cell: (line) =>
      line.kind === "env" ? (
        <State tone="limit" text={reach_words.env ?? ""} />
      ) : (
        <span>{reach_words[line.kind] ?? line.kind}</span>
      ),
  },
  {
    id: "secret",
    title: "Secret",
    width: "160px",
    cell: (line) =>
      line.secret_name ? (
        <code>{line.secret_name}</code>
      ) : (
        <span class="soft">{line.kind !== "open" && line.variable ? `${line.variable}, not set` : "none"}</span>
      ),
  },
  { id: "skill", title: "Skill", width: "140px", wide: true, cell: (line) => line.skill_name },
];

function use_reach(ids: string[]) {
  const search = ids.map((id) => `skill=${segment(id)}`).join("&");
  return use_load(`skill_reach/${space.value?.id}/${search}`, (signal) =>
    api.get<Reach[]>(`/v1/reach?space=${segment(space.value?.id ?? "")}&${search}`, {}, signal),
  );
}

export function ReachList({ ids }: { ids: string[] }) {
  const load = use_reach(ids);
  return (
    <Data load={load} retry={() => void reload("skill")}>
      {(lines) =>
        lines.length === 0 ? (
          <Note>These skills need no network access.</Note>
        ) : (
          <Table
            label="Network access"
            fit
            rows={lines.map((line, index) => ({ ...line, index }))}
            columns={reach_columns}
            row_id={(line) => String((line as Reach & { index: number }).index)}
            row_title={(line) => (line.host ? host_text(line.host) : line.variable)}
          />
        )
      }
    </Data>
  );
}

/** The same as a compact list. */
export function ReachLines({ ids }: { ids: string[] }) {
  const load = use_reach(ids);
  return (
    <Data load={load} retry={() => void reload("skill")}>
      {(reached) => (
        <ul class="plain-list">
          {reached.map((line, index) => (
            <li key={index}>
              {line.host ? <code>{host_text(line.host)}</code> : line.detail || line.variable}
              {line.host && line.host.methods.length > 0 && ` ${line.host.methods.join(", ")}`}{" "}
              <span class="soft">
                {reach_words[line.kind] ?? line.kind}
                {line.secret_name && (
                  <>
                    : <code>{line.secret_name}</code>
                  </>
                )}{" "}
                ({line.skill_name})
              </span>
            </li>
          ))}
        </ul>
      )}
    </Data>
  );
}
