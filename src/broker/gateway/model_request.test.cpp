#include "broker/gateway/model_request.h"
#include "broker/gateway/model_protocol.h"
#include "broker/spending/model_json.h"
#include "broker/spending/usage_filter.h"
#include "json/json.h"

#include <doctest/doctest.h>

using namespace hone;
using namespace hone::broker;

namespace {

std::string shape(const Result<ModelRequest>& request) {
    return request.ok() ? request.value().model + (request.value().stream ? " streams" : "")
                        : std::string(request.error().message);
}

json::Value parsed(const std::optional<std::string>& text) {
    REQUIRE(text);
    auto value = json::parse(*text);
    REQUIRE_MESSAGE(value.ok(), *text);
    return std::move(value).value();
}

std::string filtered(std::string_view stream, size_t step) {
    UsageChunkFilter filter;
    std::string out;
    for (size_t at = 0; at < stream.size(); at += step) filter.feed(stream.substr(at, step), out);
    filter.finish(out);
    return out;
}

} // namespace

TEST_CASE("members are found in objects, also after escapes, and values end where they end") {
    const std::string_view text = R"( {"a\"b":"\\","c":[{"d":"}]"},2],"m\u006fdel":"x","e":{}} )";
    CHECK(member(text, "a\"b") == "\"\\\\\"");
    CHECK(member(text, "c") == R"([{"d":"}]"},2])");
    CHECK(member(text, "model") == "\"x\"");
    CHECK(member(text, "e") == "{}");
    CHECK_FALSE(member(text, "d"));
    CHECK(member_at(R"({"a":{"b":{"c":12}}})", {"a", "b", "c"}) == "12");
    CHECK(text_of(R"("\u00e9\ud83d\ude00\n")") == "é😀\n");
    CHECK(text_of(R"("\ud83d")") == "\xef\xbf\xbd");
    CHECK_FALSE(text_of(R"("\x")"));
    CHECK_FALSE(count_of("1x"));
    CHECK_FALSE(for_each_member(R"({"a":[})", [](auto, auto) { return true; }));
    CHECK_FALSE(for_each_member(R"({"a" 1})", [](auto, auto) { return true; }));
    const std::string deep = "{\"a\":" + std::string(1000, '[') + std::string(1000, ']') + "}";
    CHECK_FALSE(member(deep, "a"));
}

TEST_CASE("model and streaming of a request are found at any position") {
    CHECK(shape(read_model_request(ModelApi::messages,
                                   R"({"messages":[{"model":"no"}],"stream":true,"model":"yes"})")) == "yes streams");
    CHECK(shape(read_model_request(ModelApi::chat, R"({"model":"m","stream":"true"})")) == "m");
    CHECK(read_model_request(ModelApi::chat, R"({"model":"m","max_tokens":77})").value().max_output_tokens == 77);
    CHECK(read_model_request(ModelApi::gemini, R"({"generationConfig":{"maxOutputTokens":9}})")
              .value()
              .max_output_tokens == 9);
}

TEST_CASE("a request that two readers could take for two is refused") {
    for (const std::string_view body :
         {R"({"model":"a","model":"b"})", R"({"model":"a","Model":"b"})", R"({"model":"a","m\u006fdel":"b"})",
          R"({"model":"a","STREAM":true})", R"({"model":"a"}{"model":"b"})", R"({"model":"a"} x)", R"([])", R"("x")",
          "", R"({"model":"a")", R"({"model":""})", R"({"model":["a"]})", R"({"messages":[]})"}) {
        INFO(body);
        CHECK_FALSE(read_model_request(ModelApi::messages, body).ok());
    }
}

TEST_CASE("requesting usage changes only the stream options") {
    CHECK(with_usage_in_stream(R"({"model":"m"})") == R"({"stream_options":{"include_usage":true},"model":"m"})");
    CHECK(with_usage_in_stream(R"({"stream_options":{"include_usage":false,"x":[1]},"model":"m"})") ==
          R"({"stream_options":{"include_usage":true,"x":[1]},"model":"m"})");
    CHECK(with_usage_in_stream(R"({ "stream_options" : null })") == R"({ "stream_options" : {"include_usage":true} })");
}

TEST_CASE("a notice is put where the model reads it next, and the body stays JSON") {
    const std::string_view notice = "Finish \"now\".\n";
    auto value = parsed(with_notice(ModelApi::messages, R"({"messages":[{"role":"user","content":"hi"}]})", notice));
    CHECK(value.at("messages").at(0).at("content").as_string() == "hi\n\nFinish \"now\".\n");
    value = parsed(with_notice(
        ModelApi::messages,
        R"({"messages":[{"role":"user","content":[{"type":"tool_result","tool_use_id":"t","content":"]"}]}]})",
        notice));
    CHECK(value.at("messages").at(0).at("content").at(1).at("text").as_string() == notice);
    CHECK_FALSE(with_notice(ModelApi::messages, R"({"messages":[{"role":"assistant","content":"{"}]})", notice));
    CHECK_FALSE(with_notice(ModelApi::messages, R"({"messages":[]})", notice));

    value = parsed(with_notice(ModelApi::chat, R"({"messages":[{"role":"tool","content":""}]})", notice));
    CHECK(value.at("messages").at(0).at("content").as_string() == "\n\nFinish \"now\".\n");
    value = parsed(with_notice(ModelApi::chat, R"({"messages":[{"role":"assistant","content":null}]})", notice));
    CHECK(value.at("messages").at(1).at("role").as_string() == "user");

    value = parsed(with_notice(ModelApi::responses, R"({"input":"hi"})", notice));
    CHECK(value.at("input").as_string() == "hi\n\nFinish \"now\".\n");
    value = parsed(with_notice(ModelApi::responses, R"({"input":[ ]})", notice));
    CHECK(value.at("input").at(0).at("role").as_string() == "developer");

    value = parsed(with_notice(ModelApi::gemini, R"({})", notice));
    CHECK(value.at("systemInstruction").at("parts").at(0).at("text").as_string() == notice);
    value = parsed(with_notice(ModelApi::gemini, R"({"system_instruction":{"parts":[{"text":"be kind"}]}})", notice));
    CHECK(value.at("system_instruction").at("parts").at(1).at("text").as_string() == notice);
}

TEST_CASE("the usage chunk is taken out of a chat stream and nothing else") {
    const std::string before = ": note\n\ndata: {\"choices\":[{\"delta\":{}}],\"usage\":null}\n\n";
    const std::string usage = "data: {\"choices\": [ ],\"usage\":{\"prompt_tokens\":1}}\n\n";
    const std::string after = "data: {\"choices\":[]}\r\n\r\ndata: [DONE]\n\n";
    for (const size_t step : {size_t{1}, size_t{3}, size_t{1000}}) {
        CHECK(filtered(before + usage + after, step) == before + after);
        CHECK(filtered(before + usage.substr(0, 30), step) == before + usage.substr(0, 30));
        const std::string huge = "data: " + std::string(UsageChunkFilter::hold_limit + 10, 'x') + "\n\n";
        if (step > 1) CHECK(filtered(huge + usage + after, step * 100) == huge + after);
    }
}

TEST_CASE("exactly the listed endpoints are offered") {
    const auto found = [](std::string_view target) {
        const auto route = find_model_route("POST", target);
        return route ? std::string(name_of(route->api)) + " " + route->path + route->query : "none";
    };
    CHECK(found("/anthropic/v1/messages?beta=true") == "messages /v1/messages?beta=true");
    CHECK(found("/anthropic/v1/messages/count_tokens") == "messages /v1/messages/count_tokens");
    CHECK(found("/openai/v1/responses") == "responses /v1/responses");
    CHECK(found("/openai/v1/chat/completions") == "chat /v1/chat/completions");
    CHECK(found("/gemini/v1beta/models/gemini-2.5-pro:streamGenerateContent?key=mine&alt=sse&%6bey=x") ==
          "gemini /v1beta/models/gemini-2.5-pro:streamGenerateContent?alt=sse");
    for (const std::string_view target :
         {"/anthropic/v1/messages/", "/anthropic/v1/files", "/anthropic//v1/messages", "/anthropic/v1/../v1/messages",
          "/openai/v1/responses/resp_1", "/openai/v1/files", "/gemini/v1beta/models/a/b:generateContent",
          "/gemini/v1beta/models/a:batchGenerateContent", "/gemini/v1beta/models/..:generateContent",
          "/gemini/v1beta/models/%2e:generateContent", "/v1/messages", "/"}) {
        INFO(target);
        CHECK(found(target) == "none");
    }
    CHECK_FALSE(find_model_route("GET", "/anthropic/v1/messages"));
    CHECK(family_of("/openai/v9/x") == ModelApi::chat);
    CHECK_FALSE(family_of("/openaix"));
}

TEST_CASE("errors have the provider's shape and the status that makes a harness stop or try again") {
    const ModelError anthropic = model_error(ModelApi::messages, ModelRefusal::budget, "used \"up\"");
    CHECK(anthropic.status == 400);
    CHECK(anthropic.body == R"({"type":"error","error":{"type":"invalid_request_error","message":"used \"up\""}})");
    const auto openai = parsed(model_error(ModelApi::chat, ModelRefusal::budget, "m").body);
    CHECK(openai.at("error").at("code").as_string() == "insufficient_quota");
    const auto gemini = parsed(model_error(ModelApi::gemini, ModelRefusal::budget, "m").body);
    CHECK(gemini.at("error").at("code").as_int64() == 400);
    CHECK(gemini.at("error").at("status").as_string() == "FAILED_PRECONDITION");
    CHECK(model_error(ModelApi::messages, ModelRefusal::unreachable, "m").status == 502);
}

TEST_CASE("the endpoint that names the model serves it, else one that takes any") {
    std::vector<skill::ModelEndpoint> endpoints;
    const auto add = [&](std::string skill_id, std::string protocol, std::vector<std::string> models) {
        skill::ModelEndpoint& endpoint = endpoints.emplace_back();
        endpoint.skill_id = std::move(skill_id);
        endpoint.protocol = std::move(protocol);
        endpoint.models = std::move(models);
    };
    add("any", "anthropic", {});
    add("named", "anthropic", {"claude-a", "local-*"});
    add("openai", "openai", {"gpt-5"});
    const auto chosen = [&](ModelApi api, std::string_view model) {
        const auto* endpoint = choose_endpoint(endpoints, api, model);
        return endpoint ? endpoint->skill_id : "none";
    };
    CHECK(chosen(ModelApi::messages, "claude-a") == "named");
    CHECK(chosen(ModelApi::messages, "local-7b") == "named");
    CHECK(chosen(ModelApi::messages, "claude-b") == "any");
    CHECK(chosen(ModelApi::responses, "gpt-5") == "openai");
    CHECK(chosen(ModelApi::chat, "gpt-4") == "none");
    CHECK(chosen(ModelApi::gemini, "g") == "none");
}

TEST_CASE("an endpoint's address and its targets") {
    const auto target = [](std::string_view base) {
        auto address = parse_model_address(base);
        return address.ok() ? address.value().host.text() + " " +
                                  address.value().target(*find_model_route("POST", "/openai/v1/chat/completions"))
                            : std::string(address.error().message);
    };
    CHECK(target("https://api.openai.com") == "api.openai.com:443 /v1/chat/completions");
    CHECK(target("https://api.openai.com/v1/") == "api.openai.com:443 /v1/chat/completions");
    CHECK(target("http://10.0.0.5:8000/llm/v1") == "10.0.0.5:8000 /llm/v1/chat/completions");
    CHECK_FALSE(parse_model_address("ftp://x").ok());
    CHECK_FALSE(parse_model_address("https://user@x").ok());
    CHECK_FALSE(parse_model_address("https://x/a?b").ok());
    CHECK_FALSE(parse_model_address("https://").ok());
}
