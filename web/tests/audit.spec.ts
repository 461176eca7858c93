import { expect, test, unique } from "./fixtures";

test("a change is listed, filtered, opened and closed", async ({ page, admin }) => {
  const name = unique("audited");
  const project = await admin.send<{ id: string }>("POST", "/v1/projects", { name });
  await page.goto("/s/default/settings/audit");
  const table = page.getByRole("table", { name: "Audit log", exact: true });
  await table.getByTitle(`Filter for target:${project.id}`).first().click();
  await expect(page).toHaveURL(new RegExp(`q=target:${project.id}`));
  await expect(table.getByRole("row")).toHaveCount(2);
  await expect(table).toContainText("project_create");

  await page.keyboard.press("j");
  await page.keyboard.press("Enter");
  const detail = page.getByRole("complementary", { name: /^Entry/ });
  await expect(detail).toContainText("project_create");
  await expect(detail.getByRole("group", { name: "details" })).toContainText(name);
  await expect(page).toHaveURL(/open=\d+/);
  await page.reload();
  await expect(detail).toContainText("project_create");
  await page.keyboard.press("Escape");
  await expect(detail).toHaveCount(0);
  await page.goBack();
  await expect(detail).toBeVisible();
});

test("an invalid filter is underlined with its error, a valid one is completed", async ({ page, admin }) => {
  await admin.send("POST", "/v1/projects", { name: unique("filtered") });
  await page.goto("/s/default/settings/audit");
  await expect(page.getByRole("row").nth(1)).toBeVisible();
  await page.keyboard.press("/");
  const filter = page.getByRole("combobox", { name: "Filter the audit log" });
  await expect(filter).toBeFocused();
  await filter.fill("colour:red");
  await filter.press("Enter");
  await expect(page.getByRole("alert")).toContainText('unknown field "colour"');
  await filter.fill("action:project_cr");
  await page.getByRole("option", { name: /project_create/ }).click();
  await expect(page).toHaveURL(/q=action:project_create/);
  await expect(page.getByRole("alert")).toHaveCount(0);
  for (const action of await page.getByRole("table").getByRole("button", { name: /_/ }).allInnerTexts()) {
    expect(action).not.toBe("key_create");
  }
});

test("the chain is verified and exported", async ({ page }) => {
  await page.goto("/s/default/settings/audit");
  await page.getByRole("button", { name: "Verify chain" }).click();
  await expect(page.getByText(/The chain is intact: [\d,]+ entr/)).toBeVisible();
  const [download] = await Promise.all([
    page.waitForEvent("download"),
    page.getByRole("link", { name: "Export JSON lines" }).click(),
  ]);
  const stream = await download.createReadStream();
  let text = "";
  for await (const chunk of stream) text += chunk;
  const seqs = text
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line).seq as number);
  expect(seqs.length).toBeGreaterThan(0);
  expect(seqs).toEqual([...seqs].sort((a, b) => a - b));
});

test("the time range is in the address, and an empty range shows an empty state", async ({ page }) => {
  await page.goto("/s/default/settings/audit");
  await page.getByRole("button", { name: /^Time range/ }).click();
  await page.getByRole("menuitemradio", { name: "Last 15 min" }).click();
  await expect(page).toHaveURL(/range=15m/);
  await page.goto("/s/default/settings/audit?range=2020-01-01T00:00Z..2020-01-02T00:00Z");
  await expect(page.getByRole("heading", { name: "No entries in this range" })).toBeVisible();
  await expect(page.getByRole("button", { name: /Time range: 2020-01-01 00:00/ })).toBeVisible();
});

test("a long log draws only the visible rows", async ({ page, admin }) => {
  const project = await admin.send<{ id: string }>("POST", "/v1/projects", { name: unique("long") });
  const change = (index: number) =>
    admin.send("PATCH", `/v1/projects/${project.id}`, { description: `change ${index}` });
  for (let start = 0; start < 240; start += 20) {
    await Promise.all(Array.from({ length: 20 }, (_, index) => change(start + index)));
  }
  await page.goto(`/s/default/settings/audit?q=target:${project.id}`);
  const table = page.getByRole("table", { name: "Audit log", exact: true });
  await expect(table.getByRole("row").nth(20)).toBeVisible();
  expect(await table.getByRole("row").count()).toBeLessThan(80);
  for (let step = 0; step < 3; step++) await page.keyboard.press("j");
  await page.getByRole("cell").first().hover();
  await page.mouse.wheel(0, 20_000);
  await expect(table).toHaveAttribute("aria-rowcount", "242");
  await page.mouse.wheel(0, 20_000);
  await expect(table.getByText("project_create")).toBeVisible();
  expect(await table.getByRole("row").count()).toBeLessThan(80);
});

test("new entries are counted in a pill and do not move the list", async ({ page, admin }) => {
  await admin.send("POST", "/v1/projects", { name: unique("before") });
  await page.clock.install();
  // Only the actions of this test: the server records others.
  await page.goto("/s/default/settings/audit?q=action:project_create");
  const table = page.getByRole("table", { name: "Audit log", exact: true });
  await expect(table.getByRole("row").nth(1)).toBeVisible();
  const before = await table.getAttribute("aria-rowcount");
  const project = await admin.send<{ id: string }>("POST", "/v1/projects", { name: unique("newcomer") });
  await page.clock.fastForward(11_000);
  const pill = page.getByRole("button", { name: "1 new", exact: true });
  await expect(pill).toBeVisible();
  expect(await table.getAttribute("aria-rowcount")).toBe(before);
  await pill.click();
  await expect(table.getByTitle(`Filter for target:${project.id}`)).toBeVisible();
  await expect(pill).toHaveCount(0);
});
