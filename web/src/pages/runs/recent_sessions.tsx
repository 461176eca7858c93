// The newest sessions of the space, under the form that starts one.

import { api } from "../../api";
import type { Run } from "../../api_types";
import { reload, use_load, use_refresh } from "../../load";
import { can, space } from "../../login";
import { Section } from "../../parts/page";
import { ErrorNote, State } from "../../parts/state";
import { Time } from "../../parts/time";
import { Visible } from "../../parts/visible";
import { history_page, run_page } from "../addresses";
import { project_name, use_projects } from "../projects/data";
import { run_tone, run_word } from "./data";

const most = 6;
const refresh = 10_000;

export function RecentSessions() {
  const projects = use_projects().data;
  const key = can("run_read") && space.value ? `runs/recent/${space.value.id}` : null;
  const load = use_load(key, (signal) =>
    api.page<Run>("/v1/runs", { space: space.value?.id, origin: "session", limit: most + 1 }, signal),
  );
  use_refresh(key, refresh);
  const rows = load.data?.rows ?? [];
  if (rows.length === 0 && !load.error) return null;
  return (
    <Section title="Recent sessions">
      {load.error && <ErrorNote error={load.error} retry={() => void reload("runs/recent/")} />}
      <ul class="row-links">
        {rows.slice(0, most).map((run) => (
          <li key={run.id}>
            <a class="row-link" href={run_page(run.id)}>
              <State tone={run_tone(run)} text={run_word(run)} />
              <span class="row-title">
                <Visible text={run.title} />
              </span>
              <span class="row-text">
                {project_name(projects, run.project_id)}, {run.started_by}
              </span>
              <Time time={run.created_at} />
            </a>
          </li>
        ))}
      </ul>
      {rows.length > most && (
        <a class="more-link" href={history_page()}>
          All sessions
        </a>
      )}
    </Section>
  );
}
