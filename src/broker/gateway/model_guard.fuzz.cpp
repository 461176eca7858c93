#include "broker/gateway/model_guard.h"

#include <cstdlib>

// Any bytes as the body of a request to each API, and as the value of a beta header. What passes without a feature
// passes with all of them: a feature only ever opens something.
extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, size_t size) {
    using namespace hone::broker;
    const std::string text(reinterpret_cast<const char*>(data), size);
    const std::vector<std::string> none;
    const std::vector<std::string> all{"url_sources",  "web_search",       "web_fetch", "mcp_servers",
                                       "computer_use", "code_execution",   "files",     "stored_state",
                                       "background",   "image_generation", "priority"};
    for (const ModelApi api : {ModelApi::messages, ModelApi::responses, ModelApi::chat, ModelApi::gemini})
        if (check_model_request(api, text, none).ok() && !check_model_request(api, text, all).ok()) std::abort();
    const std::vector<Header> headers{{"anthropic-beta", text}, {"openai-beta", text}, {text, "x"}};
    if (model_headers(headers, none).ok() && !model_headers(headers, all).ok()) std::abort();
    return 0;
}
