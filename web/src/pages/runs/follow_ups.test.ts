import { expect, test } from "@playwright/test";
import { with_subjects } from "../../lib/format/subject";
import { suggested_follow_ups, with_follow_up } from "./follow_ups";

const run = {
  state: "waiting",
  reason: "",
  harness: "claude-code",
  takes_follow_ups: true,
  turns: 1,
} as const;
const session = { run, prompt: "Why?", has_repos: false, artifacts: [], sent: [] };

const titles = (of: Parameters<typeof suggested_follow_ups>[0]) => suggested_follow_ups(of).map((one) => one.title);

test("a session about nothing in particular has three follow-ups", () => {
  expect(titles(session)).toEqual(["Show the evidence", "Draw a chart", "Summarize it"]);
});

test("what the session is about comes first", () => {
  const prompt = with_subjects("Why?", [
    { kind: "range", value: "24h" },
    { kind: "trace", value: "abc" },
  ]);
  expect(titles({ ...session, prompt }).slice(0, 2)).toEqual(["Find similar traces", "Describe the smallest fix"]);
  for (const kind of ["span", "filter", "issue", "run", "sql", "chart"] as const) {
    const found = titles({ ...session, prompt: with_subjects("Why?", [{ kind, value: "x" }]) });
    expect(found.length, kind).toBe(4);
    expect(found[0], kind).not.toBe("Show the evidence");
  }
});

test("what the run has saved comes before what it is about", () => {
  const prompt = with_subjects("Why?", [{ kind: "issue", value: "issue_1 Refused" }]);
  const artifacts = [{ kind: "investigation", name: "cause" }] as const;
  expect(titles({ ...session, prompt, artifacts: [...artifacts] })).toEqual([
    "Describe the smallest fix",
    "Try to disprove it",
    "Find when it started",
    "Show the evidence",
  ]);
});

test("a fix is pushed if there is a repository, and not suggested again once there is a branch", () => {
  const investigation = { kind: "investigation", name: "cause" } as const;
  const with_repos = { ...session, has_repos: true, artifacts: [investigation] };
  expect(titles(with_repos)[0]).toBe("Push a fix for review");
  const branch = { kind: "branch", name: "hone/fix" } as const;
  const found = suggested_follow_ups({ ...with_repos, artifacts: [branch, investigation] });
  expect(found.map((one) => one.title).slice(0, 2)).toEqual(["Test the branch", "Describe it for the reviewer"]);
  expect(found[0]?.text).toContain("hone/fix");
  expect(found.map((one) => one.title)).not.toContain("Push a fix for review");
});

test("labels and files have their own follow-ups", () => {
  const artifacts = [
    { kind: "labels", name: "helpful" },
    { kind: "file", name: "cost.png" },
  ] as const;
  expect(titles({ ...session, artifacts: [...artifacts] }).slice(0, 2)).toEqual([
    "Check ten labels",
    "Explain cost.png",
  ]);
});

test("a turn that did not end well comes before everything else", () => {
  const artifacts = [{ kind: "labels", name: "helpful" } as const];
  const first = (changed: object) => titles({ ...session, artifacts, run: { ...run, ...changed } }).slice(0, 2);
  expect(first({ reason: "The model did not respond." })).toEqual(["Explain what failed", "Continue"]);
  expect(first({ state: "failed" })).toEqual(["Explain what failed", "Continue"]);
  expect(first({ state: "budget_stopped" })).toEqual(["Finish with less", "Continue"]);
  expect(first({ state: "cancelled" })).toEqual(["Continue", "Check ten labels"]);
});

test("there are between two and four, and none that was sent", () => {
  const [first] = suggested_follow_ups(session);
  const left = titles({ ...session, sent: [` ${first?.text} `] });
  expect(left).toEqual(["Draw a chart", "Summarize it"]);
  const artifacts = ["branch", "labels", "file", "investigation"].map((kind) => ({ kind, name: "x" })) as never[];
  expect(titles({ ...session, artifacts, run: { ...run, state: "failed" } }).length).toBe(4);
});

test("nothing is suggested while the worker works, before its first turn, or to a program without a prompt", () => {
  for (const changed of [
    { state: "running" },
    { state: "queued" },
    { turns: 0 },
    { harness: "playbook" },
    { takes_follow_ups: false },
  ])
    expect(suggested_follow_ups({ ...session, run: { ...run, ...changed } as never }), JSON.stringify(changed)).toEqual(
      [],
    );
});

test("a click replaces another suggestion and keeps own words", () => {
  const suggested = suggested_follow_ups(session);
  const [one, other] = suggested as [(typeof suggested)[0], (typeof suggested)[0]];
  expect(with_follow_up("", one, suggested)).toBe(one.text);
  expect(with_follow_up(one.text, other, suggested)).toBe(other.text);
  expect(with_follow_up("And quickly: ", one, suggested)).toBe(`And quickly:\n${one.text}`);
});
