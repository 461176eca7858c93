// What a reader of an issue needs besides its place in the trace: the decisive excerpt, the affected versions, and what
// to do next.

import { api } from "../../api";
import type { Advice, FacetValue, Issue, Project } from "../../api_types";
import { plural, short_count } from "../../lib/format/number";
import { to_milliseconds } from "../../lib/format/time";
import { capital } from "../../lib/sentences/metric";
import { use_load } from "../../load";
import { can } from "../../login";
import { Section } from "../../parts/page";
import { Facts } from "../../parts/slide_over";
import { Visible } from "../../parts/visible";
import { run_page, traces_page } from "../addresses";
import { project_route } from "../projects/data";
import { is_live } from "./data";

const excerpt_names = ["excerpt", "message"];

/** The facts that are shown as the excerpt, and the others. */
export function facts_of(issue: Issue) {
  const excerpt = issue.facts.find((fact) => excerpt_names.includes(fact.name));
  const others = issue.facts.filter((fact) => fact !== excerpt);
  // 2026-11-16T23:33 UTC is for programs.
  const readable = (value: string) => value.replace(/^(\d{4}-\d\d-\d\d)T(\d\d:\d\d)/, "$1 $2");
  return { excerpt, others: others.map((fact) => ({ ...fact, value: readable(fact.value) })) };
}

/** The decisive text of a trace; of a finding that no text shows, its numbers. */
export function Excerpt({ issue }: { issue: Issue }) {
  const { excerpt, others } = facts_of(issue);
  if (!excerpt && others.length === 0) return null;
  return (
    <Section title="Evidence">
      {excerpt ? (
        <blockquote class="excerpt">
          <Visible text={excerpt.value} />
        </blockquote>
      ) : (
        <Facts rows={others.slice(0, 4).map((fact): [string, string] => [capital(fact.name), fact.value])} />
      )}
    </Section>
  );
}

/** Versions of the service with spans of this issue, and those without. */
export function Versions({ issue, project }: { issue: Issue; project: Project }) {
  // A week before it began, to see the versions without it.
  const after = new Date(to_milliseconds(issue.first_seen) - 7 * 86_400_000).toISOString();
  const load = use_load(issue.filter ? `issue_versions/${issue.id}/${issue.last_seen}` : null, async (signal) => {
    const read = (filter: string) =>
      api.get<FacetValue[]>(project_route(project, "facets"), { field: "version", limit: 20, after, filter }, signal);
    const [affected, all] = await Promise.all([read(issue.filter), read("")]);
    return { affected, all };
  });
  if (!load.data || load.data.affected.length === 0) return null;
  const affected = load.data.affected.filter((one) => one.value !== "");
  const others = load.data.all.filter(
    (one) => one.value !== "" && !affected.some((version) => version.value === one.value),
  );
  return (
    <section aria-label="Affected versions">
      <h2>Affected versions</h2>
      {affected.length === 0 ? (
        <p class="soft">
          Its spans have no version. Set the resource attribute <code>service.version</code> to see when it began.
        </p>
      ) : (
        <ul class="plain-list versions">
          {affected.map((one) => (
            <li key={one.value}>
              <a href={traces_page(project.name, `(${issue.filter}) and version = ${JSON.stringify(one.value)}`, "7d")}>
                {one.value}
              </a>
              <span class="soft">{plural(one.count, "span")}</span>
            </li>
          ))}
        </ul>
      )}
      {affected.length > 0 && others.length > 0 && (
        <p class="soft">
          Not seen in{" "}
          {others
            .slice(0, 4)
            .map((one) => one.value)
            .join(", ")}
          {others.length > 4 && ` and ${short_count(others.length - 4)} more`}
        </p>
      )}
    </section>
  );
}

/** One sentence for each state: what a person does now. */
function step_of(issue: Issue) {
  if (!is_live(issue)) return "It is closed. It reopens when a scan finds it again.";
  if (issue.status === "fix_proposed") return "A fix waits for review.";
  if (issue.status === "investigating") return "A worker is investigating it. Its report appears on this page.";
  if (issue.investigation_id) return "Read the investigation below, then start a fix.";
  return can("run_start") ? "Open an example. If the cause is not clear, start an investigation." : "Open an example.";
}

export function NextSteps({ issue, advice }: { issue: Issue; advice: Advice }) {
  return (
    <section class="next-steps" aria-label="What to do next">
      <h2>What to do next</h2>
      <p>
        <b>{step_of(issue)}</b>
        {issue.status === "fix_proposed" && issue.fix_run && (
          <>
            {" "}
            <a href={run_page(issue.fix_run)}>Open the run</a>
          </>
        )}
      </p>
      <p>{advice.next_step}</p>
      <p class="soft">Usual cause: {advice.usual_cause}</p>
    </section>
  );
}
