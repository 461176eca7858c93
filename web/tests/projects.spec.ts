import { api_key } from "./chat";
import { expect, test, unique } from "./fixtures";
import { send_spans } from "./spans";

test("a project is created, renamed and deleted", async ({ page }) => {
  const name = unique("agent");
  await page.goto("/s/default/projects");
  await page
    .getByRole("button", { name: "Create project" })
    .or(page.getByRole("button", { name: "Create a project" }))
    .first()
    .click();
  await page.getByRole("textbox", { name: "Name", exact: true }).fill(name);
  await page.getByLabel("Description").fill("Answers questions");
  await page.getByRole("dialog").getByRole("button", { name: "Create project" }).click();
  await expect(page.getByRole("heading", { level: 1, name })).toBeVisible();
  await expect(page).toHaveURL(`/s/default/projects/${name}`);

  await page.getByRole("navigation", { name: "Project" }).getByRole("link", { name: "Settings" }).click();
  await page.getByRole("textbox", { name: "Name", exact: true }).fill(`${name}-2`);
  await page.getByLabel("Keep spans for (days)").fill("14");
  await page.getByRole("button", { name: "Save", exact: true }).click();
  await expect(page.getByRole("heading", { level: 1, name: `${name}-2` })).toBeVisible();
  await expect(page).toHaveURL(`/s/default/projects/${name}-2?tab=settings`);
  await expect(page.getByLabel("Keep spans for (days)")).toHaveValue("14");

  await page.getByRole("button", { name: "Delete project" }).click();
  const confirm = page.getByRole("button", { name: "Delete permanently" });
  await expect(confirm).toBeDisabled();
  await page.getByLabel(`Type ${name}-2 to confirm`).fill(`${name}-2`);
  await confirm.click();
  await expect(page.getByText(`Project ${name}-2 deleted`)).toBeVisible();
  await expect(page).toHaveURL("/s/default/projects");
  await expect(page.getByRole("link", { name: `${name}-2` })).toHaveCount(0);
});

test("a name that is taken keeps the dialog open and shows the error", async ({ page, admin }) => {
  const name = unique("taken");
  await admin.send("POST", "/v1/projects", { name });
  await page.goto("/s/default/projects?new=1");
  await page.getByRole("textbox", { name: "Name", exact: true }).fill(name);
  await page.getByRole("dialog").getByRole("button", { name: "Create project" }).click();
  await expect(page.getByRole("dialog").getByRole("alert")).toBeVisible();
  await expect(page.getByRole("textbox", { name: "Name", exact: true })).toHaveValue(name);
});

test("filter and order of the list are in the address", async ({ page, admin }) => {
  const mark = unique("list");
  for (const part of ["b", "a", "c"]) await admin.send("POST", "/v1/projects", { name: `${mark}-${part}` });
  await page.goto(`/s/default/projects?q=${mark}`);
  const names = page.getByRole("table", { name: "Projects", exact: true }).getByRole("link");
  await expect(names).toHaveText([`${mark}-a`, `${mark}-b`, `${mark}-c`]);
  await page.getByRole("button", { name: "Name" }).click();
  await expect(page).toHaveURL(/sort=-name/);
  await expect(names).toHaveText([`${mark}-c`, `${mark}-b`, `${mark}-a`]);
  await page.getByLabel("Filter projects").fill(`${mark}-b`);
  await expect(names).toHaveText([`${mark}-b`]);
  await page.reload();
  await expect(names).toHaveText([`${mark}-b`]);
});

test("chosen columns are stored", async ({ page, admin }) => {
  await admin.send("POST", "/v1/projects", { name: unique("columns") });
  await page.goto("/s/default/projects");
  await expect(page.getByRole("columnheader", { name: "Id" })).toHaveCount(0);
  await page.getByRole("button", { name: "Choose columns" }).click();
  await page.getByRole("checkbox", { name: "Id" }).check();
  await expect(page.getByRole("columnheader", { name: "Id" })).toBeVisible();
  await page.reload();
  await expect(page.getByRole("columnheader", { name: "Id" })).toBeVisible();
});

test("a restricted project has bindings, and removing one can be undone", async ({ page, admin }) => {
  const name = unique("secret");
  await admin.send("POST", "/v1/projects", { name });
  await page.goto(`/s/default/projects/${name}?tab=access`);
  await page.getByRole("button", { name: "Restrict to bindings" }).click();
  await expect(page.getByText("Restricted:")).toBeVisible();
  const table = page.getByRole("table", { name: "Bindings", exact: true });
  const give = page.getByRole("button", { name: "Grant access" });
  await expect(table.or(give).first()).toBeVisible();
  // The user who restricts a project may get a binding automatically.
  if ((await table.count()) === 0) await give.click();
  await expect(table.getByRole("row")).toHaveCount(2);
  await table.getByRole("button", { name: /^Remove/ }).click();
  await expect(table).toHaveCount(0);
  await page.getByRole("button", { name: "Undo" }).click();
  await expect(table.getByRole("row")).toHaveCount(2);
});

test("an unknown address shows that the page is not found", async ({ page }) => {
  await page.goto("/s/default/projects/no-such-project");
  await expect(page.getByRole("alert")).toContainText("not found");
  await expect(page.getByRole("alert").getByText(/^Request/)).toBeVisible();
  for (const path of ["/nowhere", "/s/no-such-space"]) {
    await page.goto(path);
    await expect(page.getByRole("heading", { name: "Page not found" })).toBeVisible();
  }
});

test("the overview of a project shows what arrives but is not understood, and the line to change", async ({
  page,
  request,
  server,
  admin,
}) => {
  const project = unique("doctor");
  const key = await api_key(admin);
  await send_spans(request, server.url, key, project, [
    { name: "bare call", attributes: { "gen_ai.operation.name": "chat" } },
    { name: "think", attributes: { "acme.prompt": "x" } },
  ]);
  await page.goto(`/s/default/projects/${project}`);
  const banner = page.getByRole("region", { name: "Not understood" });
  await expect(banner).toContainText("model calls without token counts");
  await banner.getByText("in the traces of the last 24 hours").click();
  await expect(banner.getByText('span.set_attribute("gen_ai.request.model", "…")', { exact: true })).toBeVisible();
  await expect(banner).toContainText("acme.prompt");
  await banner.getByRole("listitem").filter({ hasText: "without the name of the model" }).getByRole("link").click();
  await expect(page).toHaveURL(/filter=/);
  await expect(page.getByText("bare call").first()).toBeVisible();
});

test("a project whose traces are understood has no banner", async ({ page, request, server, admin }) => {
  const project = unique("well");
  const key = await api_key(admin);
  await send_spans(request, server.url, key, project, [
    {
      name: "complete call",
      attributes: {
        "openinference.span.kind": "LLM",
        "llm.model_name": "gpt-4o-mini",
        "input.value": "Hello",
        "output.value": "Hi",
        "llm.token_count.prompt": 12,
        "llm.token_count.completion": 7,
      },
    },
  ]);
  const diagnosed = page.waitForResponse((response) => response.url().includes("/trace_diagnosis"));
  await page.goto(`/s/default/projects/${project}`);
  expect((await diagnosed).status()).toBe(200);
  await expect(page.getByRole("heading", { name: "Models" })).toBeVisible();
  await expect(page.getByRole("region", { name: "Not understood" })).toHaveCount(0);
});

test("the list shows traffic, failures and issues of each project", async ({ page, request, server, admin }) => {
  const project = unique("numbered");
  const key = await api_key(admin);
  await send_spans(request, server.url, key, project, [{ name: "good" }, { name: "bad", error: "refused" }]);
  await admin.send("POST", "/v1/issues", { project, title: "Orders are refused", explanation: "seen twice" });
  await page.goto(`/s/default/projects?q=${project}`);
  const row = page.getByRole("row").filter({ hasText: project });
  const cell = (title: string) =>
    page
      .getByRole("columnheader")
      .allTextContents()
      .then((titles) => titles.findIndex((text) => text.startsWith(title)));
  await expect(async () => {
    await page.reload();
    await expect(row.getByRole("cell").nth(await cell("Failed spans"))).toHaveText("1", { timeout: 5000 });
  }).toPass({ timeout: 120_000 });
  await expect(row.getByRole("cell").nth(await cell("Open issues"))).toHaveText("1");
  await expect(row.getByRole("cell").nth(await cell("Traces"))).toHaveText("1");
});

test("the charts of a first trace show its latency, too", async ({ page, request, server, admin }) => {
  const project = unique("drawn");
  await send_spans(request, server.url, await api_key(admin), project, [{ name: "first", duration: 1520 }]);
  await page.goto(`/s/default/projects/${project}`);
  const chart = page.getByRole("figure", { name: "Latency", exact: true }).locator("canvas");
  await expect(chart).toBeVisible();
  // One value draws no line: its point is what has a colour.
  const coloured = () =>
    chart.evaluate((element) => {
      const canvas = element as HTMLCanvasElement;
      const pixels = canvas.getContext("2d")?.getImageData(0, 0, canvas.width, canvas.height).data ?? [];
      let count = 0;
      for (let at = 0; at < pixels.length; at += 4) {
        const [red = 0, green = 0, blue = 0, opacity = 0] = pixels.slice(at, at + 4);
        if (opacity > 200 && Math.max(red, green, blue) - Math.min(red, green, blue) > 60) count++;
      }
      return count;
    });
  await expect.poll(coloured).toBeGreaterThan(3);
});

test("a page that cannot be loaded names the reason", async ({ page, context }) => {
  await page.goto("/s/default/projects");
  await context.setOffline(true);
  await page.getByRole("navigation").getByRole("link", { name: "Studio" }).click();
  await expect(page.getByText("You are offline. Reload when the connection is back.")).toBeVisible();
  await context.setOffline(false);
});

test("the list shows traffic, failures and the last trace of each project", async ({
  page,
  request,
  server,
  admin,
}) => {
  const project = unique("counted");
  const empty = unique("counted");
  await admin.send("POST", "/v1/projects", { name: empty });
  const key = await api_key(admin);
  await send_spans(request, server.url, key, project, [{ name: "one" }, { name: "two", error: "refused" }]);
  await send_spans(request, server.url, key, project, [{ name: "old" }], 3 * 86_400_000);
  await page.goto("/s/default/projects?q=counted");
  const cells = (name: string) => page.getByRole("row").filter({ hasText: name }).getByRole("cell");
  await expect(cells(project).nth(2)).toHaveText(/^1(?!\d)/);
  await expect(cells(project).nth(3)).toHaveText(/^1(?!\d)/);
  await expect(cells(project).nth(7)).toHaveText(/ ago$/);
  await expect(cells(empty).nth(7)).toHaveText("never");
  await page.getByRole("button", { name: /^Time range/ }).click();
  await page.getByRole("menuitemradio", { name: "Last 7 d" }).click();
  await expect(cells(project).nth(2)).toHaveText(/^2(?!\d)/);
});
