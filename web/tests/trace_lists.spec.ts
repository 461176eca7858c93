// Lists of traces: saved views, live updates, evals, deleting, comparing, and limits.

import { api_key, open_trace, with_chat } from "./chat";
import { expect, test } from "./fixtures";
import { send_spans } from "./spans";

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
  const table = page.getByRole("table", { name: "Traces" });
  await expect(table.getByRole("link")).toHaveText(["POST /chat"]);
  await page.getByRole("button", { name: "Live" }).click();
  await expect(page).toHaveURL(/live=1/);
  await expect(async () => {
    await send_spans(request, server.url, await api_key(admin), project, [{ name: "just now" }], 1000);
    await expect(table.getByRole("link", { name: "just now" }).first()).toBeVisible({ timeout: 5000 });
  }).toPass({ timeout: 60_000 });
  await expect(page.getByRole("button", { name: /^\d+ new$/ })).toHaveCount(0);
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

test("traces are deleted one by one and together, after a confirmation", async ({ page, request, server, admin }) => {
  const [project, trace] = await with_chat(request, server.url, admin);
  const key = await api_key(admin);
  for (const name of ["second", "third"]) await send_spans(request, server.url, key, project, [{ name }]);
  await open_trace(page, project, trace);
  await page.getByRole("button", { name: "More actions" }).click();
  await page.getByRole("menuitem", { name: "Delete trace…" }).click();
  await expect(page.getByRole("dialog")).toContainText("4 spans");
  await page.getByRole("button", { name: "Delete permanently" }).click();
  const table = page.getByRole("table", { name: "Traces" });
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
  await expect(page.getByRole("table", { name: "Traces" }).getByRole("link")).toHaveCount(1);
  await page.keyboard.press("/");
  await page.keyboard.type("mod");
  await page.keyboard.press("Tab");
  await expect(page.getByRole("option", { name: /^=/ })).toBeVisible();
  await page.keyboard.press("Tab");
  await expect(page.getByRole("option", { name: /small-1/ })).toBeVisible();
  await page.keyboard.press("Tab");
  await expect(page).toHaveURL(/small-1/);
  await expect(page.getByRole("table", { name: "Traces" }).getByRole("link")).toHaveText(["POST /chat"]);
});

test("two windows are compared", async ({ page, request, server, admin }) => {
  const [project, trace] = await with_chat(request, server.url, admin);
  const key = await api_key(admin);
  await send_spans(request, server.url, key, project, [{ name: "lookup_order" }], 30 * 3_600_000);
  await open_trace(page, project, trace);
  await page.goto(`/s/default/projects/${project}?tab=compare`);
  const table = page.getByRole("table", { name: "Compared windows" });
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
