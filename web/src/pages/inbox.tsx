// What waits for a person: artifacts without a decision.

import type { Artifact } from "../api_types";
import { reload, use_load } from "../load";
import { PageHeader } from "../parts/page";
import { Data, Empty } from "../parts/state";
import { Time } from "../parts/time";
import { space } from "../session";
import { ReviewButtons } from "./run_artifacts";
import { list_artifacts, project_name, run_page, use_projects } from "./run_data";

function Item({ artifact, project }: { artifact: Artifact; project: string }) {
  return (
    <li class="inbox-item">
      <div>
        <a class="strong" href={`${run_page(artifact.run_id)}?tab=artifacts`}>
          {artifact.name}
        </a>
        <p class="soft">
          {artifact.kind} · {project} · <Time time={artifact.created_at} />
          {artifact.summary !== "" && ` · ${artifact.summary}`}
        </p>
      </div>
      <span class="spring" />
      <ReviewButtons artifact={artifact} />
    </li>
  );
}

export function Inbox() {
  const load = use_load(`artifacts/pending/${space.value?.id}`, (signal) =>
    list_artifacts({ review: "pending" }, signal),
  );
  const projects = use_projects().data;
  return (
    <div class="page">
      <PageHeader title="Inbox" text="What workers left and a person has to decide." />
      <Data load={load} retry={() => void reload("artifacts/")}>
        {(artifacts) =>
          artifacts.length === 0 ? (
            <Empty
              icon="check"
              title="Nothing waits for you"
              text="Labels and whatever else a preset holds back for review appear here."
            />
          ) : (
            <ul class="plain-list" aria-label="Waiting for review">
              {artifacts.map((artifact) => (
                <Item key={artifact.id} artifact={artifact} project={project_name(projects, artifact.project_id)} />
              ))}
            </ul>
          )
        }
      </Data>
    </div>
  );
}
