import { expect, test } from "@playwright/test";
import type { Settings } from "../../api_types";
import { draft_of, for_provider, problem_of, settings_of } from "./draft";

const settings = () => settings_of(draft_of(null), undefined) as Settings;

test("settings are unchanged by the form", () => {
  const before: Settings = {
    ...settings(),
    repos: [{ url: "https://git.example.com/shop.git", ref: "main", path: "services/shop", depth: 0 }],
    command: ["/bin/sh", "-c"],
  };
  before.review = {
    ...before.review,
    verification: [{ name: "tests", command: "make test", timeout_seconds: 60 }],
    require_verified: true,
    labels: ["hone", "bug"],
    follow_forge_comments: true,
    follow_comments_of: "anyone",
  };
  before.sandbox.env = { MODE: "a=b", EMPTY: "" };
  before.sandbox.secret_env = { TOKEN: "********" };
  before.sandbox.memory_bytes = 2_000_000_001;
  before.budget.cost_micro_usd = 1_250_000;
  const preset = { name: "fixer", description: "", settings: before };
  expect(settings_of(draft_of(preset), before)).toEqual(before);
});

test("settings outside the form are kept", () => {
  const before = { ...settings(), unheard_of: { yes: true } } as unknown as Settings;
  const preset = { name: "fixer", description: "", settings: before };
  expect(settings_of(draft_of(preset), before)).toHaveProperty("unheard_of", { yes: true });
});

test("another provider gives what it lacks its default", () => {
  const draft = { ...draft_of(null), harness: "claude-code", image: "tools", memory: "8 GiB", minutes: "5" };
  const managed = {
    name: "claude-managed" as const,
    title: "Claude Managed Agents",
    text: "",
    available: true,
    allowed: true,
    advice: "",
    harness: "claude-managed",
    lacks: [
      { name: "sandbox.image", reason: "no" },
      { name: "sandbox.memory_bytes", reason: "no" },
      { name: "fork", reason: "no" },
    ],
  };
  const changed = { ...draft, ...for_provider(draft, managed) };
  expect(changed).toMatchObject({ provider: "claude-managed", harness: "claude-managed" });
  expect(changed).toMatchObject({ image: "host", memory: draft_of(null).memory, minutes: "5" });
  const local = { ...managed, name: "local" as const, harness: "", lacks: [] };
  expect(for_provider(changed, local)).toEqual({ provider: "local", harness: "playbook" });
  expect(for_provider(draft, local)).toEqual({ provider: "local", harness: "claude-code" });
});

test("errors are shown before the form is sent", () => {
  const draft = draft_of(null);
  expect(problem_of(draft)).toBeNull();
  expect(problem_of({ ...draft, memory: "much" })).toContain("Memory");
  expect(problem_of({ ...draft, env: "MODE" })).toContain("MODE");
  expect(problem_of({ ...draft, secret_env: "hunter2" })).toContain("secret variables");
  expect(problem_of({ ...draft, secret_env: "hunter2" })).not.toContain("hunter2");
  expect(problem_of({ ...draft, dollars: "-1" })).toContain("budget");
  expect(problem_of({ ...draft, pids: "" })).toContain("Processes");
});
