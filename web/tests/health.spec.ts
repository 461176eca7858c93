import { check_page } from "./axe";
import { expect, test } from "./fixtures";

test("the health of an installation: checks with what to do, servers, and what spans need", async ({ page }) => {
  await page.goto("/installation/health");
  const checks = page.getByRole("region", { name: "Checks" });
  for (const name of ["database", "span store", "object store", "disk", "backups"])
    await expect(checks.getByText(name, { exact: true })).toBeVisible();
  await expect(checks.getByText(/^: hone backup store:/)).toBeVisible(); // there is none
  const servers = page.getByRole("table", { name: "Servers", exact: true });
  await expect(servers.getByRole("row").filter({ hasText: "this one" })).toContainText("live");
  const capacity = page.getByRole("region", { name: "Capacity" });
  await expect(capacity.getByText("Size of a span")).toBeVisible();
  await expect(capacity.getByText("Price of it a month")).toBeVisible();
  await capacity.getByLabel("Days that spans are kept").fill("0");
  await expect(capacity.getByText("$0", { exact: true })).toBeVisible();
  await check_page(page);
});
