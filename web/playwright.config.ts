import { readFileSync } from "node:fs";
import { defineConfig, type Project } from "@playwright/test";

// Only tests that tests/flaky.txt names ("web: tests/file.spec.ts › title | reason | date") are retried once.
// tools/web_report.py checks the file and reports which of them needed it.
const flaky = readFileSync(new URL("../tests/flaky.txt", import.meta.url), "utf8")
  .split("\n")
  .filter((line) => line.startsWith("web: "))
  .map((line) => line.slice("web: ".length).replace(/\|.*/, "").trim().replaceAll(" › ", " "))
  .map((name) => new RegExp(`${name.replace(/[.*+?^${}()|[\]\\]/g, "\\$&")}$`));

const browser: Project = {
  testDir: "tests",
  testMatch: /.*\.spec\.ts/,
  use: {
    viewport: { width: 1280, height: 800 },
    colorScheme: "light",
    timezoneId: "UTC",
    launchOptions: {
      executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium",
      args: [
        "--no-sandbox",
        "--disable-gpu",
        "--disable-quic",
        "--no-first-run",
        "--disable-background-networking",
        "--disable-component-update",
        "--disable-sync",
      ],
    },
  },
};

// Two suites: pure functions beside the code, and pages in a real browser against the real binary.
export default defineConfig({
  // A spec takes a second or two. The limits only end what hangs: a busy machine or a slow disk must not fail a test.
  timeout: 300_000,
  expect: { timeout: 60_000 },
  retries: 0,
  workers: 2,
  reporter: "list",
  outputDir: "test-results",
  projects: [
    { name: "unit", testDir: "src", testMatch: /.*\.test\.ts/ },
    { name: "browser", ...browser, grepInvert: flaky },
    ...(flaky.length > 0 ? [{ name: "flaky", ...browser, grep: flaky, retries: 1 }] : []),
  ],
});
