import { expect, test } from "@playwright/test";
import { local_time, refresh_interval, relative_time, to_milliseconds, zone_name } from "./time";

const now = Date.parse("2026-11-15T12:00:00Z");

test("nanoseconds are truncated to milliseconds", () => {
  expect(to_milliseconds("2026-11-15T11:59:59.123456789Z")).toBe(Date.parse("2026-11-15T11:59:59.123Z"));
  expect(to_milliseconds("2026-11-15T11:59:59Z")).toBe(now - 1000);
  expect(to_milliseconds("yesterday")).toBeNaN();
});

test("durations use the largest whole unit", () => {
  expect(relative_time("2026-11-15T11:59:58Z", now)).toBe("just now");
  expect(relative_time("2026-11-15T11:59:18.5Z", now)).toBe("41 s ago");
  expect(relative_time("2026-11-15T11:57:00Z", now)).toBe("3 min ago");
  expect(relative_time("2026-11-15T10:00:01Z", now)).toBe("1 h ago");
  expect(relative_time("2026-11-10T11:00:00Z", now)).toBe("5 d ago");
  expect(relative_time("2026-11-18T12:00:00Z", now)).toBe("in 3 d");
  expect(relative_time("2026-11-22T11:59:50Z", now)).toBe("in 7 d");
});

test("far away times become dates, with the year when it differs", () => {
  expect(relative_time("2026-03-12T12:00:00Z", now)).toBe("12 Mar");
  expect(relative_time("2025-03-12T12:00:00Z", now)).toBe("12 Mar 2025");
});

test("an invalid time is shown unchanged", () => {
  expect(relative_time("soon", now)).toBe("soon");
  expect(local_time("soon")).toBe("soon");
});

test("local time and its zone describe the same moment", () => {
  const time = "2026-11-15T11:59:58.5Z";
  const zone = zone_name(time).replace("UTC", "") || "Z";
  expect(Date.parse(`${local_time(time).replace(" ", "T")}${zone}`)).toBe(Date.parse("2026-11-15T11:59:58Z"));
});

test("young times are refreshed more often than old ones", () => {
  expect(refresh_interval("2026-11-15T11:59:50Z", now)).toBe(1000);
  expect(refresh_interval("2026-11-15T11:50:00Z", now)).toBe(15000);
  expect(refresh_interval("2026-11-01T11:50:00Z", now)).toBe(300000);
});
