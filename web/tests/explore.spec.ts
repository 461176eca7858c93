// Explore, dashboards and SQL: a chart from filter, metric and grouping; compared, pinned, shared, saved, watched.

import { readFileSync } from "node:fs";
import type { Page } from "@playwright/test";
import { check_page } from "./axe";
import { api_key } from "./chat";
import { expect, type Person, test, unique } from "./fixtures";
import { type SentSpan, send_spans } from "./spans";

const hour = 3_600_000;

const call = (model: string, user: string, tokens: number, duration: number): SentSpan => ({
  name: "chat",
  duration,
  attributes: {
    "openinference.span.kind": "LLM",
    "llm.model_name": model,
    "llm.token_count.prompt": tokens,
    "llm.token_count.completion": 1,
    "user.id": user,
  },
});

/** Two models, two users, two versions; the day before there was half of it. */
async function measured(
  request: Parameters<typeof send_spans>[0],
  url: string,
  admin: Person,
  name: string,
): Promise<string> {
  const project = unique(name);
  const key = await api_key(admin);
  const old = [call("small-1", "ada", 1000, 200)];
  const now = [call("small-1", "ada", 999, 300), call("large-1", "bob", 4999, 2000)];
  await send_spans(request, url, key, project, old, 30 * hour, { "service.version": "1.0" });
  await send_spans(request, url, key, project, [now[0] as SentSpan], 2 * hour, { "service.version": "1.0" });
  await send_spans(request, url, key, project, [now[1] as SentSpan], hour, { "service.version": "2.0" });
  return project;
}

const cells = (page: Page, table: string, row: string) =>
  page.getByRole("table", { name: table }).getByRole("row", { name: row }).getByRole("cell");

test("a metric is grouped, ranked, compared with the day before and opens its traces", async ({
  page,
  request,
  server,
  admin,
}) => {
  const project = await measured(request, server.url, admin, "explored");
  await page.goto(`/s/default/projects/${project}/explore`);
  await page.getByRole("navigation", { name: "Ready charts" }).getByRole("link", { name: "Tokens by model" }).click();
  await expect(page.getByRole("figure", { name: "Tokens by model", exact: true }).locator("canvas")).toBeVisible();
  const rows = page.getByRole("table", { name: "Values of the range", exact: true }).getByRole("row");
  // The largest first, not the one with most spans.
  await expect(rows.nth(2)).toContainText("large-1");
  await expect(rows.nth(2)).toContainText("5k");
  await page.getByLabel("Compare with").selectOption("day");
  await expect(page).toHaveURL(/with=day/);
  await expect(cells(page, "Values of the range", "small-1")).toHaveText(["1k", "1", /^1k/]);
  await check_page(page);

  await page.getByLabel("Group by").fill("user");
  await page.keyboard.press("Enter");
  await expect(page.getByRole("figure", { name: "Tokens by user", exact: true })).toBeVisible();
  await page.getByRole("link", { name: "bob" }).click();
  await expect(page).toHaveURL(/traces\?filter=user/);
  await expect(page.getByRole("table", { name: "Traces", exact: true }).getByRole("row")).toHaveCount(2);
});

test("two versions are beside each other with the difference of every metric", async ({
  page,
  request,
  server,
  admin,
}) => {
  const project = await measured(request, server.url, admin, "versions");
  await page.goto(`/s/default/projects/${project}/explore?metric=latency_p95&by=version`);
  await page.getByRole("combobox", { name: "A", exact: true }).selectOption("1.0");
  await expect(page).toHaveURL(/a=1.0&b=2.0/);
  const change = page.getByRole("table", { name: "A and B", exact: true });
  await expect(change.getByRole("columnheader")).toHaveText(["Metric", "A: 1.0", "B: 2.0", "Change"]);
  await expect(cells(page, "A and B", "Latency p50")).toHaveText(["300 ms", "2 s", /×6.7 \(worse\)/]);
  await check_page(page);
});

test("latency is drawn as a histogram and as a heat map whose fields open traces", async ({
  page,
  request,
  server,
  admin,
}) => {
  const project = await measured(request, server.url, admin, "latency");
  await page.goto(`/s/default/projects/${project}/explore?draw=histogram`);
  const histogram = page.getByRole("figure", { name: "Latency histogram", exact: true });
  await expect(histogram.locator("canvas")).toBeVisible();
  const seen = page.getByRole("table", { name: "Values of the range", exact: true });
  await expect(seen.getByRole("row")).toHaveCount(3);
  await seen.getByRole("link", { name: /1.6 s/ }).click();
  await expect(page.getByRole("table", { name: "Traces", exact: true }).getByRole("row")).toHaveCount(2);

  await page.goto(`/s/default/projects/${project}/explore?draw=heat`);
  const heat = page.getByRole("figure", { name: "Latency heat map", exact: true });
  const canvas = heat.locator("canvas");
  await expect(canvas).toBeVisible();
  await check_page(page);
  // The slow span is in the upper row, an hour ago.
  await expect
    .poll(async () => {
      const box = await canvas.boundingBox();
      if (!box) return "";
      for (let x = box.width - 4; x > 70; x -= 4) {
        await page.mouse.move(box.x + x, box.y + 8);
        const text = (await heat.locator(".latency-hover").textContent()) ?? "";
        if (/: 1 span$/.test(text)) {
          await page.mouse.click(box.x + x, box.y + 8);
          return text;
        }
      }
      return "";
    })
    .toContain("1.6 s – 2.5 s");
  await expect(page).toHaveURL(/traces\?filter=latency/);
  await expect(page.getByRole("table", { name: "Traces", exact: true }).getByRole("row")).toHaveCount(2);
});

test("a chart is pinned to a dashboard, saved as a table and a picture, and becomes a monitor", async ({
  page,
  request,
  server,
  admin,
}) => {
  const project = await measured(request, server.url, admin, "pinned");
  const at = `/s/default/projects/${project}`;
  await page.goto(`${at}/dashboards`);
  await expect(page.getByRole("heading", { name: "No dashboards yet" })).toBeVisible();
  await page.goto(`${at}/explore?metric=tokens&by=model&draw=bars&filter=kind+%3D+llm`);
  const menu = page.getByRole("button", { name: "Actions of Tokens by model" });
  const choose = async (item: string) => {
    await menu.click();
    await page.getByRole("menuitem", { name: item }).click();
  };
  await expect(menu).toBeVisible();
  let file = page.waitForEvent("download");
  await choose("Download as CSV");
  const table = readFileSync(await (await file).path(), "utf8")
    .trim()
    .split("\r\n");
  expect(table[0]).toBe("time,small-1,large-1");
  expect(
    table
      .slice(1)
      .flatMap((line) => line.split(",").slice(1).map(Number))
      .reduce((a, b) => a + b),
  ).toBe(6000);
  file = page.waitForEvent("download");
  await choose("Download as PNG");
  const picture = readFileSync(await (await file).path());
  expect(picture.subarray(1, 4).toString()).toBe("PNG");
  expect(picture.length).toBeGreaterThan(2000);

  await choose("Pin to a dashboard…");
  await page.getByLabel("Dashboard", { exact: true }).fill("Spending");
  await page.getByRole("textbox", { name: "Title" }).fill("Tokens of the models");
  await page.getByRole("button", { name: "Pin", exact: true }).click();
  await expect(page.getByText("Pinned to Spending")).toBeVisible();
  await page.goto(`${at}/dashboards`);
  await expect(page.getByRole("heading", { level: 1 })).toHaveText("Spending");
  await expect(page.getByRole("figure", { name: "Tokens of the models", exact: true }).locator("canvas")).toBeVisible();
  await check_page(page);
  await page.getByRole("button", { name: "Actions of Tokens of the models" }).click();
  await page.getByRole("menuitem", { name: "Create a monitor" }).click();
  await expect(page.getByRole("combobox", { name: "Metric", exact: true })).toHaveValue("tokens");
  await expect(page.getByRole("textbox", { name: "Group by" })).toHaveValue("model");
  await expect(page.getByText("Set a limit to see a preview.")).toBeVisible();

  await page.goto(`${at}/dashboards`);
  await page.getByRole("button", { name: "Actions of Tokens of the models" }).click();
  await page.getByRole("menuitem", { name: "Remove from the dashboard" }).click();
  await page.getByRole("button", { name: "Remove chart" }).click();
  await expect(page.getByRole("heading", { name: "No dashboards yet" })).toBeVisible();
});

test("a query is completed, formatted, drawn, saved for others, and its ids are links", async ({
  page,
  request,
  server,
  admin,
}) => {
  const project = await measured(request, server.url, admin, "queried");
  await page.goto(`/s/default/projects/${project}/sql`);
  const editor = page.getByRole("textbox", { name: "SQL query" });
  await editor.fill("");
  await editor.pressSequentially("select trace_id, mod");
  const words = page.getByRole("listbox", { name: "Completions" });
  await expect(words.getByRole("option").first()).toContainText("model");
  await page.keyboard.press("Enter");
  await expect(editor).toHaveValue("select trace_id, model");
  await editor.pressSequentially(" from sp");
  await expect(words.getByRole("option")).toHaveCount(1);
  await page.keyboard.press("Tab");
  await editor.pressSequentially(" where kind = 'llm' order by model");
  await page.keyboard.press("Escape");
  await page.getByRole("button", { name: "Format" }).click();
  await expect(editor).toHaveValue("SELECT trace_id, model\nFROM spans\nWHERE kind = 'llm'\nORDER BY model");
  await page.keyboard.press("Control+Enter");
  const result = page.getByRole("table", { name: "Result", exact: true });
  await expect(result.getByRole("row")).toHaveCount(4);
  await check_page(page);
  const trace = (await result.getByRole("link").first().textContent()) ?? "";
  await expect(result.getByRole("link").first()).toHaveAttribute("href", new RegExp(`/traces/${trace}$`));

  const file = page.waitForEvent("download");
  await page.getByRole("button", { name: "Download the result" }).click();
  await page.getByRole("menuitem", { name: "Download as Parquet" }).click();
  expect(
    readFileSync(await (await file).path())
      .subarray(0, 4)
      .toString(),
  ).toBe("PAR1");

  await editor.fill(
    "SELECT toStartOfHour(fromUnixTimestamp64Nano(start_ns)) AS hour, count() AS calls FROM spans WHERE start_ns >= {{window.from}} GROUP BY hour ORDER BY hour",
  );
  await page.keyboard.press("Escape");
  await page.keyboard.press("Control+Enter");
  // Of the last 24 hours: the span of yesterday is not in it.
  await expect(result.getByRole("row")).toHaveCount(3);
  await page.getByLabel("Chart").selectOption("bars");
  await expect(page.getByRole("figure", { name: "Query", exact: true }).locator("canvas")).toBeVisible();
  await page.getByRole("button", { name: "Saved queries" }).click();
  await page.getByRole("menuitem", { name: "Save this query…" }).click();
  await page.getByRole("textbox", { name: "Name" }).fill("calls by hour");
  await page.getByRole("button", { name: "Save", exact: true }).click();
  await expect(page.getByText("Query calls by hour saved")).toBeVisible();

  await page.goto(`/s/default/projects/${project}/sql`);
  await page.getByRole("button", { name: /Saved queries|Query:/ }).click();
  await page.getByRole("menuitemradio", { name: /calls by hour/ }).click();
  await expect(page.getByRole("figure", { name: "Query", exact: true }).locator("canvas")).toBeVisible();
});

test("Home and Projects show what changed since yesterday", async ({ page, request, server, admin }) => {
  const project = await measured(request, server.url, admin, "changed");
  await page.goto("/s/default/projects");
  const row = page.getByRole("table", { name: "Projects", exact: true }).getByRole("row").filter({ hasText: project });
  await expect(row.getByRole("cell").filter({ hasText: "×2.0" }).first()).toContainText("2");
  await expect(row).toContainText("OK");
  await page.goto("/s/default");
  const figures = page.getByRole("main").locator(".figures");
  await expect(figures).toContainText("Health");
  await expect(figures).toContainText("Spent on models today");
  const home = page.getByRole("table", { name: "Projects since yesterday", exact: true });
  await expect(home.getByRole("row").filter({ hasText: project })).toContainText("×2.0");
  await check_page(page);
});
