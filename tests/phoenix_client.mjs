// What people do with @arizeai/phoenix-client, unmodified, against Hone: phoenix_client.mjs PROJECT. Where to and with
// which key say PHOENIX_HOST and PHOENIX_API_KEY, as the client reads them. Every step asserts; the exit code tells.
import assert from "node:assert/strict";
import { createClient } from "@arizeai/phoenix-client";
import {
  addSessionAnnotation,
  addSessionNote,
  deleteSession,
  deleteSessions,
  getSession,
  getSessionTurns,
  listSessions,
  logSessionAnnotations,
} from "@arizeai/phoenix-client/sessions";
import {
  addDocumentAnnotation,
  addSpanAnnotation,
  addSpanNote,
  deleteSpan,
  getSpanAnnotations,
  getSpans,
  logSpanAnnotations,
  logSpans,
  SpanCreationError,
} from "@arizeai/phoenix-client/spans";
import { addTraceAnnotation, addTraceNote, getTraces, logTraceAnnotations } from "@arizeai/phoenix-client/traces";

const projectName = process.argv[2];
const project = { projectName };
const client = createClient();
const begin = Date.now() - 60_000;

const hex = (number, digits) => number.toString(16).padStart(digits, "0");
function span(trace, id, parent, name, kind, attributes = {}, more = {}) {
  return {
    name,
    context: { trace_id: hex(trace, 32), span_id: hex(id, 16) },
    span_kind: kind,
    parent_id: parent ? hex(parent, 16) : null,
    start_time: new Date(begin + id * 10).toISOString(),
    end_time: new Date(begin + id * 10 + trace * 5).toISOString(),
    status_code: "OK",
    status_message: "",
    attributes,
    events: [],
    ...more,
  };
}
async function until(what, ask) {
  for (const end = Date.now() + 30_000; Date.now() < end; ) {
    const found = await ask();
    if (found) return found;
    await new Promise((next) => setTimeout(next, 50));
  }
  throw new Error(`not in time: ${what}`);
}
const names = (spans) => spans.map((each) => each.name).sort();

// Spans go in as JSON, and come out as they went in.
const sent = [
  span(1, 1, 0, "ask", "AGENT", { "session.id": "chat 1", "input.value": "Hello?", "output.value": "Hi." }),
  span(1, 2, 1, "model", "LLM", {
    "llm.model_name": "gpt-4o-mini",
    "llm.token_count.prompt": 20,
    "llm.token_count.completion": 5,
    "user.id": "42",
    metadata: JSON.stringify({ tier: "gold" }),
  }),
  span(2, 3, 0, "ask", "CHAIN", { "session.id": "chat 1", "user.id": 42, fast: true }),
  span(3, 4, 0, "broken", "TOOL", { "session.id": "chat 2" }, {
    status_code: "ERROR",
    status_message: "it broke",
    events: [{ name: "exception", timestamp: new Date(begin).toISOString(), attributes: { "exception.type": "Oops" } }],
  }),
];
assert.deepEqual(await logSpans({ client, project, spans: sent }), { totalReceived: 4, totalQueued: 4 });
const all = await until("spans", async () => {
  const { spans } = await getSpans({ client, project });
  return spans.length === 4 && spans;
});
const model = all.find((each) => each.name === "model");
assert.equal(model.context.trace_id, hex(1, 32));
assert.equal(model.parent_id, hex(1, 16));
assert.equal(model.span_kind, "LLM");
assert.equal(model.attributes["llm.token_count.prompt"], 20);
assert.equal(Date.parse(model.start_time), begin + 20);
const broken = all.find((each) => each.name === "broken");
assert.equal(broken.status_code, "ERROR");
assert.equal(broken.status_message, "it broke");
assert.equal(broken.events[0].attributes["exception.type"], "Oops");

// All or none: a known span and a wrong one are named.
await assert.rejects(logSpans({ client, project, spans: [sent[0], span(9, 9, 0, "new", "LLM")] }), (error) => {
  assert.ok(error instanceof SpanCreationError, error);
  assert.deepEqual(error.duplicateSpans, [{ spanId: hex(1, 16), traceId: hex(1, 32) }]);
  return true;
});
const wrong = span(9, 9, 0, "wrong", "LLM");
wrong.context.span_id = "";
await assert.rejects(logSpans({ client, project, spans: [wrong] }), (error) => {
  assert.ok(error instanceof SpanCreationError && error.totalInvalid === 1, error);
  return true;
});

// Ids of other systems are any text, and come back as they were sent.
const foreign = [span(9, 9, 0, "foreign", "CHAIN"), span(9, 10, 0, "child", "LLM")];
foreign[0].context = { trace_id: "order-7/ä", span_id: "step one" };
foreign[1].context = { trace_id: "order-7/ä", span_id: "step two" };
foreign[1].parent_id = "step one";
const other = { projectName: `${projectName} foreign` };
assert.deepEqual(await logSpans({ client, project: other, spans: foreign }), { totalReceived: 2, totalQueued: 2 });
const returned = await until("foreign spans", async () => {
  const { spans } = await getSpans({ client, project: other, traceIds: ["order-7/ä"] });
  return spans.length === 2 && spans.sort((a, b) => a.name.localeCompare(b.name));
});
assert.deepEqual(returned.map((each) => each.context.span_id), ["step two", "step one"]);
assert.deepEqual(returned.map((each) => each.parent_id), ["step one", null]);
assert.deepEqual(returned[0].attributes, { "openinference.span.kind": "LLM" });
assert.deepEqual((await getSpans({ client, project: other, parentId: "step one" })).spans.map((each) => each.name), ["child"]);
await addSpanAnnotation({ client, sync: true, spanAnnotation: { spanId: "step two", name: "tone", label: "kind" } });
const foreignNotes = await getSpanAnnotations({ client, project: other, spanIds: ["step two"] });
assert.deepEqual(foreignNotes.annotations.map((each) => each.span_id), ["step two"]);
await assert.rejects(logSpans({ client, project: other, spans: [foreign[0]] }), (error) => {
  assert.deepEqual(error.duplicateSpans, [{ spanId: "step one", traceId: "order-7/ä" }]);
  return true;
});
await deleteSpan({ client, spanIdentifier: "step two" });
assert.equal((await getSpans({ client, project: other })).spans.length, 1);

// Every parameter of the list.
const list = async (asked) => names((await getSpans({ client, project, ...asked })).spans);
assert.deepEqual(await list({ traceIds: [hex(1, 32), hex(2, 32)] }), ["ask", "ask", "model"]);
assert.deepEqual(await list({ parentId: null }), ["ask", "ask", "broken"]);
assert.deepEqual(await list({ parentId: hex(1, 16) }), ["model"]);
assert.deepEqual(await list({ name: ["model", "broken"] }), ["broken", "model"]);
assert.deepEqual(await list({ spanKind: "TOOL" }), ["broken"]);
assert.deepEqual(await list({ statusCode: ["ERROR"] }), ["broken"]);
assert.deepEqual(await list({ attributes: { "user.id": "42" } }), ["model"]);
assert.deepEqual(await list({ attributes: { "user.id": 42 } }), ["ask"]);
assert.deepEqual(await list({ attributes: { fast: true } }), ["ask"]);
assert.deepEqual(await list({ attributes: { "metadata.tier": "gold" } }), ["model"]);
assert.deepEqual(await list({ startTime: new Date(begin + 25), endTime: new Date(begin + 35) }), ["ask"]);
const paged = [];
for (let cursor = null, pages = 0; pages === 0 || cursor; ++pages) {
  assert.ok(pages < 5);
  const page = await getSpans({ client, project, limit: 3, cursor });
  paged.push(...page.spans.map((each) => each.context.span_id));
  cursor = page.nextCursor;
}
assert.deepEqual(paged.sort(), [1, 2, 3, 4].map((id) => hex(id, 16)));

// Traces.
const traces = async (asked) => (await getTraces({ client, project, ...asked })).traces;
assert.deepEqual((await traces({})).map((each) => each.trace_id), [3, 2, 1].map((id) => hex(id, 32)));
assert.deepEqual((await traces({ sort: "latency_ms", order: "asc" }))[0].trace_id, hex(2, 32));
const first = (await traces({ order: "asc", limit: 1, includeSpans: true }))[0];
assert.deepEqual([first.token_count_prompt, first.token_count_completion, first.token_count_total], [20, 5, 25]);
assert.deepEqual(first.spans.map((each) => each.span_id), [hex(1, 16), hex(2, 16)]);
assert.equal((await traces({ sessionId: "chat 1" })).length, 2);
assert.equal((await traces({ startTime: new Date(begin + 35) })).length, 1);

// Chat sessions.
const sessions = await listSessions({ client, ...project });
assert.deepEqual(sessions.map((each) => each.sessionId), ["chat 1", "chat 2"]);
assert.equal(sessions[0].traces.length, 2);
assert.equal((await getSession({ client, sessionId: "chat 1" })).id, sessions[0].id);
assert.equal((await getSession({ client, sessionId: sessions[1].id })).sessionId, "chat 2");
const turns = await getSessionTurns({ client, sessionId: "chat 1" });
assert.deepEqual([turns[0].input.value, turns[0].output.value], ["Hello?", "Hi."]);

// Annotations of spans: written, replaced by identifier, listed, filtered by.
const spanId = hex(2, 16);
const made = await addSpanAnnotation({
  client,
  sync: true,
  spanAnnotation: { spanId, name: "correct", label: "yes", score: 1, annotatorKind: "LLM", metadata: { by: "judge" } },
});
assert.ok(made.id);
const again = await addSpanAnnotation({
  client,
  sync: true,
  spanAnnotation: { spanId, name: "correct", label: "no", score: 0, annotatorKind: "LLM" },
});
assert.equal(again.id, made.id);
const two = await logSpanAnnotations({
  client,
  sync: true,
  spanAnnotations: [
    { spanId, name: "tone", label: "kind", identifier: "reviewer a" },
    { spanId, name: "tone", label: "rude", identifier: "reviewer b" },
  ],
});
assert.equal(new Set(two.map((each) => each.id)).size, 2);
assert.equal(await addSpanAnnotation({ client, spanAnnotation: { spanId, name: "later", label: "x" } }), null);
await addSpanNote({ client, spanNote: { spanId, note: "Look here." } });
await addSpanNote({ client, spanNote: { spanId, note: "And here." } });
await addDocumentAnnotation({
  client,
  sync: true,
  documentAnnotation: { spanId, documentPosition: 0, name: "relevance", score: 0.5 },
});
const annotations = async (asked) => (await getSpanAnnotations({ client, project, spanIds: [spanId], ...asked })).annotations;
const noted = await annotations({});
assert.deepEqual(noted.map((each) => each.name).sort(), ["correct", "later", "note", "note", "relevance", "tone", "tone"]);
const correct = noted.find((each) => each.name === "correct");
assert.deepEqual(correct.result, { label: "no", score: 0, explanation: null });
assert.equal(correct.annotator_kind, "LLM");
assert.equal(correct.span_id, spanId);
assert.deepEqual((await annotations({ includeAnnotationNames: ["tone"] })).length, 2);
assert.deepEqual((await annotations({ excludeAnnotationNames: ["note", "tone"] })).length, 3);
const missing = { spanId: hex(99, 16), name: "correct", label: "yes" };
await assert.rejects(addSpanAnnotation({ client, sync: true, spanAnnotation: missing }), { status: 404 });

// Of traces and sessions.
const ofTraces = await logTraceAnnotations({
  client,
  sync: true,
  traceAnnotations: [{ traceId: hex(1, 32), name: "solved", label: "yes" }],
});
assert.equal(ofTraces.length, 1);
await addTraceAnnotation({ client, traceAnnotation: { traceId: hex(2, 32), name: "solved", label: "no" } });
await addTraceNote({ client, traceNote: { traceId: hex(1, 32), note: "First.", identifier: "mine" } });
const rewritten = await addTraceNote({ client, traceNote: { traceId: hex(1, 32), note: "Second.", identifier: "mine" } });
assert.ok(rewritten.id);
const path = { project_identifier: projectName };
const ofTrace = await client.GET("/v1/projects/{project_identifier}/trace_annotations", {
  params: { path, query: { trace_ids: [hex(1, 32)] } },
});
assert.deepEqual(ofTrace.data.data.map((each) => each.result.label ?? each.result.explanation).sort(), ["Second.", "yes"]);
await logSessionAnnotations({
  client,
  sync: true,
  sessionAnnotations: [{ sessionId: "chat 1", name: "mood", label: "good" }],
});
await addSessionAnnotation({ client, sessionAnnotation: { sessionId: "chat 2", name: "mood", label: "bad" } });
await addSessionNote({ client, sessionNote: { sessionId: "chat 2", note: "Angry." } });
const ofSession = await client.GET("/v1/projects/{project_identifier}/session_annotations", {
  params: { path, query: { session_ids: ["chat 2"] } },
});
assert.deepEqual(ofSession.data.data.map((each) => each.name).sort(), ["mood", "note"]);

// As OTLP.
const otlp = await client.GET("/v1/projects/{project_identifier}/spans/otlpv1", {
  params: { path, query: { name: ["model"] } },
});
assert.equal(otlp.data.data[0].span_id, spanId);
const tokens = otlp.data.data[0].attributes.find((each) => each.key === "llm.token_count.prompt");
assert.deepEqual(tokens.value, { int_value: 20 });

// Deletes: annotations, a span, a trace, sessions.
await assert.rejects(
  client.DELETE("/v1/projects/{project_identifier}/span_annotations", { params: { path, query: { name: "tone" } } }),
  { status: 422 },
);
await client.DELETE("/v1/projects/{project_identifier}/span_annotations", {
  params: { path, query: { name: "tone", delete_all: true } },
});
assert.equal((await annotations({ includeAnnotationNames: ["tone"] })).length, 0);
await deleteSpan({ client, spanIdentifier: spanId });
assert.deepEqual(await list({}), ["ask", "ask", "broken"]);
assert.equal((await annotations({})).length, 0);
await assert.rejects(deleteSpan({ client, spanIdentifier: spanId }), { status: 404 });
await client.DELETE("/v1/traces/{trace_identifier}", { params: { path: { trace_identifier: hex(2, 32) } } });
assert.deepEqual(await list({}), ["ask", "broken"]);
await deleteSession({ client, sessionId: sessions[0].id });
assert.deepEqual(await list({}), ["broken"]);
await deleteSessions({ client, sessionIds: ["chat 2", "never heard of"] });
assert.deepEqual(await list({}), []);

// Projects.
const projects = await client.GET("/v1/projects", { params: { query: { name_contains: projectName } } });
assert.ok(projects.data.data.some((each) => each.name === projectName));
const renamed = await client.POST("/v1/projects", { body: { name: `${projectName} two`, description: "made" } });
await client.PUT("/v1/projects/{project_identifier}", {
  params: { path: { project_identifier: renamed.data.data.id } },
  body: { description: "changed" },
});
await client.DELETE("/v1/projects/{project_identifier}", {
  params: { path: { project_identifier: `${projectName} two` } },
});
