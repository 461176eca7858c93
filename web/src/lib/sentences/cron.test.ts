import { expect, test } from "@playwright/test";
import { cron_text } from "./cron";

test("usual schedules have a text", () => {
  expect(cron_text("*/10 * * * *")).toBe("every 10 minutes");
  expect(cron_text("0 9 * * 1-5")).toBe("on weekdays at 09:00");
  expect(cron_text("0 9 * * mon-fri")).toBe("on weekdays at 09:00");
  expect(cron_text("30 8,20 * * *")).toBe("every day at 08:30 and 20:30");
  expect(cron_text("0 6 * * MON,THU")).toBe("every Monday and Thursday at 06:00");
  expect(cron_text("15 * * * *")).toBe("every hour, at 15 past");
  expect(cron_text("0 */6 * * *")).toBe("every 6 hours, on the hour");
  expect(cron_text("0 0 1 * *")).toBe("on the 1st of each month at 00:00");
  expect(cron_text("0 0 22 * *")).toBe("on the 22nd of each month at 00:00");
  expect(cron_text("* * * * * *")).toBe("every second");
  expect(cron_text("0 */5 * * * *")).toBe("every 5 minutes");
  expect(cron_text(" @Daily ")).toBe("every day at 00:00");
  expect(cron_text("0 12 * * 7")).toBe("every Sunday at 12:00");
});

test("other schedules have no text", () => {
  for (const text of [
    "",
    "0 9",
    "1-10 * * * *",
    "0 9 13 * 5",
    "0 9 * 2 *",
    "61 * * * *",
    "0 25 * * *",
    "5 0 0 0 0 0 0",
    "@often",
  ])
    expect(cron_text(text), text).toBeNull();
});
