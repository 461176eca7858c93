import { defineConfig } from "@playwright/test";

// Two suites: pure functions beside the code, and pages in a real browser against the real binary.
export default defineConfig({
  timeout: 90_000,
  // Each spec takes a second or two by itself; the limits leave room for a machine that builds meanwhile.
  expect: { timeout: 20_000 },
  // A second try is named in the suite's output: such a test is to be mended, but it does not stop everybody's work.
  retries: 1,
  workers: 2,
  reporter: "list",
  outputDir: "test-results",
  projects: [
    { name: "unit", testDir: "src", testMatch: /.*\.test\.ts/ },
    {
      name: "browser",
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
    },
  ],
});
