// The results of Anthropic's Message Batches: one result of a request on each line.
#include "telemetry/imports/foreign.h"
#include "telemetry/imports/imports.h"

namespace hone::telemetry {

namespace {

using foreign::find;

// Anthropic counts cached input beside the other; OpenInference's prompt includes it.
void put_anthropic_usage(foreign::SpanBuilder& builder, const json::Value* usage) {
    const int64_t read = foreign::whole(find(usage, "cache_read_input_tokens"));
    const int64_t written = foreign::whole(find(usage, "cache_creation_input_tokens"));
    builder.put("llm.token_count.prompt", foreign::whole(find(usage, "input_tokens")) + read + written);
    builder.put("llm.token_count.prompt_details.cache_read", read);
    builder.put("llm.token_count.prompt_details.cache_write", written);
    builder.put("llm.token_count.completion", foreign::whole(find(usage, "output_tokens")));
}

} // namespace

Result<ImportElement> read_anthropic_batch(std::string_view json_text, int64_t time_ns) {
    const json::Value tree = TRY(json::parse(json_text));
    const json::Value* result = find(&tree, "result");
    const std::string_view custom_id = foreign::text(find(&tree, "custom_id"));
    const std::string_view type = foreign::text(find(result, "type"));
    if (custom_id.empty() || type.empty())
        return invalid("not a result of an Anthropic batch: custom_id and result are expected");
    const json::Value* message = find(result, "message");
    const json::Value* request = find(&tree, "request");
    const json::Value* parameters =
        find(request, "params") != nullptr ? find(request, "params") : find(request, "body");
    std::string_view id = foreign::text(find(message, "id"));
    if (id.empty()) id = custom_id;
    otlp::Batch batch = foreign::begin_batch("anthropic-batch");
    foreign::SpanBuilder builder(batch);
    builder.ids(foreign::trace_id("anthropic batch " + std::string(id)),
                foreign::span_id("anthropic batch " + std::string(id)));
    builder.span.name = "messages";
    builder.span.start_ns = static_cast<uint64_t>(std::max<int64_t>(time_ns, 1));
    builder.put("openinference.span.kind", "LLM");
    builder.put("llm.provider", "anthropic");
    const std::string_view model = foreign::text(find(message, "model"));
    builder.put("llm.model_name", model.empty() ? foreign::text(find(parameters, "model")) : model);
    builder.put_content("input.value", parameters);
    if (parameters != nullptr) builder.put("input.mime_type", "application/json");
    builder.put_content("output.value", message);
    if (message != nullptr) builder.put("output.mime_type", "application/json");
    builder.put("llm.finish_reason", foreign::text(find(message, "stop_reason")));
    put_anthropic_usage(builder, find(message, "usage"));
    builder.put("metadata", json::print(json::Object{{"custom_id", custom_id}}));
    if (type != "succeeded") {
        const json::Value* failure = find(result, "error");
        if (const json::Value* inner = find(failure, "error")) failure = inner;
        const std::string_view reason = foreign::text(find(failure, "message"));
        const std::string_view kind = foreign::text(find(failure, "type"));
        builder.fail(kind.empty() ? type : kind,
                     reason.empty() ? "the request was " + std::string(type) : std::string(reason));
    }
    builder.finish();
    return element_of(batch);
}

} // namespace hone::telemetry
