// How soon the page of a trace can be used. See face.sh.

import { spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";

const { chromium } = createRequire(new URL("../web/package.json", import.meta.url))("@playwright/test");
const [binary, most_spans, repeats] = [process.argv[2], Number(process.argv[3]), Number(process.argv[4])];
const few_spans = 500;
const project = "large";
const password = "a long enough password";
const hex = (bytes) => randomBytes(bytes).toString("hex");
const median = (values) => [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)];

async function until(what, read) {
  for (const deadline = Date.now() + 120_000; ; await new Promise((done) => setTimeout(done, 50))) {
    const value = await read();
    if (value) return value;
    if (Date.now() > deadline) throw new Error(`no ${what} after two minutes`);
  }
}

/** Agent-like: turns with a model call and tools below each, some failed; names and services repeat. */
function spans_of(count, trace_id) {
  const begin = Date.now() - 3_600_000;
  const ids = Array.from({ length: count }, () => hex(8));
  return ids.map((spanId, at) => {
    const turn = at - (at % 10);
    const kind = at === 0 ? "AGENT" : at % 10 === 0 ? "CHAIN" : at % 10 === 1 ? "LLM" : "TOOL";
    const text = (key, value) => ({ key, value: { stringValue: value } });
    const number = (key, value) => ({ key, value: { intValue: String(value) } });
    const attributes = [text("openinference.span.kind", kind), text("session.id", "visit-1")];
    if (kind === "LLM") {
      attributes.push(text("llm.model_name", "gpt-4o-mini"), number("llm.token_count.prompt", 800 + (at % 97)));
      attributes.push(number("llm.token_count.completion", 90 + (at % 13)));
    }
    if (kind === "TOOL") attributes.push(text("tool.name", `tool_${at % 7}`));
    return {
      traceId: trace_id,
      spanId,
      parentSpanId: at === 0 ? "" : at === turn ? ids[0] : ids[turn],
      name: kind === "TOOL" ? `tool_${at % 7}` : kind === "LLM" ? "chat gpt-4o-mini" : kind === "AGENT" ? "batch" : "turn",
      startTimeUnixNano: `${begin + at}000000`,
      endTimeUnixNano: `${at === 0 ? begin + count : begin + at + 9}000000`,
      attributes,
      status: at % 997 === 0 ? { code: 2, message: "upstream responded 429" } : { code: 1 },
    };
  });
}

async function send(url, key, count) {
  const trace = hex(16);
  const spans = spans_of(count, trace);
  const headers = { Authorization: `Bearer ${key}`, "Content-Type": "application/json", "x-project-name": project };
  for (let at = 0; at < spans.length; at += 5000) {
    const resource = { attributes: [{ key: "service.name", value: { stringValue: "shop" } }] };
    const body = { resourceSpans: [{ resource, scopeSpans: [{ spans: spans.slice(at, at + 5000) }] }] };
    const response = await fetch(`${url}/v1/traces`, { method: "POST", headers, body: JSON.stringify(body) });
    if (!response.ok) throw new Error(await response.text());
  }
  await until("trace", async () => {
    const response = await fetch(`${url}/v1/projects/${project}/trace_rows`, { headers });
    const rows = response.ok ? (await response.json()).data : [];
    return rows.some((row) => row.trace_id === trace && row.spans === count);
  });
  return trace;
}

/** In the page: from `go` until the rows are drawn, and until a key moves the selection. */
async function measure(go_to_trace) {
  const began = go_to_trace === null ? 0 : performance.now();
  const tasks = [];
  new PerformanceObserver((list) => tasks.push(...list.getEntries())).observe({ type: "longtask", buffered: true });
  const frame = () => new Promise(requestAnimationFrame);
  if (go_to_trace !== null) document.querySelector(`a[href*="${go_to_trace}"]`).click();
  while (!document.querySelector("[data-span]")) await frame();
  const drawn = performance.now();
  document.body.dispatchEvent(new KeyboardEvent("keydown", { key: "j", bubbles: true }));
  while (!document.querySelector(".span-row.chosen:not([aria-rowindex='2'])")) await frame();
  const reacted = performance.now();
  await new Promise((done) => setTimeout(done, 500));
  const call = performance.getEntriesByType("resource").filter(({ name }) => /\/(skeleton|outline)/.test(name)).pop();
  const after = tasks.filter((task) => task.startTime + task.duration > began);
  return {
    drawn_ms: drawn - began,
    interactive_ms: reacted - began,
    request_sent_ms: call.startTime - began,
    first_byte_ms: call.responseStart - began,
    last_byte_ms: call.responseEnd - began,
    body_bytes: call.decodedBodySize,
    longest_task_ms: Math.max(0, ...after.map((task) => task.duration)),
  };
}

const directory = mkdtempSync(join(tmpdir(), "hone-face-"));
const args = ["serve", "--data-dir", directory, "--listen", "127.0.0.1:0", "--otlp-http-listen", "", "--otlp-grpc-listen", ""];
if (process.env.HONE_UI_DIR) args.push("--ui-dir", process.env.HONE_UI_DIR);
const server = spawn(binary, args, { env: { ...process.env, HONE_ADMIN_PASSWORD: password }, stdio: "ignore" });
const ended = new Promise((done) => server.once("exit", done));
let browser;
try {
  const addresses = join(directory, "addresses.json");
  const url = await until("server", () => existsSync(addresses) && JSON.parse(readFileSync(addresses, "utf8")).http);
  browser = await chromium.launch({
    executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium",
    args: ["--no-sandbox", "--disable-gpu", "--disable-background-networking"],
  });
  const page = await browser.newPage({ viewport: { width: 1440, height: 900 } });
  const login = await page.request.post(`${url}/v1/login`, { data: { email: "admin@localhost", password } });
  const token = (await login.json()).data.csrf_token;
  const made = await page.request.post(`${url}/v1/keys`, { headers: { "X-CSRF-Token": token }, data: { name: "bench" } });
  const key = (await made.json()).data.key;
  const traces = { [few_spans]: await send(url, key, few_spans), [most_spans]: await send(url, key, most_spans) };
  const at = `${url}/s/default/projects/${project}/traces`;
  const samples = { click: {}, load: {} };
  for (let round = 0; round < repeats; round++) {
    for (const [count, trace] of Object.entries(traces)) {
      await page.goto(at);
      await page.locator(`a[href*="${trace}"]`).first().waitFor();
      (samples.click[count] ??= []).push(await page.evaluate(measure, trace));
      await page.goto(`${at}/${trace}`, { waitUntil: "commit" });
      (samples.load[count] ??= []).push(await page.evaluate(measure, null));
    }
  }
  const result = { spans: most_spans, baseline_spans: few_spans, repeats };
  for (const [way, by_count] of Object.entries(samples)) {
    result[way] = {};
    for (const [count, all] of Object.entries(by_count)) {
      const medians = Object.keys(all[0]).map((name) => [name, Math.round(median(all.map((one) => one[name])))]);
      result[way][count] = Object.fromEntries(medians);
    }
    const [few, most] = [few_spans, most_spans].map((count) => result[way][count].interactive_ms);
    result[way].ratio = Number((most / few).toFixed(2));
  }
  console.log(JSON.stringify(result, null, 2));
} finally {
  await browser?.close();
  server.kill("SIGTERM");
  await ended;
  rmSync(directory, { recursive: true, force: true });
}
