import { expect, test, unique } from "./fixtures";

test.use({ permissions: ["clipboard-read", "clipboard-write"] });

test("a key is shown once, copied, works, and is rejected after it is revoked", async ({ page, request, server }) => {
  const name = unique("ci");
  await page.goto("/s/default/settings/keys?new=1");
  const dialog = page.getByRole("dialog");
  await dialog.getByLabel("Name").fill(name);
  await dialog.getByLabel("Permissions").selectOption("read");
  await dialog.getByRole("button", { name: "Create key" }).click();

  await page.getByRole("button", { name: "Copy secret" }).click();
  const secret = await page.evaluate(() => navigator.clipboard.readText());
  expect(secret).toMatch(/^hone_/);
  const headers = { Authorization: `Bearer ${secret}` };
  expect((await request.get(`${server.url}/v1/projects`, { headers })).status()).toBe(200);
  expect((await request.post(`${server.url}/v1/projects`, { headers, data: { name: "no" } })).status()).toBe(403);

  await page.keyboard.press("Escape");
  await expect(page.getByRole("group", { name: "secret" })).toBeVisible();
  await page.getByRole("button", { name: "Done" }).click();
  await expect(page.getByText(secret)).toHaveCount(0);
  await page.reload();
  await expect(page.getByRole("cell", { name, exact: true })).toBeVisible();
  expect(await page.content()).not.toContain(secret);

  await page.getByRole("button", { name: `Actions for ${name}` }).click();
  await page.getByRole("menuitem", { name: "Revoke…" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Revoke" }).click();
  await expect(page.getByText(`${name} revoked`)).toBeVisible();
  expect((await request.get(`${server.url}/v1/projects`, { headers })).status()).toBe(401);

  await expect(page.getByRole("cell", { name, exact: true })).toHaveCount(0);
  await page
    .getByRole("checkbox", { name: "Show revoked" })
    .or(page.getByRole("link", { name: "Show revoked" }))
    .click();
  await expect(page.getByRole("row").filter({ hasText: name })).toContainText("revoked");
});

test("a new key can only send traces, and expires, unless more is chosen", async ({ page, request, server }) => {
  await page.goto("/s/default/settings/keys?new=1");
  const dialog = page.getByRole("dialog");
  await dialog.getByLabel("Name").fill(unique("exporter"));
  await expect(dialog.getByLabel("Permissions")).toHaveValue("trace_write");
  await expect(dialog.getByLabel("Expires")).toHaveValue("90");
  await dialog.getByRole("button", { name: "Create key" }).click();
  const secret = ((await page.getByRole("group", { name: "secret" }).textContent()) ?? "").trim();
  const headers = { Authorization: `Bearer ${secret}` };
  const sent = await request.post(`${server.url}/v1/traces`, { headers, data: { resourceSpans: [] } });
  expect(sent.status()).toBe(200);
  expect((await request.get(`${server.url}/v1/projects`, { headers })).status()).toBe(403);
});

test("a rotated key has a new secret and the old one expires", async ({ page, admin, request, server }) => {
  const name = unique("rotate");
  const { key } = await admin.send<{ key: string }>("POST", "/v1/keys", { name });
  await page.goto("/s/default/settings/keys");
  await page.getByRole("button", { name: `Actions for ${name}` }).click();
  await page.getByRole("menuitem", { name: "Rotate…" }).click();
  await page.getByLabel("The old secret expires").selectOption("0");
  await page.getByRole("button", { name: "Rotate", exact: true }).click();
  const secret = ((await page.getByRole("group", { name: "secret" }).textContent()) ?? "").trim();
  expect(secret).not.toBe(key);
  const status = async (bearer: string) =>
    (await request.get(`${server.url}/v1/projects`, { headers: { Authorization: `Bearer ${bearer}` } })).status();
  expect(await status(secret)).toBe(200);
  expect(await status(key)).toBe(401);
});

test("an owner lists the keys of all spaces, and those that are not used", async ({ page, admin }) => {
  const name = unique("spread");
  await admin.send("POST", "/v1/spaces", { name });
  await admin.send("POST", `/v1/keys?space=${name}`, { name: `${name}-key` });
  await admin.send("POST", "/v1/keys", { name: `${name}-here` });
  await page.goto(`/s/default/settings/keys?q=${name}`);
  await expect(page.getByRole("cell", { name: `${name}-here`, exact: true })).toBeVisible();
  await expect(page.getByRole("cell", { name: `${name}-key`, exact: true })).toHaveCount(0);
  await page.getByRole("checkbox", { name: "Whole installation" }).click();
  const row = page.getByRole("row").filter({ hasText: `${name}-key` });
  await expect(row.getByRole("cell", { name, exact: true })).toBeVisible();
  await expect(row).toContainText("admin@localhost");
  await expect(page.getByRole("columnheader", { name: "Last used" })).toHaveAttribute("aria-sort", "ascending");
  await page.getByRole("checkbox", { name: "Not used for 90 days" }).click();
  await expect(page.getByRole("cell", { name: `${name}-here`, exact: true })).toHaveCount(0);
  await expect(page.getByText("No key of the installation matches the filter.")).toBeVisible();
});

test("several keys are revoked together by keyboard", async ({ page, admin }) => {
  const mark = unique("many");
  for (const part of ["a", "b"]) await admin.send("POST", "/v1/keys", { name: `${mark}-${part}` });
  await page.goto(`/s/default/settings/keys?q=${mark}`);
  await expect(page.getByRole("row")).toHaveCount(3);
  await page.keyboard.press("j");
  await page.keyboard.press("x");
  await page.keyboard.press("j");
  await page.keyboard.press("x");
  const bar = page.getByRole("toolbar", { name: "Selected rows" });
  await expect(bar).toContainText("2 selected");
  await bar.getByRole("button", { name: "Revoke" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Revoke" }).click();
  await expect(page.getByText("2 keys revoked")).toBeVisible();
});

test("a key with chosen permissions offers only those of the user", async ({ page }) => {
  const name = unique("chosen");
  await page.goto("/s/default/settings/keys?new=1");
  const dialog = page.getByRole("dialog");
  await dialog.getByLabel("Name").fill(name);
  await dialog.getByLabel("Permissions").selectOption("chosen");
  await expect(dialog.getByRole("button", { name: "Create key" })).toBeDisabled();
  await dialog.getByRole("checkbox", { name: /^project_read/ }).check();
  await dialog.getByRole("button", { name: "Create key" }).click();
  await page.getByRole("button", { name: "Done" }).click();
  await expect(page.getByRole("row").filter({ hasText: name })).toContainText("project_read");
});
