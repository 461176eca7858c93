// OTLP log requests from bytes. A log record is read as a span with its ids and one event, through the decoders of
// traces: limits, repaired texts and cut values are the same. Pure and bounded; fuzzed. Any thread.
#pragma once

#include "base/result.h"
#include "otlp/encode.h"
#include "otlp/message.h"

#include <memory>
#include <string>
#include <string_view>

namespace hone::otlp {

struct LogBatch {
    std::shared_ptr<const std::string> text; // what the batch views into, beside the body
    // One span per record: ids, times, and the record as its only event, the body under the key "body" and the severity
    // under "severity".
    Batch batch;
};

// A record without valid ids of a trace and a span gets these.
bool names_no_span(const Span& record);

// ExportLogsServiceRequest. `now_ns` is the time of records that have none. `body` must outlive the batch.
Result<LogBatch> decode_logs(Encoding encoding, std::string_view body, uint64_t now_ns, const Limits& limits = {});

// The response to log records and to metrics; `field` names what was rejected in JSON: "rejectedLogRecords",
// "rejectedDataPoints".
std::string encode_records_response(Encoding encoding, std::string_view field, int64_t rejected,
                                    std::string_view message);

} // namespace hone::otlp
