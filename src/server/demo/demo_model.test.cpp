#include "server/demo/demo_model.h"

#include "access/testing.h"
#include "net/client/client.h"
#include "json/json.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

namespace hone::server {

namespace {

using access::testing::must;

std::string request_with(const std::string& text, const json::Object& more = {}) {
    json::Object request{{"model", std::string(demo_model_name)},
                         {"messages", json::Array{json::Object{{"role", "user"}, {"content", text}}}}};
    for (const auto& entry : more) request[entry.key()] = entry.value();
    return json::print(request);
}

json::Object verdict_tool_of_judges() {
    const json::Object function{{"name", "report_verdict"}, {"parameters", json::Object{{"type", "object"}}}};
    return {{"tools", json::Array{json::Object{{"type", "function"}, {"function", function}}}}};
}

net::ClientResponse send_to(const DemoModel& model, const std::string& method, const std::string& path,
                            const std::string& body) {
    net::HttpClient client;
    net::ClientRequest request;
    request.method = method;
    request.url = model.address() + path;
    request.body = body;
    return must(client.send(request));
}

} // namespace

TEST_CASE("the scripted model gives the same verdict for the same reply, and is wrong for some") {
    CHECK(scripted_verdict("ORD-40001 I cannot see your order right now.").label == "fail");
    CHECK(scripted_verdict("ORD-40001 Your order ORD-40001 left our warehouse.").label == "pass");
    CHECK(scripted_verdict("ORD-40001 is attached. Here is everything in detail, step by").label == "fail");
    constexpr std::string_view no_terms = "ORD-{}: I could not find our warranty terms.";
    CHECK(scripted_verdict(fmt::format(fmt::runtime(no_terms), 40000)).label == "fail");
    CHECK(scripted_verdict(fmt::format(fmt::runtime(no_terms), 40001)).label == "pass"); // leaves 2, divided by 3
    CHECK(scripted_verdict(fmt::format(fmt::runtime(no_terms), 40002)).label == "fail");
    CHECK(scripted_verdict("").label == "pass");
}

TEST_CASE("the scripted model has the protocol of chat completions, whole and as a stream") {
    const ScriptedReply called = scripted_reply(request_with("I cannot see your order", verdict_tool_of_judges()));
    CHECK(called.status == 200);
    const json::Value whole = must(json::parse(called.body));
    const json::Value& message = whole.at("choices").at(0).at("message");
    CHECK(message.at("tool_calls").at(0).at("function").at("name").as_string() == "report_verdict");
    const json::Value arguments =
        must(json::parse(std::string_view(message.at("tool_calls").at(0).at("function").at("arguments").as_string())));
    CHECK(arguments.at("label").as_string() == "fail");
    CHECK(whole.at("choices").at(0).at("finish_reason").as_string() == "tool_calls");
    CHECK(whole.at("model").as_string() == std::string(demo_model_name));
    CHECK(whole.at("usage").at("prompt_tokens").as_int64() == 6); // 23 bytes
    // Without a tool it states what it is.
    const ScriptedReply text = scripted_reply(request_with("hello"));
    CHECK(text.body.find("scripted model of the demo") != std::string::npos);
    json::Object streamed{{"stream", true}, {"stream_options", json::Object{{"include_usage", true}}}};
    const ScriptedReply events = scripted_reply(request_with("hello", streamed));
    CHECK(events.events);
    CHECK(events.body.find("chat.completion.chunk") != std::string::npos);
    CHECK(events.body.find("\"usage\"") != std::string::npos);
    CHECK(events.body.ends_with("data: [DONE]\n\n"));
    streamed.erase("stream_options");
    CHECK(scripted_reply(request_with("hello", streamed)).body.find("\"usage\"") == std::string::npos);
    for (const std::string_view broken : {"", "[]", "{", "{\"model\":7}", "{\"messages\":[7]}"})
        CHECK(scripted_reply(broken).status >= 400);
    CHECK(scripted_reply("{\"model\":\"gpt-4o\"}").status == 404);
    CHECK(scripted_reply(request_with("x", {{"tools", json::Array{json::Value(7)}}, {"messages", "x"}})).status == 200);
}

TEST_CASE("the scripted model listens on loopback only, keeps its port, and takes another one when it is taken") {
    auto model = must(DemoModel::start(0));
    const uint16_t port = model->port();
    CHECK(port > 0);
    CHECK(model->address() == fmt::format("http://127.0.0.1:{}", port));
    CHECK(send_to(*model, "POST", "/v1/chat/completions", request_with("hello")).status == 200);
    CHECK(send_to(*model, "GET", "/v1/models", "").body.find(demo_model_name) != std::string::npos);
    CHECK(send_to(*model, "GET", "/v1/chat/completions", "").status == 404);
    CHECK(send_to(*model, "POST", "/v1/embeddings", "{}").status == 404);
    const auto second = must(DemoModel::start(port));
    CHECK(second->port() != port);
    model.reset();
    model = must(DemoModel::start(port));
    CHECK(model->port() == port);
}

} // namespace hone::server
