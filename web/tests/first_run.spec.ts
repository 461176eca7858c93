import { expect, fill_login, test } from "./fixtures";
import { admin_email, admin_password, type Server, start_server } from "./server";
import { send_spans } from "./spans";

test.describe("first run", () => {
  let own: Server;
  test.use({ storageState: { cookies: [], origins: [] } });
  test.beforeAll(async () => {
    own = await start_server();
  });
  test.afterAll(async () => own.stop());

  test("the steps tick themselves off as things happen", async ({ page, request }) => {
    test.setTimeout(60_000);
    await page.goto(own.url);
    await fill_login(page, admin_email, admin_password);
    const step = (title: string) =>
      page.getByRole("listitem").filter({ has: page.getByRole("heading", { name: title }) });
    await expect(step("Create a project").getByText("(done)")).toHaveCount(0);

    await step("Create a project").getByRole("button", { name: "Create a project" }).click();
    await page.getByRole("textbox", { name: "Name", exact: true }).fill("support-agent");
    await page.getByRole("button", { name: "Create project" }).click();
    await expect(step("Create a project").getByText("(done)")).toHaveCount(1);

    await step("Create an API key").getByRole("link", { name: "Create an API key" }).click();
    await page.getByRole("textbox", { name: "Name", exact: true }).fill("laptop");
    await page.getByRole("button", { name: "Create key", exact: true }).last().click();
    const secret = (await page.getByRole("group", { name: "secret" }).textContent()) ?? "";
    await page.getByRole("button", { name: "I have copied it" }).click();
    await page.getByRole("link", { name: "Hone, home" }).click();
    await expect(page.getByText("Waiting for the first request")).toBeVisible();

    const answer = await request.get(`${own.url}/v1/projects`, {
      headers: { Authorization: `Bearer ${secret.trim()}` },
    });
    expect(answer.status()).toBe(200);
    await expect(step("Create an API key").getByText("(done)")).toHaveCount(1);

    await expect(step("Send a trace").getByText("Waiting for the first trace")).toBeVisible();
    await expect(step("Send a trace").getByRole("group", { name: "exporter settings" })).toContainText(
      "x-project-name=support-agent",
    );
    await send_spans(request, own.url, secret.trim(), "support-agent", [{ name: "hello" }]);
    await expect(step("Send a trace").getByText("(done)")).toHaveCount(1, { timeout: 20_000 });
    await expect(step("Invite a teammate").getByRole("link", { name: "Invite a teammate" })).toBeVisible();
  });
});
