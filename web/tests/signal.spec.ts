import type { Page } from "@playwright/test";
import { check_page } from "./axe";
import { api_key } from "./chat";
import { expect, type Person, test, unique } from "./fixtures";
import { new_span_id, refused_lookups, type SentSpan, send_spans } from "./spans";

interface Made {
  id: string;
}

const report = (admin: Person, project: string, title: string, severity = "high") =>
  admin.send<Made>("POST", "/v1/issues", {
    project,
    title,
    severity,
    explanation: "The tool answered 429 in one of seven calls.",
    filter: 'name = "lookup_order" and status = error',
    trace_ids: ["ab".repeat(16)],
  });

async function with_signal(admin: Person): Promise<string> {
  const project = unique("watched");
  await admin.send("POST", "/v1/projects", { name: project });
  await admin.send("PUT", `/v1/projects/${project}/signal`, { enabled: true, consent: true });
  return project;
}

async function no_wider_than_a_phone(page: Page): Promise<void> {
  await page.setViewportSize({ width: 390, height: 780 });
  expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(390);
  await page.setViewportSize({ width: 1280, height: 800 });
}

test("Signal is turned on only after consent, and off again", async ({ page, admin }) => {
  const project = unique("quiet");
  await admin.send("POST", "/v1/projects", { name: project });
  await page.goto(`/s/default/projects/${project}/signal`);
  await expect(page.getByText(`Signal is off for ${project}`)).toBeVisible();
  await expect(page.getByText(/workers send parts of the traces/)).toBeVisible();
  await expect(page.getByRole("button", { name: "Turn on Signal" })).toBeDisabled();
  await check_page(page);
  await page.getByLabel("I have read this").check();
  await page.getByRole("button", { name: "Turn on Signal" }).click();
  await expect(page.getByText("No open issues", { exact: true })).toBeVisible();
  await check_page(page);

  await page.getByRole("button", { name: "Settings" }).click();
  const dialog = page.getByRole("dialog");
  await expect(dialog.getByText("Turned on by")).toBeVisible();
  await dialog.getByLabel("Scan", { exact: true }).selectOption("60");
  await dialog.getByLabel("Context for workers").fill("Refunds matter most.");
  await check_page(page);
  await dialog.getByRole("button", { name: "Save" }).click();
  await expect(dialog).toHaveCount(0);
  const view = await admin.send<{ settings: { cadence_minutes: number; context: string } }>(
    "GET",
    `/v1/projects/${project}/signal`,
  );
  expect(view.settings).toMatchObject({ cadence_minutes: 60, context: "Refunds matter most." });

  await page.getByRole("button", { name: "Settings" }).click();
  await dialog.getByLabel("Signal is on").uncheck();
  await dialog.getByRole("button", { name: "Save" }).click();
  await expect(page.getByText(`Signal is off for ${project}`)).toBeVisible();
});

test("issues of a project without Signal are listed, with the way to turn it on", async ({ page, admin }) => {
  const project = unique("by-hand");
  await admin.send("POST", "/v1/projects", { name: project });
  await report(admin, project, "Orders cannot be looked up");
  await page.goto(`/s/default/projects/${project}/signal`);
  const table = page.getByRole("table", { name: "Issues", exact: true });
  await expect(table).toContainText("Orders cannot be looked up");
  await expect(page.getByText("not scanned on a schedule")).toBeVisible();
  await check_page(page);
  await page.getByRole("button", { name: "Turn on…" }).click();
  await page.getByLabel("I have read this").check();
  await page.getByRole("button", { name: "Turn on Signal" }).click();
  await expect(table).toContainText("Orders cannot be looked up");
  await expect(page.getByText("not scanned on a schedule")).toHaveCount(0);
});

test("issues are ranked with a score, and filtered", async ({ page, admin }) => {
  const project = await with_signal(admin);
  const bad = "Orders cannot be looked up";
  const small = "Greeting is too long";
  await report(admin, project, small, "low");
  await report(admin, project, bad, "critical");
  await page.goto(`/s/default/projects/${project}/signal`);
  const rows = page.getByRole("table", { name: "Issues", exact: true }).getByRole("row");
  await expect(rows.nth(1)).toContainText(bad);
  await expect(rows.nth(2)).toContainText(small);
  await expect(page.getByText("2 open issues, 1 critical.")).toBeVisible();
  expect(await rows.nth(1).locator(".why").getAttribute("title")).toMatch(/^Score \d+\n/);
  await check_page(page);
  await page.emulateMedia({ colorScheme: "dark", reducedMotion: "reduce" });
  await check_page(page, { runOnly: ["color-contrast"] });

  await page.getByLabel("Filter issues").fill("greeting");
  await expect(rows).toHaveCount(2);
  await page.getByLabel("Filter issues").fill("");
  await no_wider_than_a_phone(page);
  await page.keyboard.press("Escape");
  await rows.nth(1).focus();
  await page.getByRole("heading", { name: "Signal" }).click();
  await page.keyboard.press("j");
  await page.keyboard.press("Enter");
  await expect(page.getByRole("heading", { name: bad, level: 1 })).toBeVisible();
});

test("an issue is commented on, assigned, muted, dismissed, resolved and reopened", async ({ page, admin }) => {
  const project = await with_signal(admin);
  const title = "Lookups fail often";
  const issue = await report(admin, project, title);
  await page.goto(`/s/default/projects/${project}/signal/${issue.id}`);
  await expect(page.getByRole("heading", { level: 1 })).toHaveText(title);
  await expect(page.getByRole("table", { name: "Parts of the score", exact: true })).toBeVisible();
  await expect(page.getByRole("link", { name: "ab".repeat(16) })).toBeVisible();
  await check_page(page);
  await page.emulateMedia({ colorScheme: "dark", reducedMotion: "reduce" });
  await check_page(page, { runOnly: ["color-contrast"] });
  await no_wider_than_a_phone(page);

  await page.getByLabel("Your comment").fill("**Upstream** lowered the limit. <img src=x onerror=alert(1)>");
  await page.getByRole("button", { name: "Comment" }).click();
  await expect(page.getByRole("region", { name: "Comments" }).locator("strong")).toHaveText("Upstream");
  expect(await page.getByRole("region", { name: "Comments" }).locator("img").count()).toBe(0);

  const more = page.getByRole("button", { name: "More actions" });
  const dialog = page.getByRole("dialog");
  await more.click();
  await page.getByRole("menuitem", { name: "Assign…" }).click();
  await dialog.getByLabel("Assignee").selectOption({ index: 1 });
  await dialog.getByRole("button", { name: "Assign" }).click();
  await expect(page.getByLabel("About this issue").getByText("admin@localhost")).toBeVisible();

  await more.click();
  await page.getByRole("menuitem", { name: "Mute…" }).click();
  await dialog.getByLabel("Reason").fill("known");
  await dialog.getByRole("button", { name: "Mute" }).click();
  await expect(page.getByText(/muted until in .*: known/)).toBeVisible();
  await page.getByRole("button", { name: "Unmute" }).click();
  await expect(page.getByRole("button", { name: "Resolve" })).toBeVisible();

  await more.click();
  await page.getByRole("menuitem", { name: "Dismiss…" }).click();
  await check_page(page);
  await dialog.getByLabel("Comment").fill("tests do this");
  await dialog.getByRole("button", { name: "Dismiss" }).click();
  await expect(page.locator(".note", { hasText: "dismissed: expected behaviour: tests do this" })).toBeVisible();
  await page.getByRole("button", { name: "Reopen" }).click();
  await page.getByRole("button", { name: "Resolve" }).click();
  await expect(page.getByRole("button", { name: "Reopen" })).toBeVisible();
  await expect(page.getByRole("region", { name: "History" }).getByRole("listitem").first()).toContainText("resolved");

  await page.goto(`/s/default/projects/${project}/signal?view=resolved`);
  await expect(page.getByRole("link", { name: title })).toBeVisible();
});

test("an evaluator and a monitor are created from an issue, and scans show their cost", async ({
  page,
  admin,
  request,
  server,
}) => {
  const project = unique("marked");
  await send_spans(request, server.url, await api_key(admin), project, refused_lookups(), 60_000);
  await admin.send("PUT", `/v1/projects/${project}/signal`, { enabled: true, consent: true });
  const issue = await report(admin, project, "Lookups are refused");
  await page.goto(`/s/default/projects/${project}/signal/${issue.id}`);
  const more = page.getByRole("button", { name: "More actions" });
  await more.click();
  await page.getByRole("menuitem", { name: "Create an evaluator" }).click();
  await expect(page.getByText("Evaluator created; it labels new spans and those of the last day")).toBeVisible();
  await more.click();
  await page.getByRole("menuitem", { name: "Open evaluator" }).click();
  await expect(page.getByRole("heading", { name: "Evaluators", level: 1 })).toBeVisible();
  const row = page.getByRole("table", { name: "Evaluators", exact: true }).getByRole("row").nth(1);
  await expect(row).toContainText("fail / pass");
  // It evaluates within a minute, without a scan.
  await expect(async () => {
    await page.reload();
    await expect(row).toContainText("10 of 20", { timeout: 10_000 });
  }).toPass({ timeout: 150_000 });
  await check_page(page);
  await row.getByRole("button", { name: /^Actions of/ }).click();
  await page.getByRole("menuitem", { name: "Open issue" }).click();
  await expect(page.getByRole("heading", { name: "Lookups are refused", level: 1 })).toBeVisible();

  // Without an agent a fix cannot start: the page names what it needs.
  await expect(page.getByRole("button", { name: "Start fix" })).toHaveCount(0);
  await expect(page.getByRole("link", { name: "Set up fixes" })).toHaveAttribute("title", /a preset with a model/);
  await expect(page.getByRole("link", { name: "Set up fixes" })).toHaveAttribute("href", /signal\?settings=1$/);

  await more.click();
  await page.getByRole("menuitem", { name: "Create a monitor…" }).click();
  await page.getByLabel("Triggers above, traces per hour").fill("3");
  await check_page(page);
  await page.getByRole("button", { name: "Create monitor" }).click();
  await expect(page.getByText(/is above 3/).first()).toBeVisible();
  await expect(page.getByText(/with name = "lookup_order" and status = error/).first()).toBeVisible();

  await page.goto(`/s/default/projects/${project}/signal`);
  await page.getByRole("button", { name: "Scan now" }).click();
  await expect(page.getByRole("button", { name: "Scan now" })).toBeEnabled();
  await page.getByRole("button", { name: /^Scanned/ }).click();
  const dialog = page.getByRole("dialog", { name: "Scans" });
  const scans = dialog.getByRole("table", { name: "Scans", exact: true }).getByRole("row");
  await expect(scans.nth(1)).toContainText(/\d+ (ms|s)/);
  await check_page(page);
  await dialog.getByRole("link", { name: "Show skipped scans too" }).click();
  await expect(page.getByRole("heading", { name: `Signal: ${project}`, level: 1 })).toBeVisible();
});

test("an evaluator is tested on the last day, created, turned off and deleted", async ({
  page,
  admin,
  request,
  server,
}) => {
  const project = unique("judged");
  const calls = [{ name: "slow", duration: 9000 }, { name: "quick" }];
  await send_spans(request, server.url, await api_key(admin), project, calls, 60_000);
  await page.goto(`/s/default/projects/${project}/evaluators`);
  await expect(page.getByText("No evaluators yet")).toBeVisible();
  await page.getByRole("button", { name: "Create evaluator" }).click();
  const dialog = page.getByRole("dialog", { name: "New evaluator" });
  await dialog.getByLabel("Name").fill("slow_calls");
  await dialog.getByLabel("Matches when").fill("latency > ");
  await dialog.getByRole("button", { name: "Test on the last day" }).click();
  await expect(dialog.locator(".state.failed")).toBeVisible();
  await dialog.getByLabel("Matches when").fill("latency > 5s");
  await dialog.getByRole("button", { name: "Test on the last day" }).click();
  await expect(dialog.getByText("1 of 2 spans would match.")).toBeVisible();
  await check_page(page);
  await dialog.getByRole("button", { name: "Create evaluator" }).click();
  const row = page.getByRole("table", { name: "Evaluators", exact: true }).getByRole("row").nth(1);
  await expect(row).toContainText("latency > 5s");
  await row.getByRole("button", { name: "Actions of slow_calls" }).click();
  await page.getByRole("menuitem", { name: "Turn off" }).click();
  await expect(row).toContainText("off");
  await row.getByRole("button", { name: "Actions of slow_calls" }).click();
  await page.getByRole("menuitem", { name: "Delete…" }).click();
  await page.getByRole("button", { name: "Delete evaluator" }).click();
  await expect(page.getByText("No evaluators yet")).toBeVisible();
});

test("a long title of an issue has lines of its own, and its actions are below it", async ({ page, admin }) => {
  const project = await with_signal(admin);
  const title = "parse_intent cannot parse an output of the model: Expecting value line # column # char # in the reply";
  const issue = await report(admin, project, title);
  const heading = page.getByRole("heading", { level: 1 });
  for (const width of [1024, 1440]) {
    await page.setViewportSize({ width, height: 800 });
    await page.goto(`/s/default/projects/${project}/signal/${issue.id}`);
    await expect(heading).toHaveText(title);
    const action = page.getByRole("button", { name: "Resolve" });
    await expect(action).toBeVisible();
    const [words, button, main] = await Promise.all([
      heading.boundingBox(),
      action.boundingBox(),
      page.getByRole("main").boundingBox(),
    ]);
    expect(button?.y).toBeGreaterThanOrEqual((words?.y ?? 0) + (words?.height ?? 0));
    expect(words?.width).toBeGreaterThan((main?.width ?? 0) * 0.8);
  }
});

test("two issues are merged and split again", async ({ page, admin }) => {
  const project = await with_signal(admin);
  // Numbers do not make two titles two problems: the words must differ.
  const first = "Orders cannot be looked up";
  const second = "Customers ask twice";
  const cause = await report(admin, project, first);
  const symptom = await report(admin, project, second);
  await page.goto(`/s/default/projects/${project}/signal/${symptom.id}`);
  await page.getByRole("button", { name: "More actions" }).click();
  await page.getByRole("menuitem", { name: "Merge into…" }).click();
  await page.getByRole("dialog").getByLabel("Merge into").selectOption(cause.id);
  await page.getByRole("dialog").getByRole("button", { name: "Merge" }).click();
  await expect(page.getByRole("heading", { name: first, level: 1 })).toBeVisible();
  const parts = page.getByRole("region", { name: "Merged findings" });
  await expect(parts.getByText(second)).toBeVisible();
  await parts.getByRole("listitem").filter({ hasText: second }).getByRole("button", { name: "Split" }).click();
  await expect(parts).toHaveCount(0);
});

/** A ticket: an agent calls a model, then a tool that may fail. */
function ticket(error?: string): SentSpan[] {
  const root = new_span_id();
  const step = new_span_id();
  const kind = (name: string) => ({ "openinference.span.kind": name });
  return [
    { name: "handle_ticket", span_id: root, duration: 900, attributes: kind("AGENT") },
    { name: "plan", parent_id: root, start: 10, duration: 300, attributes: kind("LLM") },
    { name: "step 1", span_id: step, parent_id: root, start: 320, duration: 400, attributes: kind("CHAIN") },
    {
      name: "lookup_order",
      parent_id: step,
      start: 330,
      duration: 380,
      attributes: { ...kind("TOOL"), "tool.name": "lookup_order" },
      ...(error ? { error } : {}),
    },
    { name: "reply", parent_id: root, start: 730, duration: 160, attributes: kind("LLM") },
  ];
}

test("an issue shows at a glance what happens, where it starts, since which version and what to do", async ({
  page,
  admin,
  request,
  server,
}) => {
  const project = unique("glance");
  const key = await api_key(admin);
  for (let count = 0; count < 3; count++)
    await send_spans(request, server.url, key, project, ticket(), 90_000, { "service.version": "1.0" });
  let last = "";
  for (let count = 0; count < 4; count++)
    last = await send_spans(request, server.url, key, project, ticket(`order B-${count} timed out`), 60_000, {
      "service.version": "2.0",
    });
  // A scan by hand starts no worker.
  await admin.send("POST", `/v1/projects/${project}/signal/scan`, {});
  const [issue] = await admin.send<(Made & { examples: unknown[] })[]>("GET", `/v1/issues?project=${project}`);
  await page.goto(`/s/default/projects/${project}/signal/${issue?.id}`);

  await expect(page.getByRole("heading", { level: 1 })).toHaveText("lookup_order fails: order # timed out");
  await expect(page.getByText(/^57 % of the traces that have lookup_order fail/)).toBeVisible();
  await expect(page.getByRole("region", { name: "Evidence" })).toContainText(/order B-\d timed out/);
  const where = page.getByRole("list", { name: "Where in the trace" });
  await expect(where.getByRole("listitem")).toHaveCount(5);
  const origin = where.locator("[aria-current=true]");
  await expect(origin).toHaveCount(1);
  await expect(origin).toContainText("lookup_order");
  await expect(origin).toContainText("starts here");
  await expect(page.getByRole("region", { name: "Trend" })).toBeVisible();
  const versions = page.getByRole("region", { name: "Affected versions" });
  await expect(versions.getByRole("link", { name: "2.0" })).toBeVisible();
  await expect(versions).toContainText("4 spans");
  await expect(versions).toContainText("Not seen in 1.0");
  const next = page.getByRole("region", { name: "What to do next" });
  await expect(next).toContainText("start an investigation");
  await expect(next).toContainText("Usual cause: The tool itself fails");
  await expect(page.getByRole("region", { name: "Why it was found" })).toContainText("grouped by where they begin");
  // The first screen has all of it.
  for (const part of [origin, next, versions]) {
    const box = await part.boundingBox();
    expect((box?.y ?? 9999) + (box?.height ?? 0)).toBeLessThanOrEqual(800);
  }
  await check_page(page);
  const shots = process.env.HONE_SHOTS;
  if (shots) await page.screenshot({ path: `${shots}/issue-light.png` });
  await page.emulateMedia({ colorScheme: "dark", reducedMotion: "reduce" });
  await check_page(page, { runOnly: ["color-contrast"] });
  if (shots) await page.screenshot({ path: `${shots}/issue-dark.png` });
  await page.setViewportSize({ width: 390, height: 780 });
  await expect(origin.getByText("lookup_order")).toBeInViewport({ ratio: 1 });
  if (shots) await page.screenshot({ path: `${shots}/issue-narrow.png`, fullPage: true });
  await no_wider_than_a_phone(page);

  await expect(page.getByText("Example 1 of 4")).toBeVisible();
  await page.getByRole("button", { name: "Next example" }).click();
  await expect(page.getByText("Example 2 of 4")).toBeVisible();
  await page.getByRole("button", { name: "Previous example" }).click();
  await expect(page.getByRole("button", { name: "Previous example" })).toBeDisabled();
  await expect(page.getByRole("link", { name: `Open trace ${last.slice(0, 8)}` })).toBeVisible();
  await origin.click();
  await expect(page).toHaveURL(new RegExp(`/traces/${last}\\?span=`));
});

test("a reading of sampled traces is started, and its cost for 1,000 traces is shown", async ({
  page,
  admin,
  request,
  server,
}) => {
  const project = unique("read");
  // The schedule may start a reading of its own: enough traces for both.
  const key = await api_key(admin);
  for (let count = 0; count < 8; count++) await send_spans(request, server.url, key, project, ticket(), 60_000);
  const preset = await admin.send<Made>("POST", "/v1/presets", {
    name: unique("reader"),
    settings: { harness: "command", command: ["/bin/true"] },
  });
  await admin.send("PUT", `/v1/projects/${project}/signal`, { enabled: true, consent: true });
  await page.goto(`/s/default/projects/${project}/signal`);
  await page.getByRole("button", { name: "Settings" }).click();
  const settings = page.getByRole("dialog");
  await settings.getByLabel("Traces per reading").fill("3");
  await settings.getByRole("button", { name: "Save" }).click();
  await expect(
    settings.getByText("settings.sampled_traces needs settings.preset: a preset with a model"),
  ).toBeVisible();
  await settings.getByLabel("Investigate with").selectOption(preset.id);
  await check_page(page);
  await settings.getByRole("button", { name: "Save" }).click();
  await expect(settings).toHaveCount(0);

  await page.goto(`/s/default/projects/${project}/signal?scans=1`);
  const readings = page.getByRole("dialog", { name: "Scans" }).getByRole("region", { name: "Readings" });
  await readings.getByRole("button", { name: "Read traces now" }).click();
  await expect(page.getByText("A worker reads 3 traces")).toBeVisible();
  await expect(readings).toContainText("1,000 traces cost $0 ");
  await check_page(page);
  const view = await admin.send<{ readings: { traces: number } }>("GET", `/v1/projects/${project}/signal`);
  expect(view.readings.traces).toBeGreaterThanOrEqual(3);
});
