import { expect, test } from "@playwright/test";
import type { ModelUsageView } from "../../api_types";
import { daily_values, day_name, days_between, limit_state } from "./usage";

const row = (group: string, calls: number) => ({ group, calls }) as ModelUsageView;

test("days without calls have the value zero", () => {
  const days = days_between(Date.parse("2026-02-27T15:00:00Z"), Date.parse("2026-03-02T01:00:00Z"));
  expect(days.map(day_name)).toEqual(["2026-02-27", "2026-02-28", "2026-03-01", "2026-03-02"]);
  expect(daily_values(days, [row("2026-03-01", 4)], (one) => one.calls)).toEqual([0, 0, 4, 0]);
});

test("a limit is free, near its end, or used up", () => {
  expect(limit_state(0, 100, 80)).toBe("free");
  expect(limit_state(79, 100, 80)).toBe("free");
  expect(limit_state(80, 100, 80)).toBe("soft");
  expect(limit_state(100, 100, 80)).toBe("spent");
  expect(limit_state(0, 0, 80)).toBe("spent");
});
