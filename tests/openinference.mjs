// An application as its authors write it: phoenix-otel set up with a URL and a key, the OpenInference instrumentations
// of openai and langchain, a model server that plays a script. openinference.mjs PROJECT; where to and with which key
// say PHOENIX_COLLECTOR_ENDPOINT and PHOENIX_API_KEY, as phoenix-otel reads them.
import assert from "node:assert/strict";
import http from "node:http";
import { LangChainInstrumentation } from "@arizeai/openinference-instrumentation-langchain";
import { OpenAIInstrumentation } from "@arizeai/openinference-instrumentation-openai";
import { register } from "@arizeai/phoenix-otel";
import * as callbacks from "@langchain/core/callbacks/manager";
import { FakeListChatModel } from "@langchain/core/utils/testing";
import OpenAI from "openai";

const answer = {
  id: "chatcmpl-1",
  object: "chat.completion",
  created: 1,
  model: "gpt-4o-mini-2024-07-18",
  choices: [
    { index: 0, finish_reason: "stop", message: { role: "assistant", content: "It was shipped yesterday." } },
  ],
  usage: { prompt_tokens: 21, completion_tokens: 9, total_tokens: 30 },
};
const model = http.createServer((request, response) => {
  request.resume();
  request.on("end", () => {
    response.writeHead(200, { "content-type": "application/json" });
    response.end(JSON.stringify(answer));
  });
});
await new Promise((ready) => model.listen(0, "127.0.0.1", ready));

const provider = register({ projectName: process.argv[2], batch: true, global: false });
new OpenAIInstrumentation({ tracerProvider: provider }).manuallyInstrument(OpenAI);
new LangChainInstrumentation({ tracerProvider: provider }).manuallyInstrument(callbacks);

const client = new OpenAI({ apiKey: "unused", baseURL: `http://127.0.0.1:${model.address().port}/v1` });
const messages = [{ role: "user", content: "Where is my order?" }];
const said = await client.chat.completions.create({ model: "gpt-4o-mini", messages });
assert.equal(said.choices[0].message.content, "It was shipped yesterday.");
const chained = await new FakeListChatModel({ responses: ["It is on its way."] }).invoke("Where is my parcel?");
assert.equal(chained.content, "It is on its way.");
await provider.forceFlush();
await provider.shutdown();
model.close();
