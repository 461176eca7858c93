import { expect, test } from "@playwright/test";
import { compared_steps, type Step } from "./trace_steps";

const step = (name: string, duration_ns: number, status = "ok"): Step => ({ name, duration_ns, status });

test("steps are compared by name, and the largest difference of time is first", () => {
  const pairs = compared_steps(
    [step("chat", 100), step("search", 10), step("search", 20), step("parse", 5)],
    [step("chat", 110), step("search", 500, "error"), step("rank", 40)],
  );
  expect(pairs.map(({ name }) => name)).toEqual(["search", "rank", "chat", "parse"]);
  expect(pairs[0]).toEqual({
    name: "search",
    before: { count: 2, errors: 0, duration: 30 },
    after: { count: 1, errors: 1, duration: 500 },
  });
  expect(pairs[1]?.before.count).toBe(0);
  expect(pairs[3]?.after.count).toBe(0);
});
