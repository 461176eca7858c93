// Traces: sent by an exporter, found by a filter, read span by span.

import type { Page } from "@playwright/test";
import { api_key, ids, open_trace, with_chat } from "./chat";
import { expect, test, unique } from "./fixtures";
import { new_span_id, type SentSpan, send_spans } from "./spans";

const rows = (page: Page) => page.getByRole("treegrid", { name: "Spans" }).locator("[data-span]");
const chosen = (page: Page) => page.getByRole("treegrid", { name: "Spans" }).locator("[aria-selected=true]");

test("the keyboard works in a trace: tree, errors, collapsing, search", async ({ page, request, server, admin }) => {
  const [project, trace] = await with_chat(request, server.url, admin);
  await open_trace(page, project, trace);
  await expect(rows(page)).toHaveCount(4);
  await expect(chosen(page)).toContainText("POST /chat");
  await page.keyboard.press("j");
  await expect(chosen(page)).toContainText("chat completion");
  await expect(page).toHaveURL(new RegExp(`span=${ids.chat}`));
  await page.keyboard.press("e");
  await expect(chosen(page)).toContainText("lookup_order");
  const panel = page.getByRole("complementary", { name: "Span lookup_order" });
  await expect(panel).toContainText("upstream answered 429");
  await page.keyboard.press("ArrowLeft");
  await expect(rows(page)).toHaveCount(3);
  await page.keyboard.press("1");
  await expect(rows(page)).toHaveCount(1);
  await page.keyboard.press("0");
  await expect(rows(page)).toHaveCount(4);
  await page.keyboard.press("/");
  await page.keyboard.type("search");
  await page.keyboard.press("Enter");
  await expect(chosen(page)).toContainText("search docs");
  await page.reload();
  await expect(chosen(page)).toContainText("search docs");
});

test("messages between parts of the application are left out of the tree until they are shown", async ({
  page,
  request,
  server,
  admin,
}) => {
  const project = unique("actors");
  const [run, sent, processed] = [new_span_id(), new_span_id(), new_span_id()];
  const trace = await send_spans(request, server.url, await api_key(admin), project, [
    { name: "team run", span_id: run, duration: 900 },
    { name: "autogen create", span_id: sent, parent_id: run, kind: 4, attributes: { "messaging.operation": "create" } },
    { name: "autogen process", span_id: processed, parent_id: sent, start: 10, kind: 5 },
    { name: "writer", parent_id: processed, start: 20, attributes: { "gen_ai.operation.name": "invoke_agent" } },
    { name: "autogen lost", parent_id: processed, start: 30, kind: 5, error: "no such recipient" },
  ]);
  await open_trace(page, project, trace);
  await expect(rows(page)).toHaveCount(3);
  await expect(page.getByRole("treegrid", { name: "Spans" })).toContainText("autogen lost");
  await expect(rows(page).filter({ hasText: "writer" })).toHaveAttribute("aria-level", "2");
  await page.getByRole("button", { name: "Show 2 message spans" }).click();
  await expect(rows(page)).toHaveCount(5);
  await expect(rows(page).filter({ hasText: "writer" })).toHaveAttribute("aria-level", "4");
  await page.keyboard.press("m");
  await expect(rows(page)).toHaveCount(3);
  // A link to a message shows it.
  await page.goto(`${page.url().split("?")[0]}?span=${processed}`);
  await expect(chosen(page)).toContainText("autogen process");
  await page.getByRole("button", { name: "Hide 2 message spans" }).click();
  await expect(rows(page)).toHaveCount(3);
});

test("a span shows messages, attributes and events, and an eval can be added", async ({
  page,
  request,
  server,
  admin,
}) => {
  const [project, trace] = await with_chat(request, server.url, admin);
  await open_trace(page, project, trace);
  await rows(page).filter({ hasText: "chat completion" }).click();
  const panel = page.getByRole("complementary", { name: "Span chat completion" });
  await expect(panel.getByRole("list", { name: "Messages to the model" })).toContainText("Where is my order 4411?");
  await expect(panel.getByRole("list", { name: "Messages of the model" })).toContainText("It arrives on Tuesday.");
  await expect(panel).toContainText("1,200 in · 180 out");
  await panel.getByRole("link", { name: "Attributes" }).click();
  await expect(panel.getByText("llm.model_name")).toBeVisible();

  await panel.getByRole("link", { name: "Evals" }).click();
  await panel.getByRole("button", { name: "Add eval" }).click();
  await panel.getByRole("textbox", { name: "Name" }).fill("correct");
  await panel.getByLabel("Label").fill("yes");
  await panel.getByLabel("Score").fill("0.9");
  await panel.getByRole("button", { name: "Save" }).click();
  await expect(panel.getByRole("listitem").filter({ hasText: "correct" })).toContainText("0.9");
  await panel.getByRole("button", { name: "Edit" }).click();
  await panel.getByLabel("Label").fill("no");
  await panel.getByRole("button", { name: "Save" }).click();
  await expect(panel.getByRole("listitem").filter({ hasText: "correct" })).toContainText("no");

  await rows(page).filter({ hasText: "lookup_order" }).click();
  await page.getByRole("link", { name: "Events 1" }).click();
  await expect(page.getByRole("complementary", { name: "Span lookup_order" })).toContainText("exception.type");
});

test("traces are filtered by text, facet and completion; errors are underlined", async ({
  page,
  request,
  server,
  admin,
}) => {
  const [project, trace] = await with_chat(request, server.url, admin);
  await send_spans(request, server.url, await api_key(admin), project, [{ name: "nightly report" }]);
  await open_trace(page, project, trace);
  await page.getByRole("navigation", { name: "Main" }).getByRole("link", { name: "Traces" }).click();
  const table = page.getByRole("table", { name: "Traces", exact: true });
  await expect(table.getByRole("link")).toHaveText(["nightly report", "POST /chat"]);
  await expect(table.getByRole("row", { name: /POST \/chat/ })).toContainText("1 error");

  await page.getByRole("region", { name: "Spans by status" }).getByRole("button", { name: /error/ }).click();
  await expect(page).toHaveURL(/filter=status/);
  await expect(table.getByRole("link")).toHaveText(["POST /chat"]);

  const bar = page.getByRole("combobox", { name: "Filter traces by their spans" });
  await bar.fill('attributes["user.tier"] = "silver"');
  await bar.press("Enter");
  await expect(page.getByText("No matches")).toBeVisible();

  await bar.fill("modell = 1");
  await bar.press("Enter");
  await expect(page.getByRole("alert")).toContainText("modell");
  await expect(bar).toHaveAttribute("aria-invalid", "true");

  await bar.fill("mod");
  await bar.press("Tab");
  await bar.press("ArrowDown");
  await expect(page.getByRole("option", { name: /!=/ })).toBeVisible();
  await bar.fill("model = ");
  await page.getByRole("option", { name: /small-1/ }).click();
  await expect(table.getByRole("link")).toHaveText(["POST /chat"]);
  await page.keyboard.press("Escape");
  await page.keyboard.press("Escape");
  await page.keyboard.press("j");
  await page.keyboard.press("Enter");
  await expect(page).toHaveURL(new RegExp(trace));
  await page.goBack();
  await expect(bar).toHaveValue(/small-1/);
});

test("new traces are counted in a pill", async ({ page, request, server, admin }) => {
  const [project, trace] = await with_chat(request, server.url, admin);
  await open_trace(page, project, trace);
  await page.goto(`/s/default/projects/${project}/traces`);
  const table = page.getByRole("table", { name: "Traces", exact: true });
  await expect(table.getByRole("link")).toHaveText(["POST /chat"]);
  await send_spans(request, server.url, await api_key(admin), project, [{ name: "just now" }], 1000);
  await page.getByRole("button", { name: "1 new", exact: true }).click(); // it asks every ten seconds
  await expect(table.getByRole("link")).toHaveText(["just now", "POST /chat"]);
});

test("the overview has charts and links to failed spans", async ({ page, request, server, admin }) => {
  const [project, trace] = await with_chat(request, server.url, admin);
  await open_trace(page, project, trace);
  await page.goto(`/s/default/projects/${project}`);
  for (const title of ["Spans", "Latency", "Tokens", "Cost"]) {
    await expect(page.getByRole("figure", { name: title, exact: true }).locator("canvas")).toBeVisible();
  }
  await expect(page.getByRole("region", { name: "Models" })).toContainText("small-1");
  await page.getByRole("region", { name: "Most errors" }).getByRole("link", { name: "lookup_order" }).click();
  await expect(page.getByRole("table", { name: "Traces", exact: true }).getByRole("link")).toHaveText(["POST /chat"]);
});

test("a chat session shows its traces as a conversation, and as a list", async ({ page, request, server, admin }) => {
  const [project, trace] = await with_chat(request, server.url, admin);
  await send_spans(request, server.url, await api_key(admin), project, [{ name: "nightly report" }]);
  await open_trace(page, project, trace);
  await page.goto(`/s/default/projects/${project}/sessions`);
  await expect(page.getByRole("row", { name: /visit-1/ })).toContainText("ada");
  await page.getByRole("link", { name: "visit-1" }).click();
  const conversation = page.getByRole("region", { name: "Conversation of the chat session" });
  await expect(conversation.getByRole("listitem")).toHaveCount(1);
  await expect(conversation.getByRole("link")).toHaveAttribute("href", new RegExp(trace));
  await page.getByRole("button", { name: "Show as list" }).click();
  await expect(page.getByRole("table", { name: "Traces", exact: true }).getByRole("link")).toHaveText(["POST /chat"]);
});

test("SQL shows a table or the error", async ({ page, request, server, admin }) => {
  const [project, trace] = await with_chat(request, server.url, admin);
  await open_trace(page, project, trace);
  await page.goto(`/s/default/projects/${project}/sql`);
  const editor = page.getByRole("textbox", { name: "SQL query" });
  await editor.fill("SELECT name, count() AS times FROM spans GROUP BY name ORDER BY name");
  await editor.press("Control+Enter");
  await expect(
    page.getByRole("table", { name: "Result", exact: true }).getByRole("row", { name: /lookup_order/ }),
  ).toContainText("1");
  await expect(page).toHaveURL(/sql=SELECT/);
  await editor.fill("DROP TABLE spans");
  await page.getByRole("button", { name: "Run", exact: true }).click();
  await expect(page.getByRole("alert")).toBeVisible();
});

test("a trace of 50,000 spans draws only the visible rows", async ({ page, request, server, admin }) => {
  test.setTimeout(600_000);
  const project = unique("large");
  const root = new_span_id();
  const spans: SentSpan[] = [{ name: "batch", span_id: root, duration: 60_000 }];
  for (let at = 1; at < 50_000; at++) {
    const error = at === 49_000 ? "late failure" : undefined;
    spans.push({ name: `step ${at}`, parent_id: root, start: at, duration: 5, error });
  }
  const trace = await send_spans(request, server.url, await api_key(admin), project, spans, 120_000);
  await expect(async () => {
    await page.goto(`/s/default/projects/${project}/traces/${trace}`);
    await expect(page.getByText("50,000 spans")).toBeVisible({ timeout: 10_000 });
  }).toPass({ timeout: 120_000 });
  expect(await rows(page).count()).toBeLessThan(100);
  // From the list to the drawn tree; bench/face.sh measures how long it takes.
  await page.goto(`/s/default/projects/${project}/traces`);
  const link = page.getByRole("table", { name: "Traces", exact: true }).getByRole("link", { name: "batch" });
  await expect(link).toBeVisible();
  await link.click();
  await expect(rows(page).first()).toBeVisible();
  // Scrolling from end to end draws a few rows at a time, and each place shows its own.
  const scroller = page.getByRole("treegrid", { name: "Spans" });
  const drawn = await scroller.evaluate(async (grid) => {
    const found = [grid, ...grid.querySelectorAll("*")].find(
      (element) => element.scrollHeight > element.clientHeight + 1000,
    );
    const box = found as HTMLElement;
    const counts: number[] = [];
    const seen = new Set<string>();
    for (let step = 0; step <= 100; step++) {
      box.scrollTop = ((box.scrollHeight - box.clientHeight) * step) / 100;
      await new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve)));
      const shown = [...grid.querySelectorAll<HTMLElement>("[data-span]")];
      counts.push(shown.length);
      for (const row of shown) seen.add(row.dataset.span ?? "");
    }
    box.scrollTop = 0;
    return { most: Math.max(...counts), least: Math.min(...counts), seen: seen.size };
  });
  expect(drawn.most).toBeLessThan(100);
  expect(drawn.least).toBeGreaterThan(5);
  expect(drawn.seen).toBeGreaterThan(1000);
  await page.keyboard.press("e");
  await expect(chosen(page)).toContainText("step 49000");
  expect(await rows(page).count()).toBeLessThan(100);
});
