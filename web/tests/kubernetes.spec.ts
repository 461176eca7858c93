// A server that is connected to a cluster: what a preset can set for pods, runs by their provider, and what a space allows. The
// cluster does not respond, so that runs wait.

import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test as plain_test, unique } from "./fixtures";
import { start_server } from "./server";

/** As a cluster's administrator gives it out. */
function write_kubeconfig(folder: string): string {
  const certificate = join(folder, "ca.pem");
  const words =
    "req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 -subj /CN=ca -keyout /dev/null -out";
  execFileSync("openssl", [...words.split(" "), certificate], { stdio: "ignore" });
  const authority = readFileSync(certificate).toString("base64");
  const path = join(folder, "kubeconfig");
  const cluster = { server: "https://127.0.0.1:1", "certificate-authority-data": authority };
  const config = {
    apiVersion: "v1",
    kind: "Config",
    "current-context": "test",
    users: [{ name: "a", user: { token: "token" } }],
    clusters: [{ name: "test", cluster }],
    contexts: [{ name: "test", context: { cluster: "test", user: "a", namespace: "workers" } }],
  };
  writeFileSync(path, JSON.stringify(config));
  return path;
}

const test = plain_test.extend({
  server: [
    // biome-ignore lint/correctness/noEmptyPattern: Playwright reads the fixture's needs from this pattern
    async ({}, use) => {
      const folder = mkdtempSync(join(tmpdir(), "hone-kubeconfig-"));
      const server = await start_server("serve", [
        "--kubernetes-kubeconfig",
        write_kubeconfig(folder),
        "--kubernetes-image",
        "example/worker:1",
      ]);
      await use(server);
      await server.stop();
      rmSync(folder, { recursive: true, force: true });
    },
    { scope: "worker" },
  ],
});

test("what pods do not have is disabled in the form of a preset, with the reason", async ({ page }) => {
  await page.goto("/s/default/presets/new");
  await page.locator("summary", { hasText: "Sandbox" }).click();
  await page.getByLabel("Image", { exact: true }).fill("debian");
  await page.getByLabel("Init script", { exact: true }).fill("true");
  await page.getByLabel("Provider", { exact: true }).selectOption("kubernetes");
  await expect(page.getByText("the workspace and the home end with the pod")).toBeVisible();
  for (const [label, reason] of [
    ["Image", "the installation has one image for its pods (kubernetes_image)"],
    ["Minimum isolation", "kubernetes_runtime_class is not set"],
  ] as const) {
    await expect(page.getByLabel(label, { exact: true })).toBeDisabled();
    await expect(page.getByText(`Kubernetes: ${reason}.`).first()).toBeVisible();
  }
  await expect(page.getByLabel("Image", { exact: true })).toHaveValue("host"); // what was set for this machine is gone
  await expect(page.getByLabel("Memory")).toBeEnabled();
  await expect(page.getByLabel("Init script", { exact: true })).toHaveValue("true");
  await expect(page.getByText("prepares the home of the pods once")).toBeVisible();
  await expect(page.locator("summary", { hasText: "Dependencies" })).not.toContainText("not with this provider");
  await page.getByLabel("Provider", { exact: true }).selectOption("local");
  await expect(page.getByLabel("Image", { exact: true })).toBeEnabled();
  await expect(page.getByLabel("Minimum isolation", { exact: true })).toBeEnabled();
});

test("the history of runs shows those of one provider", async ({ page, admin }) => {
  const project = unique("mixed");
  await admin.send("POST", "/v1/projects", { name: project });
  for (const provider of ["local", "kubernetes"]) {
    const settings = { harness: "command", command: ["/bin/true"], provider };
    await admin.send("POST", "/v1/runs", { project, prompt: `Work ${provider}`, settings });
  }
  await page.goto("/s/default/history");
  const table = page.getByRole("table", { name: "Run history" });
  await expect(table.getByText("Work local")).toBeVisible();
  await expect(table.getByText("Work kubernetes")).toBeVisible();
  await page.getByLabel("All providers").selectOption({ label: "Kubernetes" });
  await expect(table.getByText("Work local")).toHaveCount(0);
  await expect(table.getByText("Work kubernetes")).toBeVisible();
  await page.getByLabel("All providers").selectOption({ label: "This machine" });
  await expect(table.getByText("Work kubernetes")).toHaveCount(0);
  await expect(table.getByText("Work local")).toBeVisible();
});

test("a space allows providers one by one", async ({ page, admin }) => {
  const name = unique("strict");
  await admin.send("POST", "/v1/spaces", { name });
  await page.goto(`/s/${name}/settings/policy`);
  await expect(page.getByRole("checkbox", { name: "Kubernetes" })).toBeChecked();
  await page.getByRole("checkbox", { name: "Kubernetes" }).uncheck();
  await page.getByRole("button", { name: "Save policy" }).click();
  await expect(page.getByText("Policy saved; it applies to new runs")).toBeVisible();
  await page.reload();
  await expect(page.getByRole("checkbox", { name: "Kubernetes" })).not.toBeChecked();
  await expect(page.getByRole("checkbox", { name: "This machine" })).toBeChecked();
  const preset = (provider: string) => ({
    name: unique("preset"),
    settings: { harness: "command", command: ["true"], provider },
  });
  await expect(admin.send("POST", `/v1/presets?space=${name}`, preset("kubernetes"))).rejects.toThrow(/policy/);
  await admin.send("POST", `/v1/presets?space=${name}`, preset("local"));
  await page.goto(`/s/${name}/presets/new`);
  const option = page.getByRole("option", { name: "Kubernetes (not allowed in this space)" });
  await expect(option).toBeDisabled();
  // Without any provider nothing could run.
  await page.goto(`/s/${name}/settings/policy`);
  for (const label of ["This machine", "Claude Managed Agents"])
    await page.getByRole("checkbox", { name: label }).uncheck();
  await expect(page.getByRole("button", { name: "Save policy" })).toBeDisabled();
});
