// Scripted providers as processes beside a spec: a model with known replies, and sessions of an agent provider.

import { type ChildProcess, spawn } from "node:child_process";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const folder = join(dirname(fileURLToPath(import.meta.url)), "../../tests");

export interface Scripted {
  url: string;
  stop: () => void;
}

export const start_scripted_model = () => start("scripted_model/scripted_model.py");
export const start_npm_registry = () => start("npm_registry/npm_registry.py");
export const start_managed_agents = (key: string) => start("managed_agents/managed_agents.py", "--key", key);

async function start(script: string, ...options: string[]): Promise<Scripted> {
  const process: ChildProcess = spawn("python3", ["-B", join(folder, script), "--until-input-ends", ...options], {
    stdio: ["pipe", "pipe", "inherit"],
  });
  const stdout = process.stdout;
  if (!stdout) throw new Error(`${script} has no output`);
  const printed = await new Promise<string>((resolve) => {
    let text = "";
    stdout.on("data", (piece) => {
      text += piece;
      if (text.includes("\n")) resolve(text);
    });
  });
  return {
    url: printed.trim().split(" ")[1] ?? "",
    stop: () => {
      process.stdin?.end();
      process.kill();
    },
  };
}
