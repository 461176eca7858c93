#include "broker/gateway/model_guard.h"

#include <doctest/doctest.h>

using namespace hone;
using namespace hone::broker;

namespace {

// "ok", or the feature that the refusal names; "unknown" for what no feature stands for.
std::string verdict(ModelApi api, const std::string& body, std::vector<std::string> features = {}) {
    const auto checked = check_model_request(api, body, features);
    if (checked.ok()) return "ok";
    if (checked.error().code == Code::invalid) return "invalid";
    const std::string& message = checked.error().message;
    constexpr std::string_view mark = "ALLOW_FEATURES=";
    const size_t at = message.find(mark);
    if (at == std::string::npos) return message;
    const std::string feature = message.substr(at + mark.size());
    return feature.starts_with("beta:") ? "unknown" : feature;
}

std::string messages(const std::string& content) {
    return R"({"model":"m","max_tokens":10,"messages":[{"role":"user","content":)" + content + "}]}";
}
std::string chat(const std::string& content) {
    return R"({"model":"m","messages":[{"role":"user","content":)" + content + "}]}";
}
std::string responses(const std::string& input) {
    return R"({"model":"m","store":false,"input":)" + input + "}";
}
std::string gemini(const std::string& parts) {
    return R"({"contents":[{"role":"user","parts":)" + parts + "}]}";
}

} // namespace

TEST_CASE("requests of the harnesses pass") {
    CHECK(verdict(ModelApi::messages,
                  R"({"model":"m","max_tokens":32000,"stream":true,"thinking":{"type":"adaptive","display":"updates"},
                      "context_management":{"edits":[{"type":"clear_thinking_20251015","keep":"all"}]},
                      "output_config":{"effort":"high"},"metadata":{"user_id":"u"},"system":[{"type":"text","text":"s"}],
                      "tools":[{"name":"Bash","input_schema":{"type":"object","properties":{"url":{"type":"url"}}}},
                               {"type":"bash_20250124","name":"bash"},{"type":"custom","name":"x"}],
                      "messages":[{"role":"user","content":"hi"},
                        {"role":"assistant","content":[{"type":"thinking","thinking":"t","signature":"s"},
                          {"type":"tool_use","id":"1","name":"Bash","input":{"type":"image","source":{"type":"url","url":"x"}}}]},
                        {"role":"user","content":[{"type":"tool_result","tool_use_id":"1","content":[
                          {"type":"text","text":"x"},
                          {"type":"image","source":{"type":"base64","media_type":"image/png","data":"aaaa"}}]}]}]})") ==
          "ok");
    CHECK(verdict(ModelApi::responses,
                  R"({"model":"m","stream":true,"store":false,"include":["reasoning.encrypted_content"],
                      "reasoning":{"summary":"auto"},"prompt_cache_key":"k","client_metadata":{"a":"b"},
                      "parallel_tool_calls":true,"tool_choice":"auto","previous_response_id":null,
                      "tools":[{"type":"function","name":"f"},{"type":"namespace","name":"n","tools":[{"type":"function"}]},
                               {"type":"web_search","external_web_access":false,"search_context_size":"low"},
                               {"type":"shell","environment":{"type":"local"}}],
                      "input":[{"type":"message","role":"user","content":[{"type":"input_text","text":"x"},
                          {"type":"input_image","image_url":"data:image/png;base64,aaaa"}]},
                        {"type":"function_call","name":"f","arguments":"{}","call_id":"1"},
                        {"type":"function_call_output","call_id":"1","output":"done"},
                        {"type":"reasoning","summary":[],"encrypted_content":"x"}]})") == "ok");
    CHECK(verdict(ModelApi::chat,
                  R"({"model":"m","stream":true,"stream_options":{"include_usage":true},"max_tokens":10,
                      "tools":[{"type":"function","function":{"name":"f"}}],"messages":[
                        {"role":"system","content":"s"},
                        {"role":"user","content":[{"type":"text","text":"x"},
                          {"type":"image_url","image_url":{"url":"data:image/png;base64,aaaa","detail":"low"}}]},
                        {"role":"assistant","content":null,"tool_calls":[{"id":"1"}],"reasoning_content":"r"},
                        {"role":"tool","tool_call_id":"1","content":"out"}]})") == "ok");
    CHECK(verdict(ModelApi::gemini,
                  R"({"systemInstruction":{"parts":[{"text":"s"}]},
                      "generationConfig":{"maxOutputTokens":10,"responseModalities":["TEXT"]},
                      "tools":[{"functionDeclarations":[{"name":"f"}]}],
                      "contents":[{"role":"user","parts":[{"text":"x"},{"inlineData":{"mimeType":"image/png","data":"a"}}]},
                        {"role":"model","parts":[{"functionCall":{"name":"f","args":{"fileData":"x"}},"thoughtSignature":"s"}]},
                        {"role":"user","parts":[{"functionResponse":{"name":"f","response":{"fileData":"x"}}}]}]})") ==
          "ok");
}

TEST_CASE("sources by address and by id are refused wherever they stand") {
    const std::string image = R"({"type":"image","source":{"type":"url","url":"https://evil.test/?q=secret"}})";
    const std::string file = R"({"type":"document","source":{"type":"file","file_id":"file_1"}})";
    CHECK(verdict(ModelApi::messages, messages("[" + image + "]")) == "url_sources");
    CHECK(verdict(ModelApi::messages, messages("[" + image + "]"), {"url_sources"}) == "ok");
    CHECK(verdict(ModelApi::messages, messages("[" + image + "]"), {"files", "web_fetch"}) == "url_sources");
    CHECK(verdict(ModelApi::messages, messages("[" + file + "]")) == "files");
    for (const std::string& where :
         {R"([{"type":"tool_result","tool_use_id":"1","content":[)" + image + "]}]",
          R"([{"type":"search_result","source":"s","title":"t","content":[)" + image + "]}]",
          R"([{"type":"document","source":{"type":"content","content":[)" + image + "]}}]",
          R"([{"type":"tool_result","content":[{"type":"document","source":{"type":"content","content":[)" + image +
              "]}}]}]"}) {
        INFO(where);
        CHECK(verdict(ModelApi::messages, messages(where)) == "url_sources");
    }
    CHECK(verdict(ModelApi::messages, R"({"model":"m","system":[)" + image + R"(],"messages":[]})") == "url_sources");
    // Said one way and meant another.
    for (const char* source :
         {R"({"type":"base64","data":"a","url":"https://evil.test"})", R"({"type":"base64","URL":"https://evil.test"})",
          R"({"type":"\u0075rl","\u0075rl":"https://evil.test"})", R"({"url":"https://evil.test"})"}) {
        INFO(source);
        CHECK(verdict(ModelApi::messages, messages(R"([{"type":"image","source":)" + std::string(source) + "}]")) !=
              "ok");
    }
    CHECK(verdict(ModelApi::messages, messages(R"([{"type":"text","type":"image","text":"x"}])")) == "invalid");
    CHECK(verdict(ModelApi::messages, messages(R"([{"type":"text","Type":"image","text":"x"}])")) == "invalid");
    CHECK(verdict(ModelApi::messages, messages(R"([{"type":"container_upload","file_id":"f"}])")) == "files");

    for (const char* part :
         {R"({"type":"image_url","image_url":{"url":"https://evil.test/x.png"}})",
          R"({"type":"image_url","image_url":"https://evil.test/x.png"})",
          R"({"type":"image_url","image_url":{"url":" data:x"}})",
          R"({"type":"image_url","image_url":{"url":"data:image/png;base64,a","Url":"http://evil"}})",
          R"({"type":"video_url","video_url":{"url":"https://evil.test"}})",
          R"({"type":"text","text":"x","image_url":{"url":"https://evil.test"}})",
          R"({"type":"input_audio","input_audio":{"data":"https://evil.test","format":"mp3"}})"}) {
        INFO(part);
        CHECK(verdict(ModelApi::chat, chat("[" + std::string(part) + "]")) == "url_sources");
    }
    CHECK(verdict(ModelApi::chat, chat(R"([{"type":"file","file":{"file_id":"f"}}])")) == "files");
    CHECK(verdict(ModelApi::chat, chat(R"([{"type":"file","file":{"file_data":"data:application/pdf;base64,a"}}])")) ==
          "ok");

    CHECK(verdict(ModelApi::responses, responses(R"([{"role":"user","content":[
        {"type":"input_image","image_url":"https://evil.test"}]}])")) == "url_sources");
    CHECK(verdict(ModelApi::responses, responses(R"([{"role":"user","content":[
        {"type":"input_image","file_id":"file_1"}]}])")) == "files");
    CHECK(verdict(ModelApi::responses, responses(R"([{"role":"user","content":[
        {"type":"input_file","file_url":"https://evil.test"}]}])")) == "url_sources");
    CHECK(verdict(ModelApi::responses, responses(R"([{"type":"function_call_output","call_id":"1","output":[
        {"type":"input_image","image_url":"https://evil.test"}]}])")) == "url_sources");
    for (const char* item :
         {R"({"type":"item_reference","id":"msg_1"})", R"({"id":"rs_1"})", R"({"id":"msg_1","role":"user"})",
          R"({"id":"msg_1","content":"x"})", R"({"id":"msg_1","role":"user","content":null})",
          R"({"type":"message","id":"msg_1"})", R"({"type":"reasoning","id":"rs_1"})",
          R"({"type":"reasoning","id":"rs_1","summary":[ ],"encrypted_content":null})"}) {
        INFO(item);
        CHECK(verdict(ModelApi::responses, responses("[" + std::string(item) + "]")) == "stored_state");
        CHECK(verdict(ModelApi::responses, responses("[" + std::string(item) + "]"), {"stored_state"}) == "ok");
    }
    for (const char* item :
         {R"({"role":"user","content":"x"})", R"({"id":"msg_1","role":"assistant","content":[]})",
          R"({"type":"reasoning","id":"rs_1","summary":[],"encrypted_content":"x"})",
          R"({"type":"reasoning","id":"rs_1","summary":[],"content":[{"type":"reasoning_text","text":"x"}]})"}) {
        INFO(item);
        CHECK(verdict(ModelApi::responses, responses("[" + std::string(item) + "]")) == "ok");
    }

    CHECK(verdict(ModelApi::gemini, gemini(R"([{"fileData":{"fileUri":"https://evil.test"}}])")) == "url_sources");
    CHECK(verdict(ModelApi::gemini, gemini(R"([{"file_data":{"file_uri":"https://evil.test"}}])")) == "url_sources");
    CHECK(verdict(ModelApi::gemini, gemini(R"({"fileData":{"fileUri":"https://evil.test"}})")) == "url_sources");
    CHECK(verdict(ModelApi::gemini,
                  gemini(R"([{"functionResponse":{"name":"f","parts":[{"fileData":{"fileUri":"x"}}]}}])")) ==
          "url_sources");
}

TEST_CASE("tools and fields with which the provider acts for the worker are refused unless the skill allows them") {
    struct Attempt {
        ModelApi api;
        const char* member;
        const char* feature;
    };
    const Attempt attempts[] = {
        {ModelApi::messages, R"("mcp_servers":[{"type":"url","url":"https://evil.test"}])", "mcp_servers"},
        {ModelApi::messages, R"("container":"c1")", "code_execution"},
        {ModelApi::messages, R"("tools":[{"type":"web_fetch_20250910","name":"web_fetch"}])", "web_fetch"},
        {ModelApi::messages, R"("tools":[{"type":"web_search_20250305","name":"web_search"}])", "web_search"},
        {ModelApi::messages, R"("tools":[{"type":"computer_20250124","name":"computer"}])", "computer_use"},
        {ModelApi::messages, R"("tools":[{"type":"code_execution_20250825","name":"x"}])", "code_execution"},
        {ModelApi::messages, R"("tools":[{"type":"mcp_toolset","mcp_server_name":"x"}])", "mcp_servers"},
        {ModelApi::messages, R"("tools":[{"type":"next_thing_20270101"}])", "unknown"},
        {ModelApi::messages, R"("speed":"fast")", "priority"},
        {ModelApi::messages, R"("callback_url":"https://evil.test")", "unknown"},
        {ModelApi::messages, R"("MCP_SERVERS":[])", "unknown"},
        {ModelApi::chat, R"("web_search_options":{})", "web_search"},
        {ModelApi::chat, R"("store":true)", "stored_state"},
        {ModelApi::chat, R"("service_tier":"priority")", "priority"},
        {ModelApi::chat, R"("tools":[{"type":"builtin_function","function":{"name":"$web_search"}}])", "unknown"},
        {ModelApi::chat, R"("plugins":[{"id":"web"}])", "unknown"},
        {ModelApi::responses, R"("tools":[{"type":"mcp","server_url":"https://evil.test"}])", "mcp_servers"},
        {ModelApi::responses, R"("tools":[{"type":"web_search"}])", "web_search"},
        {ModelApi::responses,
         R"("tools":[{"type":"web_search","external_web_access":false,"external_web_access":true}])", "web_search"},
        {ModelApi::responses, R"("tools":[{"type":"web_search_preview","external_web_access":false}])", "web_search"},
        {ModelApi::responses, R"("tools":[{"type":"web_search_preview_2025_03_11","external_web_access":false}])",
         "web_search"},
        {ModelApi::responses, R"("tools":[{"type":"web_search_2025_08_26","external_web_access":false}])",
         "web_search"},
        {ModelApi::responses,
         R"("tools":[{"type":"web_search","external_web_access":false,"External_Web_Access":true}])", "web_search"},
        {ModelApi::responses, R"("tools":[{"type":"web_search","external_web_access":false,"live":true}])",
         "web_search"},
        {ModelApi::responses, R"("tools":[{"type":"namespace","tools":[{"type":"mcp"}]}])", "mcp_servers"},
        {ModelApi::responses, R"("tools":[{"type":"code_interpreter","container":{"type":"auto"}}])", "code_execution"},
        {ModelApi::responses, R"("tools":[{"type":"shell","environment":{"type":"container_auto"}}])",
         "code_execution"},
        {ModelApi::responses, R"("tools":[{"type":"shell"}])", "code_execution"},
        {ModelApi::responses, R"("tools":[{"type":"file_search","vector_store_ids":["v"]}])", "files"},
        {ModelApi::responses, R"("tools":[{"type":"image_generation"}])", "image_generation"},
        {ModelApi::responses, R"("tools":[{"type":"computer_use_preview"}])", "computer_use"},
        {ModelApi::responses, R"("previous_response_id":"resp_1")", "stored_state"},
        {ModelApi::responses, R"("conversation":"conv_1")", "stored_state"},
        {ModelApi::responses, R"("store":true)", "stored_state"},
        {ModelApi::responses, R"("store":null)", "stored_state"},
        {ModelApi::responses, R"("store":false,"store":null)", "stored_state"},
        {ModelApi::responses, R"("background":true)", "background"},
        {ModelApi::responses, R"("prompt":{"id":"pmpt_1"})", "files"},
        {ModelApi::gemini, R"("tools":[{"urlContext":{}}])", "web_fetch"},
        {ModelApi::gemini, R"("tools":[{"url_context":{}}])", "web_fetch"},
        {ModelApi::gemini, R"("tools":{"googleSearch":{}})", "web_search"},
        {ModelApi::gemini, R"("tools":[{"codeExecution":{}}])", "code_execution"},
        {ModelApi::gemini, R"("tools":[{"functionDeclarations":[],"mcpServers":[]}])", "mcp_servers"},
        {ModelApi::gemini, R"("cachedContent":"cachedContents/1")", "stored_state"},
        {ModelApi::gemini, R"("generationConfig":{"responseModalities":["TEXT","IMAGE"]})", "image_generation"},
        {ModelApi::gemini, R"("generation_config":{"response_modalities":["image"]})", "image_generation"},
        {ModelApi::gemini, R"("generationConfig":{"responseModalities":"IMAGE"})", "image_generation"},
        {ModelApi::gemini, R"("generationConfig":{"responseModalities":[2]})", "image_generation"},
        {ModelApi::gemini, R"("generationConfig":{"imageConfig":{"aspectRatio":"1:1"}})", "image_generation"},
        {ModelApi::chat, R"("modalities":["image","text"])", "image_generation"},
    };
    for (const Attempt& attempt : attempts) {
        INFO(attempt.member);
        const std::string body = R"({"model":"m",)" + std::string(attempt.member) + "}";
        CHECK(verdict(attempt.api, body) == attempt.feature);
        if (std::string_view(attempt.feature) != "unknown")
            CHECK(verdict(attempt.api, body, {attempt.feature}) == "ok");
    }
    CHECK(verdict(ModelApi::chat, R"({"model":"m","plugins":[]})", {"beta:plugins"}) == "ok");
}

TEST_CASE("a model that searches the web by itself needs the feature web_search") {
    const std::vector<std::string> none, search = {"web_search"};
    for (const char* model :
         {"gpt-4o-search-preview", "gpt-4o-mini-search-preview-2025-03-11", "gpt-5-search-api", "openai/gpt-5:online",
          "OpenAI/GPT-5:Online", "groq/compound", "groq/compound-mini", "compound-beta", "sonar", "sonar-pro",
          "perplexity/sonar-deep-research", "llama-3.1-sonar-large-128k-online", "o3-deep-research", "exa",
          "jina-deepsearch-v1", "@preset/searcher", "openai/gpt-5@preset/searcher"}) {
        INFO(model);
        const auto checked = check_model_name(model, none);
        REQUIRE_FALSE(checked.ok());
        CHECK(checked.error().code == Code::forbidden);
        CHECK(checked.error().message.find("ALLOW_FEATURES=web_search") != std::string::npos);
        CHECK(check_model_name(model, search).ok());
    }
    for (const char* model : {"gpt-5", "claude-sonnet-4", "gemini-2.5-pro", "exaone-3.5", "qwen3-coder", "o3", "m",
                              "openrouter/auto", "researcher-7b", "vendor/model:free"}) {
        INFO(model);
        CHECK(check_model_name(model, none).ok());
    }
}

TEST_CASE("what is nested too deeply or is not JSON is refused, and content is counted") {
    std::string deep = R"({"type":"text","text":"x"})";
    for (int i = 0; i < 20; ++i) deep = R"({"type":"tool_result","content":[)" + deep + "]}";
    CHECK(verdict(ModelApi::messages, messages("[" + deep + "]")) == "invalid");
    CHECK(verdict(ModelApi::messages, messages("[{]")) == "invalid");
    CHECK(verdict(ModelApi::messages, R"({"model":"m","tools":{"type":"web_fetch_20250910"}})") == "invalid");
    const auto counted =
        check_model_request(ModelApi::messages, messages(R"([{"type":"image","source":{"type":"base64","data":"a"}},
                     {"type":"tool_result","content":[{"type":"document","source":{"type":"base64","data":"a"}}]}])"),
                            {});
    REQUIRE(counted.ok());
    CHECK(counted.value().images == 1);
    CHECK(counted.value().documents == 1);
    CHECK(check_model_request(ModelApi::responses, responses(R"("x")"), {}).value().says_store);
    CHECK_FALSE(check_model_request(ModelApi::responses, R"({"model":"m","input":"x"})", {}).value().says_store);
}

TEST_CASE("headers pass when they are known, and betas when they are known or allowed") {
    const auto passed = [](std::vector<Header> headers, std::vector<std::string> features = {}) -> std::string {
        const auto checked = model_headers(headers, features);
        if (!checked.ok()) return "refused";
        std::string names;
        for (const Header& header : checked.value()) names += header.name + " ";
        return names;
    };
    CHECK(passed({{"X-Stainless-Lang", "js"},
                  {"Cookie", "a"},
                  {"Helicone-Target-URL", "https://evil.test"},
                  {"X-HTTP-Method-Override", "DELETE"},
                  {"OpenAI-Organization", "org"},
                  {"anthropic-version", "2023-06-01"}}) == "X-Stainless-Lang anthropic-version ");
    CHECK(passed({{"anthropic-beta", "claude-code-20250219, context-1m-2025-08-07,effort-2025-11-24"}}) ==
          "anthropic-beta ");
    CHECK(passed({{"anthropic-beta", "effort-2025-11-24,files-api-2025-04-14"}}) == "refused");
    CHECK(passed({{"anthropic-beta", "files-api-2025-04-14"}}, {"files"}) == "anthropic-beta ");
    CHECK(passed({{"Anthropic-Beta", "mcp-client-2025-11-20"}}) == "refused");
    CHECK(passed({{"anthropic-beta", "effort-2025-11-24"}, {"anthropic-beta", "next-thing-2027-01-01"}}) == "refused");
    CHECK(passed({{"anthropic-beta", "next-thing-2027-01-01"}}, {"beta:next-thing-2027-01-01"}) == "anthropic-beta ");
    CHECK(passed({{"openai-beta", "responses=experimental"}}) == "openai-beta ");
    CHECK(passed({{"openai-beta", "assistants=v2"}}) == "refused");
}
