// Log records, metrics from senders, and a chat session as a conversation.

import { api_key, chat, with_chat } from "./chat";
import { expect, test, unique } from "./fixtures";
import { send_spans } from "./spans";

const now = () => `${Date.now()}000000`;
const resource = (name: string) => ({ attributes: [{ key: "service.name", value: { stringValue: name } }] });

test("log records are searched, filtered by severity and opened", async ({ page, request, server, admin }) => {
  const project = unique("logged");
  const record = (severity: string, body: string) => ({
    timeUnixNano: now(),
    severityText: severity,
    body: { stringValue: body },
    attributes: [{ key: "warehouse", value: { stringValue: "north" } }],
  });
  const sent = await request.post(`${server.url}/v1/logs`, {
    headers: { authorization: `Bearer ${await api_key(admin)}`, "x-project-name": project },
    data: {
      resourceLogs: [
        {
          resource: resource("shop"),
          scopeLogs: [{ logRecords: [record("INFO", "order received"), record("ERROR", "stock is gone")] }],
        },
      ],
    },
  });
  expect(sent.status()).toBe(200);
  await expect(async () => {
    await page.goto(`/s/default/projects/${project}/logs`);
    await expect(page.getByRole("row", { name: /order received/ })).toBeVisible({ timeout: 2000 });
  }).toPass({ timeout: 120_000 });
  await page.getByRole("searchbox", { name: "Search logs" }).fill("STOCK");
  await expect(page.getByRole("row", { name: /order received/ })).toHaveCount(0);
  await page.getByRole("searchbox", { name: "Search logs" }).fill("");
  await page.getByLabel("Severity").selectOption("warn");
  await expect(page.getByRole("row", { name: /order received/ })).toHaveCount(0);
  await page.getByText("stock is gone").first().click();
  await expect(page.getByRole("complementary", { name: "Log record" })).toContainText("north");
});

test("metrics from senders are charts under the overview", async ({ page, request, server, admin }) => {
  const project = unique("measured");
  const key = await api_key(admin);
  await send_spans(request, server.url, key, project, chat);
  const sent = await request.post(`${server.url}/v1/metrics`, {
    headers: { authorization: `Bearer ${key}`, "x-project-name": project },
    data: {
      resourceMetrics: [
        {
          resource: resource("shop"),
          scopeMetrics: [
            {
              metrics: [
                {
                  name: "claude_code.token.usage",
                  unit: "tokens",
                  sum: { aggregationTemporality: 1, dataPoints: [{ timeUnixNano: now(), asDouble: 120 }] },
                },
              ],
            },
          ],
        },
      ],
    },
  });
  expect(sent.status()).toBe(200);
  await expect(async () => {
    await page.goto(`/s/default/projects/${project}`);
    const region = page.getByRole("region", { name: "Metrics from senders" });
    await expect(region.getByText("claude_code.token.usage").first()).toBeVisible({ timeout: 3000 });
  }).toPass({ timeout: 120_000 });
});

test("a chat session reads as a conversation, and can be shown as a list", async ({ page, request, server, admin }) => {
  const [project] = await with_chat(request, server.url, admin);
  await page.goto(`/s/default/projects/${project}/traces?session=visit-1&range=all`);
  const conversation = page.getByRole("region", { name: "Conversation of the chat session" });
  await expect(conversation).toContainText("Where is my order 4411?");
  await expect(conversation).toContainText("It arrives on Tuesday.");
  await page.getByRole("button", { name: "Show as list" }).click();
  const table = page.getByRole("table", { name: "Traces", exact: true });
  await expect(table.getByRole("link", { name: "POST /chat" })).toBeVisible();
  await expect(table).toContainText("Where is my order 4411?");
});
