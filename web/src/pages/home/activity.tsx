// The current state of a space: open reviews, triggered monitors, open issues, active runs. Empty parts are hidden.

import type { ComponentChildren } from "preact";
import { api } from "../../api";
import type { Issue, Monitor, Project, ReviewItem, Run } from "../../api_types";
import { plural } from "../../lib/format/number";
import { type Loaded, reload, use_load, use_refresh } from "../../load";
import { can, space } from "../../login";
import { Icon } from "../../parts/icon";
import { Section } from "../../parts/page";
import { ErrorNote, State } from "../../parts/state";
import { Time } from "../../parts/time";
import { Visible } from "../../parts/visible";
import {
  inbox_page,
  issue_page,
  monitor_page,
  monitors_page,
  review_page,
  run_page,
  signal_page,
  swarm_page,
} from "../addresses";
import { project_name } from "../projects/data";
import { kind_icons, review_title } from "../reviews/data";
import { run_time, run_tone, run_word } from "../runs/data";
import { SeverityMark } from "../signal/severity_mark";

const most = 5;
const refresh = 10_000;

/** The first rows of a list of the space; one more is requested, to know whether there are more. */
function use_first<Row>(what: string, allowed: boolean, filter: Record<string, string>): Loaded<Row[]> {
  const id = space.value?.id;
  return use_load(id && allowed ? `home/${what}/${id}` : null, async (signal) => {
    const page = await api.page<Row>(`/v1/${what}`, { space: id, limit: most + 1, ...filter }, signal);
    return page.rows;
  });
}

interface ListProps<Row> {
  title: string;
  load: Loaded<Row[]>;
  /** The page with all rows. */
  all: (first: Row) => string;
  row: (row: Row) => ComponentChildren;
  row_key: (row: Row) => string;
  address: (row: Row) => string;
}

function FirstRows<Row>({ title, load, all, row, row_key, address }: ListProps<Row>) {
  const rows = load.data ?? [];
  const first = rows[0];
  // An empty part is hidden; one that cannot be read must not look empty.
  if (load.error && load.data === undefined)
    return (
      <Section title={title}>
        <ErrorNote error={load.error} retry={() => void reload("home/")} />
      </Section>
    );
  if (first === undefined) return null;
  return (
    <Section title={title}>
      <ul class="row-links">
        {rows.slice(0, most).map((one) => (
          <li key={row_key(one)}>
            <a class="row-link" href={address(one)}>
              {row(one)}
            </a>
          </li>
        ))}
      </ul>
      {rows.length > most && (
        <a class="more-link" href={all(first)}>
          Show all
        </a>
      )}
    </Section>
  );
}

export function Activity({ projects }: { projects: Project[] }) {
  const project_of = (row: { project_id: string }) => project_name(projects, row.project_id);
  const reviews = use_first<ReviewItem>("reviews", can("artifact_review"), { review: "pending" });
  const monitors = use_first<Monitor>("monitors", can("monitor_read"), { state: "triggered" });
  const issues = use_first<Issue>("issues", can("issue_read"), {});
  const runs = use_first<Run>("runs", can("run_read"), {});
  use_refresh("home/", refresh);
  return (
    <>
      <FirstRows
        title="Waiting for review"
        load={reviews}
        all={inbox_page}
        row_key={(item) => item.artifact.id}
        address={(item) => review_page(item.artifact.id)}
        row={(item) => (
          <>
            <Icon name={kind_icons[item.artifact.kind] ?? "dot"} />
            <span class="row-title">
              <Visible text={review_title(item)} />
            </span>
            <span class="row-text">{item.repo_name ?? project_of(item.artifact)}</span>
            <Time time={item.artifact.created_at} />
          </>
        )}
      />
      <FirstRows
        title="Triggered monitors"
        load={monitors}
        all={(first) => monitors_page(project_of(first))}
        row_key={(monitor) => monitor.id}
        address={(monitor) => monitor_page(project_of(monitor), monitor.id)}
        row={(monitor) => (
          <>
            <State tone="failed" text="triggered" />
            <span class="row-title">{monitor.name}</span>
            <span class="row-text">{project_of(monitor)}</span>
            <Time time={monitor.state_since} />
          </>
        )}
      />
      <FirstRows
        title="Open issues"
        load={issues}
        all={(first) => signal_page(project_of(first))}
        row_key={(issue) => issue.id}
        address={(issue) => issue_page(project_of(issue), issue.id)}
        row={(issue) => (
          <>
            <SeverityMark severity={issue.severity} />
            <span class="row-title">
              <Visible text={issue.title} />
            </span>
            <span class="row-text">
              {project_of(issue)}, {plural(issue.traces, "trace")}
            </span>
            <Time time={issue.last_seen} />
          </>
        )}
      />
      <FirstRows
        title="Recent runs"
        load={runs}
        all={swarm_page}
        row_key={(run) => run.id}
        address={(run) => run_page(run.id)}
        row={(run) => (
          <>
            <State tone={run_tone(run)} text={run_word(run)} />
            <span class="row-title">
              <Visible text={run.title} />
            </span>
            <span class="row-text">
              {run.preset_name ?? run.harness}, {run_time(run, Date.now())}
            </span>
            <Time time={run.created_at} />
          </>
        )}
      />
    </>
  );
}
