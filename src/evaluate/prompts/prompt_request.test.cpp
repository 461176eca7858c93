#include "evaluate/prompts/prompt_request.h"
#include "evaluate/prompts/prompt_template.h"

#include <doctest/doctest.h>

namespace hone::evaluate {

namespace {

json::Object object_of(const char* text) {
    return json::parse(text).value().as_object();
}

std::string filled(TemplateFormat format, const char* text, const char* variables) {
    const auto made = render_template(format, text, object_of(variables));
    return made.ok() ? made.value() : "error: " + made.error().message;
}

std::string mustache(const char* text, const char* variables) {
    return filled(TemplateFormat::mustache, text, variables);
}

std::string f_string(const char* text, const char* variables) {
    return filled(TemplateFormat::f_string, text, variables);
}

// A version with tools, a response format and parameters, as Phoenix' clients store it.
constexpr const char* version_text = R"({
  "model_provider":"OPENAI","model_name":"gpt-4o","template_type":"CHAT","template_format":"MUSTACHE",
  "template":{"type":"chat","messages":[
    {"role":"developer","content":"Answer about {{topic}}."},
    {"role":"user","content":[{"type":"text","text":"{{question}}"}]},
    {"role":"ai","content":[{"type":"tool_call","tool_call_id":"call_1",
      "tool_call":{"type":"function","name":"look_up","arguments":"{\"key\":\"a\"}"}}]},
    {"role":"tool","content":[{"type":"tool_result","tool_call_id":"call_1","tool_result":{"found":1}}]}]},
  "invocation_parameters":{"type":"openai","openai":{"temperature":0.5,"max_completion_tokens":100,"seed":7,"stop":"END"}},
  "tools":{"type":"tools","tools":[{"type":"function","function":{"name":"look_up","description":"Finds.",
    "parameters":{"type":"object","properties":{"key":{"type":"string"}}},"strict":true}}],
    "tool_choice":{"type":"specific_function","function_name":"look_up"},"disable_parallel_tool_calls":true},
  "response_format":{"type":"json_schema","json_schema":{"name":"answer","schema":{"type":"object"},"strict":true}}})";

std::string request_of(const PromptTarget& target, const char* variables = R"({"topic":"tea","question":"why?"})") {
    const auto made = make_prompt_request(json::parse(version_text).value(), target, object_of(variables));
    if (!made.ok()) return "error: " + made.error().message;
    return made.value().protocol + " " + made.value().path + " " + made.value().body;
}

} // namespace

TEST_CASE("mustache fills variables, paths, sections and inverted sections without escaping") {
    CHECK(mustache("{{ hello }} {{{x}}} {{&x}}", R"({"hello":"<world>","x":"&"})") == "<world> & &");
    CHECK(mustache("{{user.name}} {{list.1}}", R"({"user":{"name":"Ada"},"list":[1,2]})") == "Ada 2");
    CHECK(mustache("{{a.b}}", R"({"a.b":"whole key"})") == "whole key");
    CHECK(mustache("{{n}} {{t}} {{o}}", R"({"n":1.5,"t":true,"o":{"k":[1]}})") == R"(1.5 true {"k":[1]})");
    CHECK(mustache("{{#docs}}- {{title}} of {{who}}\n{{/docs}}",
                   R"({"who":"x","docs":[{"title":"a"},{"title":"b"}]})") == "- a of x\n- b of x\n");
    CHECK(mustache("{{#items}}{{.}},{{/items}}{{^items}}none{{/items}}", R"({"items":["a","b"]})") == "a,b,");
    CHECK(mustache("{{^items}}none{{/items}}", R"({"items":[]})") == "none");
    CHECK(mustache("a\n  {{#on}}\nb\n  {{/on}}\nc", R"({"on":true})") == "a\nb\nc");
    CHECK(mustache("a{{! a comment }}b", "{}") == "ab");
    CHECK(mustache("{\"a\": {{x}}}", R"({"x":1})") == "{\"a\": 1}");
}

TEST_CASE("a missing variable is an error that names it, also null and below a path") {
    CHECK(mustache("{{b}} {{a}} {{b}}", "{}") == "error: missing template variables a, b");
    CHECK(mustache("{{a}}", R"({"a":null})") == "error: missing template variable a");
    CHECK(mustache("{{a.b}}", R"({"a":{"c":1}})") == "error: missing template variable a.b");
    CHECK(mustache("{{#a}}x{{/a}}", "{}") == "error: missing template variable a");
    CHECK(mustache("{{#a}}{{b}}{{/a}}", R"({"a":[{"b":1},{}]})") == "error: missing template variable b");
    CHECK(mustache("{{#a}}{{#b}}yes{{/b}}{{/a}}", R"({"a":[{"b":1},{}]})") == "yes");
    CHECK(f_string("{a} {b}", R"({"a":1})") == "error: missing template variable b");
}

TEST_CASE("malformed templates are errors") {
    CHECK(mustache("{{a", "{}").starts_with("error: template: {{ is not closed"));
    CHECK(mustache("{{#a}}x", R"({"a":1})") == "error: template: section a is not closed");
    CHECK(mustache("{{/a}}", "{}") == "error: template: {{/a}} closes a section that is not open");
    CHECK(mustache("{{> other}}", "{}").starts_with("error: template: partials"));
    CHECK(mustache("{{=<% %>=}}", "{}").starts_with("error: template: partials and other delimiters"));
    CHECK(mustache("{{a b}}", "{}").starts_with("error: template: \"{{a b}}\" is not a variable"));
    CHECK(mustache("{{}}", "{}").starts_with("error: template:"));
    CHECK(f_string("{a", "{}").starts_with("error: template: { is not closed"));
    CHECK(f_string("a}", "{}").starts_with("error: template: a single }"));
    CHECK(f_string("{a!r}", R"({"a":1})").starts_with("error: template: {a!r} is not the name"));
    CHECK(f_string("{a:>9}", R"({"a":1})").starts_with("error: template: {a:>9} is not the name"));
    CHECK(f_string("{}", "{}").starts_with("error: template: {} is not the name"));
    std::string deep;
    for (int i = 0; i < 100; ++i) deep += "{{#a}}";
    CHECK(mustache(deep.c_str(), R"({"a":1})") == "error: template: sections are nested too deeply");
}

TEST_CASE("f-strings fill names and keep doubled braces") {
    CHECK(f_string("{{\"k\": {v}}} {t}", R"({"v":[1,2],"t":"x{y}"})") == "{\"k\": [1,2]} x{y}");
    CHECK(filled(TemplateFormat::none, "{{a}} {b}", "{}") == "{{a}} {b}");
}

TEST_CASE("a template that multiplies itself is stopped") {
    std::string list = "[0";
    for (int i = 0; i < 300; ++i) list += ",0";
    list += "]";
    const std::string variables = R"({"a":)" + list + "}";
    CHECK(mustache("{{#a}}{{#a}}{{#a}}{{#a}}xxxxxxxxxx{{/a}}{{/a}}{{/a}}{{/a}}", variables.c_str()) ==
          "error: the rendered template has more than 8 MiB");
}

TEST_CASE("a prompt becomes a request of OpenAI with tools, format and parameters") {
    CHECK(request_of({}) ==
          R"(openai /openai/v1/chat/completions {"temperature":0.5,"max_completion_tokens":100,"seed":7,"stop":"END",)"
          R"("model":"gpt-4o","messages":[{"role":"system","content":"Answer about tea."},)"
          R"({"role":"user","content":"why?"},{"role":"assistant","content":null,"tool_calls":[{"id":"call_1",)"
          R"("type":"function","function":{"name":"look_up","arguments":"{\"key\":\"a\"}"}}]},)"
          R"({"role":"tool","tool_call_id":"call_1","content":"{\"found\":1}"}],)"
          R"("tools":[{"type":"function","function":{"name":"look_up","description":"Finds.",)"
          R"("parameters":{"type":"object","properties":{"key":{"type":"string"}}},"strict":true}}],)"
          R"("tool_choice":{"type":"function","function":{"name":"look_up"}},"parallel_tool_calls":false,)"
          R"("response_format":{"type":"json_schema","json_schema":{"name":"answer","schema":{"type":"object"},)"
          R"("strict":true}}})");
}

TEST_CASE("another provider gets the parameters that it has too, under its own names") {
    CHECK(request_of({"ANTHROPIC", "claude-x", object_of(R"({"top_k":5,"temperature":null})"), true}) ==
          R"(anthropic /anthropic/v1/messages {"top_k":5,"max_tokens":100,"stop_sequences":["END"],"model":"claude-x",)"
          R"("messages":[{"role":"user","content":[{"type":"text","text":"why?"}]},)"
          R"({"role":"assistant","content":[{"type":"tool_use","id":"call_1","name":"look_up","input":{"key":"a"}}]},)"
          R"({"role":"user","content":[{"type":"tool_result","tool_use_id":"call_1","content":"{\"found\":1}"}]}],)"
          R"("system":"Answer about tea.","tools":[{"name":"look_up","description":"Finds.",)"
          R"("input_schema":{"type":"object","properties":{"key":{"type":"string"}}}}],)"
          R"("tool_choice":{"type":"tool","name":"look_up","disable_parallel_tool_use":true},)"
          R"("output_config":{"format":{"type":"json_schema","schema":{"type":"object"}}},"stream":true})");
    CHECK(request_of({"GOOGLE", "gemini-x", {}, true}) ==
          R"(gemini /gemini/v1beta/models/gemini-x:streamGenerateContent?alt=sse )"
          R"({"contents":[{"role":"user","parts":[{"text":"why?"}]},)"
          R"({"role":"model","parts":[{"functionCall":{"name":"look_up","args":{"key":"a"}}}]},)"
          R"({"role":"user","parts":[{"functionResponse":{"name":"look_up","response":{"result":"{\"found\":1}"}}}]}],)"
          R"("systemInstruction":{"parts":[{"text":"Answer about tea."}]},)"
          R"("tools":[{"functionDeclarations":[{"name":"look_up","description":"Finds.",)"
          R"("parameters":{"type":"object","properties":{"key":{"type":"string"}}}}]}],)"
          R"("toolConfig":{"functionCallingConfig":{"mode":"ANY","allowedFunctionNames":["look_up"]}},)"
          R"("generationConfig":{"temperature":0.5,"maxOutputTokens":100,"stopSequences":["END"],)"
          R"("responseMimeType":"application/json","responseJsonSchema":{"type":"object"}}})");
}

TEST_CASE("requests that cannot be made are errors") {
    CHECK(request_of({}, "{}") == "error: missing template variable topic");
    CHECK(request_of({"AWS"}).starts_with("error: model provider AWS cannot be called"));
    CHECK(request_of({"", "a b"}) == "error: model must be a name without blanks");
    CHECK(request_of({"GOOGLE", "../secret"}) == "error: model must be the name of a Gemini model");
    const auto broken = [](const char* content) {
        const auto made = check_prompt_request(json::parse(content).value(), {});
        return made.ok() ? std::string("ok") : made.error().message;
    };
    CHECK(broken("[]") == "template_format must be MUSTACHE, F_STRING or NONE");
    CHECK(
        broken(R"({"template_format":"NONE","model_provider":"OPENAI","model_name":"m","template":{"messages":[]}})") ==
        "the prompt has no messages");
    CHECK(broken(R"({"template_format":"MUSTACHE","model_provider":"OPENAI","model_name":"m",
        "template":{"messages":[{"role":"user","content":"{{a"}]}})")
              .starts_with("template: {{ is not closed"));
    CHECK(broken(R"({"template_format":"NONE","model_provider":"OPENAI","model_name":"m",
        "template":{"messages":[{"role":"user","content":[{"type":"image","url":"x"}]}]}})")
              .starts_with("a message has a part of type image"));
}

} // namespace hone::evaluate
