// The output and error files of OpenAI's Batch API: one response of a model on each line.
#include "telemetry/imports/foreign.h"
#include "telemetry/imports/imports.h"

namespace hone::telemetry {

namespace {

using foreign::find;
using foreign::SpanBuilder;

std::string_view openai_operation(const json::Value* request, const json::Value* body) {
    const std::string_view url = foreign::text(find(request, "url"));
    const std::string_view object = foreign::text(find(body, "object"));
    if (url.ends_with("/embeddings") || object == "list") return "embeddings";
    if (url.ends_with("/responses") || object == "response") return "responses";
    if (url.ends_with("/chat/completions") || object == "chat.completion") return "chat.completions";
    return "completions";
}

const json::Value* first_entry(const json::Value* list) {
    return list != nullptr && list->is_array() && !list->get_array().empty() ? &list->get_array().front() : nullptr;
}

// Cached tokens are inside the prompt, reasoning inside the completion, as in OpenInference.
void put_openai_usage(SpanBuilder& builder, const json::Value* usage) {
    const auto count = [&](std::string_view one, std::string_view other) {
        return foreign::whole(find(usage, one) != nullptr ? find(usage, one) : find(usage, other));
    };
    builder.put("llm.token_count.prompt", count("prompt_tokens", "input_tokens"));
    builder.put("llm.token_count.completion", count("completion_tokens", "output_tokens"));
    for (const std::string_view details : {"prompt_tokens_details", "input_tokens_details"})
        builder.put("llm.token_count.prompt_details.cache_read",
                    foreign::whole(find(find(usage, details), "cached_tokens")));
    for (const std::string_view details : {"completion_tokens_details", "output_tokens_details"})
        builder.put("llm.token_count.completion_details.reasoning",
                    foreign::whole(find(find(usage, details), "reasoning_tokens")));
}

} // namespace

Result<ImportElement> read_openai_batch(std::string_view json_text, int64_t time_ns) {
    const json::Value tree = TRY(json::parse(json_text));
    const json::Value* response = find(&tree, "response");
    const json::Value* failure = find(&tree, "error");
    const std::string_view custom_id = foreign::text(find(&tree, "custom_id"));
    if (custom_id.empty() || (response == nullptr && failure == nullptr))
        return invalid("not a result of an OpenAI batch: custom_id and response or error are expected");
    const json::Value* body = find(response, "body");
    const json::Value* request = find(&tree, "request");
    const json::Value* request_body = find(request, "body");
    std::string_view id = foreign::text(find(body, "id"));
    if (id.empty()) id = foreign::text(find(&tree, "id"));
    if (id.empty()) id = custom_id;
    otlp::Batch batch = foreign::begin_batch("openai-batch");
    SpanBuilder builder(batch);
    builder.ids(foreign::trace_id("openai batch " + std::string(id)),
                foreign::span_id("openai batch " + std::string(id)));
    const std::string_view operation = openai_operation(request, body);
    builder.span.name = builder.keep(operation);
    builder.span.start_ns = foreign::time_ns(find(body, "created"));
    if (builder.span.start_ns == 0) builder.span.start_ns = foreign::time_ns(find(body, "created_at"));
    if (builder.span.start_ns == 0) builder.span.start_ns = static_cast<uint64_t>(std::max<int64_t>(time_ns, 1));
    builder.put("openinference.span.kind", operation == "embeddings" ? "EMBEDDING" : "LLM");
    builder.put("llm.provider", "openai");
    const std::string_view model = foreign::text(find(body, "model"));
    builder.put("llm.model_name", model.empty() ? foreign::text(find(request_body, "model")) : model);
    builder.put_content("input.value", request_body);
    if (request_body != nullptr) builder.put("input.mime_type", "application/json");
    if (operation != "embeddings" && body != nullptr) { // vectors are of no interest
        builder.put_content("output.value", body);
        builder.put("output.mime_type", "application/json");
    }
    builder.put("llm.finish_reason", foreign::text(find(first_entry(find(body, "choices")), "finish_reason")));
    put_openai_usage(builder, find(body, "usage"));
    builder.put("metadata", json::print(json::Object{{"custom_id", custom_id},
                                                     {"batch_request_id", foreign::text(find(&tree, "id"))}}));
    if (failure == nullptr) failure = find(body, "error");
    if (failure != nullptr || foreign::whole(find(response, "status_code")) >= 400) {
        std::string_view type = foreign::text(find(failure, "code"));
        if (type.empty()) type = foreign::text(find(failure, "type"));
        const std::string_view message = foreign::text(find(failure, "message"));
        builder.fail(type, message.empty() ? "the request failed" : message);
    }
    builder.finish();
    return element_of(batch);
}

} // namespace hone::telemetry
