// Shared by the specs: one server per worker, a logged-in page, and the API as the same user.

import { join } from "node:path";
import {
  type APIRequestContext,
  type Browser,
  type BrowserContext,
  test as base,
  expect,
  type Page,
} from "@playwright/test";
import { admin_email, admin_password, type Server, start_server } from "./server";

export { expect };

/** Requests with a login cookie, for the setup of a spec. */
export class Person {
  private constructor(
    private readonly request: APIRequestContext,
    private readonly url: string,
    private readonly csrf_token: string,
  ) {}

  static async log_in(request: APIRequestContext, url: string, email: string, password: string): Promise<Person> {
    const response = await request.post(`${url}/v1/login`, { data: { email, password } });
    expect(response.ok(), await response.text()).toBe(true);
    return new Person(request, url, (await response.json()).data.csrf_token);
  }

  async send<T>(method: string, path: string, data?: unknown): Promise<T> {
    const headers = { "X-CSRF-Token": this.csrf_token };
    const response = await this.request.fetch(`${this.url}${path}`, { method, data, headers });
    expect(response.ok(), `${method} ${path}: ${await response.text()}`).toBe(true);
    return response.status() === 204 ? (undefined as T) : ((await response.json()).data as T);
  }
}

interface WorkerFixtures {
  server: Server;
  /** A browser context's storage with the admin's login. */
  login: { cookies: Awaited<ReturnType<BrowserContext["cookies"]>>; origins: [] };
}

interface TestFixtures {
  /** The admin, over the API. */
  admin: Person;
}

export const test = base.extend<TestFixtures, WorkerFixtures>({
  server: [
    // biome-ignore lint/correctness/noEmptyPattern: Playwright reads the fixture's needs from this pattern
    async ({}, use) => {
      const server = await start_server();
      await use(server);
      await server.stop();
    },
    { scope: "worker" },
  ],
  login: [
    async ({ browser, server }, use) => {
      const context = await browser.newContext();
      await Person.log_in(context.request, server.url, admin_email, admin_password);
      await use({ cookies: await context.cookies(), origins: [] });
      await context.close();
    },
    { scope: "worker" },
  ],
  baseURL: async ({ server }, use) => use(server.url),
  storageState: async ({ login }, use) => use(login),
  admin: async ({ playwright, server }, use) => {
    const request = await playwright.request.newContext();
    await use(await Person.log_in(request, server.url, admin_email, admin_password));
    await request.dispose();
  },
});

/** A browser without a login. */
export async function guest_page(browser: Browser, url: string): Promise<Page> {
  const context = await browser.newContext({ baseURL: url, storageState: { cookies: [], origins: [] } });
  return context.newPage();
}

export async function fill_login(page: Page, email: string, password: string): Promise<void> {
  await page.getByLabel("Email").fill(email);
  await page.getByLabel("Password").fill(password);
  await page.getByRole("button", { name: "Log in" }).click();
}

let counter = 0;
/** Specs of one worker share a server, so every object has a unique name. */
export function unique(name: string): string {
  counter += 1;
  return `${name}-${process.pid}-${counter}`;
}

/** The folder of the default space's repositories on the server itself. */
export async function repos_folder(admin: Person, server: Server): Promise<string> {
  const spaces = await admin.send<{ id: string; name: string }[]>("GET", "/v1/spaces");
  const space = spaces.find((one) => one.name === "default");
  if (!space) throw new Error("there is no space named default");
  return join(server.directory, "repos", space.id);
}
