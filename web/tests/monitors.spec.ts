import { createServer, type IncomingHttpHeaders, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { check_page } from "./axe";
import { api_key } from "./chat";
import { expect, fill_login, guest_page, test, unique } from "./fixtures";
import { refused_lookups, send_spans } from "./spans";

test("a monitor is previewed, created, evaluated, muted and deleted", async ({ page, admin, request, server }) => {
  const project = unique("measured");
  await send_spans(request, server.url, await api_key(admin), project, refused_lookups(), 600_000);
  await page.goto(`/s/default/projects/${project}/monitors`);
  await expect(page.getByText("No monitors yet")).toBeVisible();
  await page.getByRole("link", { name: "Create monitor" }).click();

  const name = unique("Too many errors");
  await page.getByLabel("Name").fill(name);
  await page.getByLabel("Limit, %").fill("20");
  const preview = page.getByRole("region", { name: "Preview" });
  await expect(preview.getByText("In the last seven days it would have triggered once.")).toBeVisible({
    timeout: 90_000,
  });
  await expect(preview.getByRole("img", { name: /^State:.*triggered/ })).toBeVisible();
  await check_page(page);
  await page.getByLabel("Limit, %").fill("90");
  await expect(preview.getByText("In the last seven days it would never have triggered.")).toBeVisible({
    timeout: 90_000,
  });
  await page.getByLabel("Limit, %").fill("20");
  await page.getByRole("button", { name: "Add mute window" }).click();
  await page.getByRole("button", { name: "Remove mute window" }).click();
  await page.getByRole("button", { name: "Create monitor" }).click();

  await expect(page.getByRole("heading", { name, level: 1 })).toBeVisible();
  await expect(page.getByText("error rate over 24 hours is above 20 %")).toBeVisible();
  await page.getByRole("button", { name: "Evaluate now" }).click();
  await expect(page.getByRole("table", { name: "History", exact: true }).getByText("triggered")).toBeVisible();
  await expect(page.locator(".facts").getByText("triggered", { exact: true })).toBeVisible();
  await check_page(page);
  await page.emulateMedia({ colorScheme: "dark", reducedMotion: "reduce" });
  await check_page(page, { runOnly: ["color-contrast"] });

  await page.getByRole("button", { name: "Mute…" }).click();
  await page.getByLabel("Reason").fill("being repaired");
  await page.getByRole("button", { name: "Mute", exact: true }).click();
  await expect(page.getByText(/Muted until in .*: being repaired/)).toBeVisible();
  await page.getByRole("button", { name: "Unmute" }).click();
  await expect(page.getByRole("button", { name: "Mute…" })).toBeVisible();

  await page.goto(`/s/default/projects/${project}/monitors`);
  const row = page.getByRole("row").filter({ hasText: name });
  await expect(row).toContainText("triggered");
  await expect(row).toContainText("50 %");
  await check_page(page);

  // Its notices are in the menu of the bell.
  await page.getByRole("button", { name: /^Notices/ }).click();
  await expect(page.getByRole("menuitem", { name: new RegExp(name) }).first()).toBeVisible();
  await check_page(page);
  await page
    .getByRole("menuitem", { name: new RegExp(name) })
    .first()
    .click();
  await expect(page.getByRole("heading", { name, level: 1 })).toBeVisible();
  await page.goto("/s/default/notices");
  await expect(page.getByRole("link", { name: new RegExp(name) }).first()).toBeVisible();
  await check_page(page);
  await page.getByRole("button", { name: "Mark all as read" }).click();
  await expect(page.getByRole("button", { name: "Notices", exact: true })).toBeVisible();

  await page.goto(`/s/default/projects/${project}/monitors`);
  await row.getByRole("link", { name }).click();
  await page.getByRole("button", { name: "More actions" }).click();
  await page.getByRole("menuitem", { name: "Delete…" }).click();
  await page.getByRole("button", { name: "Delete monitor" }).click();
  await expect(page.getByText("No monitors yet")).toBeVisible();
});

async function receiver(): Promise<{
  url: string;
  got: { headers: IncomingHttpHeaders; body: string }[];
  end: Server;
}> {
  const got: { headers: IncomingHttpHeaders; body: string }[] = [];
  const end = createServer((incoming, answer) => {
    let body = "";
    incoming.on("data", (data) => {
      body += data;
    });
    incoming.on("end", () => {
      got.push({ headers: incoming.headers, body });
      answer.writeHead(incoming.url === "/broken" ? 500 : 200).end();
    });
  });
  await new Promise<void>((done) => end.listen(0, "127.0.0.1", done));
  return { url: `http://127.0.0.1:${(end.address() as AddressInfo).port}`, got, end };
}

test("a destination is added, tested, turned off and deleted", async ({ page }) => {
  const { url, got, end } = await receiver();
  const name = unique("on-call");
  await page.goto("/s/default/settings/destinations?new=1");
  const dialog = page.getByRole("dialog");
  await dialog.getByLabel("Name").fill(name);
  await dialog.getByLabel("Type").selectOption("webhook");
  await dialog.getByLabel("Webhook URL").fill(`${url}/hook`);
  await dialog.getByLabel("Monitor triggered").check();
  await check_page(page);
  await dialog.getByRole("button", { name: "Add destination" }).click();
  const secret = (await page.getByRole("dialog").getByRole("group", { name: "secret" }).textContent()) ?? "";
  expect(secret.length).toBeGreaterThan(16);
  await page.getByRole("button", { name: "Done" }).click();

  const detail = page.getByRole("complementary", { name });
  await detail.getByRole("button", { name: "Send test" }).click();
  await expect(detail.getByRole("status")).toContainText("Delivered in");
  expect(got).toHaveLength(1);
  expect(got[0]?.headers["x-hone-signature"]).toMatch(/^sha256=/);
  expect(JSON.parse(got[0]?.body ?? "")).toHaveProperty("title");
  await check_page(page);
  await detail.getByRole("button", { name: "Turn off" }).click();
  await expect(page.getByRole("row").filter({ hasText: name })).toContainText("off");
  await detail.getByRole("button", { name: "Delete" }).click();
  await page.getByRole("button", { name: "Delete destination" }).click();
  await expect(page.getByRole("row").filter({ hasText: name })).toHaveCount(0);
  end.close();
});

test("SQL is the metric of a monitor, with a preview", async ({ page, admin, request, server }) => {
  const project = unique("queried");
  await send_spans(request, server.url, await api_key(admin), project, refused_lookups(), 600_000);
  await page.goto(`/s/default/projects/${project}/monitors/new`);
  const name = unique("Failed share");
  await page.getByLabel("Name").fill(name);
  await page.getByRole("combobox", { name: "Metric", exact: true }).selectOption("sql");
  await page.getByLabel("Limit, as the query returns").fill("0.2");
  const preview = page.getByRole("region", { name: "Preview" });
  await page.getByLabel("Query", { exact: true }).fill("SELECT count() FROM system.tables");
  await expect(preview.getByRole("alert")).toContainText("{{window.from}}");
  await page
    .getByLabel("Query", { exact: true })
    .fill(
      "SELECT countIf(status = 'error') / count() FROM spans WHERE start_ns >= {{window.from}} AND start_ns < {{window.to}}",
    );
  await expect(preview.getByText("In the last seven days it would have triggered once.")).toBeVisible({
    timeout: 90_000,
  });
  await check_page(page);
  await page.getByRole("button", { name: "Create monitor" }).click();
  await expect(page.getByRole("heading", { name, level: 1 })).toBeVisible();
  await expect(page.getByText("SQL value over 24 hours is above 0.2")).toBeVisible();
});

test("a destination of PagerDuty has a key, and its form keeps an error in view", async ({ page }) => {
  await page.setViewportSize({ width: 900, height: 420 });
  await page.goto("/s/default/settings/destinations?new=1");
  const name = unique("oncall");
  const dialog = page.getByRole("dialog");
  await dialog.getByLabel("Name").fill(name);
  await dialog.getByLabel("Type").selectOption("pagerduty");
  await dialog.getByLabel("Key").fill("a key with spaces");
  await dialog.getByRole("button", { name: "Add destination" }).click();
  await expect(dialog.getByRole("alert")).toBeInViewport();
  await dialog.getByLabel("Key").fill("integration-key-1");
  await dialog.getByRole("button", { name: "Add destination" }).click();
  await expect(page.getByRole("row").filter({ hasText: name })).toBeVisible();
  await expect(page.getByText("events.pagerduty.com").first()).toBeVisible();
  await check_page(page);
});

test("the bell counts what needs a person, folds the same, and is quiet at the first login", async ({
  page,
  browser,
  request,
  server,
  admin,
}) => {
  await page.goto("/s/default");
  const bell = page.getByRole("button", { name: /^Notices/ });
  await expect(bell).toBeVisible();
  const project = unique("told");
  await send_spans(request, server.url, await api_key(admin), project, refused_lookups());
  const settings = {
    metric: "error_rate",
    condition: { type: "threshold", direction: "above", threshold: 0.1 },
    window_seconds: 3600,
    frequency_seconds: 3600,
  };
  const name = unique("refusals");
  const monitor = await admin.send<{ id: string }>("POST", "/v1/monitors", { project, name, settings });
  // The server may be evaluating the new monitor already: then the request is refused as busy.
  await expect(() => admin.send("POST", `/v1/monitors/${monitor.id}/evaluate`, {})).toPass();
  await page.goto("/s/default/notices");
  await expect(page.getByRole("button", { name: /^Notices: \d+ new/ })).toBeVisible();
  await expect(page.getByRole("listitem").filter({ hasText: name })).toHaveCount(1);

  // At the first login the list is shown and the bell has no count.
  const space = (await admin.send<{ id: string }[]>("GET", "/v1/spaces"))[0];
  const email = `${unique("new")}@example.com`;
  const password = "ada has a password";
  const { path } = await admin.send<{ path: string }>("POST", `/v1/spaces/${space?.id}/invites`, {
    email,
    role: "member",
  });
  const joined = await request.post(`${server.url}/v1${path.replace("invite", "invites")}/accept`, {
    data: { name: "Ada", password },
  });
  expect(joined.ok()).toBe(true);
  const guest = await guest_page(browser, server.url);
  await guest.goto("/login");
  await fill_login(guest, email, password);
  await guest.waitForURL("**/s/default**");
  await expect(guest.getByRole("button", { name: "Notices", exact: true })).toBeVisible();
  await guest.context().close();

  // What a person does not want is not counted, but stays in the digest.
  await page.getByRole("button", { name: "Choose your notices" }).click();
  await check_page(page);
  await page.getByLabel("Monitor triggered").uncheck();
  await page.getByRole("button", { name: "Save", exact: true }).click();
  await expect(page.getByText("Your notices are saved")).toBeVisible();
  await expect(page.getByRole("listitem").filter({ hasText: name })).toHaveCount(0);
  await page.getByText("Also happened:").click();
  await expect(page.getByRole("listitem").filter({ hasText: name })).toHaveCount(1);
  await admin.send("PUT", "/v1/notices/settings?space=default", {
    kinds: ["monitor_triggered", "issue_new", "review_waiting"],
  });
});
