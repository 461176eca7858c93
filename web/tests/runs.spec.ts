import { check_page } from "./axe";
import { expect, test, unique } from "./fixtures";

test("a session is started in Studio, watched to its end, seen in Swarm", async ({ page, admin }) => {
  test.setTimeout(180_000);
  const project = unique("studied");
  await admin.send("POST", "/v1/projects", { name: project });
  await page.goto(`/s/default/studio?project=${project}`);
  await page.getByLabel("Use").selectOption("harness:command");
  await page.getByLabel("Command").fill("/bin/cat");
  const prompt = unique("Say **this** <img src=x onerror=alert(1)>");
  await page.getByLabel("to", { exact: true }).fill(prompt);
  await page.getByRole("button", { name: "Start session" }).click();

  await expect(page).toHaveURL(/\/runs\/run_/);
  const transcript = page.getByRole("list", { name: "Transcript" });
  await expect(transcript.locator("strong", { hasText: "this" }).first()).toBeVisible();
  expect(await transcript.locator("img").count()).toBe(0);
  await expect(page.locator(".facts").getByText(/^(succeeded|waiting)$/)).toBeVisible({ timeout: 120_000 });
  await check_page(page);
  await page.getByRole("link", { name: "Manifest" }).click();
  await expect(page.getByText("/bin/cat")).toBeVisible();

  await page.goto("/s/default/swarm");
  await page.locator(".swarm-cell").last().click();
  await expect(page.getByRole("link", { name: "Open the run" })).toBeVisible();
  await check_page(page);
});

test("a preset is created and every change is a version", async ({ page }) => {
  const name = unique("analyst");
  await page.goto("/s/default/presets/new");
  await page.getByLabel("Name").fill(name);
  await page.getByRole("button", { name: "Create preset" }).click();
  await expect(page.getByRole("heading", { name, level: 1 })).toBeVisible();
  await page.getByLabel("Minutes").fill("5");
  await page.getByRole("button", { name: "Save" }).click();
  await expect(page.getByText("wall_clock_minutes", { exact: false })).toBeVisible();
});

test("what a preset holds back is approved by a person", async ({ page, admin }) => {
  test.setTimeout(180_000);
  const project = unique("reviewed");
  await admin.send("POST", "/v1/projects", { name: project });
  const command = ["/bin/sh", "-c", "cat; hone save_file --name note.txt --text noted"];
  const settings = { harness: "command", command, outputs: { file: "review" } };
  const preset = await admin.send<{ id: string }>("POST", "/v1/presets", { name: unique("noter"), settings });
  await page.goto(`/s/default/studio?project=${project}`);
  await page.getByLabel("Use").selectOption(`preset:${preset.id}`);
  await page.getByLabel("to", { exact: true }).fill("Leave a note");
  await page.getByRole("button", { name: "Start session" }).click();

  await page.getByRole("link", { name: "Artifacts 1" }).click({ timeout: 120_000 });
  const note = page.getByRole("region", { name: "note.txt" });
  await expect(note.getByText("noted")).toBeVisible();
  await note.getByRole("button", { name: "Approve" }).click();
  await expect(note.getByText("approved", { exact: true })).toBeVisible();
  await check_page(page);
});
