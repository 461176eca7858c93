// Any text as JSON of a convention: messages show something and are bounded, token counts never add up to less than
// nothing, names have one spelling.
#include "telemetry/messages/message_json.h"

#include "telemetry/messages/names.h"
#include "telemetry/span/conversation.h"
#include "telemetry/span/usage_json.h"

#include <cstdlib>

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    using namespace hone::telemetry;
    const std::string text(reinterpret_cast<const char*>(data), size);
    for (const char* role : {"user", "assistant"}) {
        const Chat chat = read_chat(text, role);
        if (chat.messages.size() > 4096 || chat.tools.size() > 1024) std::abort();
        for (const Message& message : chat.messages)
            if (is_blank(message)) std::abort();
        render(chat.messages);
    }
    read_tool_calls(text);
    read_tool_definitions(text);
    unwrap_tool_result(text);
    read_system_text(text);
    read_tool_of_result(text);
    if (read_documents(text).size() > 4096) std::abort();
    if (to_buckets(read_usage_json(AttributeJson(text))).total() < 0) std::abort();
    if (const auto name = provider_name(text); provider_name(name) != name) std::abort();
    if (const auto name = role_name(text); role_name(name) != name) std::abort();
    if (const auto name = finish_reason_name(text); finish_reason_name(name) != name) std::abort();
    if (without_stack(text).size() > size || error_type_of(text).size() > size || model_in_error(text).size() > size)
        std::abort();
    return 0;
}
