import { expect, test } from "@playwright/test";
import { byte_size, duration, exact_count, money, plural, short_count, span_duration } from "./number";

test("counts have a unit letter and one digit", () => {
  expect([0, 999, 1000, 12_400, 999_949, 999_950, 3_140_000].map(short_count)).toEqual([
    "0",
    "999",
    "1k",
    "12.4k",
    "999.9k",
    "1M",
    "3.1M",
  ]);
  expect(exact_count(1234567)).toBe("1,234,567");
});

test("sizes use powers of 1024", () => {
  expect([0, 512, 1536, 1024 * 1024, 3 * 1024 ** 3].map(byte_size)).toEqual([
    "0 B",
    "512 B",
    "1.5 KiB",
    "1 MiB",
    "3 GiB",
  ]);
});

test("durations keep two units at most and never show 60 seconds", () => {
  expect([0.84, 340, 999.6, 1200, 59_960, 245_000, 7_800_000].map(duration)).toEqual([
    "0.8 ms",
    "340 ms",
    "1 s",
    "1.2 s",
    "1 min",
    "4 min 5 s",
    "2 h 10 min",
  ]);
});

test("very small amounts of money show what they are", () => {
  expect([46, 1, 123, 999, 1000].map(money)).toEqual(["$0.000046", "$0.000001", "$0.00012", "$0.0010", "$0.0010"]);
  expect([46.35, 0.16, 0.001].map(money)).toEqual(["$0.000046", "$0.00000016", "$0.000000001"]);
});

test("small amounts of money have four digits", () => {
  expect([0, 31_200, 12_400_000].map(money)).toEqual(["$0", "$0.0312", "$12.40"]);
});

test("one has no plural", () => {
  expect(plural(1, "entry", "entries")).toBe("1 entry");
  expect(plural(1200, "key")).toBe("1,200 keys");
});

test("a span's duration goes down to microseconds", () => {
  expect([0, 400, 340_000, 999_499, 999_500, 1_200_000_000].map(span_duration)).toEqual([
    "0 ms",
    "1 µs",
    "340 µs",
    "999 µs",
    "1 ms",
    "1.2 s",
  ]);
});
