import { type ChildProcess, spawn } from "node:child_process";
import { createHash, createHmac, generateKeyPairSync } from "node:crypto";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { check_page } from "./axe";
import { expect, fill_login, test } from "./fixtures";
import { admin_email, admin_password, type Server, start_server } from "./server";

async function free_port(): Promise<number> {
  const probe = createServer();
  await new Promise<void>((done) => probe.listen(0, "127.0.0.1", done));
  const address = probe.address();
  await new Promise((done) => probe.close(done));
  if (address === null || typeof address === "string") throw new Error("no port");
  return address.port;
}

/** RFC 6238, as an authenticator app computes it. */
function one_time_code(key: string): string {
  let bits = "";
  for (const letter of key) bits += "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567".indexOf(letter).toString(2).padStart(5, "0");
  const secret = Buffer.from(bits.match(/.{8}/g)?.map((byte) => Number.parseInt(byte, 2)) ?? []);
  const counter = Buffer.alloc(8);
  counter.writeBigUInt64BE(BigInt(Math.floor(Date.now() / 30_000)));
  const digest = createHmac("sha1", secret).update(counter).digest();
  const offset = (digest[19] ?? 0) & 15;
  return String((digest.readUInt32BE(offset) & 0x7fffffff) % 1_000_000).padStart(6, "0");
}

test.describe("single sign-on", () => {
  let own: Server;
  let provider: ChildProcess;
  let folder: string;
  let url: string;
  let issuer: string;
  test.use({ storageState: { cookies: [], origins: [] } });
  test.beforeAll(async () => {
    const port = await free_port();
    const provider_port = await free_port();
    // Two sites: cookies of one port would be sent to the other one of the same host.
    url = `http://localhost:${port}`;
    issuer = `http://127.0.0.1:${provider_port}`;
    own = await start_server("serve", [
      ...["--listen", `127.0.0.1:${port}`, "--public-url", url],
      ...["--sign-on-private-addresses", "true"],
    ]);
    folder = mkdtempSync(join(tmpdir(), "hone-oidc-"));
    const pem = generateKeyPairSync("rsa", { modulusLength: 2048 }).privateKey.export({ type: "pkcs8", format: "pem" });
    writeFileSync(join(folder, "key.json"), JSON.stringify({ kid: "one", pem }));
    const ada = { email: "ada@example.com", name: "Ada", groups: ["engineers"] };
    writeFileSync(join(folder, "people.json"), JSON.stringify({ ada }));
    const script = fileURLToPath(new URL("../../tests/oidc_provider.mjs", import.meta.url));
    const words = [script, String(provider_port), url, join(folder, "people.json"), join(folder, "key.json")];
    provider = spawn("node", words, { stdio: ["ignore", "pipe", "ignore"] });
    await new Promise((done) => provider.stdout?.once("data", done));
  });
  test.afterAll(async () => {
    provider.kill();
    await own.stop();
    rmSync(folder, { recursive: true, force: true });
  });

  test("an owner adds a provider, and people sign in with its button and open the page they wanted", async ({
    page,
    browser,
  }) => {
    await page.goto(`${url}/installation/sign-on`);
    await fill_login(page, admin_email, admin_password);
    await expect(page.getByText("No providers yet")).toBeVisible();
    await expect(page.getByRole("region", { name: "Passwords" })).toContainText("all accounts that have one");
    await page.getByRole("button", { name: "Add provider" }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByLabel("Name").fill("real");
    await dialog.getByLabel("Button text").fill("Company");
    await dialog.getByLabel("Issuer").fill(issuer);
    await dialog.getByLabel("Client id").fill("hone");
    await dialog.getByLabel("Client secret").fill("a secret: 100% + more");
    await dialog.getByLabel("Scopes").fill("openid email profile groups");
    await dialog.getByRole("button", { name: "Add mapping" }).click();
    await dialog.getByLabel("Group", { exact: true }).fill("engineers");
    await dialog.getByLabel("Role").selectOption("member");
    await check_page(page);
    await dialog.getByRole("button", { name: "Add provider" }).click();
    await page.getByRole("button", { name: "Check", exact: true }).click();
    await expect(page.getByRole("status").filter({ hasText: "Reachable" })).toBeVisible();
    await check_page(page);

    const context = await browser.newContext({ storageState: { cookies: [], origins: [] } });
    const guest = await context.newPage();
    await guest.goto(`${url}/s/default/settings/members?q=ada`);
    await guest.getByRole("link", { name: "Sign in with Company" }).click();
    await expect(guest).toHaveURL(new RegExp(`^${issuer}/`));
    await guest.getByLabel("Name").fill("ada");
    await guest.getByRole("button", { name: "Continue" }).click();
    await expect(guest).toHaveURL(`${url}/s/default/settings/members?q=ada`);
    await expect(guest.getByRole("table", { name: "Members", exact: true }).getByText("ada@example.com")).toBeVisible();
    const session = (await context.cookies(url)).find((cookie) => cookie.name === "hone_session");
    expect(session?.sameSite).toBe("Strict");
    expect((await context.cookies(`${url}/v1/login/`)).some((cookie) => cookie.name === "hone_sign_on")).toBe(false);

    // The owner sees the group with its role and its person.
    await page.goto(`${url}/installation/groups`);
    const groups = page.getByRole("table", { name: "Groups", exact: true });
    await expect(groups.getByRole("row")).toHaveCount(2);
    await expect(groups.getByRole("row").last()).toContainText("engineers");
    await expect(groups.getByRole("row").last()).toContainText("member in default");
    await expect(groups.getByRole("row").last()).toContainText("ada@example.com");
    await check_page(page);

    // The owner sees the login and ends it.
    await page.goto(`${url}/installation/logins`);
    await page.getByRole("button", { name: "End the login of ada@example.com" }).click();
    await expect(page.getByText("Login of ada@example.com ended")).toBeVisible();
    await guest.reload();
    await expect(guest.getByRole("link", { name: "Sign in with Company" })).toBeVisible();
    await check_page(guest);
    await context.close();
  });

  test("a person lets an outside agent in, sees it under Account and ends it", async ({ page, request }) => {
    const registered = await request.post(`${url}/oauth/register`, {
      data: { client_name: "Helpful agent", redirect_uris: ["http://127.0.0.1/callback"] },
    });
    const { client_id } = (await registered.json()) as { client_id: string };
    const verifier = "a-verifier-that-is-long-enough-for-the-server-to-take";
    const parameters = new URLSearchParams({
      client_id,
      redirect_uri: "http://127.0.0.1:5/callback",
      response_type: "code",
      code_challenge: createHash("sha256").update(verifier).digest("base64url"),
      code_challenge_method: "S256",
      state: "kept",
    });
    // The agent's own page; the browser comes from another site.
    await page.route("http://127.0.0.1:5/**", (route) => route.fulfill({ contentType: "text/html", body: "Welcome" }));
    await page.goto(`http://127.0.0.1:5/callback?start`);
    await page.evaluate((address) => window.location.assign(address), `${url}/authorize?${parameters}`);
    await fill_login(page, admin_email, admin_password);
    await expect(page.getByRole("heading", { level: 1 })).toHaveText("Let Helpful agent in?");
    await expect(page.getByText("this one continues at 127.0.0.1")).toBeVisible();
    await check_page(page);
    await page.getByRole("button", { name: "Allow" }).click();
    await expect(page).toHaveURL(/^http:\/\/127\.0\.0\.1:5\/callback\?state=kept&/);
    const code = new URL(page.url()).searchParams.get("code") ?? "";
    const exchanged = await request.post(`${url}/oauth/token`, {
      form: {
        grant_type: "authorization_code",
        client_id,
        code,
        redirect_uri: "http://127.0.0.1:5/callback",
        code_verifier: verifier,
      },
    });
    expect(exchanged.status()).toBe(200);
    await page.goto(`${url}/account`);
    await page.getByRole("button", { name: "End the access of Helpful agent" }).click();
    await expect(page.getByText("Helpful agent has no access any more")).toBeVisible();

    // An address that was not registered: the page shows why, and goes nowhere.
    parameters.set("redirect_uri", "https://evil.example/");
    await page.goto(`${url}/authorize?${parameters}`);
    await expect(page.getByText("did not register this redirect_uri")).toBeVisible();
    await expect(page.getByRole("button", { name: "Allow" })).toHaveCount(0);
  });
});

test.describe("second factor", () => {
  let own: Server;
  test.use({ storageState: { cookies: [], origins: [] } });
  test.beforeAll(async () => {
    own = await start_server();
  });
  test.afterAll(async () => own.stop());

  test("a user adds an authenticator app, and the next login needs a code", async ({ page }) => {
    await page.goto(`${own.url}/account`);
    await fill_login(page, admin_email, admin_password);
    const section = page.getByRole("region", { name: "Second factor" });
    await section.getByLabel("Password").fill(admin_password);
    await section.getByRole("button", { name: "Set up" }).click();
    const key = ((await section.getByRole("group", { name: "key" }).textContent()) ?? "").trim();
    await section.getByRole("textbox", { name: "Code" }).fill(one_time_code(key));
    await check_page(page);
    await section.getByRole("button", { name: "Turn on" }).click();
    const dialog = page.getByRole("dialog", { name: "Recovery codes" });
    const codes = ((await dialog.getByRole("group", { name: "secret" }).textContent()) ?? "").trim().split("\n");
    expect(codes).toHaveLength(10);
    await dialog.getByRole("button", { name: "Done" }).click();
    await expect(section.getByText("10 recovery codes left")).toBeVisible();

    await page.getByRole("button", { name: /^You:/ }).click();
    await page.getByRole("menuitem", { name: "Log out" }).click();
    await fill_login(page, admin_email, admin_password);
    await page.getByRole("textbox", { name: "Code" }).fill(codes[0] ?? "");
    await page.getByRole("button", { name: "Log in" }).click();
    await expect(page.getByRole("button", { name: /^You:/ })).toBeVisible();
  });
});
