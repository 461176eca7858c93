import { spawnSync } from "node:child_process";
import { expect, fill_login, guest_page, test, unique } from "./fixtures";
import { admin_email, admin_password, binary } from "./server";

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
  const row = page
    .getByRole("table", { name: "Settings", exact: true })
    .getByRole("row")
    .filter({ hasText: "data_dir" })
    .first();
  await expect(row).toContainText("flag");
});

test("the server page lists what is shipped with its license, and the versions that served", async ({ page }) => {
  await page.goto("/installation/server");
  await expect(page.getByRole("heading", { name: "Licenses" })).toBeVisible();
  await expect(page.getByText(/^OpenSSL/).first()).toBeVisible();
  await expect(page.getByText(/^Apache-2.0; /).first()).toBeVisible();
  await expect(page.getByRole("heading", { name: "Versions" })).toBeVisible();
});

test("the policy of a space is saved on its page, and a preset beyond it is refused", async ({ page, admin }) => {
  const name = unique("strict");
  await admin.send("POST", "/v1/spaces", { name });
  await page.goto(`/s/${name}/settings/policy`);
  await page.getByLabel("Allow the network mode “open”").uncheck();
  await page.getByLabel("Minutes").fill("20");
  await page.getByRole("button", { name: "Save policy" }).click();
  await expect(page.getByText("Policy saved; it applies to new runs")).toBeVisible();
  await page.reload();
  await expect(page.getByLabel("Minutes")).toHaveValue("20");
  await expect(page.getByLabel("Allow the network mode “open”")).not.toBeChecked();
  const body = (sandbox: object) => ({
    name: unique("preset"),
    settings: { harness: "command", command: ["true"], sandbox },
  });
  const preset = `/v1/presets?space=${name}`;
  await expect(admin.send("POST", preset, body({ network: "open" }))).rejects.toThrow(/policy/);
  await expect(admin.send("POST", preset, body({ wall_clock_minutes: 30 }))).rejects.toThrow(/policy/);
  await admin.send("POST", preset, body({ wall_clock_minutes: 20 }));
});

test("an owner disables an account on the page of users, and it cannot log in", async ({
  page,
  admin,
  browser,
  server,
}) => {
  const email = `${unique("leaver")}@example.com`;
  const { path } = await admin.send<{ path: string }>("POST", "/v1/spaces/default/invites", { email, role: "viewer" });
  const guest = await guest_page(browser, server.url);
  const accept = `/v1${path.replace("invite", "invites")}/accept`;
  const joined = await guest.request.post(accept, { data: { name: "Lee Leaver", password: "lee has a password" } });
  expect(joined.ok(), await joined.text()).toBe(true);
  await page.goto(`/installation/users?q=${email}`);
  await page.getByRole("button", { name: `Actions for ${email}` }).click();
  await page.getByRole("menuitem", { name: "Disable the account" }).click();
  await expect(page.getByText(`Account of ${email} disabled`)).toBeVisible();
  await guest.goto("/login");
  await fill_login(guest, email, "lee has a password");
  await expect(guest.getByRole("alert")).toBeVisible();
  await guest.context().close();
});

test("another login can be ended from the account page", async ({ page, browser, server }) => {
  const other = await guest_page(browser, server.url);
  await other.goto("/login");
  await fill_login(other, admin_email, admin_password);
  await expect(other.getByRole("button", { name: /^You:/ })).toBeVisible();
  await page.goto("/account");
  const logins = page.getByRole("table", { name: "Logins", exact: true });
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

test("the printed commands for harnesses have all that they need on the machine of the server", async ({
  page,
  server,
}) => {
  await page.goto("/s/default/harnesses");
  const printed = page.getByRole("group", { name: "Install commands" });
  await expect(printed).toContainText(`hone harness install codex --data-dir ${server.directory}`);
  const [install] = ((await printed.textContent()) ?? "").split("\n");
  const words = (install ?? "").split(" ").slice(1);
  // Without packages it cannot succeed, but it must get that far: neither an argument nor the data directory is missing.
  const outcome = spawnSync(binary, [...words, "--from", "/nothing-is-here"], { encoding: "utf8", env: {} });
  expect(outcome.stderr).toContain("/nothing-is-here");
  expect(outcome.stderr).not.toContain("Usage:");
  expect(outcome.stderr).not.toContain("--data-dir is missing");
});
