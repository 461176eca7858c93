// The task gallery of Studio, by purpose. The prompts work with any worker and any project; a session about something has
// tasks about that.

import type { SubjectKind } from "../../lib/format/subject";

export const purposes = ["Investigate", "Evaluate", "SRE", "Security", "Fix"] as const;
export type Purpose = (typeof purposes)[number];

export interface Task {
  purpose: Purpose;
  title: string;
  prompt: string;
}

export const tasks: Task[] = [
  {
    purpose: "Investigate",
    title: "What goes wrong most?",
    prompt: "What goes wrong most in this project, since when, and what should be done about it?",
  },
  {
    purpose: "Investigate",
    title: "What changed?",
    prompt:
      "Compare the last 24 hours with the week before: errors, latency, tokens, cost. Which version or model explains the difference?",
  },
  {
    purpose: "Investigate",
    title: "Find the most expensive steps",
    prompt:
      "Which steps, models and prompts cost the most? Show cost per day in a chart, and list what could cost less at the same quality.",
  },
  {
    purpose: "Evaluate",
    title: "Label bad responses",
    prompt:
      "Read a sample of 50 responses of the application. Label those that do not help the user, with a reason for each, and save the labels.",
  },
  {
    purpose: "Evaluate",
    title: "Check responses against sources",
    prompt:
      "For 30 traces with retrieval, compare the response with the retrieved documents. Label claims that no document supports.",
  },
  {
    purpose: "Evaluate",
    title: "Find abandoned conversations",
    prompt:
      "Which chat sessions end with a frustrated user or without a response? Group them by cause, with three examples of each.",
  },
  {
    purpose: "SRE",
    title: "Find the slowest path",
    prompt:
      "Which step makes the slowest traces slow? Show p50 and p95 over time in a chart, and name the first version that was slower.",
  },
  {
    purpose: "SRE",
    title: "Explain an incident",
    prompt:
      "Find the last burst of errors. Write its timeline: first sign, peak, end, which requests it hit, and its likely cause.",
  },
  {
    purpose: "SRE",
    title: "Find retries and loops",
    prompt:
      "Which tools are called repeatedly with the same arguments in one trace? How many tokens and seconds does that waste?",
  },
  {
    purpose: "Security",
    title: "Find prompt injections",
    prompt:
      "Search retrieved documents and tool results for instructions aimed at the model. Label each span in which the model followed one.",
  },
  {
    purpose: "Security",
    title: "Find leaked data",
    prompt:
      "Search prompts and responses for keys, passwords and personal data that should not be there. Count by kind and place; never repeat a value.",
  },
  {
    purpose: "Fix",
    title: "Describe a fix",
    prompt:
      "Take the most frequent error, find its cause in the traces, and describe the smallest change that would prevent it, with evidence.",
  },
  {
    purpose: "Fix",
    title: "Propose a branch",
    prompt:
      "Take the most frequent error, find its cause in the traces and in the repository, change the code with a test that fails without the change, commit, and push the branch for review.",
  },
];

type SubjectTask = Pick<Task, "title" | "prompt">;

const about_traces: SubjectTask[] = [
  {
    title: "Find what they have in common",
    prompt:
      "What do these traces have in common: inputs, steps, versions, models? What sets them apart from the others?",
  },
  {
    title: "Explain the failures",
    prompt: "Which of these traces did not help the user, and why? Group them by cause, with an example of each.",
  },
  {
    title: "Label them",
    prompt: "Read these traces. Label those that do not help the user, with a reason for each, and save the labels.",
  },
];

const about_numbers: SubjectTask[] = [
  {
    title: "Explain the change",
    prompt:
      "When did this change, by how much, and what explains it: version, model, inputs, a step? Show the evidence.",
  },
  {
    title: "Find the outliers",
    prompt: "Which traces cause the highest values here? Show five of them and what makes them different.",
  },
];

/** Tasks about what a person selected. */
export const subject_tasks: Record<SubjectKind, SubjectTask[]> = {
  trace: [
    {
      title: "Explain this trace",
      prompt:
        "What happened here, step by step? Did it help the user? If not, name the first step that went wrong and why.",
    },
    ...about_traces.slice(0, 1),
    {
      title: "Make it faster and cheaper",
      prompt:
        "Which steps take the most time and money here, which of them are not needed, and what would change the result?",
    },
  ],
  span: [
    {
      title: "Explain this step",
      prompt: "What did this step receive, what did it return, and is that right? How often does it behave like this?",
    },
  ],
  filter: about_traces,
  issue: [
    {
      title: "Find the cause",
      prompt: "What causes this issue? Show the evidence in three traces, and what would prove you wrong.",
    },
    {
      title: "Propose the smallest fix",
      prompt: "Describe the smallest change that would prevent this issue, what it could break, and how to verify it.",
    },
  ],
  run: [
    {
      title: "Explain why it failed",
      prompt:
        "Read the transcript of this run. Why did it not finish, and what should be changed in its preset or prompt?",
    },
    { title: "Finish the task", prompt: "Read the transcript of this run, keep what is right, and finish its task." },
  ],
  sql: about_numbers,
  chart: about_numbers,
  range: [],
};
