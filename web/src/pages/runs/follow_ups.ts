// Follow-ups that a session suggests after a turn, found without a model: by how the turn ended, what the run has saved, and what
// the session is about. A click only puts the text into the box.

import type { Artifact, Run } from "../../api_types";
import { type SubjectKind, subject_kinds } from "../../lib/format/subject";
import { has_failed_turn, is_over } from "./states";

export interface FollowUp {
  title: string;
  text: string;
}

const most = 4;

const resume: FollowUp = {
  title: "Continue",
  text: "Continue where you stopped. First state in one sentence what stopped you.",
};
const use_less: FollowUp = {
  title: "Finish with less",
  text: "Collect nothing more. State what you found, what is uncertain, and what is missing.",
};
const explain_failure: FollowUp = {
  title: "Explain what failed",
  text: "What failed in the last turn, and what do you need to finish?",
};

/** A turn that did not end well comes before everything else. */
function by_state(run: Pick<Run, "state" | "reason">): FollowUp[] {
  if (run.state === "timed_out" || run.state === "budget_stopped") return [use_less, resume];
  if (run.state === "failed" || run.state === "lost" || has_failed_turn(run)) return [explain_failure, resume];
  return run.state === "cancelled" ? [resume] : [];
}

const fix: FollowUp = {
  title: "Describe the smallest fix",
  text: "Describe the smallest change that would prevent this, what it could break, and how to verify it.",
};
const push_fix: FollowUp = {
  title: "Push a fix for review",
  text: "Make the smallest change that prevents this, with a test that fails without it. Commit, and push the branch for review.",
};

function by_artifact(artifact: Pick<Artifact, "kind" | "name">): FollowUp[] {
  switch (artifact.kind) {
    case "branch":
      return [
        {
          title: "Test the branch",
          text: `Run the tests on the branch ${artifact.name}. Does one of them fail without the change? If not, add one.`,
        },
        {
          title: "Describe it for the reviewer",
          text: `Describe the branch ${artifact.name} for its reviewer: what it changes, what it could break, and what you did not test.`,
        },
      ];
    case "investigation":
      return [
        fix,
        {
          title: "Try to disprove it",
          text: "What would prove this cause wrong? Search the traces for it, and state what you found.",
        },
      ];
    case "labels":
      return [
        {
          title: "Check ten labels",
          text: "Read ten of the labelled traces again. Which labels are wrong, and does that change the result?",
        },
      ];
    case "file":
      return [
        {
          title: `Explain ${artifact.name}`,
          text: `What does ${artifact.name} show? Name the three most important facts.`,
        },
      ];
  }
}

const about_numbers: FollowUp[] = [
  {
    title: "Show the traces behind it",
    text: "Which five traces explain these numbers best? Give their ids, and why.",
  },
  {
    title: "Compare with the week before",
    text: "Compare with the same time a week before. What changed: version, model, inputs, a step?",
  },
];

const by_subject: Record<SubjectKind, FollowUp[]> = {
  trace: [
    {
      title: "Find similar traces",
      text: "Which other traces of the last 7 days behave like this? Count them, and give the ids of five.",
    },
    fix,
  ],
  span: [
    {
      title: "Count how often",
      text: "How often did this step behave like this in the last 7 days, by version and model?",
    },
    fix,
  ],
  filter: [
    {
      title: "Compare with the others",
      text: "Compare these traces with those that do not match the filter: what differs, and by how much?",
    },
    {
      title: "Label them",
      text: "Label the traces that this is about, with a reason for each, and save the labels.",
    },
  ],
  issue: [
    fix,
    {
      title: "Find when it started",
      text: "When did this issue start, and which version, model or input changed then?",
    },
  ],
  run: [
    {
      title: "Improve its prompt",
      text: "Write the prompt and the settings of a preset with which that run would have succeeded.",
    },
  ],
  sql: about_numbers,
  chart: about_numbers,
  range: [],
};

const always: FollowUp[] = [
  {
    title: "Show the evidence",
    text: "Which traces support this? Give the ids of up to five, and of one that contradicts it.",
  },
  { title: "Draw a chart", text: "Show this over time in a chart, and save it as a file." },
  { title: "Summarize it", text: "Summarize this in five sentences for a colleague who has not read it." },
];

function unique_titles(follow_ups: FollowUp[]): FollowUp[] {
  return follow_ups.filter((one, at) => follow_ups.findIndex((other) => other.title === one.title) === at);
}

/** With a branch the fix exists. */
const first_two = (follow_ups: FollowUp[], has_branch: boolean) =>
  follow_ups.filter((one) => !(has_branch && one === fix)).slice(0, 2);

interface Session {
  run: Pick<Run, "state" | "reason" | "harness" | "takes_follow_ups" | "turns">;
  /** The first prompt. */
  prompt: string;
  has_repos: boolean;
  /** Newest first. */
  artifacts: Pick<Artifact, "kind" | "name">[];
  /** Follow-ups that were sent: not suggested again. */
  sent: string[];
}

/** None while the worker works, and none for a playbook, which reads no prompt. */
export function suggested_follow_ups({ run, prompt, has_repos, artifacts, sent }: Session): FollowUp[] {
  if (!run.takes_follow_ups || run.harness === "playbook" || run.turns === 0) return [];
  if (run.state !== "waiting" && !is_over(run.state)) return [];
  const has_branch = artifacts.some((one) => one.kind === "branch");
  const saved = artifacts.flatMap(by_artifact);
  const about = subject_kinds(prompt).flatMap((kind) => by_subject[kind]);
  const found = [...by_state(run), ...first_two(saved, has_branch), ...first_two(about, has_branch), ...always];
  const is_sent = (one: FollowUp) => sent.some((text) => text.trim() === one.text);
  return unique_titles(found)
    .map((one) => (one === fix && has_repos ? push_fix : one))
    .filter((one) => !is_sent(one))
    .slice(0, most);
}

/** The text of the box after a click: another suggestion is replaced, own words stay. */
export function with_follow_up(text: string, chosen: FollowUp, suggested: FollowUp[]): string {
  const own = text.trim();
  return own === "" || suggested.some((one) => one.text === own) ? chosen.text : `${text.trimEnd()}\n${chosen.text}`;
}
