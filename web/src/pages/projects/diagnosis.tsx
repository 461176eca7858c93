// A banner above a project's overview while something arrives that is not understood: what, how much, and the line to
// change in the sender.

import { api } from "../../api";
import type { Project, TraceDiagnosisView, TraceFindingView } from "../../api_types";
import { exact_count, plural, short_count } from "../../lib/format/number";
import { use_load } from "../../load";
import { CodeBlock } from "../../parts/copy";
import { Note } from "../../parts/state";
import { traces_page } from "../addresses";
import { project_route } from "./data";

const percent = (share: number) => (share > 0 && share < 0.01 ? "<1 %" : `${Math.round(share * 100)} %`);

function Finding({ finding, project }: { finding: TraceFindingView; project: string }) {
  const count = `${short_count(finding.count)} (${percent(finding.share)})`;
  return (
    <li class="finding">
      <p>
        <span class="strong">{finding.title}</span>{" "}
        <span title={exact_count(finding.count)}>
          {finding.filter ? <a href={traces_page(project, finding.filter, "24h")}>{count}</a> : count}
        </span>
      </p>
      <p>{finding.explanation}</p>
      {finding.scopes.length > 0 && <p class="faint">Sent by {finding.scopes.join(", ")}</p>}
      <CodeBlock text={finding.fix} label={`change for: ${finding.title}`} />
    </li>
  );
}

export function Diagnosis({ project }: { project: Project }) {
  const load = use_load(`diagnosis/${project.id}`, (signal) =>
    api.get<TraceDiagnosisView>(project_route(project, "trace_diagnosis"), {}, signal),
  );
  const problems = (load.data?.findings ?? []).filter((finding) => finding.severity === "problem");
  if (problems.length === 0) return null;
  return (
    <section aria-label="Not understood">
      <Note kind="warning" icon="warning">
        <details class="diagnosis">
          <summary>
            {plural(problems.length, "problem")} in the traces of the last 24 hours:{" "}
            {problems.map((finding) => finding.title.toLowerCase()).join("; ")}
          </summary>
          <ul>
            {problems.map((finding) => (
              <Finding key={finding.name} finding={finding} project={project.name} />
            ))}
          </ul>
          <p class="faint">
            <code>hone doctor traces {project.name}</code> shows more.
          </p>
        </details>
      </Note>
    </section>
  );
}
