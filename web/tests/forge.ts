// The fake forge of tests/git_server, and a server that trusts it, for specs about pull requests.

import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { request } from "node:https";
import { hostname, tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, type Person, test as plain_test, unique } from "./fixtures";
import { start_server } from "./server";

const token = "canary-2b7d94c1e05f4a68";
const script = resolve(dirname(fileURLToPath(import.meta.url)), "../../tests/git_server/forge_server.py");
const name = hostname().toLowerCase(); // a skill's host is a name

export function git(directory: string, ...args: string[]): string {
  const identity = ["-c", "user.name=Ann", "-c", "user.email=ann@example.com", "-c", "init.defaultBranch=main"];
  const env = { PATH: process.env.PATH, HOME: directory, GIT_CONFIG_NOSYSTEM: "1" };
  return execFileSync("git", ["-C", directory, ...identity, ...args], { encoding: "utf8", env }).trim();
}

export class Forge {
  readonly root = mkdtempSync(join(tmpdir(), "hone-forge-"));
  readonly certificate = join(this.root, "forge.crt");
  readonly bare = join(this.root, "team/shop.git");
  private child: ChildProcess | null = null;
  port = 0;

  async start(): Promise<void> {
    const key = join(this.root, "forge.key");
    const wanted = [
      "req",
      "-x509",
      "-newkey",
      "ec",
      "-pkeyopt",
      "ec_paramgen_curve:prime256v1",
      "-nodes",
      "-days",
      "2",
    ];
    const subject = ["-subj", "/CN=forge", "-addext", `subjectAltName=DNS:${name}`];
    execFileSync("openssl", [...wanted, ...subject, "-keyout", key, "-out", this.certificate], { stdio: "ignore" });
    const work = join(this.root, "work");
    mkdirSync(work);
    git(work, "init", "-q");
    writeFileSync(join(work, "cart.py"), "def total(): return 1\n");
    git(work, "add", ".");
    git(work, "commit", "-qm", "First");
    mkdirSync(dirname(this.bare));
    git(work, "clone", "-q", "--bare", ".", this.bare);
    const address = execFileSync("python3", ["-c", `import socket; print(socket.gethostbyname("${name}"))`], {
      encoding: "utf8",
    }).trim();
    const flags = ["--kind", "github", "--token", token, "--address", address];
    const child = spawn("python3", [script, this.root, this.certificate, key, ...flags]);
    this.child = child;
    this.port = await new Promise<number>((done, fail) => {
      child.stdout.once("data", (data) => done(Number(String(data).trim())));
      child.once("exit", () => fail(new Error("the fake forge did not start")));
    });
  }

  get home(): string {
    return `https://${name}:${this.port}`;
  }

  /** Makes the forge, or people on it, do something; forge_server.py lists what. */
  control(wanted: object): Promise<void> {
    return new Promise((done, fail) => {
      const sent = request(
        `${this.home}/__control`,
        { method: "POST", rejectUnauthorized: false, headers: { "Content-Type": "application/json" } },
        (response) => {
          response.resume();
          response.once("end", () =>
            response.statusCode === 200 ? done() : fail(new Error(`${response.statusCode}`)),
          );
        },
      );
      sent.once("error", fail);
      sent.end(JSON.stringify(wanted));
    });
  }

  /** A person pushes a commit to a branch. */
  push_commit(branch: string, message: string): void {
    const work = join(this.root, "work");
    git(work, "fetch", "-q", this.bare, branch);
    git(work, "checkout", "-q", "-B", "person", "FETCH_HEAD");
    writeFileSync(join(work, "NOTES.md"), `${message}\n`);
    git(work, "add", ".");
    git(work, "commit", "-qm", message);
    git(work, "push", "-q", this.bare, `person:refs/heads/${branch}`);
  }

  async stop(): Promise<void> {
    const child = this.child;
    if (child && child.exitCode === null) {
      const ended = new Promise<void>((done) => child.once("exit", () => done()));
      child.kill("SIGKILL");
      await ended;
    }
    rmSync(this.root, { recursive: true, force: true });
  }
}

export interface PullRequest {
  id: string;
  artifact_id: string;
  state: string;
  branch: string;
  error: string;
}

const worker = (folder: string) => `
cat > /dev/null
cd /workspace/${folder} || exit 1
n=$(git log --oneline | wc -l)
echo "def total(): return $n$n" > cart.py
git commit -qam "Count $n" && git push -q
`;

/** The name of the fake forge's repository, which is registered unless an earlier test did so. */
export async function add_repo(admin: Person, forge: Forge): Promise<string> {
  const known = await admin.send<{ name: string; url: string }[]>("GET", "/v1/repos");
  const there = known.find((one) => one.url.startsWith(`${forge.home}/team/shop`));
  if (there) return there.name;
  const repo = unique("shop");
  const skill = await admin.send<{ id: string }>("POST", "/v1/skills", {
    name: unique("forge"),
    type: "github",
    variables: { GITHUB_URL: forge.home },
    secrets: { GH_TOKEN: token },
  });
  const made = await admin.send<{ id: string }>("POST", "/v1/repos", {
    url: `${forge.home}/team/shop.git`,
    name: repo,
    skill: skill.id,
    allow_private: true,
  });
  await expect(async () => {
    const now = await admin.send<{ state: string; error: string }>("GET", `/v1/repos/${made.id}`);
    expect(`${now.state} ${now.error}`).toBe("ready ");
  }).toPass({ timeout: 120_000 });
  return repo;
}

export async function find_pull_request(admin: Person, artifact: string): Promise<PullRequest | null> {
  return (await admin.send<{ pull_request: PullRequest | null }>("GET", `/v1/reviews/${artifact}`)).pull_request;
}

/** A run pushes a branch, and it is approved. */
export async function approve_branch(admin: Person, forge: Forge, repo: string): Promise<string> {
  const project = unique("changed");
  await admin.send("POST", "/v1/projects", { name: project });
  const settings = {
    harness: "command",
    command: ["/bin/sh", "-c", worker(repo)],
    repos: [{ url: `${forge.home}/team/shop.git` }],
  };
  const run = await admin.send<{ id: string }>("POST", "/v1/runs", { project, prompt: "Count", settings });
  let artifact = "";
  await expect(async () => {
    const found = await admin.send<{ artifact: { id: string }; diff_state: string }[]>(
      "GET",
      `/v1/reviews?run=${run.id}&kind=branch`,
    );
    expect(found[0]?.diff_state).toBe("ready");
    artifact = found[0]?.artifact.id ?? "";
  }).toPass({ timeout: 120_000 });
  await admin.send("POST", `/v1/reviews/${artifact}/approve`, { revision: 1 });
  return artifact;
}

export async function open_pull_request(admin: Person, forge: Forge, repo: string): Promise<PullRequest> {
  const artifact = await approve_branch(admin, forge, repo);
  let found: PullRequest | null = null;
  await expect(async () => {
    found = await find_pull_request(admin, artifact);
    expect(`${found?.state} ${found?.error}`).toBe("open ");
  }).toPass({ timeout: 120_000 });
  return found as unknown as PullRequest;
}

export const test = plain_test.extend<object, { forge: Forge }>({
  forge: [
    // biome-ignore lint/correctness/noEmptyPattern: Playwright reads the fixture's needs from this pattern
    async ({}, use) => {
      const forge = new Forge();
      await forge.start();
      await use(forge);
      await forge.stop();
    },
    { scope: "worker" },
  ],
  server: [
    async ({ forge }, use) => {
      const server = await start_server("serve", ["--egress-ca-file", forge.certificate]);
      await use(server);
      await server.stop();
    },
    { scope: "worker" },
  ],
});
