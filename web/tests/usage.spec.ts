import { check_page } from "./axe";
import { expect, test, unique } from "./fixtures";
import { painted } from "./pixels";
import { start_scripted_model } from "./scripted";

test("the budget of a space is set, compared with today's usage, and removed", async ({ page, admin }) => {
  const name = unique("thrifty");
  await admin.send("POST", "/v1/spaces", { name });
  await page.goto(`/s/${name}/usage`);
  await expect(page.getByText("No model calls in this range")).toBeVisible();
  await expect(page.getByText("no limit").first()).toBeVisible();

  await page.getByLabel("US dollars per day").fill("2.5");
  await page.getByLabel("Tokens per day").fill("100000");
  await page.getByRole("button", { name: "Save budget" }).click();
  await expect(page.getByText("of $2.50 spent today")).toBeVisible();
  await expect(page.getByRole("meter", { name: "tokens today" })).toHaveAttribute("aria-valuemax", "100000");
  await check_page(page);
  const budget = await admin.send<{ cost_micro_usd_per_day: number }>("GET", `/v1/spaces/${name}/budget`);
  expect(budget.cost_micro_usd_per_day).toBe(2_500_000);

  await page.getByLabel("Soft limit, %").fill("250");
  await page.getByRole("button", { name: "Save budget" }).click();
  await expect(page.getByRole("alert")).toContainText("soft_percent");

  await page.getByLabel("Soft limit, %").fill("90");
  await page.getByLabel("US dollars per day").fill("");
  const capture = page.getByLabel("Content of model call spans, at most");
  await expect(capture).toHaveValue("full");
  await capture.selectOption("metadata");
  await page.getByRole("button", { name: "Save budget" }).click();
  await expect(page.getByText("of $2.50 spent today")).toHaveCount(0);
  await page.reload();
  await expect(capture).toHaveValue("metadata");
  const kept = await admin.send<{ capture: string }>("GET", `/v1/spaces/${name}/budget`);
  expect(kept.capture).toBe("metadata");
});

test("the tokens of today are the last bar of the chart", async ({ page, admin }) => {
  const model = await start_scripted_model();
  try {
    const name = unique("metered");
    await admin.send("POST", "/v1/skills", {
      name,
      type: "model",
      secrets: { API_KEY: "sk-planted-0123456789abcdef" },
      variables: { PROTOCOL: "openai", BASE_URL: `${model.url}/play/text`, ALLOW_PRIVATE: "true", MODELS: name },
    });
    await page.goto("/s/default/playground");
    const column = page.getByRole("region", { name: "Column 1" });
    await column.getByLabel("Model").fill(name);
    await column.getByLabel("Text of message 1").fill("Say something.");
    await column.getByRole("button", { name: "Run", exact: true }).click();
    await expect(page.getByRole("region", { name: "Response 1" })).toContainText("Two words.");
  } finally {
    model.stop();
  }
  await page.goto("/s/default/usage");
  const today = page.getByRole("figure", { name: "Tokens", exact: true }).getByRole("row").last().getByRole("cell");
  await expect(today).toHaveText(/^[1-9]/);
  await expect.poll(() => painted(page, "Tokens", "--bar")).toBeGreaterThan(50);
});
