// The numbers that matter on Home: what is wrong, what is new, what it costs, and every project since yesterday.

import { api, segment } from "../../api";
import type { ModelUsageView, Project, ReviewCounts, SpaceBudget } from "../../api_types";
import { exact_count, money } from "../../lib/format/number";
import { parse_range, type Range } from "../../lib/format/range";
import { day_name, limit_state } from "../../lib/format/usage";
import { use_load } from "../../load";
import { can, space } from "../../login";
import { Icon } from "../../parts/icon";
import { Section } from "../../parts/page";
import { ErrorNote, Skeleton } from "../../parts/state";
import { Time } from "../../parts/time";
import { inbox_page, project_page, projects_page, signal_page, usage_page } from "../addresses";
import { Health, Measured } from "../projects/measured";
import { type ProjectNumbers, use_project_numbers } from "../projects/numbers";

const most = 8;
const day: Range = parse_range("24h") ?? { kind: "all" };

interface FigureProps {
  title: string;
  value: string;
  text: string;
  href?: string;
  tone?: "failed" | "limit";
  title_of_value?: string;
}

function Figure({ title, value, text, href, tone, title_of_value }: FigureProps) {
  return (
    <div class="figure">
      <dt>{title}</dt>
      <dd class={tone} title={title_of_value}>
        {href ? <a href={href}>{value}</a> : value}
      </dd>
      <dd class="figure-text">{text}</dd>
    </div>
  );
}

/** Spent today by the models of workers and judges, against the limit of the day. */
function SpentToday() {
  const id = space.value?.id;
  const load = use_load(id && can("space_read") ? `home/spent/${id}` : null, async (signal) => {
    const today = day_name(Date.now());
    const [budget, usage] = await Promise.all([
      api.get<SpaceBudget>(`/v1/spaces/${segment(id ?? "")}/budget`, {}, signal),
      api.get<ModelUsageView[]>("/v1/model_usage", { space: id, group_by: "day", from: today, to: today }, signal),
    ]);
    return { budget, spent: usage[0]?.cost_micro_usd ?? 0 };
  });
  if (!load.data) return null;
  const { budget, spent } = load.data;
  const limit = budget.cost_micro_usd_per_day;
  const state = limit === null ? "free" : limit_state(spent, limit, budget.soft_percent);
  return (
    <Figure
      title="Spent on models today"
      value={money(spent)}
      text={
        limit === null ? "no limit" : `of ${money(limit)} (${limit > 0 ? Math.round((100 * spent) / limit) : 100} %)`
      }
      href={usage_page()}
      tone={state === "spent" ? "failed" : state === "soft" ? "limit" : undefined}
      title_of_value={`$${spent / 1e6}`}
    />
  );
}

function Waiting() {
  const id = space.value?.id;
  const load = use_load(id && can("artifact_review") ? `home/waiting/${id}` : null, (signal) =>
    api.get<ReviewCounts>("/v1/review_counts", { space: id }, signal),
  );
  if (!load.data) return null;
  return (
    <Figure
      title="Waiting for review"
      value={exact_count(load.data.pending)}
      text={load.data.pending === 0 ? "nothing waits" : "in the inbox"}
      href={inbox_page()}
    />
  );
}

function Figures({ projects, numbers }: { projects: Project[]; numbers: Record<string, ProjectNumbers> }) {
  const all = Object.values(numbers);
  const sum = (value: (one: ProjectNumbers) => number | null) =>
    all.reduce((total, one) => total + (value(one) ?? 0), 0);
  const triggered = sum((one) => one.triggered);
  const issues = sum((one) => one.issues);
  const fresh = sum((one) => one.new_issues);
  const worst = projects.find((project) => numbers[project.id]?.triggered);
  const first = projects.find((project) => numbers[project.id]?.issues);
  return (
    <dl class="figures">
      <Figure
        title="Health"
        value={triggered === 0 ? "OK" : `${exact_count(triggered)} triggered`}
        text={triggered === 0 ? "no monitor is triggered" : triggered === 1 ? "monitor" : "monitors"}
        href={worst && project_page(worst.name)}
        tone={triggered === 0 ? undefined : "failed"}
      />
      {can("issue_read") && (
        <Figure
          title="Open issues"
          value={exact_count(issues)}
          text={fresh === 0 ? "none new since yesterday" : `${exact_count(fresh)} new since yesterday`}
          href={first && signal_page(first.name)}
        />
      )}
      <Waiting />
      <SpentToday />
    </dl>
  );
}

function Row({ project, numbers }: { project: Project; numbers: ProjectNumbers | undefined }) {
  return (
    <tr>
      <th scope="row">
        <a class="cell-link" href={project_page(project.name)} title={project.description || project.name}>
          {project.restricted && <Icon name="lock" />} {project.name}
        </a>
      </th>
      <td>{numbers && <Health numbers={numbers} />}</td>
      <td>{numbers && <Measured what="traces" now={numbers.traces} before={numbers.before?.traces ?? null} />}</td>
      <td>{numbers && <Measured what="errors" now={numbers.errors} before={numbers.before?.errors ?? null} />}</td>
      <td>{numbers && <Measured what="p95" now={numbers.p95} before={numbers.before?.p95 ?? null} />}</td>
      <td>{numbers && <Measured what="cost" now={numbers.cost} before={numbers.before?.cost ?? null} />}</td>
      <td>{numbers && (numbers.last_trace ? <Time time={numbers.last_trace} /> : <span class="faint">never</span>)}</td>
    </tr>
  );
}

/** Observed applications, newest first. */
export function HomeNumbers({ projects }: { projects: Project[] }) {
  const shown = projects.slice(0, most);
  const load = use_project_numbers(shown, day);
  const numbers = load.data ?? {};
  return (
    <>
      {load.error && <ErrorNote error={load.error} />}
      {load.data ? <Figures projects={shown} numbers={numbers} /> : !load.error && <Skeleton rows={2} />}
      <Section title="Projects" text="The last 24 hours, with the change since the 24 hours before.">
        <div class="wide-table">
          <table class="rank-table home-table" aria-label="Projects since yesterday">
            <thead>
              <tr>
                <th scope="col">Project</th>
                <th scope="col">Health</th>
                <th scope="col">Traces</th>
                <th scope="col">Failed spans</th>
                <th scope="col">p95</th>
                <th scope="col">Cost</th>
                <th scope="col">Last trace</th>
              </tr>
            </thead>
            <tbody>
              {shown.map((project) => (
                <Row key={project.id} project={project} numbers={numbers[project.id]} />
              ))}
            </tbody>
          </table>
        </div>
        {projects.length > shown.length && (
          <a class="more-link" href={projects_page()}>
            Show all {projects.length}
          </a>
        )}
      </Section>
    </>
  );
}
