import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { check_page } from "./axe";
import { expect, repos_folder, test, unique } from "./fixtures";

const canary = "ghp_canary_9f3a7c51e2d84b60";

test("a skill is created from the gallery, and its secret is never returned", async ({ page, admin }) => {
  const name = unique("forge");
  await page.goto("/s/default/skills?new=1");
  const dialog = page.getByRole("dialog");
  await dialog.getByRole("button", { name: /^GitHub/ }).click();
  await dialog.getByLabel("Name", { exact: true }).fill(name);
  // Two purposes, two credentials: the form states what Hone does with the first one when the second is missing.
  await expect(dialog.getByLabel("GH_TOKEN")).toHaveAccessibleDescription(
    /Workers use it for reading only; without GH_DELIVERY_TOKEN Hone also pushes reviewed branches/,
  );
  await expect(dialog.getByLabel("GH_DELIVERY_TOKEN")).toHaveAccessibleDescription(/No sandbox can use it/);
  await dialog.getByLabel("GH_TOKEN").fill(canary);
  await dialog.getByRole("button", { name: "Create skill" }).click();

  await expect(page.getByRole("heading", { name, level: 1 })).toBeVisible();
  const row = page.getByRole("row", { name: /^GH_TOKEN/ });
  await expect(row).toContainText("set");
  await expect(row).toContainText("api.github.com");
  expect(await page.content()).not.toContain(canary);
  await page.reload();
  await expect(row).toContainText("set");
  expect(await page.content()).not.toContain(canary);
  const skills = await admin.send<{ name: string }[]>("GET", "/v1/skills");
  expect(JSON.stringify(skills)).not.toContain(canary);
});

test("exposing a secret to the environment shows a warning and is recorded as a version", async ({ page, admin }) => {
  const name = unique("env");
  const { id } = await admin.send<{ id: string }>("POST", "/v1/skills", { name, type: "github" });
  await page.goto(`/s/default/skills/${id}`);
  await expect(page.getByText("Runs cannot use this skill yet")).toBeVisible();
  await page.getByRole("button", { name: "Set GH_TOKEN" }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByLabel("GH_TOKEN").fill(canary);
  await dialog.getByLabel("Exposure").selectOption("env");
  await expect(dialog.getByText("Workers can read this secret")).toBeVisible();
  await dialog.getByRole("button", { name: "Set", exact: true }).click();
  await expect(page.getByText("readable by workers")).toBeVisible();
  await expect(page.getByRole("row").filter({ hasText: "GH_TOKEN is now env" })).toBeVisible();
});

test("a pasted .env is previewed before it is stored", async ({ page, admin }) => {
  const name = unique("dd");
  const { id } = await admin.send<{ id: string }>("POST", "/v1/skills", { name, type: "datadog" });
  await page.goto(`/s/default/skills/${id}`);
  await page.getByRole("button", { name: "Paste .env…" }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByLabel(".env").fill("DD_API_KEY=a1\nDATADOG_APP_KEY=b2\nDD_SITE=datadoghq.eu\nOTHER=1\n");
  await dialog.getByRole("button", { name: "Preview" }).click();
  await expect(dialog.getByText("Ignores OTHER.")).toBeVisible();
  await dialog.getByRole("button", { name: "Store variables" }).click();
  await expect(dialog).toHaveCount(0);
  await expect(page.getByRole("row", { name: /^DD_APP_KEY/ })).toContainText("api.datadoghq.eu");
});

test("secrets and network access show the exposure", async ({ page, admin }) => {
  const name = unique("reach");
  await admin.send("POST", "/v1/skills", { name, type: "github", secrets: { GH_TOKEN: canary } });
  await page.goto("/s/default/skills?tab=secrets");
  await expect(page.getByRole("row").filter({ hasText: name })).toContainText("brokered");
  await page.goto("/s/default/skills?tab=reach");
  await expect(page.getByRole("row").filter({ hasText: "api.github.com" }).first()).toContainText("GH_TOKEN");
});

test("deleting a skill requires its name", async ({ page, admin }) => {
  const name = unique("gone");
  const { id } = await admin.send<{ id: string }>("POST", "/v1/skills", { name, type: "custom" });
  await page.goto(`/s/default/skills/${id}`);
  await page.getByRole("button", { name: "Delete…" }).click();
  const dialog = page.getByRole("dialog");
  await expect(dialog.getByRole("button", { name: "Delete" })).toBeDisabled();
  await dialog.getByLabel(`Type ${name} to confirm`).fill(name);
  await dialog.getByRole("button", { name: "Delete" }).click();
  await expect(page.getByRole("heading", { name: "Skills", level: 1 })).toBeVisible();
  await expect(page.getByRole("link", { name, exact: true })).toHaveCount(0);
});

test("variables and hosts of a custom skill are edited and removed", async ({ page, admin }) => {
  const { id } = await admin.send<{ id: string }>("POST", "/v1/skills", { name: unique("own"), type: "custom" });
  await page.goto(`/s/default/skills/${id}`);
  const dialog = page.getByRole("dialog");
  await page.getByRole("button", { name: "Add variable…" }).click();
  await dialog.getByLabel("Name").fill("STATUS_TOKEN");
  await dialog.getByLabel("Allowed hosts").fill("https://api.example.com/v1");
  await dialog.getByRole("button", { name: "Add variable" }).click();
  const row = page.getByRole("row").filter({ hasText: "STATUS_TOKEN" }).first();
  await expect(row).toContainText("api.example.com/v1");

  await row.getByRole("button", { name: "Actions for STATUS_TOKEN" }).click();
  await page.getByRole("menuitem", { name: "Edit…" }).click();
  await dialog.getByLabel("Allowed hosts").fill("api.example.com/v2\nother.example.com:8443");
  await dialog.getByRole("button", { name: "Save" }).click();
  await expect(row).toContainText("other.example.com:8443");
  await expect(row).toContainText("api.example.com/v2");

  const hosts = page.getByRole("region", { name: "Hosts without a secret" });
  await hosts.getByRole("button", { name: "Edit hosts…" }).click();
  await dialog.getByLabel("Hosts", { exact: true }).fill("https://status.example.com\nnot an address");
  await expect(dialog.getByRole("button", { name: "Save" })).toBeDisabled();
  await dialog.getByLabel("Hosts", { exact: true }).fill("https://status.example.com");
  await dialog.getByRole("button", { name: "Save" }).click();
  await expect(hosts.getByText("status.example.com")).toBeVisible();

  await row.getByRole("button", { name: "Actions for STATUS_TOKEN" }).click();
  await page.getByRole("menuitem", { name: "Remove…" }).click();
  await dialog.getByRole("button", { name: "Remove" }).click();
  await expect(page.getByText("This skill has no variables.")).toBeVisible();
});

/** A repository on the server itself, with a skill in the folder `tidy`. */
function make_repo(folder: string, name: string): string {
  const work = mkdtempSync(join(tmpdir(), "hone-skill-"));
  const git = (...args: string[]) =>
    execFileSync("git", ["-C", work, "-c", "user.name=Ada", "-c", "user.email=ada@example.com", ...args], {
      stdio: "ignore",
      env: { PATH: process.env.PATH },
    });
  git("init", "-b", "main");
  mkdirSync(join(work, "tidy"));
  writeFileSync(join(work, "tidy", "SKILL.md"), "---\nname: tidy\ndescription: Tidies up.\n---\nUse tabs.\n");
  git("add", ".");
  git("commit", "-m", "First");
  mkdirSync(folder, { recursive: true });
  const bare = join(folder, `${name}.git`);
  git("clone", "--bare", ".", bare);
  rmSync(work, { recursive: true });
  return `file://${bare}`;
}

test("a custom skill takes its folder from a git repository", async ({ page, admin, server }) => {
  const name = unique("tidy");
  const url = make_repo(await repos_folder(admin, server), name);
  const { id } = await admin.send<{ id: string }>("POST", "/v1/skills", { name, type: "custom" });
  await page.goto(`/s/default/skills/${id}`);
  const folder = page.getByRole("region", { name: "Folder" });
  await folder.getByRole("button", { name: "Use a git repository" }).click();
  const dialog = page.getByRole("dialog");
  await expect(dialog.getByRole("button", { name: "Save and fetch" })).toBeDisabled();
  await dialog.getByLabel("Repository").fill(url);
  await dialog.getByLabel("Folder", { exact: true }).fill("nowhere");
  await check_page(page);
  await dialog.getByRole("button", { name: "Save and fetch" }).click();
  await expect(dialog.getByText(/folder nowhere of .* not found/)).toBeVisible();
  await dialog.getByLabel("Folder", { exact: true }).fill("tidy");
  await dialog.getByRole("button", { name: "Save and fetch" }).click();
  await expect(dialog).toHaveCount(0);
  await expect(folder.getByText("Tidies up.", { exact: true })).toBeVisible();
  await expect(folder.getByText(/Workers use commit [0-9a-f]{12} until the next fetch/)).toBeVisible();
  await folder.locator("summary", { hasText: "SKILL.md" }).click();
  await expect(folder.getByText("Use tabs.")).toBeVisible();
  await folder.getByRole("button", { name: "Fetch now" }).click();
  await expect(page.getByText(/^No changes: still at [0-9a-f]{12}$/)).toBeVisible();
  await check_page(page);
});
