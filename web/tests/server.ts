// Starts the real binary on a free port in a directory of its own, and stops it by its pid.

import { type ChildProcess, spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";

export const admin_email = "admin@localhost";
export const admin_password = "a long enough password";

const here = dirname(fileURLToPath(import.meta.url));
export const binary = resolve(process.env.HONE_BINARY ?? join(here, "../../build/release/hone"));

export interface Server {
  url: string;
  /** The data directory. */
  directory: string;
  stop: () => Promise<void>;
}

function read_url(directory: string): string | null {
  try {
    return (JSON.parse(readFileSync(join(directory, "addresses.json"), "utf8")) as { http: string }).http;
  } catch {
    return null;
  }
}

/** The addresses file appears once the server is ready. */
async function wait_for_url(directory: string, child: ChildProcess, output: () => string): Promise<string> {
  const deadline = Date.now() + 120_000; // the machine may be busy
  for (;;) {
    const url = read_url(directory);
    if (url) return url;
    if (child.exitCode !== null || Date.now() > deadline) throw new Error(`${binary} did not start:\n${output()}`);
    await new Promise((done) => setTimeout(done, 20));
  }
}

/** Waits for a text in the output of the server. */
async function wait_for_words(words: string, child: ChildProcess, output: () => string): Promise<void> {
  const deadline = Date.now() + 240_000;
  while (!output().includes(words)) {
    if (child.exitCode !== null || Date.now() > deadline)
      throw new Error(`${binary} did not print "${words}":\n${output()}`);
    await new Promise((done) => setTimeout(done, 50));
  }
}

/** `demo` has loaded its project, and its first workers are done. */
export async function start_server(
  command: "serve" | "demo" = "serve",
  flags: string[] = [],
  variables: Record<string, string> = {},
): Promise<Server> {
  const directory = mkdtempSync(join(tmpdir(), "hone-web-"));
  const args = [command, "--data-dir", directory];
  if (!flags.includes("--listen")) args.push("--listen", "127.0.0.1:0");
  // Several servers run at once; spans come over the API's own address.
  args.push("--otlp-http-listen", "", "--otlp-grpc-listen", "");
  // Specs receive webhooks on this machine.
  args.push("--notice-private-addresses", "true");
  // The UI is embedded in the binary; a directory can replace it during development.
  if (process.env.HONE_UI_DIR) args.push("--ui-dir", resolve(process.env.HONE_UI_DIR));
  if (process.env.HONE_SERVE_FLAGS) args.push(...process.env.HONE_SERVE_FLAGS.split(" "));
  args.push(...flags);
  const child = spawn(binary, args, {
    env: { ...process.env, HONE_ADMIN_PASSWORD: admin_password, ...variables },
    stdio: ["ignore", "pipe", "pipe"],
  });
  let output = "";
  child.stdout.on("data", (data) => {
    output += data;
  });
  child.stderr.on("data", (data) => {
    output += data;
  });
  const ended = new Promise<void>((done) => child.once("exit", () => done()));
  child.once("error", (error) => {
    output += String(error);
  });
  const stop = async () => {
    if (child.exitCode === null && child.pid !== undefined) {
      child.kill("SIGTERM");
      await ended;
    }
    rmSync(directory, { recursive: true, force: true });
  };
  try {
    const url = await wait_for_url(directory, child, () => output);
    if (command === "demo") await wait_for_words("The demo is ready:", child, () => output);
    return { url, directory, stop };
  } catch (error) {
    child.kill("SIGKILL");
    throw error;
  }
}
