import { expect, fill_login, guest_page, test, unique } from "./fixtures";
import { admin_email, admin_password } from "./server";

test("a space is created, renamed and deleted, and the switcher follows", async ({ page }) => {
  const name = unique("team");
  await page.goto("/installation/spaces?new=1");
  await page.getByRole("textbox", { name: "Name", exact: true }).fill(name);
  await page.getByRole("dialog").getByRole("button", { name: "Create space" }).click();
  await page.getByRole("link", { name, exact: true }).click();
  await expect(page.getByRole("button", { name: `Space: ${name}` })).toBeVisible();

  await page.goto(`/s/${name}/settings/general`);
  await page.getByRole("textbox", { name: "Name", exact: true }).fill(`${name}-2`);
  await page.getByRole("button", { name: "Save" }).click();
  await expect(page).toHaveURL(`/s/${name}-2/settings/general`);
  await page.getByRole("button", { name: `Space: ${name}-2` }).click();
  await page.getByRole("menuitemradio", { name: /^default/ }).click();
  await expect(page).toHaveURL("/s/default/settings/general");

  await page.goto(`/s/${name}-2/settings/general`);
  await page.getByRole("button", { name: "Delete space" }).click();
  await page.getByLabel(`Type ${name}-2 to confirm`).fill(`${name}-2`);
  await page.getByRole("button", { name: "Delete permanently" }).click();
  await expect(page.getByText(`Space ${name}-2 deleted`)).toBeVisible();
});

test("the server page shows the settings and their sources", async ({ page }) => {
  await page.goto("/installation/server");
  const row = page.getByRole("table", { name: "Settings" }).getByRole("row").filter({ hasText: "data_dir" }).first();
  await expect(row).toContainText("flag");
});

test("another login can be ended from the account page", async ({ page, browser, server }) => {
  const other = await guest_page(browser, server.url);
  await other.goto("/login");
  await fill_login(other, admin_email, admin_password);
  await expect(other.getByRole("button", { name: /^You:/ })).toBeVisible();
  await page.goto("/account");
  const logins = page.getByRole("table", { name: "Logins" });
  await expect(logins.getByText("this browser")).toHaveCount(1);
  const before = await logins.getByRole("button", { name: /^End/ }).count();
  await logins.getByRole("button", { name: /^End/ }).first().click();
  await expect(logins.getByRole("button", { name: /^End/ })).toHaveCount(before - 1);
  await other.context().close();
});

test("the user's name is changed", async ({ page }) => {
  const name = unique("Ada");
  await page.goto("/account");
  await page.getByRole("textbox", { name: "Name", exact: true }).fill(name);
  await page.getByRole("button", { name: "Save name" }).click();
  await expect(page.getByRole("button", { name: `You: ${name}` })).toBeVisible();
});
