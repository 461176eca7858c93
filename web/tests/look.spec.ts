import { gzipSync } from "node:zlib";
import type { Response } from "@playwright/test";
import { api_key } from "./chat";
import { expect, test, unique } from "./fixtures";
import { send_spans } from "./spans";

const ground = () => getComputedStyle(document.body).backgroundColor;

test("the theme follows the system until one is chosen", async ({ page }) => {
  await page.emulateMedia({ colorScheme: "light" });
  await page.goto("/s/default");
  await expect(page.getByRole("heading", { level: 1 })).toBeVisible();
  const light = await page.evaluate(ground);
  await page.emulateMedia({ colorScheme: "dark" });
  const dark = await page.evaluate(ground);
  expect(dark).not.toBe(light);

  await page.getByRole("button", { name: /^You:/ }).click();
  await page.getByRole("menuitemradio", { name: "Light theme" }).click();
  expect(await page.evaluate(ground)).toBe(light);
  await page.reload();
  await expect(page.getByRole("heading", { level: 1 })).toBeVisible();
  expect(await page.evaluate(ground)).toBe(light);

  await page.getByRole("button", { name: /^You:/ }).click();
  await page.getByRole("menuitemradio", { name: "System theme" }).click();
  expect(await page.evaluate(ground)).toBe(dark);
});

test("a chart is drawn again when the system's theme changes", async ({ page, request, server, admin }) => {
  const project = unique("theme");
  await send_spans(request, server.url, await api_key(admin), project, [{ name: "one", duration: 20 }]);
  await page.emulateMedia({ colorScheme: "light" });
  await page.goto(`/s/default/projects/${project}`);
  const canvas = page.getByRole("figure", { name: "Spans", exact: true }).locator("canvas").first();
  await expect(canvas).toBeVisible();
  const picture = () => canvas.evaluate((element) => (element as HTMLCanvasElement).toDataURL());
  const light = await picture();
  await page.emulateMedia({ colorScheme: "dark" });
  await expect.poll(picture).not.toBe(light);
});

test("on a phone the sidebar is a drawer and nothing is wider than the screen", async ({ page, admin }) => {
  await admin.send("POST", "/v1/projects", { name: unique("phone") });
  await page.setViewportSize({ width: 390, height: 780 });
  await page.goto("/s/default/projects");
  const table = page.getByRole("table", { name: "Projects", exact: true });
  await expect(table).toBeVisible();
  // The names keep their room, and the last column is on the screen.
  expect((await table.getByRole("link").first().boundingBox())?.width).toBeGreaterThan(60);
  await expect(table.getByRole("columnheader", { name: "Last trace" })).toBeInViewport({ ratio: 1 });
  await expect(page.getByRole("link", { name: "Home" })).toHaveCount(0);
  await page.getByRole("button", { name: "Open the menu" }).click();
  const menu = page.getByRole("dialog", { name: "Menu" });
  await menu.getByRole("link", { name: "Settings" }).click();
  await expect(page.getByRole("heading", { name: "General" })).toBeVisible();
  await expect(menu).toHaveCount(0);
  for (const path of ["members", "keys", "audit"]) {
    await page.goto(`/s/default/settings/${path}`);
    await expect(page.getByRole("heading", { level: 1 })).toBeVisible();
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(390);
  }
});

test.describe("before login", () => {
  test.use({ storageState: { cookies: [], origins: [] } });

  test("the first load stays within its budget", async ({ page }) => {
    const responses: Response[] = [];
    page.on("response", (response) => {
      if (["document", "script", "stylesheet"].includes(response.request().resourceType())) responses.push(response);
    });
    await page.goto("/login");
    await expect(page.getByRole("heading", { level: 1 })).toBeVisible();
    const sizes = await Promise.all(responses.map(async (response) => gzipSync(await response.body()).length));
    const bytes = sizes.reduce((sum, size) => sum + size, 0);
    expect(bytes).toBeGreaterThan(10_000);
    expect(bytes).toBeLessThan(70 * 1024);
  });
});

test("reduced motion turns animations off", async ({ page }) => {
  await page.emulateMedia({ reducedMotion: "reduce" });
  await page.goto("/s/default/projects");
  const button = page.getByRole("button", { name: /Create/ }).first();
  await expect(button).toBeVisible();
  expect(await button.evaluate((element) => getComputedStyle(element).transitionDuration)).toMatch(/^0s(, 0s)*$/);
});
