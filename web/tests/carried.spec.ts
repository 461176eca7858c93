// What a person chose on one page is there on the next: the time range everywhere, the filter on the lists of a project.

import { with_chat } from "./chat";
import { expect, test } from "./fixtures";

test("the chosen time range stays on every page", async ({ page, request, server, admin }) => {
  const [project] = await with_chat(request, server.url, admin);
  const link = (name: string) =>
    page.getByRole("navigation", { name: "Main" }).getByRole("link", { name, exact: true });
  const range = page.getByRole("button", { name: /^Time range/ });
  await page.goto(`/s/default/projects/${project}`);
  await expect(range).toHaveText("Last 24 h");
  await link("Chat sessions").click();
  await expect(range).toHaveText("Last 7 d");

  await range.click();
  await page.getByRole("menuitemradio", { name: "Last 6 h" }).click();
  for (const name of ["Overview", "Traces", "Signal", "Logs", "Projects"]) {
    await link(name).first().click();
    await expect(page).toHaveURL(/range=6h/);
    await expect(range).toHaveText("Last 6 h");
  }
  await page.goBack();
  await expect(page).toHaveURL(/logs\?range=6h/);

  // The default of a page can be chosen too, and is then the range of the other pages.
  await range.click();
  await page.getByRole("menuitemradio", { name: "Last 24 h" }).click();
  await link("Chat sessions").click();
  await expect(range).toHaveText("Last 24 h");

  // A page without a range in between, and a reload, lose nothing.
  await link("SQL").click();
  await expect(page).not.toHaveURL(/range/);
  await page.reload();
  await link("Signal").click();
  await expect(range).toHaveText("Last 24 h");
});

test("the filter of the traces is there after a visit of other pages, and a second click removes it", async ({
  page,
  request,
  server,
  admin,
}) => {
  const [project, trace] = await with_chat(request, server.url, admin);
  const list = page.getByRole("table", { name: "Traces", exact: true });
  const bar = page.getByRole("combobox", { name: "Filter traces by their spans" });
  const link = (name: string) =>
    page.getByRole("navigation", { name: "Main" }).getByRole("link", { name, exact: true });
  await page.goto(`/s/default/projects/${project}/traces`);
  await bar.fill('name = "lookup_order"');
  await bar.press("Enter");
  await expect(page).toHaveURL(/filter=name/);
  await list.getByRole("link", { name: "POST /chat" }).click();
  await expect(page).toHaveURL(new RegExp(`/traces/${trace}`));
  await page.getByRole("banner").getByRole("link", { name: "Traces" }).click();
  await expect(bar).toHaveValue('name = "lookup_order"');

  await link("Overview").click();
  await link("Chat sessions").click();
  await expect(bar).toHaveValue('name = "lookup_order"');
  await link("Traces").click();
  await expect(bar).toHaveValue('name = "lookup_order"');
  await link("Traces").click();
  await expect(bar).toHaveValue("");
  await link("Chat sessions").click();
  await expect(bar).toHaveValue("");
});
