import { expect, test } from "@playwright/test";
import { browser_name, initials, shell_quote, short_id } from "./text";

test("an id keeps its kind and both ends", () => {
  expect(short_id("key_01JD0000000000000000008F3K")).toBe("key_01JD…8F3K");
  expect(short_id("user_1")).toBe("user_1");
  expect(short_id("grace.hopper@navy.example")).toBe("grace.hopper@navy.example");
  expect(short_id("0123456789abcdef0123456789abcdef")).toBe("0123…cdef");
});

test("initials come from the name, otherwise from the email", () => {
  expect(initials("Ada Lovelace")).toBe("AL");
  expect(initials("admin@localhost")).toBe("A");
  expect(initials("grace.m.hopper@navy.example")).toBe("GH");
  expect(initials("")).toBe("?");
});

test("a browser is named by family and system", () => {
  expect(browser_name("Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 Chrome/156.0 Safari/537.36")).toBe(
    "Chrome on Linux",
  );
  expect(browser_name("Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X) Version/18.0 Safari/604.1")).toBe(
    "Safari on iOS",
  );
  expect(browser_name("curl/8.1")).toBe("curl");
  expect(browser_name("weird")).toBe("weird");
  expect(browser_name("")).toBe("unknown client");
});

test("shell quoting escapes a quote", () => {
  expect(shell_quote("http://127.0.0.1:7070")).toBe("http://127.0.0.1:7070");
  expect(shell_quote("it's here")).toBe(`'it'\\''s here'`);
});
