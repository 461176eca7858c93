import { check_page } from "./axe";
import { with_chat } from "./chat";
import { expect, test, unique } from "./fixtures";

test("the palette finds pages, projects and actions", async ({ page, admin }) => {
  const name = unique("palette");
  await admin.send("POST", "/v1/projects", { name });
  await page.goto("/s/default");
  await expect(page.getByRole("heading", { level: 1 })).toBeVisible();
  await page.keyboard.press("Control+k");
  const box = page.getByRole("combobox", { name: /^Search pages/ });
  await box.fill("memb");
  await expect(page.getByRole("listbox").getByRole("option").first()).toContainText("Members");
  await box.press("Enter");
  await expect(page.getByRole("heading", { name: "Members" })).toBeVisible();

  await page.getByRole("button", { name: /^Search/ }).click();
  await box.fill(name);
  await expect(page.getByRole("listbox").getByRole("option").first()).toContainText(name);
  await box.press("Enter");
  await expect(page.getByRole("heading", { level: 1, name })).toBeVisible();

  await page.keyboard.press("Control+k");
  await box.fill("create a proj");
  await box.press("Enter");
  await expect(page.getByRole("dialog", { name: "Create a project" })).toBeVisible();
  await page.keyboard.press("Escape");
  await expect(page.getByRole("dialog")).toHaveCount(0);

  await page.keyboard.press("Control+k");
  await box.fill("zzzzz");
  await expect(page.getByText("No results for “zzzzz”.")).toBeVisible();
});

test("g and a letter goes to a page, ? lists the keys, [ collapses the sidebar", async ({ page }) => {
  await page.goto("/s/default");
  await expect(page.getByRole("heading", { level: 1 })).toBeVisible();
  await page.keyboard.press("g");
  await page.keyboard.press("k");
  await expect(page.getByRole("heading", { name: "API keys" })).toBeVisible();
  await page.keyboard.press("g");
  await page.keyboard.press("p");
  await expect(page.getByRole("heading", { name: "Projects", exact: true })).toBeVisible();

  await page.keyboard.press("?");
  const help = page.getByRole("dialog", { name: "Keyboard shortcuts" });
  await expect(help).toContainText("Create a project");
  await expect(help).toContainText("Members");
  await page.keyboard.press("Escape");
  await expect(help).toHaveCount(0);

  await page.keyboard.press("[");
  await expect(page.getByRole("button", { name: "Expand the sidebar" })).toBeVisible();
  await page.keyboard.press("[");
  await expect(page.getByRole("button", { name: "Collapse the sidebar" })).toBeVisible();
});

test("j, k and Enter work in a list", async ({ page, admin }) => {
  const mark = unique("walk");
  for (const part of ["a", "b"]) await admin.send("POST", "/v1/projects", { name: `${mark}-${part}` });
  await page.goto(`/s/default/projects?q=${mark}`);
  await expect(page.getByRole("row")).toHaveCount(3);
  for (const key of ["j", "j", "k", "j", "Enter"]) await page.keyboard.press(key);
  await expect(page.getByRole("heading", { level: 1, name: `${mark}-b` })).toBeVisible();
  await page.goBack();
  await expect(page.getByRole("row")).toHaveCount(3);
});

test("keyboard shortcuts are off while the user types", async ({ page, admin }) => {
  await admin.send("POST", "/v1/projects", { name: unique("typing") });
  await page.goto("/s/default/projects");
  await page.getByLabel("Filter projects").fill("");
  await page.getByLabel("Filter projects").pressSequentially("g k ?");
  await expect(page.getByLabel("Filter projects")).toHaveValue("g k ?");
  await expect(page.getByRole("heading", { name: "Projects", exact: true })).toBeVisible();
  await expect(page.getByRole("dialog")).toHaveCount(0);
});

test("a dialog returns the focus", async ({ page, admin }) => {
  await admin.send("POST", "/v1/projects", { name: unique("focus") });
  await page.goto("/s/default/projects");
  const button = page.getByRole("button", { name: "Create project" });
  await button.focus();
  await page.keyboard.press("Enter");
  await expect(page.getByRole("textbox", { name: "Name", exact: true })).toBeFocused();
  await page.keyboard.press("Escape");
  await expect(button).toBeFocused();
});

test("a dialog that a key opens right after another was closed stays open", async ({ page, admin }) => {
  await admin.send("POST", "/v1/projects", { name: unique("quick") });
  await page.goto("/s/default/projects?new=1");
  await expect(page.getByRole("dialog")).toBeVisible();
  // Within one task: the browser's own event of the close comes after it.
  await page.evaluate(async () => {
    document.querySelector<HTMLElement>("dialog button[aria-label=Close]")?.click();
    for (let turn = 0; turn < 20; turn++) await Promise.resolve();
    document.body.dispatchEvent(new KeyboardEvent("keydown", { key: "c", bubbles: true }));
  });
  await page.evaluate(() => new Promise((done) => setTimeout(done, 0)));
  await expect(page).toHaveURL(/new=1/);
  await expect(page.getByRole("textbox", { name: "Name", exact: true })).toBeFocused();
  await page.keyboard.press("Escape");
  await expect(page.getByRole("dialog")).toHaveCount(0);
});

test("Escape closes a dialog before the next key, and never reopens it", async ({ page, admin }) => {
  await admin.send("POST", "/v1/projects", { name: unique("escape") });
  await page.goto("/s/default/projects?new=1");
  await expect(page.getByRole("textbox", { name: "Name", exact: true })).toBeFocused();
  // Both keys in one task: the page knows of the close before the second one.
  const open = await page.evaluate(() => {
    const press = (key: string, on: Element) =>
      on.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true, cancelable: true }));
    press("Escape", document.querySelector("dialog input") as Element);
    return document.querySelectorAll("dialog[open]").length;
  });
  expect(open).toBe(0);
  await expect(page).not.toHaveURL(/new=1/);
  await page.keyboard.press("c");
  await expect(page.getByRole("textbox", { name: "Name", exact: true })).toBeFocused();
  await page.keyboard.press("Escape");
  await expect(page.getByRole("dialog")).toHaveCount(0);
});

test("the palette finds issues, runs, presets and traces by name or id", async ({ page, request, server, admin }) => {
  const [project, trace] = await with_chat(request, server.url, admin);
  const title = unique("Orders are refused");
  await admin.send("POST", "/v1/issues", { project, title, explanation: "seen twice" });
  const settings = { harness: "command", command: ["/bin/cat"] };
  const preset = unique("echoer");
  await admin.send("POST", "/v1/presets", { name: preset, settings });
  const prompt = unique("Count the lamps");
  const run = await admin.send<{ id: string }>("POST", "/v1/runs", { project, prompt, settings });
  await page.goto("/s/default");
  await expect(page.getByRole("heading", { level: 1 })).toBeVisible();
  const box = page.getByRole("combobox", { name: /^Search pages/ });
  const first = page.getByRole("listbox").getByRole("option").first();
  const heading = page.getByRole("heading", { level: 1 });
  const open = async (text: string, shown: string) => {
    await page.keyboard.press("Control+k");
    await box.fill(text);
    await expect(first).toContainText(shown);
    await box.press("Enter");
  };
  await open(title, "Issue");
  await expect(heading).toHaveText(title);
  await open(preset, "Preset");
  await expect(heading).toHaveText(preset);
  await open(prompt.toLowerCase(), "Run");
  await expect(heading).toHaveText(prompt);
  await page.goto("/s/default");
  await expect(heading).toBeVisible();
  await open(run.id, prompt);
  await expect(page).toHaveURL(new RegExp(run.id));
  await open(trace, "Open trace");
  await expect(page).toHaveURL(new RegExp(`/projects/${project}/traces/${trace}`));

  await page.keyboard.press("Control+k");
  await box.fill("arrives on tuesday");
  await page.getByRole("option", { name: /^Search the traces of/ }).click();
  await expect(
    page.getByRole("table", { name: "Traces", exact: true }).getByRole("link", { name: "POST /chat" }),
  ).toBeVisible();

  await open("0".repeat(32), "Open trace");
  await expect(page.getByText("No project of this space has the trace", { exact: false })).toBeVisible();
});

test("the documentation is on the server, is searched, and is found by the palette", async ({ page }) => {
  await page.goto("/docs");
  await expect(page.getByRole("region", { name: "Start" }).getByRole("link").first()).toBeVisible();
  await check_page(page);
  await page.getByLabel("Search the documentation").fill("idle time");
  const hits = page.getByRole("list", { name: "Sections" });
  await expect(hits.getByRole("link", { name: "When it starts and ends" })).toBeVisible();
  await hits.getByRole("link", { name: "When it starts and ends" }).click();
  await expect(page.getByRole("heading", { level: 1 })).toHaveText(/^Sessions/);
  await expect(page.getByRole("heading", { name: "When it starts and ends" })).toBeInViewport();
  // Code is code, and a link to a file that is not served is its words.
  await expect(page.locator(".markdown pre").first()).toContainText("hone session start -p shop");
  await expect(page.getByRole("main")).not.toContainText("](");
  await expect(page.getByRole("link", { name: "gateway" }).first()).toHaveAttribute("href", /\/docs\/gateway$/);
  await check_page(page);
  await page.keyboard.press("Control+k");
  await page.getByRole("combobox", { name: /^Search pages/ }).fill("threat model");
  await expect(page.getByRole("option").first()).toContainText("Documentation");
  await page.keyboard.press("Enter");
  await expect(page).toHaveURL(/\/docs\/threat-model$/);
  await page.goto("/docs/nothing");
  await expect(page.getByRole("heading", { name: "Document not found" })).toBeVisible();
});

test("documents about the main concepts have a picture in the colours of the theme", async ({ page }) => {
  for (const [name, words] of [
    ["traces", "A chat session with two traces"],
    ["sessions", "the broker is its only way out"],
    ["sandbox", "the broker is its only way out"],
    ["broker", "the broker is its only way out"],
    ["signal", "Traces are scanned"],
    ["evaluate", "A dataset is run through an application"],
    ["review", "only then sent to the forge"],
  ] as const) {
    await page.emulateMedia({ colorScheme: "light" });
    await page.goto(`/docs/${name}`);
    const picture = page.getByRole("img", { name: words });
    await expect(picture.locator("svg"), name).toBeVisible();
    const colours = () =>
      picture
        .locator("text")
        .first()
        .evaluate((text) => [getComputedStyle(text).fill, getComputedStyle(document.body).color]);
    const [light, page_light] = await colours();
    expect(light).toBe(page_light);
    await page.emulateMedia({ colorScheme: "dark" });
    const [dark, page_dark] = await colours();
    expect(dark).toBe(page_dark);
    expect(dark).not.toBe(light);
    // Nothing is drawn beyond the picture, where it would be cut.
    const cut = await picture.evaluate((place) => {
      const whole = place.getBoundingClientRect();
      return [...place.querySelectorAll("text, rect, path")]
        .map((part) => ({ part, box: part.getBoundingClientRect() }))
        .filter(({ box }) => box.right > whole.right + 1 || box.bottom > whole.bottom + 1)
        .map(({ part }) => part.outerHTML);
    });
    expect(cut, name).toEqual([]);
  }
});
