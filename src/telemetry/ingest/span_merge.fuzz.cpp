// Any log records become events of a span or spans of their own; merging them again changes nothing.
#include "telemetry/ingest/span_merge.h"

#include "crypto/crypto.h"
#include "otlp/encode.h"
#include "otlp/records.h"
#include "telemetry/ingest/claude_code_logs.h"
#include "telemetry/ingest/record_ingest.h"
#include "telemetry/span/normalise.h"

#include <cstdlib>

using namespace hone;

namespace {

std::string content_of(const otlp::Span& span) {
    std::string text;
    otlp::append_span_json(text, span);
    return text;
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    static const bool is_started = (crypto::start(), true);
    (void)is_started;
    static const telemetry::Prices prices = telemetry::Prices::built_in();
    const std::string_view body(reinterpret_cast<const char*>(data), size);
    auto logs = otlp::decode_logs(size % 2 ? otlp::Encoding::json : otlp::Encoding::protobuf, body, 1);
    if (!logs.ok()) return 0;
    otlp::Batch& batch = logs.value().batch;
    telemetry::RunParts runs;
    runs.batch.resources = batch.resources;
    runs.batch.scopes = batch.scopes;
    std::vector<std::string> parts;
    for (otlp::Span& record : batch.spans) {
        telemetry::shape_log_event(batch, record.events.front());
        telemetry::add_claude_code_spans(batch, record, runs);
        parts.push_back(telemetry::encode_part(record, batch.resources[record.resource], batch.scopes[record.scope]));
    }
    for (const otlp::Span& run : runs.batch.spans)
        if (run.trace_id.size() != 16 || run.span_id.size() != 8 || run.start_ns == 0) std::abort();
    if (batch.spans.empty()) return 0;
    otlp::Span span;
    span.trace_id = batch.spans.front().trace_id;
    span.span_id = batch.spans.front().span_id;
    span.start_ns = 1;
    telemetry::add_log_parts(batch, span, parts, {});
    const std::string once = content_of(span);
    telemetry::add_log_parts(batch, span, parts, {});
    if (content_of(span) != once) std::abort();
    telemetry::normalise(batch, span, prices);
    return 0;
}
