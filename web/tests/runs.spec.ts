import { check_page } from "./axe";
import { expect, test, unique } from "./fixtures";

interface Preset {
  name: string;
  version: number;
  settings: object;
}

test("a session is started in Studio, ends, and is listed in Swarm", async ({ page, admin }) => {
  const project = unique("studied");
  await admin.send("POST", "/v1/projects", { name: project });
  await page.goto(`/s/default/studio?project=${project}`);
  await page.getByLabel("Use").selectOption("harness:command");
  await page.getByLabel("Command").fill("/bin/cat");
  const prompt = unique("Say **this** <img src=x onerror=alert(1)>");
  await page.getByLabel("to", { exact: true }).fill(prompt);
  await page.getByRole("button", { name: "Start session" }).click();

  await expect(page).toHaveURL(/\/runs\/run_/);
  const transcript = page.getByRole("list", { name: "Transcript" });
  await expect(transcript.locator("strong", { hasText: "this" }).first()).toBeVisible();
  expect(await transcript.locator("img").count()).toBe(0);
  await expect(page.locator(".facts").getByText(/^(succeeded|waiting)$/)).toBeVisible({ timeout: 120_000 });
  // The result is above the steps that led to it.
  await expect(page.getByRole("region", { name: "Result" }).locator("strong", { hasText: "this" })).toBeVisible();
  await check_page(page);
  await page.getByRole("link", { name: "Manifest" }).click();
  await expect(page.getByText("/bin/cat")).toBeVisible();
  await page.getByRole("link", { name: "Events", exact: true }).click();
  await expect(page.getByRole("table", { name: "Events", exact: true }).getByText("Command started.")).toBeVisible();

  await page.goto("/s/default/swarm");
  await page.locator(".swarm-cell").last().click();
  await expect(page.getByRole("link", { name: "Open run" })).toBeVisible();
  await check_page(page);
});

test("a preset is created and every change is a version", async ({ page, admin }) => {
  const name = unique("analyst");
  await page.goto("/s/default/presets/new");
  await page.getByLabel("Name").fill(name);
  await page.getByRole("button", { name: "Create preset" }).click();
  await expect(page.getByRole("heading", { name, level: 1 })).toBeVisible();
  const part = (title: string) => page.locator("summary", { hasText: title }).click();
  await part("Sandbox");
  await page.getByLabel("Minutes", { exact: true }).fill("5");
  await page.getByLabel("Memory").fill("1 GiB");
  await page.getByLabel("Init script").fill("apt list");
  await page.getByLabel("Environment").fill("MODE=fast");
  await part("Dependencies");
  await page.getByLabel("npm", { exact: true }).check();
  await page.getByLabel("PyPI", { exact: true }).check();
  await page.getByLabel("Setup installs").selectOption("auto");
  await page.getByLabel("Hosts of setup").fill("files.example.com");
  await part("Network");
  await page.getByLabel("More hosts").fill("api.example.com:8443\ngit.example.com");
  await part("Repositories");
  await page.getByRole("button", { name: "Add a repository" }).click();
  await page.getByLabel("Address").fill("https://git.example.com/shop.git");
  await page.getByLabel("Folder").fill("services/shop");
  await part("Artifacts");
  await page.getByLabel("Files", { exact: true }).selectOption("review");
  await part("Review of branches");
  await page.getByLabel("Approvals").fill("2");
  await page.getByRole("button", { name: "Add a verification command" }).click();
  const verification = page.getByRole("group", { name: "Verification 1" });
  await verification.getByLabel("Name").fill("tests");
  await verification.getByLabel("Command").fill("make test");
  await part("Budget");
  await page.getByLabel("US dollars").fill("1.5");
  await page.getByLabel("Tool calls of a run").fill("40");
  await page.getByLabel("Content of model call spans").selectOption("metadata");
  await check_page(page);
  await page.getByRole("button", { name: "Save" }).click();
  await expect(page.getByText("wall_clock_minutes", { exact: false })).toBeVisible();
  await expect(
    page.getByText("allow_hosts names git.example.com, a forge of this preset's repositories"),
  ).toBeVisible();

  const [saved] = (await admin.send<Preset[]>("GET", "/v1/presets")).filter((preset) => preset.name === name);
  expect(saved?.version).toBe(2);
  expect(saved?.settings).toMatchObject({
    repos: [{ url: "https://git.example.com/shop.git", ref: "", path: "services/shop" }],
    sandbox: {
      wall_clock_minutes: 5,
      memory_bytes: 2 ** 30,
      init_script: "apt list",
      env: { MODE: "fast" },
      allow_hosts: ["api.example.com:8443", "git.example.com"],
      packages: ["npm", "pypi"],
      setup: "auto",
      setup_hosts: ["files.example.com"],
    },
    outputs: { file: "review", labels: "review", investigation: "auto" },
    budget: { cost_micro_usd: 1_500_000, soft_percent: 80, steps: 40, turns: null },
    capture: "metadata",
    review: { approvals: 2, verification: [{ name: "tests", command: "make test", timeout_seconds: 600 }] },
  });
});

test("an artifact that requires a review is approved", async ({ page, admin }) => {
  const project = unique("reviewed");
  await admin.send("POST", "/v1/projects", { name: project });
  const command = [
    "/bin/sh",
    "-c",
    "cat; hone save_file --name note.txt --text noted; hone save_file --name more.txt --text more",
  ];
  const settings = { harness: "command", command, outputs: { file: "review" } };
  const preset = await admin.send<{ id: string }>("POST", "/v1/presets", { name: unique("noter"), settings });
  await page.goto(`/s/default/studio?project=${project}`);
  await page.getByLabel("Use").selectOption(`preset:${preset.id}`);
  await page.getByLabel("to", { exact: true }).fill("Leave a note");
  await page.getByRole("button", { name: "Start session" }).click();

  await page.getByRole("link", { name: "Artifacts 2" }).click({ timeout: 120_000 });
  const note = page.getByRole("region", { name: "note.txt" });
  await expect(note.getByText("noted")).toBeVisible();
  await note.getByRole("button", { name: "Approve" }).click();
  await expect(note.getByText("approved", { exact: true })).toBeVisible();
  await check_page(page);

  const saved = page.waitForEvent("download");
  await page.getByRole("button", { name: "Download all 2" }).click();
  expect((await saved).suggestedFilename()).toMatch(/^run_.*\.zip$/);
});

test("a session accepts a follow-up", async ({ page, admin }) => {
  const project = unique("talked");
  await admin.send("POST", "/v1/projects", { name: project });
  // Prints its prompt, once for each turn.
  const settings = { harness: "command", command: ["/bin/cat"] };
  const run = await admin.send<{ id: string }>("POST", "/v1/runs", { project, prompt: "Say one", settings });
  await page.goto(`/s/default/runs/${run.id}`);
  const transcript = page.getByRole("list", { name: "Transcript" });
  const settled = page.locator(".facts").getByText(/^(succeeded|waiting)$/);
  await expect(settled).toBeVisible({ timeout: 120_000 });
  await page.getByLabel("Follow-up").fill("Say two");
  await page.getByRole("button", { name: "Send" }).click();
  // Once as the follow-up, once as the response.
  await expect(transcript.getByText("Say two").nth(1)).toBeVisible({ timeout: 120_000 });
  await expect(settled).toBeVisible({ timeout: 120_000 });

  // After the first turn, while the session waits: the second is not in the record that its worker gets.
  await page.getByRole("button", { name: "Fork…" }).click();
  await page.getByLabel("Begin").selectOption("after turn 1");
  await expect(page.getByText("without what the worker wrote")).toBeVisible();
  await page.getByLabel("First prompt").fill("Say three");
  await page.getByRole("button", { name: "Fork", exact: true }).click();
  await expect(page).not.toHaveURL(new RegExp(run.id));
  await expect(page.locator(".facts").getByText("Forked from")).toBeVisible();
  await transcript.getByText("The worker got the earlier turns as text").click();
  await expect(transcript.getByText("This session is a fork of another one, after its turn 1").first()).toBeVisible();
  await expect(settled).toBeVisible({ timeout: 120_000 });
  await expect(transcript.getByText("worker: Say one").first()).toBeVisible();
  await expect(transcript.getByText("Say two")).toHaveCount(0);
});

test("a running session is stopped, then forked", async ({ page, admin }) => {
  const project = unique("stopped");
  await admin.send("POST", "/v1/projects", { name: project });
  const settings = { harness: "command", command: ["/bin/sh", "-c", "cat; sleep 600"] };
  const run = await admin.send<{ id: string }>("POST", "/v1/runs", { project, prompt: "Say one", settings });
  await page.goto(`/s/default/runs/${run.id}`);
  const facts = page.locator(".facts");
  await expect(facts.getByText("running", { exact: true })).toBeVisible({ timeout: 120_000 });
  // At the end of a long transcript too.
  await page.setViewportSize({ width: 1280, height: 360 });
  await page.getByLabel("Follow-up").scrollIntoViewIfNeeded();
  await page.locator(".run-lines > li").last().scrollIntoViewIfNeeded();
  await expect(facts).not.toBeInViewport();
  await expect(page.getByRole("button", { name: "Stop" })).toBeInViewport({ ratio: 1 });
  await page.setViewportSize({ width: 390, height: 600 });
  await page.locator(".run-lines > li").last().scrollIntoViewIfNeeded();
  await expect(page.getByRole("heading", { level: 1 })).not.toBeInViewport();
  await expect(page.getByRole("button", { name: "Stop" })).toBeInViewport({ ratio: 1 });
  await page.setViewportSize({ width: 1280, height: 800 });
  await page.getByRole("button", { name: "Stop" }).click();
  await expect(facts.getByText("cancelled", { exact: true })).toBeVisible();
  await page.getByRole("link", { name: "Network" }).click();
  await expect(page.getByRole("heading", { name: "No network requests" })).toBeVisible();
  await check_page(page);

  await page.getByRole("button", { name: "Fork…" }).click();
  await page.getByLabel("First prompt").fill("Say three");
  await page.getByRole("button", { name: "Fork", exact: true }).click();
  await expect(page).not.toHaveURL(new RegExp(run.id));
  await expect(page.getByRole("list", { name: "Transcript" }).getByText("Say three").first()).toBeVisible();
  await expect(facts.getByText("Forked from")).toBeVisible();
  await page.getByRole("button", { name: "Stop" }).click();
  await expect(facts.getByText("cancelled", { exact: true })).toBeVisible();
});

test("several runs are stopped together in Swarm", async ({ page, admin }) => {
  const project = unique("many");
  await admin.send("POST", "/v1/projects", { name: project });
  const settings = { harness: "command", command: ["/bin/sleep", "600"] };
  const title = unique("Wait");
  for (const name of ["a", "b"])
    await admin.send("POST", "/v1/runs", { project, prompt: `${title} ${name}`, settings });
  await page.goto(`/s/default/swarm?q=${title}`);
  await page.getByRole("checkbox", { name: `Select ${title} a` }).check();
  await page.getByRole("checkbox", { name: `Select ${title} b` }).check();
  await page.getByRole("button", { name: "Stop 2" }).click();
  await expect(page.getByRole("cell", { name: "cancelled" })).toHaveCount(2);
});

test("every network request has a row of its own, and none is in progress after the run", async ({ page, admin }) => {
  const project = unique("networked");
  await admin.send("POST", "/v1/projects", { name: project });
  const fetch_all = "cat; for n in 1 2 3 4 5; do curl -s -m 5 http://blocked.example/$n >&2; done; true";
  const settings = { harness: "command", command: ["/bin/sh", "-c", fetch_all] };
  const run = await admin.send<{ id: string }>("POST", "/v1/runs", { project, prompt: "Fetch five", settings });
  await page.goto(`/s/default/runs/${run.id}`);
  await expect(page.locator(".facts").getByText("succeeded", { exact: true })).toBeVisible({ timeout: 120_000 });
  await expect(page.getByTitle("Without the time it waited for a place or a follow-up")).toHaveText(/^\d.* m?s$/);
  await page.getByRole("link", { name: "Network" }).click();
  const rows = page
    .getByRole("table", { name: "Requests", exact: true })
    .getByRole("row")
    .filter({ hasText: "blocked.example" });
  await expect(rows).toHaveCount(5);
  await expect(page.getByText("in progress")).toHaveCount(0);
});
