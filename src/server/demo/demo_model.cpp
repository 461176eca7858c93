#include "server/demo/demo_model.h"

#include "base/text.h"
#include "json/path.h"

#include <fmt/format.h>

namespace hone::server {

namespace {

constexpr std::string_view completions_path = "/v1/chat/completions";
constexpr std::string_view models_path = "/v1/models";
constexpr size_t largest_request = 4 << 20;
constexpr size_t bytes_of_token = 4;
constexpr std::string_view other_reply =
    "This is the scripted model of the demo. It evaluates replies to customers by fixed rules and does nothing else.";

std::string text_of_messages(const json::Value& request) {
    std::string text;
    const json::Value* messages = json::member(request, {"messages"});
    if (messages == nullptr || !messages->is_array()) return text;
    for (const json::Value& message : messages->get_array()) text += json::text_at(message, {"content"});
    return text;
}

// The one tool that an evaluator offers; empty: none.
std::string tool_name(const json::Value& request) {
    const json::Value* tools = json::member(request, {"tools"});
    if (tools == nullptr || !tools->is_array() || tools->get_array().size() != 1) return "";
    return json::text_at(tools->get_array().front(), {"function", "name"});
}

// The number of the first order in the text; 0: there is none.
int64_t order_number(std::string_view text) {
    constexpr std::string_view mark = "ORD-";
    const size_t at = text.find(mark);
    if (at == std::string_view::npos) return 0;
    int64_t number = 0;
    for (size_t i = at + mark.size(); i < text.size() && i < at + mark.size() + 9; ++i) {
        if (text[i] < '0' || text[i] > '9') break;
        number = number * 10 + (text[i] - '0');
    }
    return number;
}

bool contains(std::string_view text, std::string_view words) {
    return text.find(words) != std::string_view::npos;
}

std::string error_body(std::string_view message) {
    return json::print(
        json::Object{{"error", json::Object{{"message", std::string(message)}, {"type", "invalid_request_error"}}}});
}

// One event of a stream: the same fields as the whole response, with `delta` instead of `message`.
std::string event_of(const json::Object& common, json::Object choice, const json::Value& usage) {
    json::Object event = common;
    event["object"] = "chat.completion.chunk";
    event["choices"] = choice.empty() ? json::Array{} : json::Array{std::move(choice)};
    if (!usage.is_null()) event["usage"] = usage;
    return "data: " + json::print(event) + "\n\n";
}

} // namespace

ScriptedVerdict scripted_verdict(std::string_view text) {
    if (contains(text, "I cannot see your order"))
        return {"fail", "The order was not looked up; the customer has to write again."};
    if (contains(text, "could not find our warranty terms")) {
        if (order_number(text) % 3 == 2) return {"pass", "The reply is polite and announces help from a colleague."};
        return {"fail", "The ticket is about the warranty, and the reply has no terms."};
    }
    if (contains(text, "in detail, step by")) return {"fail", "The reply ends in the middle of a sentence."};
    return {"pass", "The reply is about the customer's order and states what happens next."};
}

ScriptedReply scripted_reply(std::string_view request) {
    const auto parsed = json::parse(request);
    if (!parsed.ok() || !parsed.value().is_object()) return {400, false, error_body("the body must be a JSON object")};
    const json::Value& wanted = parsed.value();
    if (json::text_at(wanted, {"model"}) != demo_model_name)
        return {404, false, error_body(fmt::format("unknown model; this endpoint has {}", demo_model_name))};
    const std::string text = text_of_messages(wanted);
    const std::string tool = tool_name(wanted);
    const ScriptedVerdict verdict = scripted_verdict(text);
    const std::string arguments = json::print(
        json::Object{{"explanation", std::string(verdict.explanation)}, {"label", std::string(verdict.label)}});
    const std::string_view written = tool.empty() ? other_reply : std::string_view(arguments);
    const bool streams = json::true_at(wanted, {"stream"});
    json::Object message{{"role", "assistant"}};
    if (tool.empty()) {
        message["content"] = std::string(other_reply);
    } else {
        json::Object call{{"id", "call_1"},
                          {"type", "function"},
                          {"function", json::Object{{"name", tool}, {"arguments", arguments}}}};
        if (streams) call["index"] = 0;
        message["content"] = nullptr;
        message["tool_calls"] = json::Array{std::move(call)};
    }
    const auto input = static_cast<int64_t>(text.size() / bytes_of_token + 1);
    const auto output = static_cast<int64_t>(written.size() / bytes_of_token + 1);
    const json::Object usage{{"prompt_tokens", input}, {"completion_tokens", output}, {"total_tokens", input + output}};
    const std::string finish = tool.empty() ? "stop" : "tool_calls";
    json::Object common{{"id", "chatcmpl-scripted"},
                        {"object", "chat.completion"},
                        {"created", 0},
                        {"model", std::string(demo_model_name)}};
    if (!streams) {
        common["choices"] =
            json::Array{json::Object{{"index", 0}, {"message", std::move(message)}, {"finish_reason", finish}}};
        common["usage"] = usage;
        return {200, false, json::print(common)};
    }
    std::string events =
        event_of(common, {{"index", 0}, {"delta", std::move(message)}, {"finish_reason", nullptr}}, nullptr) +
        event_of(common, {{"index", 0}, {"delta", json::Object{}}, {"finish_reason", finish}}, nullptr);
    if (json::true_at(wanted, {"stream_options", "include_usage"})) events += event_of(common, {}, usage);
    return {200, true, events + "data: [DONE]\n\n"};
}

Result<std::unique_ptr<DemoModel>> DemoModel::start(uint16_t port) {
    std::unique_ptr<DemoModel> model(new DemoModel);
    net::ServerOptions options;
    options.listen = {{"127.0.0.1:" + std::to_string(port), "", ""}};
    options.edge_threads = 1;
    options.lanes.fill({1, 64});
    auto server = net::Server::start(options, *model);
    if (!server.ok() && port != 0) {
        options.listen.front().address = "127.0.0.1:0";
        server = net::Server::start(options, *model);
    }
    model->m_server = TRY(std::move(server));
    const std::string bound = model->m_server->addresses().front();
    model->m_port = static_cast<uint16_t>(TRY(parse_integer(bound.substr(bound.rfind(':') + 1))));
    return model;
}

net::Plan DemoModel::plan(const net::RequestHead& head) {
    net::Plan plan;
    plan.body_limit = largest_request;
    if (head.method == "GET" && head.path == models_path)
        plan.response = net::json_response(
            200, json::print(json::Object{
                     {"object", "list"},
                     {"data", json::Array{json::Object{{"id", std::string(demo_model_name)}, {"object", "model"}}}}}));
    else if (head.path != completions_path || head.method != "POST")
        plan.response = net::json_response(404, error_body("this endpoint has /v1/chat/completions and /v1/models"));
    return plan;
}

net::Response DemoModel::handle(net::Request&& request) {
    ScriptedReply reply = scripted_reply(request.body);
    net::Response response = net::json_response(reply.status, std::move(reply.body));
    if (reply.events) response.content_type = "text/event-stream";
    return response;
}

} // namespace hone::server
