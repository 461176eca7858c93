// A worker pushes a branch; a person reads it, comments, sends it back, compares, approves.

import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Page } from "@playwright/test";
import { check_page } from "./axe";
import { expect, type Person, repos_folder, test, unique } from "./fixtures";

const slow = { timeout: 120_000 };

function git(directory: string, ...args: string[]): void {
  const identity = ["-c", "user.name=Ada", "-c", "user.email=ada@example.com", "-c", "init.defaultBranch=main"];
  execFileSync("git", ["-C", directory, ...identity, ...args], { stdio: "ignore", env: { PATH: process.env.PATH } });
}

const basket = `class Basket:
    def __init__(self, items):
        self.items = items

    def mean(self):
        return self.total() / len(self.items)

    def total(self):
        return sum(item.price for item in self.items)
`;

/** A repository on the server itself. */
function make_repo(folder: string, name: string): string {
  const work = mkdtempSync(join(tmpdir(), "hone-repo-"));
  git(work, "init");
  writeFileSync(join(work, "basket.py"), basket);
  writeFileSync(join(work, "README.md"), "# Shop\n");
  git(work, "add", ".");
  git(work, "commit", "-m", "First");
  mkdirSync(folder, { recursive: true });
  const bare = join(folder, `${name}.git`);
  git(work, "clone", "--bare", ".", bare);
  rmSync(work, { recursive: true });
  return `file://${bare}`;
}

/** Each turn of the worker changes the file once more and pushes. */
const script = (folder: string) => `
cat > /dev/null
cd /workspace/${folder} || exit 1
if ! grep -q guarded basket.py; then
  sed -i 's|return self.total() / len(self.items)|return self.total() / max(len(self.items), 1)  # guarded|' basket.py
  seq 1 10000 | sed 's/.*/value_& = compute("name &", &)/' > big.py
  printf 'hidden = "\\342\\200\\256<b>bold</b>"\\n' > odd.py
  git add . && git commit -qm 'Guard the mean against an empty basket'
else
  echo 'LIMIT = 10' >> basket.py
  git commit -qam 'Name the limit'
fi
git push -q
`;

interface Started {
  run: string;
  artifact: string;
}

/** A run that pushed, and the branch that waits for its review. */
async function start_run(admin: Person, url: string, name: string, work = script(name)): Promise<Started> {
  const project = unique("changed");
  await admin.send("POST", "/v1/projects", { name: project });
  const settings = {
    harness: "command",
    command: ["/bin/sh", "-c", work],
    repos: [{ url }],
    review: { verification: [{ name: "compiles", command: "python3 -m py_compile basket.py" }] },
  };
  const run = await admin.send<{ id: string }>("POST", "/v1/runs", { project, prompt: `Fix ${name}`, settings });
  let artifact = "";
  await expect(async () => {
    const found = await admin.send<{ artifact: { id: string }; diff_state: string }[]>(
      "GET",
      `/v1/reviews?run=${run.id}&kind=branch`,
    );
    expect(found[0]?.diff_state).toBe("ready");
    artifact = found[0]?.artifact.id ?? "";
  }).toPass(slow);
  return { run: run.id, artifact };
}

const changes = (page: Page) => page.getByRole("region", { name: "Changes" });

test("a pushed branch is read, sent back, compared and approved", async ({ page, admin, server }) => {
  test.setTimeout(400_000);
  const name = unique("shop");
  const { artifact } = await start_run(admin, make_repo(await repos_folder(admin, server), name), name);

  await page.goto("/s/default/inbox?kind=branch");
  const row = page.getByRole("row").filter({ hasText: name });
  await expect(row).toContainText("3 files");
  await expect(page.getByRole("link", { name: /^Inbox/ }).locator(".counter")).toBeVisible();
  await check_page(page);
  await row.getByRole("link").first().click();
  await expect(page).toHaveURL(new RegExp(artifact));
  await expect(page.getByRole("heading", { level: 1 })).toHaveText("Guard the mean against an empty basket");

  // Highlighted lines with changed words and marks for invisible characters.
  const lines = changes(page);
  await expect(lines.locator(".diff-line.deleted").first()).toContainText("return self.total() / len(self.items)");
  await expect(lines.locator(".diff-line.added .word").first()).toHaveText("max(");
  await check_page(page);
  await page.keyboard.press("s");
  await expect(lines.locator(".diff-split").first()).toBeVisible();
  await check_page(page);
  await page.keyboard.press("s");

  // A comment on a line.
  await lines.getByRole("button", { name: "Comment on line 6" }).first().click();
  await page
    .getByRole("textbox", { name: "Comment on line 6" })
    .fill("Is **zero** right? <img src=x onerror=alert(1)>");
  await page.keyboard.press("Control+Enter");
  const thread = page.getByRole("region", { name: "Thread on basket.py:6" });
  await expect(thread.locator("strong")).toHaveText("zero");
  expect(await thread.locator("img").count()).toBe(0);
  await check_page(page);

  // Viewed files are collapsed and counted.
  await page.keyboard.press("v");
  await expect(page.getByText("1 of 3 viewed")).toBeVisible();

  // Back to the worker; it pushes again.
  await page.keyboard.press("r");
  const dialog = page.getByRole("dialog");
  await expect(dialog.getByText("1 open comment")).toBeVisible();
  await dialog.getByLabel("Comment").fill("Name the limit, please.");
  await dialog.getByRole("button", { name: "Request changes" }).click();
  await expect(page.getByLabel("Show")).toHaveValue("2", slow);
  await page.getByLabel("against").selectOption("1");
  await expect(changes(page).locator(".diff-line.added")).toHaveText([/LIMIT = 10/], slow);

  await page.getByRole("link", { name: /^Overview/ }).click();
  await expect(page.getByRole("region", { name: "Verification" }).getByText("verified")).toBeVisible(slow);
  await expect(page.getByRole("region", { name: "History" })).toContainText("changes requested");
  await expect(page.getByRole("region", { name: "Conversation" })).toContainText("sent to the session");
  await check_page(page);

  await page.keyboard.press("a");
  await expect(dialog).toBeVisible();
  // Invisible characters must be allowed by the reviewer.
  await dialog.getByLabel("I have reviewed these changes and allow them").check();
  await dialog.getByRole("button", { name: "Approve" }).click();
  await expect(page.locator(".review-summary").getByText("approved", { exact: true })).toBeVisible();
});

test("a worker that replies without a new revision gives the review back to the reviewer", async ({
  page,
  admin,
  server,
}) => {
  const name = unique("content");
  const once = script(name).replace(/else[\s\S]*fi\n/, "else\n  echo 'There is nothing to fix.'\n  exit 0\nfi\n");
  const { artifact } = await start_run(admin, make_repo(await repos_folder(admin, server), name), name, once);
  await page.goto(`/s/default/inbox/${artifact}`);
  await expect(page.getByRole("button", { name: "Request changes" })).toBeVisible();
  await page.keyboard.press("r");
  const dialog = page.getByRole("dialog");
  await dialog.getByLabel("Comment").fill("Name the limit, please.");
  await dialog.getByRole("button", { name: "Request changes" }).click();
  await expect(page.getByText("The worker ended its turn without a new revision.")).toBeVisible(slow);
  await expect(page.getByText("There is nothing to fix.")).toBeVisible();
  await check_page(page);
  await page.keyboard.press("a");
  await dialog.getByLabel("I have reviewed these changes and allow them").check();
  await dialog.getByRole("button", { name: "Approve" }).click();
  await expect(page.locator(".review-summary").getByText("approved", { exact: true })).toBeVisible();
});

test("of ten thousand lines only the visible ones are drawn", async ({ page, admin, server }) => {
  const name = unique("large");
  const { artifact } = await start_run(admin, make_repo(await repos_folder(admin, server), name), name);
  await page.goto(`/s/default/inbox/${artifact}?at=big.py:new:9000`);
  const lines = changes(page);
  await expect(lines.getByText('value_9000 = compute("name 9000", 9000)')).toBeVisible(slow);
  expect(await lines.locator(".diff-line").count()).toBeLessThan(200);
  const tree = page.getByRole("navigation", { name: "Changed files" });
  await expect(tree.getByRole("button", { name: /big\.py/ })).toHaveAttribute("aria-current", "true");

  // Characters that change the direction are marked, and tags are text.
  await tree.getByRole("button", { name: /odd\.py/ }).click();
  await expect(lines.locator(".unseen", { hasText: "U+202E" })).toBeVisible();
  await expect(lines.getByText("<b>bold</b>")).toBeVisible();

  await page.setViewportSize({ width: 390, height: 800 });
  await expect(lines.locator(".diff-line").first()).toBeVisible();
  await check_page(page);
});

test("a repository is added, fetched and deleted", async ({ page, admin, server }) => {
  const name = unique("kept");
  const url = make_repo(await repos_folder(admin, server), name);
  await page.goto("/s/default/repos");
  await page.getByRole("button", { name: "Add repository" }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByRole("textbox", { name: "Address" }).fill("ssh://git@example.com/shop");
  await dialog.getByRole("button", { name: "Add and fetch" }).click();
  await expect(dialog.getByRole("alert")).toContainText("ssh is not supported");
  await check_page(page);
  await dialog.getByRole("textbox", { name: "Address" }).fill(url);
  await dialog.getByRole("button", { name: "Add and fetch" }).click();
  await expect(page.getByRole("heading", { name, level: 1 })).toBeVisible();
  await expect(page.locator(".facts").getByText("ready", { exact: true })).toBeVisible();
  await expect(page.getByRole("cell", { name: "refs/heads/main" })).toBeVisible();
  await check_page(page);

  await page.getByRole("button", { name: "Delete…" }).click();
  await page.getByRole("button", { name: "Delete repository" }).click();
  await expect(page.getByRole("heading", { name: "Repositories", level: 1 })).toBeVisible();
  await expect(page.getByRole("link", { name, exact: true })).toHaveCount(0);
});

test("the Inbox works with the keyboard only", async ({ page, admin, server }) => {
  const name = unique("typed");
  const url = make_repo(await repos_folder(admin, server), name);
  const first = await start_run(admin, url, name);
  await start_run(admin, url, name);
  const press = (keys: string) => page.keyboard.press(keys);
  const at = (artifact: string) => expect(page).toHaveURL(new RegExp(`/inbox/${artifact}`));
  const dialog = page.getByRole("dialog");

  // From the list, the oldest first, into a review.
  await page.goto(`/s/default/inbox?q=${name}`);
  await expect(page.getByRole("row").filter({ hasText: name })).toHaveCount(2);
  await press("j");
  await press("j");
  await press("k");
  await press("x");
  await expect(page.getByText("1 selected")).toBeVisible();
  await press("x");
  await press("Enter");
  await at(first.artifact);

  // From change to change over the border of a file that is longer than the page, and back.
  const chosen = changes(page).locator(".chosen");
  const file = page.getByRole("navigation", { name: "Changed files" }).locator("[aria-current=true]");
  await expect(changes(page).locator(".diff-line").first()).toBeVisible(slow);
  await press("j");
  await expect(chosen).toContainText("return self.total() / len(self.items)");
  await press("j");
  await expect(chosen).toContainText("value_1 =");
  await press("j");
  await expect(chosen).toContainText("hidden =");
  await expect(file).toContainText("odd.py");
  await press("k");
  await expect(chosen).toContainText("value_1 =");
  await press("ArrowDown");
  await expect(chosen).toContainText("value_2 =");
  await press("ArrowUp");
  await expect(chosen).toContainText("value_1 =");

  // Files: the previous one, collapsed and expanded.
  await press("K");
  await expect(file).toContainText("basket.py");
  await press("x");
  await expect(changes(page).getByText("return self.total() / len(self.items)")).toHaveCount(0);
  await expect(file).toContainText("basket.py");
  await changes(page).dispatchEvent("scroll"); // one that comes late, from the way here
  await press("x");
  await expect(changes(page).getByText("return self.total() / len(self.items)")).toBeVisible();

  // A comment on the line, cancelled before it is sent.
  await press("j");
  await press("c");
  await page.getByRole("textbox", { name: "Comment on old line 6" }).fill("not yet");
  await press("Escape");
  await expect(page.getByRole("textbox", { name: "Comment on old line 6" })).toHaveCount(0);
  await press("s");
  await expect(chosen.first()).toContainText("return self.total()");
  await press("s");

  // Each decision has a dialog; Escape cancels it.
  for (const [key, title] of [
    ["a", "Approve"],
    ["r", "Request changes"],
    ["X", "Reject"],
  ] as const) {
    await press(key);
    await expect(dialog.getByRole("heading", { name: new RegExp(`^${title}: `) })).toBeVisible();
    await press("Escape");
    // Wait until it is removed: the close event of a dialog comes shortly after it is hidden.
    await expect(page.locator("dialog")).toHaveCount(0);
  }
  // The next and previous reviews are known once the list is loaded.
  await expect(page.getByRole("button", { name: "Next pending review" })).toBeEnabled();
  await press("n");
  await expect(page).not.toHaveURL(new RegExp(first.artifact));
  await expect(page.getByRole("button", { name: "Previous pending review" })).toBeEnabled();
  await press("p");
  await at(first.artifact);
  await press("X");
  await expect(dialog.getByRole("heading", { name: /^Reject: / })).toBeVisible();
  await page.keyboard.type("Not wanted.");
  await press("Control+Enter");
  await expect(page.locator(".review-summary").getByText("rejected", { exact: true })).toBeVisible();
  await press("u");
  await expect(page.getByRole("heading", { name: "Inbox", level: 1 })).toBeVisible();
  await expect(page.getByRole("link", { name: "Rejected" })).toBeVisible();
  await page.goto(`/s/default/inbox?q=${name}&kind=file`);
  await expect(page.getByText("No rows match the filter.")).toBeVisible();
});
