import { expect, test } from "@playwright/test";
import { baseline_window, change_text, verdict } from "./change";

test("a change has a short text", () => {
  expect(change_text(100, 112)).toBe("+12 %");
  expect(change_text(100, 50)).toBe("−50 %");
  expect(change_text(100, 340)).toBe("×3.4");
  expect(change_text(1, 40)).toBe("×40");
  expect(change_text(100, 100.2)).toBe("same");
  expect(change_text(0, 0)).toBe("same");
  expect(change_text(0, 3)).toBe("new");
  expect(change_text(3, 0)).toBe("gone");
  expect(change_text(null, 3)).toBe("new");
  expect(change_text(3, null)).toBe("gone");
  expect(change_text(null, null)).toBe("");
});

test("more errors are worse, more spans are neutral", () => {
  expect(verdict("errors", 1, 5)).toBe("worse");
  expect(verdict("latency_p95", 5, 1)).toBe("better");
  expect(verdict("latency_p95", 100, 102)).toBe("same");
  expect(verdict("count", 1, 5)).toBe("other");
  expect(verdict("errors", null, 5)).toBe("other");
  expect(verdict("errors", 0, 5)).toBe("worse");
  expect(verdict("cost", 0, 5)).toBe("other");
});

test("a window is compared with the one before it, or with the same time earlier", () => {
  expect(baseline_window(1000, 1500, "previous")).toEqual({ after: 500, before: 1000 });
  expect(baseline_window(86_400_000, 86_400_010, "day")).toEqual({ after: 0, before: 10 });
});
