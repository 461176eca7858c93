// The scripted model as a process beside a spec: an endpoint of OpenAI's protocol with known replies.

import { type ChildProcess, spawn } from "node:child_process";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const script = join(dirname(fileURLToPath(import.meta.url)), "../../tests/scripted_model/scripted_model.py");

export interface ScriptedModel {
  url: string;
  stop: () => void;
}

export async function start_scripted_model(): Promise<ScriptedModel> {
  const process: ChildProcess = spawn("python3", [script, "--until-input-ends"], {
    stdio: ["pipe", "pipe", "inherit"],
  });
  const stdout = process.stdout;
  if (!stdout) throw new Error("the scripted model has no output");
  const printed = await new Promise<string>((resolve) => {
    stdout.once("data", (piece) => resolve(String(piece)));
  });
  return {
    url: printed.trim().split(" ")[1] ?? "",
    stop: () => {
      process.stdin?.end();
      process.kill();
    },
  };
}
