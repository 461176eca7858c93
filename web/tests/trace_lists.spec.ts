// Lists of traces and spans: order, saved views, live updates, evals, deleting, comparing, and limits.

import { check_page } from "./axe";
import { api_key, ids, open_trace, with_chat } from "./chat";
import { expect, test, unique } from "./fixtures";
import { new_span_id, new_trace_id, send_spans } from "./spans";

test("a view is saved, shared by its link, opened by default, and deleted", async ({
  page,
  request,
  server,
  admin,
}) => {
  const [project, trace] = await with_chat(request, server.url, admin);
  await open_trace(page, project, trace);
  const list = `/s/default/projects/${project}/traces`;
  await page.goto(`${list}?filter=status+%3D+error&range=7d`);
  await page.getByRole("button", { name: "Views" }).click();
  await page.getByRole("menuitem", { name: "Save this view…" }).click();
  const dialog = page.getByRole("dialog", { name: "Save this view" });
  await dialog.getByLabel("Name").fill("failing");
  await dialog.getByLabel("Default view of this page").check();
  await dialog.getByRole("button", { name: "Save" }).click();
  await expect(page.getByRole("button", { name: "View: failing" })).toBeVisible();

  await page.goto(list);
  await expect(page).toHaveURL(/filter=status/);
  await expect(page.getByRole("button", { name: "View: failing" })).toBeVisible();
  await page.getByRole("button", { name: "View: failing" }).click();
  await page.getByRole("menuitemradio", { name: "All", exact: true }).click();
  await expect(page).toHaveURL(/range=24h$/);
  await page.getByRole("button", { name: "Views" }).click();
  await page.getByRole("menuitemradio", { name: /failing/ }).click();
  await expect(page).toHaveURL(/filter=status/);
  await page.getByRole("button", { name: "View: failing" }).click();
  await page.getByRole("menuitem", { name: "Delete failing" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Delete view" }).click();
  await page.goto(list);
  await expect(page.getByRole("button", { name: "Views", exact: true })).toBeVisible();
  await expect(page).toHaveURL(new RegExp(`${project}/traces$`));
});

test("live traces appear automatically", async ({ page, request, server, admin }) => {
  const [project, trace] = await with_chat(request, server.url, admin);
  await open_trace(page, project, trace);
  await page.goto(`/s/default/projects/${project}/traces`);
  const table = page.getByRole("table", { name: "Traces", exact: true });
  await expect(table.getByRole("link")).toHaveText(["POST /chat"]);
  await page.getByRole("button", { name: "Live" }).click();
  await expect(page).toHaveURL(/live=1/);
  await expect(async () => {
    await send_spans(request, server.url, await api_key(admin), project, [{ name: "just now" }], 1000);
    await expect(table.getByRole("link", { name: "just now" }).first()).toBeVisible({ timeout: 5000 });
  }).toPass({ timeout: 120_000 });
  await expect(page.getByRole("button", { name: /^\d+ new$/ })).toHaveCount(0);
});

test("spans are listed beside traces, with what they received and returned, and open in their trace", async ({
  page,
  request,
  server,
  admin,
}) => {
  await page.setViewportSize({ width: 1600, height: 900 });
  const [project, trace] = await with_chat(request, server.url, admin);
  await open_trace(page, project, trace);
  await page.goto(`/s/default/projects/${project}/traces?range=7d`);
  const rows_switch = page.getByRole("navigation", { name: "Rows" });
  await expect(rows_switch.getByRole("link", { name: "Traces" })).toHaveAttribute("aria-current", "page");
  await rows_switch.getByRole("link", { name: "Spans" }).click();
  await expect(page).toHaveURL(/rows=spans/);
  await expect(page).toHaveURL(/range=7d/);
  const table = page.getByRole("table", { name: "Spans", exact: true });
  const rows = table.getByRole("row").filter({ has: page.getByRole("link") });
  await expect(rows).toHaveCount(4);
  const chat = rows.filter({ hasText: "chat completion" });
  await expect(chat).toContainText("llm chat completion");
  await expect(chat).toContainText("Where is my order 4411?");
  await expect(chat).toContainText("It arrives on Tuesday.");
  await expect(chat).toContainText("small-1");
  await expect(chat).toContainText("3 s1.4k");
  await expect(rows.filter({ hasText: "lookup_order" })).toContainText("error");
  await check_page(page);

  // The filter and facets are those of the list of traces.
  await chat.getByRole("button", { name: "small-1" }).click();
  await expect(page).toHaveURL(/filter=model/);
  await expect(rows).toHaveCount(1);
  await page.goBack();
  await expect(rows).toHaveCount(4);

  // Keyboard: the next row, and open it. The newest span is first.
  await expect(table.getByRole("link")).toHaveText(["search docs", "lookup_order", "chat completion", "POST /chat"]);
  await page.keyboard.press("j");
  await page.keyboard.press("j");
  await page.keyboard.press("Enter");
  await expect(page).toHaveURL(new RegExp(`traces/${trace}\\?span=${ids.lookup}`));
  await expect(page.getByRole("complementary", { name: "Span lookup_order" })).toBeVisible();
});

test("spans and traces are sorted by the server, and the order is in the address", async ({
  page,
  request,
  server,
  admin,
}) => {
  const project = unique("sorted");
  const key = await api_key(admin);
  // More than a page, the slowest of all is the oldest.
  const quick = Array.from({ length: 130 }, (_, i) => ({ name: `quick ${i}`, trace_id: new_trace_id(), duration: 10 }));
  await send_spans(request, server.url, key, project, [{ name: "slowest", duration: 9000 }], 3_600_000);
  await send_spans(request, server.url, key, project, quick, 60_000);
  await page.goto(`/s/default/projects/${project}/traces`);
  for (const label of ["Traces", "Spans"]) {
    await page.getByRole("navigation", { name: "Rows" }).getByRole("link", { name: label }).click();
    const table = page.getByRole("table", { name: label, exact: true });
    await expect(table.getByRole("link").first()).toHaveText(/^quick/);
    const column = table.getByRole("columnheader", { name: label === "Traces" ? "Duration" : "Latency" });
    await column.getByRole("button").click();
    await expect(page).toHaveURL(/sort=-duration/);
    await expect(column).toHaveAttribute("aria-sort", "descending");
    await expect(table.getByRole("link").first()).toHaveText("slowest");
    await page.reload();
    await expect(table.getByRole("link").first()).toHaveText("slowest");
    await column.getByRole("button").click();
    await expect(column).toHaveAttribute("aria-sort", "ascending");
    await expect(table.getByRole("link").first()).toHaveText(/^quick/);
    await table.getByRole("columnheader", { name: "When" }).getByRole("button").click();
    await expect(page).toHaveURL(/sort=-ago/);
    await expect(table.getByRole("link").first()).toHaveText(/^quick/);
  }
});

test("selected spans are evaluated and given to a worker", async ({ page, request, server, admin }) => {
  const [project, trace] = await with_chat(request, server.url, admin);
  await open_trace(page, project, trace);
  await page.goto(`/s/default/projects/${project}/traces?rows=spans`);
  const box = (name: string) => page.getByRole("checkbox", { name: `Select ${name}` });
  await box("lookup_order").check();
  await box("search docs").check();
  const bar = page.getByRole("toolbar", { name: "Selected rows" });
  await bar.getByRole("button", { name: "Evaluate" }).click();
  const dialog = page.getByRole("dialog", { name: "Evaluate 2 spans" });
  await dialog.getByLabel("Name").fill("useful");
  await dialog.getByLabel("Label").fill("no");
  await dialog.getByRole("button", { name: "Save" }).click();
  await expect(page.getByRole("table", { name: "Spans", exact: true }).getByText(/useful\s*: no/)).toHaveCount(2);
  await box("lookup_order").check();
  await bar.getByRole("link", { name: "Ask a worker" }).click();
  await expect(page.getByRole("list", { name: "The session is about" }).getByRole("listitem")).toHaveText([
    new RegExp(`^Span ${ids.lookup}`),
  ]);
});

test("a trace and a chat session are evaluated as a whole", async ({ page, request, server, admin }) => {
  const [project, trace] = await with_chat(request, server.url, admin);
  await open_trace(page, project, trace);
  await page.getByRole("button", { name: "Evaluate this trace" }).click();
  let dialog = page.getByRole("dialog", { name: "Evals of the trace" });
  await dialog.getByRole("button", { name: "Add eval" }).click();
  await dialog.getByRole("textbox", { name: "Name" }).fill("helpful");
  await dialog.getByLabel("Label").fill("yes");
  await dialog.getByRole("button", { name: "Save" }).click();
  await expect(dialog.getByRole("listitem")).toContainText("helpful");
  await page.keyboard.press("Escape");
  await expect(page.getByText("helpful: yes")).toBeVisible();
  await page.goto(`/s/default/projects/${project}/traces`);
  await expect(page.getByRole("row", { name: /POST \/chat/ })).toContainText("helpful: yes");

  await page.goto(`/s/default/projects/${project}/traces?session=visit-1&range=all`);
  await page.getByRole("button", { name: "Evaluate this chat session" }).click();
  dialog = page.getByRole("dialog", { name: "Evals of the chat session" });
  await dialog.getByRole("button", { name: "Add eval" }).click();
  await dialog.getByRole("textbox", { name: "Name" }).fill("mood");
  await dialog.getByLabel("Score").fill("0.7");
  await dialog.getByRole("button", { name: "Save" }).click();
  await expect(dialog.getByRole("listitem")).toContainText("0.7");
  await page.goto(`/s/default/projects/${project}/sessions`);
  await expect(page.getByRole("row", { name: /visit-1/ })).toContainText("mood: 0.7");
});

test("traces are kept and released, and deleted one by one and together, after a confirmation", async ({
  page,
  request,
  server,
  admin,
}) => {
  const [project, trace] = await with_chat(request, server.url, admin);
  const key = await api_key(admin);
  for (const name of ["second", "third"]) await send_spans(request, server.url, key, project, [{ name }]);
  await open_trace(page, project, trace);
  await page.getByRole("button", { name: "More actions" }).click();
  await page.getByRole("menuitem", { name: "Keep from expiry" }).click();
  await expect(page.getByText("keep: yes")).toBeVisible();
  await page.getByRole("button", { name: "More actions" }).click();
  await page.getByRole("menuitem", { name: "No longer keep" }).click();
  await expect(page.getByText("keep: no")).toBeVisible();
  await page.getByRole("button", { name: "More actions" }).click();
  await page.getByRole("menuitem", { name: "Delete trace…" }).click();
  await expect(page.getByRole("dialog")).toContainText("4 spans");
  await page.getByRole("button", { name: "Delete permanently" }).click();
  const table = page.getByRole("table", { name: "Traces", exact: true });
  await expect(table.getByRole("link", { name: "third" })).toBeVisible();
  await expect(table.getByRole("link", { name: "POST /chat" })).toHaveCount(0);
  await table.getByRole("checkbox", { name: /all/i }).check();
  await page.getByRole("button", { name: "Delete 2 traces" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Delete permanently" }).click();
  await expect(page.getByText("No traces in this range")).toBeVisible();
});

test("a filter is written with the keyboard only", async ({ page, request, server, admin }) => {
  const [project, trace] = await with_chat(request, server.url, admin);
  await open_trace(page, project, trace);
  await page.goto(`/s/default/projects/${project}/traces`);
  await expect(page.getByRole("table", { name: "Traces", exact: true }).getByRole("link")).toHaveCount(1);
  await page.keyboard.press("/");
  await page.keyboard.type("mod");
  await page.keyboard.press("Tab");
  await expect(page.getByRole("option", { name: /^=/ })).toBeVisible();
  await page.keyboard.press("Tab");
  await expect(page.getByRole("option", { name: /small-1/ })).toBeVisible();
  await page.keyboard.press("Tab");
  await expect(page).toHaveURL(/small-1/);
  await expect(page.getByRole("table", { name: "Traces", exact: true }).getByRole("link")).toHaveText(["POST /chat"]);
});

test("two windows are compared", async ({ page, request, server, admin }) => {
  const [project, trace] = await with_chat(request, server.url, admin);
  const key = await api_key(admin);
  await send_spans(request, server.url, key, project, [{ name: "lookup_order" }], 30 * 3_600_000);
  await open_trace(page, project, trace);
  await page.goto(`/s/default/projects/${project}?tab=compare`);
  const table = page.getByRole("table", { name: "Compared windows", exact: true });
  await expect(table.getByRole("row", { name: /chat completion/ })).toContainText("new");
  await expect(table.getByRole("row", { name: /^All spans/ })).toContainText("×4.0");
  await page.getByLabel("Group by").selectOption("model");
  await expect(table.getByRole("row", { name: /small-1/ })).toBeVisible();
});

test("settings show the disk use and set limits", async ({ page, request, server, admin }) => {
  const [project, trace] = await with_chat(request, server.url, admin);
  await open_trace(page, project, trace);
  await page.goto(`/s/default/projects/${project}?tab=settings`);
  await expect(page.getByRole("region", { name: "Storage" })).toContainText("4 spans");
  const limits = page.getByRole("region", { name: "Limits" });
  await limits.getByRole("spinbutton", { name: "Spans per day" }).fill("1000");
  await limits.getByLabel("Disk space for spans").fill("2 GiB");
  await limits.getByRole("button", { name: "Save limits" }).click();
  await expect(page.getByText("Limits saved")).toBeVisible();
  await page.reload();
  await expect(limits.getByRole("spinbutton", { name: "Spans per day" })).toHaveValue("1000");
  await expect(limits.getByLabel("Disk space for spans")).toHaveValue("2 GiB");
});

test("an empty project shows how to send traces in the chosen language", async ({ page, server, admin }) => {
  const { name } = await admin.send<{ name: string }>("POST", "/v1/projects", { name: `empty-${process.pid}` });
  await page.goto(`/s/default/projects/${name}/traces`);
  await page.getByLabel("Send from").selectOption("Python");
  await expect(page.getByText(`${server.url}/v1/traces`)).toBeVisible();
  await expect(page.getByText(`"x-project-name": "${name}"`)).toBeVisible();
});

test("a trace without errors reads OK, and a cost below a cent has its digits", async ({
  page,
  request,
  server,
  admin,
}) => {
  const project = unique("cheap");
  const attributes = {
    "openinference.span.kind": "LLM",
    "llm.model_name": "small-1",
    "llm.token_count.prompt": 12,
    "llm.cost.total": 0.000046,
  };
  const trace = await send_spans(request, server.url, await api_key(admin), project, [
    { name: "one call", attributes },
  ]);
  await page.goto(`/s/default/projects/${project}/traces`);
  const row = page.getByRole("table", { name: "Traces", exact: true }).getByRole("row").nth(1);
  await expect(row).toContainText("one call");
  await expect(row.getByRole("cell", { name: "OK", exact: true })).toBeVisible();
  await open_trace(page, project, trace);
  await expect(page.locator(".trace-summary").getByText("$0.000046", { exact: true })).toHaveAttribute(
    "title",
    "$0.000046",
  );
});

test("two selected traces are compared, and several get one eval", async ({ page, request, server, admin }) => {
  const project = unique("pair");
  const key = await api_key(admin);
  const trace = (output: string, lookups: number, ago: number) => {
    const root = new_span_id();
    const spans = Array.from({ length: lookups }, (_, index) => ({
      name: "lookup_order",
      parent_id: root,
      start: 100 + index * 100,
      duration: 90,
      ...(index > 0 ? { error: "429" } : {}),
    }));
    const attributes = { "input.value": "Where is order 4411?", "output.value": output };
    return send_spans(
      request,
      server.url,
      key,
      project,
      [{ name: "POST /chat", span_id: root, duration: 200 + 100 * lookups, attributes }, ...spans],
      ago,
    );
  };
  const older = await trace("It arrives on Tuesday.\nHave a nice day.", 1, 120_000);
  const newer = await trace("I do not know.\nHave a nice day.", 3, 60_000);
  await page.goto(`/s/default/projects/${project}/traces`);
  await expect(page.getByRole("checkbox", { name: "Select POST /chat" })).toHaveCount(2);
  await page.getByRole("checkbox", { name: "Select all rows" }).check();
  const actions = page.getByRole("toolbar", { name: "Selected rows" });
  await actions.getByRole("button", { name: "Compare" }).click();
  const dialog = page.getByRole("dialog", { name: "Two traces" });
  const numbers = dialog.getByRole("table", { name: "Numbers", exact: true });
  await expect(numbers.getByRole("row", { name: /^Spans/ }).getByRole("cell")).toHaveText(["2", "4", "×2.0"]);
  await expect(numbers.getByRole("row", { name: /^Errors/ }).getByRole("cell")).toHaveText(["0", "2", /new/]);
  const lookups = dialog.getByRole("table", { name: "Steps", exact: true }).getByRole("row", { name: /^lookup_order/ });
  await expect(lookups.getByRole("cell").nth(1)).toHaveText("3 ×, 2 failed");
  const outputs = dialog.getByRole("group", { name: "Differences of the outputs" });
  await expect(outputs).toContainText("removed: It arrives on Tuesday.");
  await expect(outputs).toContainText("added: I do not know.");
  await expect(dialog.getByText("No difference.")).toBeVisible();
  await check_page(page);

  // The comparison has an address of its own.
  await expect(page).toHaveURL(new RegExp(`compare=${older}..${newer}`));
  await page.reload();
  await expect(dialog.getByRole("link")).toHaveCount(2);
  await page.keyboard.press("Escape");
  await expect(dialog).toHaveCount(0);

  await page.getByRole("checkbox", { name: "Select all rows" }).check();
  await actions.getByRole("button", { name: "Evaluate" }).click();
  const form = page.getByRole("dialog", { name: "Evaluate 2 traces" });
  await form.getByLabel("Name").fill("polite");
  await form.getByLabel("Label").fill("yes");
  await form.getByRole("button", { name: "Save" }).click();
  await expect(page.getByRole("table", { name: "Traces", exact: true }).getByText("polite: yes")).toHaveCount(2);
});
