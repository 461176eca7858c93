import { check_page } from "./axe";
import { expect, guest_page, test, unique } from "./fixtures";

test("an invited viewer joins by the link and sees only what the role allows", async ({
  page,
  browser,
  server,
  admin,
}) => {
  const email = `${unique("viewer")}@example.com`;
  await admin.send("POST", "/v1/projects", { name: unique("visible") });
  await page.goto("/s/default/settings/members?new=1");
  const dialog = page.getByRole("dialog");
  await dialog.getByLabel("Email").fill(email);
  await dialog.getByLabel("Role").selectOption("viewer");
  await dialog.getByRole("button", { name: "Create link" }).click();
  const link = ((await page.getByRole("group", { name: "invitation link" }).textContent()) ?? "").trim();
  expect(link).toContain(`${server.url}/invite/`);
  await page.getByRole("button", { name: "Done" }).click();
  await expect(
    page.getByRole("table", { name: "Invitations", exact: true }).getByRole("row").filter({ hasText: email }),
  ).toContainText("open");

  const guest = await guest_page(browser, server.url);
  await guest.goto(link);
  await expect(guest.getByText(email)).toBeVisible();
  await guest.getByLabel("Your name").fill("Vera Viewer");
  await guest.getByLabel("Choose a password").fill("vera has a password");
  await guest.getByRole("button", { name: "Join default" }).click();
  await expect(guest.getByRole("heading", { level: 1 })).toHaveText("default");

  await guest.goto("/s/default/projects");
  await expect(guest.getByRole("table", { name: "Projects", exact: true })).toBeVisible();
  await expect(guest.getByRole("button", { name: "Create project" })).toHaveCount(0);
  await guest.goto("/s/default/settings/members");
  await expect(guest.getByText("Your role here is viewer")).toBeVisible();
  await expect(guest.getByRole("button", { name: "Invite" })).toHaveCount(0);
  await expect(guest.getByRole("link", { name: "Audit log" })).toHaveCount(0);
  await guest.goto("/s/default/settings/audit");
  await expect(guest.getByRole("heading", { name: "You do not have access to this page" })).toBeVisible();

  await guest.goto(link);
  await expect(guest.getByRole("heading", { name: "This invitation cannot be used" })).toBeVisible();
  await guest.context().close();
});

test("a role is changed in the list and a member is removed after a confirmation", async ({
  page,
  admin,
  playwright,
  server,
}) => {
  const email = `${unique("mover")}@example.com`;
  const space = (await admin.send<{ id: string }[]>("GET", "/v1/spaces"))[0];
  const { path } = await admin.send<{ path: string }>("POST", `/v1/spaces/${space?.id}/invites`, {
    email,
    role: "viewer",
  });
  const request = await playwright.request.newContext();
  const joined = await request.post(`${server.url}/v1${path.replace("invite", "invites")}/accept`, {
    data: { name: "Mo Mover", password: "mo has a password" },
  });
  expect(joined.ok(), await joined.text()).toBe(true);

  await page.goto("/s/default/settings/members");
  await page.getByLabel(`Role of ${email}`).selectOption("annotator");
  await expect(page.getByText("Role of Mo Mover changed to annotator")).toBeVisible();
  await page.getByRole("button", { name: `Remove ${email}` }).click();
  await expect(page.getByRole("dialog")).toContainText("loses access to every project");
  await page.getByRole("dialog").getByRole("button", { name: "Remove" }).click();
  await expect(
    page.getByRole("table", { name: "Members", exact: true }).getByRole("row").filter({ hasText: email }),
  ).toHaveCount(0);
  await request.dispose();
});

test("the last owner stays owner, and the field shows it", async ({ page }) => {
  await page.goto("/s/default/settings/members");
  const role = page.getByLabel("Role of admin@localhost");
  await role.selectOption("viewer");
  await expect(page.getByText("Could not change the role")).toBeVisible();
  await expect(role).toHaveValue("owner");
});

test("an invitation can be revoked", async ({ page, admin }) => {
  const email = `${unique("late")}@example.com`;
  const space = (await admin.send<{ id: string }[]>("GET", "/v1/spaces"))[0];
  await admin.send("POST", `/v1/spaces/${space?.id}/invites`, { email, role: "member" });
  await page.goto("/s/default/settings/members");
  await expect(page.getByRole("table", { name: "Invitations", exact: true })).toBeVisible();
  await expect(page.getByRole("table", { name: "Members", exact: true }).getByRole("row").nth(1)).toBeVisible();
  await page.keyboard.press("j");
  await expect(page.getByRole("table", { name: "Members", exact: true }).getByRole("row").nth(1)).toBeFocused();
  await page.getByRole("button", { name: `Revoke the invitation of ${email}` }).click();
  await expect(page.getByText(`Invitation of ${email} revoked`)).toBeVisible();
  await expect(page.getByRole("row").filter({ hasText: email })).toHaveCount(0);
});

test("the roles page marks the user's role", async ({ page }) => {
  await page.goto("/s/default/settings/roles");
  await expect(page.getByRole("columnheader", { name: /owner/ })).toContainText("you");
  await expect(
    page.getByRole("row").filter({ hasText: "space_delete" }).getByRole("cell", { name: "yes" }),
  ).toHaveCount(1);
});

test("an owner composes a role, gives it to a member, and it counts immediately", async ({
  page,
  admin,
  playwright,
  server,
}) => {
  const email = `${unique("auditor")}@example.com`;
  const name = unique("auditors");
  await page.goto("/s/default/settings/roles");
  await page.getByRole("button", { name: "Create role" }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByRole("textbox", { name: "Name" }).fill(name);
  await dialog.getByLabel("audit_read").check();
  await dialog.getByLabel("member_read").check();
  await dialog.getByRole("button", { name: "Create role" }).click();
  const row = page.getByRole("table", { name: "Custom roles", exact: true }).getByRole("row").filter({ hasText: name });
  await expect(row).toContainText("space_read, member_read, audit_read");

  const space = (await admin.send<{ id: string }[]>("GET", "/v1/spaces"))[0];
  const { path } = await admin.send<{ path: string }>("POST", `/v1/spaces/${space?.id}/invites`, {
    email,
    role: "viewer",
  });
  const request = await playwright.request.newContext();
  const joined = await request.post(`${server.url}/v1${path.replace("invite", "invites")}/accept`, {
    data: { name: "Ada Auditor", password: "ada has a password" },
  });
  expect(joined.ok()).toBe(true);
  expect((await request.get(`${server.url}/v1/projects`)).status()).toBe(200);
  await page.goto("/s/default/settings/members");
  await page.getByLabel(`Role of ${email}`).selectOption(name);
  await expect(page.getByText(`Role of Ada Auditor changed to ${name}`)).toBeVisible();
  expect((await request.get(`${server.url}/v1/projects`)).status()).toBe(403);
  expect((await request.get(`${server.url}/v1/audit`)).status()).toBe(200);

  // A role in use stays; without members it goes.
  await page.goto("/s/default/settings/roles");
  await expect(row).toContainText("1");
  await row.getByRole("button", { name: "Delete the role" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Delete" }).click();
  await expect(page.getByText("give them another one first")).toBeVisible();
  await request.dispose();
});

test("owners of the installation see the storage of each space", async ({ page }) => {
  await page.goto("/installation/storage");
  const table = page.getByRole("table", { name: "Storage by space", exact: true });
  await expect(table.getByRole("row").filter({ hasText: "default" })).toBeVisible();
  await expect(table.getByRole("row").filter({ hasText: "No space" })).toContainText(/[KMG]i?B/);
});

test("a viewer has no counters of work for others, and sees why a part of a page is missing", async ({
  browser,
  server,
  admin,
}) => {
  const email = `${unique("reader")}@example.com`;
  const project = unique("watched");
  await admin.send("POST", "/v1/projects", { name: project });
  await admin.send("POST", "/v1/issues", { project, title: "Orders are refused", explanation: "seen twice" });
  const space = (await admin.send<{ id: string }[]>("GET", "/v1/spaces"))[0];
  const { path } = await admin.send<{ path: string }>("POST", `/v1/spaces/${space?.id}/invites`, {
    email,
    role: "viewer",
  });
  const guest = await guest_page(browser, server.url);
  await guest.goto(path);
  await guest.getByLabel("Your name").fill("Rita Reader");
  await guest.getByLabel("Choose a password").fill("rita has a password");
  await guest.getByRole("button", { name: "Join default" }).click();
  await expect(guest.getByRole("heading", { level: 1 })).toHaveText("default");
  await expect(guest.getByRole("region", { name: "Waiting for review" })).toHaveCount(0);
  await expect(guest.getByRole("button", { name: "Notices", exact: true })).toBeVisible();
  await guest.goto(`/s/default/projects/${project}/signal`);
  await expect(guest.getByRole("link", { name: "Orders are refused" })).toBeVisible();
  await expect(guest.locator(".nav .counter")).toHaveCount(0);
  await expect(guest.getByRole("link", { name: "Ask a worker" })).toHaveCount(0);

  // The server refuses a part of a page that the role allows.
  await guest.route(/\/v1\/presets/, (route) =>
    route.fulfill({
      status: 403,
      headers: { "X-Request-Id": "req-1" },
      json: { error: { code: "forbidden", message: "You need the permission preset_read." } },
    }),
  );
  await guest.goto("/s/default/presets");
  await expect(guest.getByRole("heading", { name: "You do not have access" })).toBeVisible();
  await expect(guest.getByText("You need the permission preset_read.")).toBeVisible();
  await expect(guest.getByRole("button", { name: "Try again" })).toHaveCount(0);
  await check_page(guest);

  // A part of Home that cannot be read does not look empty.
  await guest.route(/\/v1\/issues/, (route) =>
    route.fulfill({ status: 503, json: { error: { code: "unavailable", message: "The database is busy." } } }),
  );
  await guest.goto("/s/default");
  await expect(guest.getByRole("region", { name: "Open issues" }).getByRole("alert")).toContainText("busy");
  await guest.context().close();
});
