// A pairwise evaluator on the page of a comparison, with a scripted model that prefers answers to "no idea".

import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { check_page } from "./axe";
import { make_dataset, make_experiment } from "./evaluate";
import { expect, test, unique } from "./fixtures";

let model: Server;

interface Asked {
  messages: { content: string }[];
}

test.beforeAll(async () => {
  model = createServer((request, response) => {
    let body = "";
    request.on("data", (piece) => {
      body += piece;
    });
    request.on("end", () => {
      const text = (JSON.parse(body) as Asked).messages.at(-1)?.content ?? "";
      const [a = "", b = ""] = [...text.matchAll(/<data \w+>\n(.*)\n<\/data/g)].map((found) => found[1] ?? "");
      const label = a.startsWith("answer") === b.startsWith("answer") ? "tie" : a.startsWith("answer") ? "a" : "b";
      const verdict = { explanation: `${a} beside ${b}`, label };
      const call = { name: "report_verdict", arguments: JSON.stringify(verdict) };
      const message = {
        role: "assistant",
        content: null,
        tool_calls: [{ id: "call_1", type: "function", function: call }],
      };
      response.setHeader("Content-Type", "application/json");
      response.end(
        JSON.stringify({
          id: "x",
          object: "chat.completion",
          model: "scripted",
          choices: [{ index: 0, message, finish_reason: "tool_calls" }],
          usage: { prompt_tokens: 100, completion_tokens: 10, total_tokens: 110 },
        }),
      );
    });
  });
  await new Promise<void>((listening) => model.listen(0, "127.0.0.1", listening));
});

test.afterAll(() => {
  model.close();
});

test("outputs are compared side by side, and a person states what they prefer", async ({ page, admin }) => {
  const name = unique("model");
  await admin.send("POST", "/v1/skills", {
    name,
    type: "model",
    secrets: { API_KEY: "sk-planted-0123456789abcdef" },
    variables: {
      PROTOCOL: "openai",
      BASE_URL: `http://127.0.0.1:${(model.address() as AddressInfo).port}`,
      ALLOW_PRIVATE: "true",
      MODELS: name,
    },
  });
  const evaluator = unique("better");
  await admin.send("POST", "/v1/evaluators", {
    name: evaluator,
    kind: "llm",
    llm: {
      model: { name },
      pairwise: true,
      messages: [{ role: "user", content: "First: {{a.answer}}\nSecond: {{b.answer}}" }],
    },
  });
  const dataset = await make_dataset(admin);
  // e0 gets better, e1 gets worse, the others are equal.
  const base = await make_experiment(admin, dataset, "base", (index) => index !== 0);
  const other = await make_experiment(admin, dataset, "candidate", (index) => index !== 1);
  await page.goto(`/s/default/datasets/${dataset.id}/compare?base=${base}&other=${other}`);
  await page.getByLabel("Compare outputs with").selectOption({ label: evaluator });
  await page.getByRole("button", { name: "Compare outputs" }).click();
  const words = page.getByRole("list", { name: "Pairwise in words" });
  await expect(words).toContainText("other wins 1, base wins 1, 2 ties of 4 examples");
  const row = page.getByRole("table", { name: "Pairwise", exact: true }).getByRole("row").nth(1);
  await expect(row).toContainText("no difference shown");
  await check_page(page);
  const rows = page.getByRole("table", { name: "Compared examples", exact: true });
  await expect(rows.getByRole("row").filter({ hasText: "e0" })).toContainText("other is better");
  // The input is beside the id that the sender gave.
  await expect(rows.getByRole("row").filter({ hasText: "e0" })).toContainText("Where is my order?");
  await expect(rows.getByRole("row").filter({ hasText: "e1" })).toContainText("base is better");
  await rows.getByRole("row").filter({ hasText: "e0" }).click();
  const verdicts = page.getByRole("region", { name: `Verdicts of ${evaluator}` });
  await expect(verdicts).toContainText("no idea beside answer 0");
  await verdicts.getByRole("button", { name: "I prefer other" }).click();
  await expect(verdicts.getByRole("button", { name: "I prefer other" })).toHaveAttribute("aria-pressed", "true");
  await check_page(page);
});
