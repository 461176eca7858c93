import { expect, test } from "@playwright/test";
import type { State } from "../../api_types";
import { working_time } from "./working_time";

const at = (second: number, state: State | null) => ({
  time: new Date(Date.UTC(2026, 10, 17, 9, 0, second)).toISOString(),
  state,
});
const now = Date.UTC(2026, 10, 17, 9, 1, 0);

test("the time between two turns is not work", () => {
  const turns = [
    at(0, "preparing"),
    at(2, "running"),
    at(3, null),
    at(10, "waiting"),
    at(40, "running"),
    at(45, "succeeded"),
  ];
  expect(working_time(turns, now)).toBe(15_000);
  expect(working_time(turns.slice(0, 4), now)).toBe(10_000);
});

test("a running turn lasts until now, and without a change of state nothing is known", () => {
  expect(working_time([at(50, "preparing"), at(55, "running")], now)).toBe(10_000);
  expect(working_time([at(0, null)], now)).toBe(null);
});
