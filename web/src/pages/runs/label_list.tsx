// Labels that a run proposes: one row per label and reason, with links to the labelled spans, traces or chat sessions.

import { short_id } from "../../lib/format/text";
import { Icon } from "../../parts/icon";
import { Visible } from "../../parts/visible";
import { chat_session_page, trace_page, traces_page } from "../addresses";

export interface ProposedLabel {
  target: string;
  target_id: string;
  name: string;
  label: string | null;
  score: number | null;
  explanation: string | null;
}

/** Null for anything that is not a list of labels. */
export function read_labels(value: unknown): ProposedLabel[] | null {
  if (!Array.isArray(value)) return null;
  const is_label = (one: unknown) =>
    typeof one === "object" && one !== null && "target_id" in one && typeof one.target_id === "string" && "name" in one;
  return value.every(is_label) ? (value as ProposedLabel[]) : null;
}

function target_address(project: string, { target, target_id }: ProposedLabel): string {
  if (target === "trace") return trace_page(project, target_id);
  if (target === "session") return chat_session_page(project, target_id);
  return traces_page(project, `span_id = "${target_id}"`, "all");
}

const most_links = 12;

function Targets({ project, labels }: { project: string; labels: ProposedLabel[] }) {
  return (
    <span class="label-targets">
      {labels.slice(0, most_links).map((label) => (
        <a key={label.target_id} class="mono" href={target_address(project, label)} title={label.target_id}>
          {label.target === "session" ? label.target_id : short_id(label.target_id)}
        </a>
      ))}
      {labels.length > most_links && <span class="faint">and {labels.length - most_links} more</span>}
    </span>
  );
}

export function LabelList({ labels, project }: { labels: ProposedLabel[]; project: string }) {
  const groups = new Map<string, ProposedLabel[]>();
  for (const label of labels) {
    const key = JSON.stringify([label.name, label.label, label.score, label.explanation, label.target]);
    groups.set(key, [...(groups.get(key) ?? []), label]);
  }
  return (
    <div class="label-list">
      <table>
        <thead>
          <tr>
            <th scope="col">Label</th>
            <th scope="col">Reason</th>
            <th scope="col">Applies to</th>
          </tr>
        </thead>
        <tbody>
          {[...groups].map(([key, group]) => {
            const first = group[0] as ProposedLabel;
            return (
              <tr key={key}>
                <td>
                  <span class="label-name">
                    <Icon name="tag" />
                    <span>
                      <span class="soft">{first.name}</span> <b>{first.label}</b>
                      {first.score !== null && ` ${first.score}`}
                    </span>
                  </span>
                </td>
                <td>
                  <Visible text={first.explanation ?? ""} />
                </td>
                <td>
                  <span class="faint">
                    {group.length} {first.target}
                    {group.length > 1 && "s"}
                  </span>
                  <Targets project={project} labels={group} />
                </td>
              </tr>
            );
          })}
        </tbody>
      </table>
    </div>
  );
}
