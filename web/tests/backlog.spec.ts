// Spans that are accepted and cannot be stored: the engine of this server has no library.

import { expect, test } from "@playwright/test";
import { Person } from "./fixtures";
import { admin_email, admin_password, type Server, start_server } from "./server";
import { new_span_id, new_trace_id } from "./spans";

let server: Server;

test.beforeAll(async () => {
  server = await start_server("serve", ["--engine-library", "/nonexistent/libchdb.so", "--span-wait-limit", "1s"]);
});

test.afterAll(async () => {
  await server.stop();
});

test("lists of traces and the server page show that spans are not stored, and the reason", async ({ browser }) => {
  const context = await browser.newContext({ baseURL: server.url });
  const admin = await Person.log_in(context.request, server.url, admin_email, admin_password);
  const { key } = await admin.send<{ key: string }>("POST", "/v1/keys", { name: "sender" });
  const now = `${Date.now()}000000`;
  const span = {
    traceId: new_trace_id(),
    spanId: new_span_id(),
    name: "chat",
    startTimeUnixNano: now,
    endTimeUnixNano: now,
  };
  const resource = { attributes: [{ key: "service.name", value: { stringValue: "shop" } }] };
  const sent = await context.request.post("/v1/traces", {
    data: { resourceSpans: [{ resource, scopeSpans: [{ spans: [span] }] }] },
    headers: { Authorization: `Bearer ${key}` },
  });
  expect(sent.status()).toBe(200);
  await expect(async () => {
    expect((await context.request.get("/readyz")).status()).toBe(503);
  }).toPass({ timeout: 120_000 });

  const page = await context.newPage();
  const problem = /^1 span has waited \d+ s to be stored: .*libchdb\.so/;
  for (const address of ["traces", "sessions", ""]) {
    await page.goto(`/s/default/projects/shop/${address}`);
    await expect(page.getByRole("alert").getByText(problem)).toBeVisible();
  }
  await page.goto("/installation/server");
  await expect(page.getByRole("alert").getByText(problem)).toBeVisible();
  await expect(page.getByText(/^1 \(.* B\), the oldest for \d+ s$/)).toBeVisible();
  await context.close();
});
