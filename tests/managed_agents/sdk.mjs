// The vendor's own SDK against the scripted API: if its parsers and its tool runner are content, the shapes are right.
//   node sdk.mjs ADDRESS KEY SCENARIO        prints one line per scenario
import assert from "node:assert/strict";
import Anthropic, { toFile } from "@anthropic-ai/sdk";
import { betaTool } from "@anthropic-ai/sdk/helpers/beta/json-schema";

const [address, apiKey, wanted] = process.argv.slice(2);
const clientOf = (play, options = {}) => new Anthropic({ baseURL: `${address}/play/${play}`, apiKey, maxRetries: 0, logLevel: "off", ...options });
const control = async (path, body) => {
  const response = await fetch(address + path, body ? { method: "POST", body: JSON.stringify(body) } : {});
  assert.equal(response.status, 200, path);
  return response.json();
};
const hello = [{ type: "user.message", content: [{ type: "text", text: "Begin." }] }];
const customTools = ["save_investigation", "save_file", "label_spans"].map((name) => ({
  type: "custom", name, description: `Calls ${name}.`, input_schema: { type: "object", properties: { title: { type: "string" } } },
}));

let names = 0;
async function start(client, more = {}) {
  const agent = await client.beta.agents.create({ name: "reader", model: "claude-opus-5-5", system: "Read.",
    tools: [{ type: "agent_toolset_20260401" }, ...customTools] });
  const environment = await client.beta.environments.create({ name: `${process.pid}-${names++}`,
    config: { type: "cloud", networking: { type: "limited", allowed_hosts: ["api.example.com"] } } });
  const session = await client.beta.sessions.create({ agent: agent.id, environment_id: environment.id, ...more });
  return { agent, environment, session };
}

async function history(client, session, query = {}) {
  const events = [];
  for await (const event of client.beta.sessions.events.list(session.id, query)) events.push(event);
  return events;
}

// Follows the stream until the turn ends; `act` sends what begins it.
async function follow(client, session, act, query = {}) {
  const stream = await client.beta.sessions.events.stream(session.id, query);
  await act();
  const seen = [];
  for await (const event of stream) {
    seen.push(event);
    if (event.type === "session.status_idle" && event.stop_reason.type !== "requires_action") break;
    if (event.type === "session.status_terminated" || event.type === "session.deleted") break;
  }
  return seen;
}

const say = (client, session, text) => client.beta.sessions.events.send(session.id, { events: [{ type: "user.message", content: [{ type: "text", text }] }] });

const scenarios = {
  async objects() {
    const client = clientOf("text");
    const { agent, environment, session } = await start(client, { title: "One", metadata: { run: "run_1" } });
    assert.match(agent.id, /^agent_/);
    assert.equal(agent.version, 1);
    assert.equal(agent.model.id, "claude-opus-5-5");
    const second = await client.beta.agents.update(agent.id, { version: 1, system: "Read twice." });
    assert.equal(second.version, 2);
    assert.deepEqual((await client.beta.agents.retrieve(agent.id, { version: 1 })).system, "Read.");
    await assert.rejects(client.beta.agents.update(agent.id, { version: 1, system: "Late." }), Anthropic.ConflictError);
    const versions = await client.beta.agents.versions.list(agent.id);
    assert.deepEqual(versions.data.map((one) => one.version), [2, 1]);
    assert.match(environment.id, /^env_/);
    assert.deepEqual(environment.config.networking, { type: "limited", allowed_hosts: ["api.example.com"], allow_package_managers: false, allow_mcp_servers: false });
    await assert.rejects(client.beta.environments.create({ name: environment.name }), Anthropic.ConflictError);
    await assert.rejects(client.beta.environments.update(environment.id, { config: { type: "self_hosted" } }), Anthropic.BadRequestError);
    await assert.rejects(client.beta.environments.retrieve("env_none"), Anthropic.NotFoundError);
    assert.match(session.id, /^sesn_/);
    assert.equal(session.status, "idle");
    assert.equal(session.agent.version, 1);
    const found = [];
    for await (const one of client.beta.sessions.list({ agent_id: agent.id, limit: 1 })) found.push(one.metadata.run);
    assert.deepEqual(found, ["run_1"]);
    const renamed = await client.beta.sessions.update(session.id, { title: "Two", metadata: { run: null, kept: "yes" } });
    assert.deepEqual([renamed.title, renamed.metadata], ["Two", { kept: "yes" }]);
    await assert.rejects(client.beta.sessions.update(session.id, { budget: { type: "limit", max_list_cost: { amount: "5", currency: "USD" } } }), /budget_create_only/);
    assert.equal((await client.beta.sessions.delete(session.id)).type, "session_deleted");
    await assert.rejects(client.beta.sessions.retrieve(session.id), Anthropic.NotFoundError);
    assert.equal((await client.beta.environments.delete(environment.id)).type, "environment_deleted");
    assert.notEqual((await client.beta.agents.archive(agent.id)).archived_at, null);
    const wrong = new Anthropic({ baseURL: address, apiKey: "sk-ant-wrong", maxRetries: 0 });
    await assert.rejects(wrong.beta.agents.list(), Anthropic.AuthenticationError);
  },

  async vaults_and_files() {
    const client = clientOf("files");
    const vault = await client.beta.vaults.create({ display_name: "run_1" });
    const credential = await client.beta.vaults.credentials.create(vault.id, { auth: { type: "environment_variable", secret_name: "TOKEN",
      secret_value: "a secret value", networking: { type: "limited", allowed_hosts: ["api.example.com"] } } });
    assert.match(credential.id, /^vcrd_/);
    assert.ok(!JSON.stringify(credential).includes("a secret value"));
    await assert.rejects(client.beta.vaults.credentials.create(vault.id, { auth: { type: "environment_variable", secret_name: "OTHER",
      secret_value: "x", networking: { type: "limited", allowed_hosts: ["api.example.com/path"] } } }), Anthropic.BadRequestError);
    const uploaded = await client.beta.files.upload({ file: await toFile(Buffer.from("text"), "input.txt") });
    const { session } = await start(client, { vault_ids: [vault.id], initial_events: hello, resources: [{ type: "file", file_id: uploaded.id },
      { type: "github_repository", url: "https://github.com/octo/shop", authorization_token: "ghp_secret", checkout: { type: "branch", name: "main" } }] });
    assert.notEqual(session.resources[0].file_id, uploaded.id); // another id in the session
    assert.equal(session.resources[1].mount_path, "/workspace/shop");
    assert.ok(!JSON.stringify(session).includes("ghp_secret"));
    await until(async () => (await client.beta.sessions.retrieve(session.id)).status === "idle" && (await history(client, session)).length > 0);
    const files = await until(async () => {
      const listed = await client.beta.files.list({ scope_id: session.id, betas: ["managed-agents-2026-04-01"] });
      return listed.data.length ? listed.data : null;
    });
    assert.equal(files[0].filename, "branch.patch");
    assert.equal(await (await client.beta.files.download(files[0].id)).text(), "From 0000\n");
    await assert.rejects(client.beta.files.download(uploaded.id), Anthropic.BadRequestError);
    assert.equal((await client.beta.vaults.delete(vault.id)).type, "vault_deleted");
    assert.ok(!(await control("/_secrets")).vaults.includes(vault.id));
  },

  async stream() {
    const client = clientOf("tools");
    const { session } = await start(client, { budget: { type: "limit", max_list_cost: { amount: "2500", currency: "USD" } } });
    const seen = await follow(client, session, () => say(client, session, "Begin."), { event_deltas: ["agent.message"] });
    const types = seen.map((event) => event.type);
    for (const type of ["event_start", "event_delta", "agent.tool_use", "agent.tool_result", "span.model_request_end", "session.usage"]) assert.ok(types.includes(type), type);
    const messages = seen.filter((event) => event.type === "user.message");
    assert.deepEqual(messages.map((event) => event.processed_at !== null), [false, true]); // queued, then processed
    assert.equal(messages[0].id, messages[1].id);
    const start_of = seen.find((event) => event.type === "event_start").event.id;
    assert.ok(seen.some((event) => event.type === "agent.message" && event.id === start_of));
    const listed = await history(client, session, { limit: 2 });
    const once = seen.filter((event) => event.processed_at && !event.type.startsWith("event_"));
    assert.deepEqual(listed.map((event) => event.id), once.map((event) => event.id));
    const used = listed.filter((event) => event.type === "span.model_request_end").map((event) => event.model_usage);
    const total = (await client.beta.sessions.retrieve(session.id)).usage;
    assert.equal(total.input_tokens, used.reduce((sum, one) => sum + one.input_tokens, 0));
    assert.equal(total.output_tokens, used.reduce((sum, one) => sum + one.output_tokens, 0));
    const newest = await client.beta.sessions.events.list(session.id, { order: "desc", limit: 1, types: ["session.status_idle"] });
    assert.equal(newest.data[0].stop_reason.type, "end_turn");
    const late = await history(client, session, { "created_at[gt]": new Date(Date.now() + 60000).toISOString() });
    assert.equal(late.length, 0);
  },

  async tool_runner() {
    const client = clientOf("noisy");
    const calls = await runTools(client, await start(client, { initial_events: hello }));
    assert.deepEqual(calls.map((call) => [call.name, call.isError]), [["save_file", false], ["save_investigation", false]]);
  },

  async tool_runner_over_cuts() {
    const client = clientOf("three_cuts");
    await control("/_faults", { cuts: { count: 3, within: 600 } });
    const made = await start(client, { initial_events: hello });
    const calls = await runTools(client, made);
    assert.equal((await control("/_count")).cut, 3);
    const truth = await control(`/_sessions/${made.session.id}`);
    assert.deepEqual(Object.values(truth.accepted), [1, 1, 1]);
    assert.equal(truth.refused_results, 0);
    assert.equal(calls.length, 3);
  },

  async stops() {
    for (const [play, reason] of [["refusal", "refusal"], ["exhausted", "retries_exhausted"], ["expensive", "budget_reached"]]) {
      const client = clientOf(play);
      const { session } = await start(client, { budget: { type: "limit", max_list_cost: { amount: "500", currency: "USD" } } });
      const seen = await follow(client, session, () => say(client, session, "Begin."));
      assert.equal(seen.at(-1).stop_reason.type, reason);
      if (play === "expensive") assert.equal(seen.filter((event) => event.type === "agent.message").length, 2);
      if (play === "refusal") assert.equal(seen.at(-1).stop_details.category, "cyber");
    }
    for (const [play, last] of [["terminal", "session.status_terminated"], ["deleted", "session.deleted"]]) {
      const client = clientOf(play);
      const { session } = await start(client);
      const seen = await follow(client, session, () => say(client, session, "Begin."));
      assert.equal(seen.at(-1).type, last);
    }
    const client = clientOf("no_repository");
    const { session } = await start(client, { resources: [{ type: "github_repository", url: "https://github.com/octo/private" }] });
    const seen = await follow(client, session, () => say(client, session, "Begin."));
    const error = seen.find((event) => event.type === "session.error").error;
    assert.deepEqual([error.type, error.retry_status.type], ["repository_authentication_error", "retrying"]);
    assert.equal(seen.at(-1).stop_reason.type, "end_turn"); // it continues without the repository
  },

  async interrupt() {
    const client = clientOf("long_tool");
    const { session } = await start(client, { initial_events: hello });
    await until(async () => (await history(client, session)).some((event) => event.type === "agent.tool_use"));
    await assert.rejects(client.beta.sessions.archive(session.id), Anthropic.BadRequestError); // it runs
    const seen = await follow(client, session, () => client.beta.sessions.events.send(session.id, { events: [{ type: "user.interrupt" }] }));
    assert.ok(seen.some((event) => event.type === "agent.tool_result" && event.is_error));
    assert.equal((await follow(client, session, () => say(client, session, "Continue."))).filter((event) => event.type === "agent.message").length, 1);
    await until(async () => (await client.beta.sessions.retrieve(session.id)).status === "idle");
    assert.notEqual((await client.beta.sessions.archive(session.id)).archived_at, null);
    await assert.rejects(say(client, session, "Too late."), Anthropic.BadRequestError);
  },

  async idle_before_status() {
    const client = clientOf("slow_idle");
    const { session } = await start(client);
    await follow(client, session, () => say(client, session, "Begin."));
    await assert.rejects(client.beta.sessions.archive(session.id), Anthropic.BadRequestError);
    await until(async () => (await client.beta.sessions.retrieve(session.id)).status === "idle");
    await client.beta.sessions.archive(session.id);
  },

  async faults() {
    const client = clientOf("text");
    const { session } = await start(client);
    for (const [status, kind] of [[429, Anthropic.RateLimitError], [529, Anthropic.InternalServerError], [409, Anthropic.ConflictError], [412, Anthropic.APIError]]) {
      await control("/_faults", { statuses: [{ method: "GET", path: `/v1/sessions/${session.id}$`, status, headers: { "retry-after": "0" } }] });
      await assert.rejects(client.beta.sessions.retrieve(session.id), (error) => error instanceof kind && error.status === status && error.requestID.startsWith("req_"));
      assert.equal((await client.beta.sessions.retrieve(session.id)).id, session.id);
    }
    await control("/_faults", { statuses: [{ method: "GET", path: `/v1/sessions/${session.id}$`, status: 429, times: 2, headers: { "retry-after-ms": "1" } }] });
    assert.equal((await clientOf("text", { maxRetries: 2 }).beta.sessions.retrieve(session.id)).id, session.id);
    await assert.rejects(client.beta.sessions.events.send(session.id, { events: [{ type: "user.custom_tool_result", custom_tool_use_id: "sevt_none", content: [] }] }), Anthropic.BadRequestError);
    await assert.rejects(client.beta.sessions.events.send(session.id, { events: [{ type: "user.tool_result", tool_use_id: "sevt_none", content: [] }] }), Anthropic.BadRequestError);
  },
};

async function runTools(client, { session }) {
  const tools = ["save_investigation", "save_file", "label_spans"].map((name) => betaTool({ name, description: name,
    inputSchema: { type: "object", properties: {} }, run: () => `${name}: saved` }));
  const calls = [];
  for await (const call of client.beta.sessions.events.toolRunner(session.id, { tools, maxIdleMs: 200 })) {
    if (call.posted) calls.push(call); // it also reports those that the server itself runs
  }
  const events = await history(client, session);
  assert.equal(events.at(-1).stop_reason.type, "end_turn");
  const uses = events.filter((event) => event.type === "agent.custom_tool_use").map((event) => event.id);
  const results = events.filter((event) => event.type === "user.custom_tool_result");
  assert.deepEqual(results.map((event) => event.custom_tool_use_id).sort(), uses.sort()); // each once
  assert.ok(results.every((event) => event.content[0].text.endsWith(": saved")));
  return calls;
}

async function until(condition) {
  const deadline = Date.now() + 20000;
  while (Date.now() < deadline) {
    const found = await condition();
    if (found) return found;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  throw new Error(`timed out: ${condition}`);
}

await scenarios[wanted]();
console.log(`${wanted}: passed`);
