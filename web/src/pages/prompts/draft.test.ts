import { expect, test } from "@playwright/test";
import type { SpanPayload } from "../../api_types";
import { draft_of_span, draft_of_version, empty_draft, variable_value, variables_of, version_of } from "./draft";

const version = {
  model_provider: "OPENAI",
  model_name: "gpt-x",
  template_type: "CHAT",
  template_format: "MUSTACHE",
  template: { type: "chat", messages: [{ role: "user", content: "Hi {{name}}" }] },
  invocation_parameters: { type: "openai", openai: { temperature: 0 } },
};

test("a version becomes a draft and the same version again", () => {
  expect(version_of(draft_of_version(version))).toEqual(version);
});

test("variables are named once, sections count by their own name, closers and comments do not count", () => {
  const draft = empty_draft();
  draft.messages = [
    { role: "system", content: "{{ user.name }} {{#docs}}{{title}}{{/docs}}{{! no }}", is_parts: false },
    { role: "user", content: "{{question}} {{{question}}} {{&raw}}", is_parts: false },
  ];
  expect(variables_of(draft)).toEqual(["user", "docs", "question", "raw"]);
  draft.format = "F_STRING";
  draft.messages = [{ role: "user", content: '{a} {{"k": 1}} {b}', is_parts: false }];
  expect(variables_of(draft)).toEqual(["a", "b"]);
  draft.format = "NONE";
  expect(variables_of(draft)).toEqual([]);
});

test("broken JSON names its field", () => {
  const draft = { ...empty_draft(), model: "m" };
  expect(() => version_of({ ...draft, tools: "[1]" })).toThrow("Tools must be a JSON object");
  expect(() => version_of({ ...draft, parameters: "{" })).toThrow("Parameters:");
  expect(() => version_of({ ...draft, model: " " })).toThrow("Enter the name of a model");
  const parts = [{ role: "user", content: "{}", is_parts: true }];
  expect(() => version_of({ ...draft, messages: parts })).toThrow("Message 1 must be a JSON list of parts");
});

test("a model span becomes a draft with its messages, tools and parameters", () => {
  const payload = {
    span: { model: "claude-x", provider: "anthropic" },
    input: "",
    attributes: { "llm.invocation_parameters": '{"model":"claude-x","temperature":0.5,"stream":true}' },
    conversation: {
      input: [
        { role: "user", content: "2 < 3?", tool_call_id: "", tool_calls: [] },
        { role: "assistant", content: "", tool_call_id: "", tool_calls: [{ id: "c1", name: "add", arguments: "{}" }] },
        { role: "tool", content: "5", tool_call_id: "c1", tool_calls: [] },
      ],
      output: [],
      documents: [],
      tools: ['{"name":"add","input_schema":{"type":"object"}}', "no json"],
      prompt_template: null,
    },
  } as unknown as SpanPayload;
  const draft = draft_of_span(payload);
  expect(draft.provider).toBe("ANTHROPIC");
  expect(JSON.parse(draft.parameters)).toEqual({ temperature: 0.5 });
  const made = version_of(draft) as typeof version & { tools: unknown };
  expect(made.template.messages.map((message) => message.role)).toEqual(["user", "assistant", "tool"]);
  expect(made.template.messages[0]?.content).toBe("2 < 3?");
  expect(made.tools).toEqual({
    type: "tools",
    tools: [{ type: "function", function: { name: "add", parameters: { type: "object" } } }],
  });
});

test("a variable that looks like an object or a list is one", () => {
  expect(variable_value('{"a":1}')).toEqual({ a: 1 });
  expect(variable_value("[1")).toBe("[1");
  expect(variable_value("12")).toBe("12");
});
