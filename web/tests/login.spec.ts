import { expect, fill_login, test } from "./fixtures";
import { admin_email, admin_password, type Server, start_server } from "./server";

// A server of its own: failed logins lock the address out.
test.describe("login", () => {
  let own: Server;
  test.use({ storageState: { cookies: [], origins: [] } });
  test.beforeAll(async () => {
    own = await start_server();
  });
  test.afterAll(async () => own.stop());

  test("a link opens its page after the login", async ({ page }) => {
    await page.goto(`${own.url}/s/default/settings/members?q=adm`);
    await expect(page).toHaveURL(/\/login\?next=/);
    await expect(page.getByLabel("Email")).toBeFocused();
    await fill_login(page, admin_email, admin_password);
    await expect(page).toHaveURL(`${own.url}/s/default/settings/members?q=adm`);
    await expect(page.getByRole("heading", { name: "Members" })).toBeVisible();
  });

  test("logging out ends the login for other pages too", async ({ page }) => {
    await page.goto(`${own.url}/login`);
    await fill_login(page, admin_email, admin_password);
    await page.getByRole("button", { name: /^You:/ }).click();
    await page.getByRole("menuitem", { name: "Log out" }).click();
    await expect(page.getByRole("heading", { name: "Log in to Hone" })).toBeVisible();
    await page.goto(`${own.url}/s/default`);
    await expect(page.getByRole("heading", { name: "Log in to Hone" })).toBeVisible();
  });

  test("a wrong password shows an error with the request id and keeps the email", async ({ page }) => {
    await page.goto(`${own.url}/login`);
    await fill_login(page, "nobody@example.com", "not the password");
    await expect(page.getByRole("alert")).toBeVisible();
    await expect(page.getByRole("alert").getByText(/^Request/)).toBeVisible();
    await expect(page.getByLabel("Email")).toHaveValue("nobody@example.com");
    await expect(page).toHaveURL(/\/login$/);
  });

  test("too many attempts disable the button", async ({ page }) => {
    await page.goto(`${own.url}/login`);
    await page.getByLabel("Email").fill("somebody@example.com");
    await page.getByLabel("Password").fill("not the password");
    const button = page.getByRole("button", { name: /Log in|Try again in/ });
    for (let attempt = 0; attempt < 20; attempt++) {
      const [response] = await Promise.all([page.waitForResponse("**/v1/login"), button.click()]);
      if (response.status() === 429) break;
    }
    await expect(page.getByRole("button", { name: /Try again in/ })).toBeDisabled();
    await expect(page.getByRole("alert")).toBeVisible();
  });
});
