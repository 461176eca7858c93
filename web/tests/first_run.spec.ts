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

  test("each first step is marked as done, then the space shows its recent runs", async ({ page, request }) => {
    test.setTimeout(120_000);
    await page.goto(own.url);
    await fill_login(page, admin_email, admin_password);
    const step = (title: string) =>
      page.getByRole("listitem").filter({ has: page.getByRole("heading", { name: title }) });
    for (const title of ["Send a trace", "Add a model key", "Start a session"])
      await expect(step(title).getByText("(done)")).toHaveCount(0);

    await step("Send a trace").getByRole("link", { name: "Create an API key" }).click();
    await page.getByRole("textbox", { name: "Name", exact: true }).fill("laptop");
    await page.getByRole("button", { name: "Create key", exact: true }).last().click();
    const secret = (await page.getByRole("group", { name: "secret" }).textContent()) ?? "";
    await page.getByRole("button", { name: "Done" }).click();
    await page.getByRole("link", { name: "Hone, home" }).click();

    await expect(step("Send a trace").getByText("Waiting for the first trace")).toBeVisible();
    await expect(step("Send a trace").getByRole("group", { name: "exporter settings" })).toContainText(
      "x-project-name=my-app",
    );
    await send_spans(request, own.url, secret.trim(), "my-app", [{ name: "hello" }]);
    await expect(step("Send a trace").getByText("(done)")).toHaveCount(1, { timeout: 20_000 });
    await expect(page.getByRole("region", { name: "Projects" }).getByRole("link", { name: /my-app/ })).toBeVisible();

    await step("Start a session").getByRole("link", { name: "Open Studio" }).click();
    // Without a model there is only the fixed analysis, which reads no prompt.
    await expect(page.getByText("Fixed analysis: it finds errors")).toBeVisible();
    await expect(page.getByRole("textbox", { name: "to", exact: true })).toHaveCount(0);
    await expect(page.getByRole("region", { name: "Task gallery" })).toHaveCount(0);
    await page.getByRole("button", { name: "Start session" }).click();
    await page.waitForURL(/\/runs\//);
    await page.getByRole("link", { name: "Hone, home" }).click();
    await expect(step("Start a session").getByText("(done)")).toHaveCount(1);
    await page.reload();
    await expect(page.getByRole("region", { name: "Recent runs" }).getByRole("link")).toContainText(
      "Fixed analysis of the project",
    );
    await expect(step("Start a session")).toHaveCount(0);
  });
});
