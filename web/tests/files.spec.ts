import type { Settings } from "../src/api_types";
import { check_page } from "./axe";
import { expect, test, unique } from "./fixtures";

interface Run {
  id: string;
  state: string;
}

const hostile = `<h1>Report</h1><script>parent.document.title = "owned"; document.title = "owned"</script>
<img src=x onerror="document.body.append('owned')"><a href="javascript:alert(1)">x</a>`;
const notebook = JSON.stringify({
  nbformat: 4,
  cells: [{ cell_type: "code", source: "1 + 1", outputs: [{ output_type: "stream", text: ["two"] }] }],
});

async function ended(admin: { send: <T>(method: string, path: string, body?: unknown) => Promise<T> }, id: string) {
  await expect
    .poll(async () => (await admin.send<Run>("GET", `/v1/runs/${id}`)).state, { timeout: 120_000 })
    .toMatch(/succeeded|failed/);
}

test("files are uploaded in Studio, browsed with previews, and a page of a worker runs no script", async ({
  page,
  admin,
}) => {
  const project = unique("filed");
  await admin.send("POST", "/v1/projects", { name: project });
  await page.goto(`/s/default/studio?project=${project}`);
  await page.getByLabel("Use").selectOption("harness:command");
  await page.getByLabel("Command").fill("/bin/cat data.csv");
  await page.getByText("Repository, dependencies, sandbox and budget").click();
  await page.getByLabel("PyPI").check();
  await page.getByLabel("Setup installs").selectOption("auto");
  await page.getByLabel("Most turns").fill("5");
  await page.getByLabel("to", { exact: true }).fill("Read it");
  await page.getByLabel("Files for the session").setInputFiles([
    { name: "data.csv", mimeType: "text/csv", buffer: Buffer.from('city,count\n"Bonn, west",3\n') },
    { name: "report.html", mimeType: "text/html", buffer: Buffer.from(hostile) },
    { name: "work.ipynb", mimeType: "application/json", buffer: Buffer.from(notebook) },
  ]);
  await expect(page.getByText("/workspace/work.ipynb")).toBeVisible();
  await check_page(page);
  await page.getByRole("button", { name: "Start session" }).click();
  await expect(page).toHaveURL(/\/runs\/run_/);
  const id = /run_\w+/.exec(page.url())?.[0] ?? "";
  await ended(admin, id);
  const { settings } = await admin.send<{ settings: Settings }>("GET", `/v1/runs/${id}/manifest`);
  expect(settings.sandbox).toMatchObject({ packages: ["pypi"], setup: "auto" });
  await expect(page.getByText("1 of 5")).toBeVisible();

  await page.getByRole("link", { name: "Files", exact: true }).click();
  const files = page.getByRole("table", { name: "Files", exact: true });
  await files.getByText("data.csv").click();
  await expect(page.getByRole("cell", { name: "Bonn, west" })).toBeVisible();
  await check_page(page);
  await files.getByText("work.ipynb").click();
  await expect(page.locator(".preview-notebook").getByText("two")).toBeVisible();
  await files.getByText("report.html").click();
  const frame = page.frameLocator("iframe.preview-frame");
  await expect(frame.getByRole("heading", { name: "Report" })).toBeVisible();
  await expect(frame.getByText("owned", { exact: true })).toHaveCount(0);
  expect(await page.title()).not.toContain("owned");
  // Also when it is opened by itself, the file runs nothing: it is in a sandbox of its own.
  const response = await page.goto(`/v1/runs/${id}/files/content?path=report.html&preview=page`);
  expect(response?.headers()["content-security-policy"]).toContain("sandbox;");
  await expect(page.getByRole("heading", { name: "Report" })).toBeVisible();
  expect(await page.title()).not.toContain("owned");
});

test("runs are found in the history, renamed, kept and deleted", async ({ page, admin }) => {
  const project = unique("recorded");
  await admin.send("POST", "/v1/projects", { name: project });
  const title = unique("old run");
  const run = await admin.send<Run>("POST", "/v1/runs", {
    project,
    prompt: "look",
    title,
    settings: { harness: "command", command: ["/bin/true"] },
  });
  await ended(admin, run.id);
  await page.goto("/s/default/history?harness=command");
  await page.getByLabel("Filter by title").fill(title);
  const list = page.getByRole("table", { name: "Run history", exact: true });
  await expect(list.getByText(title)).toBeVisible();
  await check_page(page);
  await page.getByLabel("All states").selectOption("Cancelled");
  await expect(page.getByText("No runs match")).toBeVisible();
  await page.getByLabel("All states").selectOption("Succeeded");
  await list.getByText(title).click();

  await expect(page).toHaveURL(new RegExp(run.id));
  const menu = page.getByRole("button", { name: "More actions", exact: true });
  await menu.click();
  await page.getByRole("menuitem", { name: "Rename…" }).click();
  await page.getByLabel("Title").fill(`${title} renamed`);
  await page.getByRole("button", { name: "Rename", exact: true }).click();
  await expect(page.getByRole("heading", { name: `${title} renamed` })).toBeVisible();
  await menu.click();
  await page.getByRole("menuitem", { name: "Keep from expiry" }).click();
  await expect(page.getByText("Kept by")).toBeVisible();
  await menu.click();
  await page.getByRole("menuitem", { name: "Delete…" }).click();
  await page.getByLabel("Type delete to confirm").fill("delete");
  await page.getByRole("button", { name: "Delete run" }).click();
  await expect(page).toHaveURL(/\/history/);
  await expect(page.getByText("Run deleted")).toBeVisible();
});

test("installation owners see what is stored and collect it", async ({ page }) => {
  await page.goto("/installation/storage");
  const table = page.getByRole("table", { name: "Storage", exact: true });
  await expect(table.getByText("Workspaces")).toBeVisible();
  await expect(table.getByText("age=30d count=1000 bytes=15%")).toBeVisible();
  await check_page(page);
  await page.getByRole("button", { name: "Collect now" }).click();
  await expect(page.getByText(/Nothing to remove|removed/).first()).toBeVisible();
});

test("the page of an example shows the image that it names", async ({ page, admin }) => {
  const project = unique("pictured");
  await admin.send("POST", "/v1/projects", { name: project });
  const pixel = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg==";
  const script = `echo ${pixel} | base64 -d > p.png; hone save_file --name p.png --file p.png; hone save_file --name n.txt --text note`;
  const settings: Partial<Settings> = { harness: "command", command: ["/bin/sh", "-c", script] };
  const run = await admin.send<Run>("POST", "/v1/runs", { project, prompt: "draw", settings });
  await ended(admin, run.id);
  const saved = await admin.send<{ id: string; name: string }[]>("GET", `/v1/artifacts?run=${run.id}`);
  const id_of = (name: string) => saved.find((each) => each.name === name)?.id;
  const name = unique("pictures");
  await admin.send("POST", "/v1/datasets/upload", {
    action: "create",
    name,
    inputs: [{ title: "a point", picture: { $file: id_of("p.png") }, note: { $file: id_of("n.txt") } }],
  });
  await page.goto("/s/default/datasets");
  await page.getByRole("link", { name, exact: true }).click();
  await page.getByRole("table", { name: "Examples", exact: true }).getByRole("row").nth(1).click();
  const input = page.getByRole("complementary").getByRole("region", { name: "Input" });
  const image = input.getByRole("img", { name: `File ${id_of("p.png")}` });
  await expect(image).toBeVisible();
  await expect.poll(() => image.evaluate((node: HTMLImageElement) => node.naturalWidth)).toBe(1);
  // What is no image is a link.
  await expect(input.getByRole("link", { name: `File ${id_of("n.txt")}` })).toHaveAttribute(
    "href",
    `/v1/artifacts/${id_of("n.txt")}/content`,
  );
  await expect(input.getByRole("img")).toHaveCount(1);
});
