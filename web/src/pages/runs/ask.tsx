// "Ask a worker": opens the Studio with what is on the page as the subject of a new session.

import { parse_subject, type Subject, subject_title, write_subject } from "../../lib/format/subject";
import { can } from "../../login";
import { Icon } from "../../parts/icon";
import { query, set_query } from "../../router";
import { studio_page } from "../addresses";

export function ask_address(project: string, subjects: Subject[]): string {
  const search = new URLSearchParams({ project });
  for (const subject of subjects) search.append("about", write_subject(subject));
  return `${studio_page()}?${search}`;
}

/** At most this many fit into an address. */
export const most_subjects = 50;

interface AskProps {
  project: string;
  about: Subject[];
  quiet?: boolean;
  /** Only the icon, for one of several charts: the name of what it is about. */
  about_name?: string;
}

export function AskButton({ project, about, quiet, about_name }: AskProps) {
  if (!can("run_start") || about.length === 0) return null;
  return (
    <a
      class={`button ${quiet || about_name ? "quiet" : ""} ${about_name ? "icon-only" : ""}`}
      href={ask_address(project, about.slice(0, most_subjects))}
      title="Start a session about this"
      aria-label={about_name && `Ask a worker about ${about_name}`}
    >
      <Icon name="agent" /> {!about_name && "Ask a worker"}
    </a>
  );
}

/** What a list or a chart shows: the filter, if there is one, and the time range. */
export function shown_subjects(filter: string, range: string): Subject[] {
  const subjects: Subject[] = [{ kind: "range", value: range }];
  return filter === "" ? subjects : [{ kind: "filter", value: filter }, ...subjects];
}

/** The subjects in the address of the Studio. */
export function chosen_subjects(): Subject[] {
  const found = query.value.getAll("about").map(parse_subject);
  return found.filter((subject) => subject !== null).slice(0, most_subjects);
}

/** What the session is about; each can be removed. */
export function Subjects({ subjects }: { subjects: Subject[] }) {
  if (subjects.length === 0) return null;
  return (
    <ul class="subjects" aria-label="The session is about">
      {subjects.map((subject, index) => (
        <li key={write_subject(subject)}>
          <span title={subject.value}>{subject_title(subject)}</span>
          <button
            type="button"
            class="quiet icon-only"
            aria-label={`Remove ${subject_title(subject)}`}
            onClick={() =>
              set_query({ about: subjects.filter((_, at) => at !== index).map(write_subject) }, { replace: true })
            }
          >
            <Icon name="close" />
          </button>
        </li>
      ))}
    </ul>
  );
}
