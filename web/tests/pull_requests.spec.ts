// Pull requests: checks with their logs, commits of people, deliveries that are withdrawn, repositories that move or go.

import { check_page } from "./axe";
import { expect } from "./fixtures";
import { add_repo, approve_branch, find_pull_request, open_pull_request, test } from "./forge";

test("checks are shown with their logs, and commits of people are taken over", async ({ page, admin, forge }) => {
  const pr = await open_pull_request(admin, forge, await add_repo(admin, forge));
  const log = "FAILED test_total\n<script>alert(1)</script>\n";
  await forge.control({ checks: [{ name: "ci / test", result: "failed", summary: "2 tests failed", log }] });
  forge.push_commit(pr.branch, "Fix a typo");
  await page.goto(`/s/default/pull_requests?open=${pr.id}`);
  const detail = page.getByRole("complementary").or(page.getByRole("dialog")).first();
  await detail.getByRole("button", { name: "Refresh" }).click();
  await expect(async () => {
    const now = await admin.send<{ checks: string }>("GET", `/v1/pull_requests/${pr.id}`);
    expect(now.checks).toBe("failed");
  }).toPass({ timeout: 120_000 });
  await page.reload();
  await expect(detail.getByRole("heading", { name: "Checks of the forge" })).toBeVisible();
  await expect(detail.getByText("2 tests failed")).toBeVisible();
  await detail.getByRole("button", { name: "Show log" }).click();
  await expect(detail.getByRole("group", { name: "Log of ci / test" })).toContainText("<script>alert(1)</script>");
  await check_page(page);
  await detail.getByRole("button", { name: "Send failed checks to the session" }).click();
  await expect(page.getByText("The session receives the failed checks")).toBeVisible();
  await expect(detail.getByText("Fix a typo")).toBeVisible();
  await detail.getByRole("button", { name: "Take over" }).click();
  await expect(page.getByText("The session receives the commits")).toBeVisible();

  // The same checks in the review.
  await page.goto(`/s/default/inbox/${pr.artifact_id}?tab=overview`);
  await expect(page.getByRole("heading", { name: "Checks of the forge" }).first()).toBeVisible();
  await check_page(page);
});

test("a delivery is cancelled, and a pull request put away", async ({ page, admin, forge }) => {
  const repo = await add_repo(admin, forge);
  await forge.control({ git_fail: [500, "internal error"] });
  const artifact = await approve_branch(admin, forge, repo);
  let id = "";
  await expect(async () => {
    const waiting = await find_pull_request(admin, artifact);
    expect(waiting?.error).toContain("the forge failed");
    id = waiting?.id ?? "";
  }).toPass({ timeout: 120_000 });
  await page.goto(`/s/default/pull_requests?open=${id}`);
  await page.getByRole("button", { name: "Cancel delivery" }).click();
  await expect(page.getByText("Delivery cancelled; the review is pending")).toBeVisible();
  await page.goto(`/s/default/inbox/${artifact}`);
  await expect(page.getByText("pending review").first()).toBeVisible();
  await forge.control({ git_fail: null });

  const pr = await open_pull_request(admin, forge, repo);
  await page.goto(`/s/default/pull_requests?open=${pr.id}`);
  await page.getByRole("button", { name: "Abandon…" }).click();
  await expect(page.getByRole("dialog").last()).toContainText("It is unchanged on the forge");
  await page.getByRole("button", { name: "Abandon", exact: true }).click();
  await expect(page.getByText("Pull request abandoned")).toBeVisible();
  await expect(async () => expect((await find_pull_request(admin, pr.artifact_id))?.state).toBe("abandoned")).toPass();
});

test("the address of a repository is changed; one with open pull requests warns before it is deleted", async ({
  page,
  admin,
  forge,
}) => {
  const repo = await add_repo(admin, forge);
  const pr = await open_pull_request(admin, forge, repo);
  await page.goto(`/s/default/repos/${repo}`);
  await page.getByRole("button", { name: "Check access…" }).click();
  await expect(page.getByRole("dialog").getByText("pull requests", { exact: true })).toBeVisible();
  await check_page(page);
  await page.getByRole("button", { name: "Done" }).click();

  await forge.control({ repository: { path: "team/shop2" } });
  await page.getByRole("button", { name: "Edit…" }).click();
  await page.getByRole("dialog").getByRole("textbox", { name: "Address" }).fill(`${forge.home}/team/shop2.git`);
  await page.getByRole("dialog").getByRole("button", { name: "Save" }).click();
  await expect(page.getByText(`${forge.home}/team/shop2.git`).first()).toBeVisible();
  await page.getByRole("button", { name: "Fetch now" }).click();
  await expect(page.getByText(`${repo} fetched`)).toBeVisible();

  await page.getByRole("button", { name: "Delete…" }).click();
  await page.getByRole("button", { name: "Delete repository" }).click();
  const dialog = page.getByRole("dialog");
  await expect(dialog.getByRole("alert")).toContainText("pull requests that are not over");
  await check_page(page);
  await dialog.getByRole("button", { name: "Abandon its pull requests and delete" }).click();
  await expect(page.getByRole("heading", { name: "Repositories", level: 1 })).toBeVisible();
  expect((await find_pull_request(admin, pr.artifact_id))?.state).toBe("abandoned");
  await forge.control({ repository: { path: "team/shop" } });

  // One that is added with a credential shows at once what the credential can do.
  const skills = await admin.send<{ id: string; type: string }[]>("GET", "/v1/skills");
  await page.getByRole("button", { name: "Add repository" }).click();
  await dialog.getByRole("textbox", { name: "Address" }).fill(`${forge.home}/team/shop.git`);
  await dialog.getByLabel("Credential").selectOption(skills.find((skill) => skill.type === "github")?.id ?? "");
  await dialog.getByLabel("The forge has a private address").check();
  await dialog.getByRole("button", { name: "Add and fetch" }).click();
  await expect(
    page.getByRole("dialog", { name: "Access to shop" }).getByText("pull requests", { exact: true }),
  ).toBeVisible({
    timeout: 60_000,
  });
  await page.getByRole("button", { name: "Done" }).click();
  await expect(page).not.toHaveURL(/check=/);
});

test("a preset sets whose comments on the forge reach the session", async ({ page, admin }) => {
  await admin.send("POST", "/v1/presets", {
    name: "follower",
    settings: { harness: "command", command: ["/bin/true"], review: { follow_forge_comments: true } },
  });
  await page.goto("/s/default/presets/follower");
  await page.locator("summary", { hasText: "Review of branches" }).click();
  await page.getByLabel("Comments of", { exact: true }).selectOption("anyone");
  await check_page(page);
  await page.getByRole("button", { name: "Save" }).click();
  await expect(async () => {
    const preset = await admin.send<{ settings: { review: { follow_comments_of: string } } }>(
      "GET",
      "/v1/presets/follower",
    );
    expect(preset.settings.review.follow_comments_of).toBe("anyone");
  }).toPass();
});
