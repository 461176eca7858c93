// Writes OTLP: responses of the trace service, and spans again for export. Pure; any thread.
#pragma once

#include "otlp/message.h"

#include <string>
#include <string_view>

namespace hone::otlp {

enum class Encoding { protobuf, json };

// ExportTraceServiceResponse. `rejected` of 0 with a message is a warning; without one the response is empty.
std::string encode_response(Encoding encoding, int64_t rejected, std::string_view message);
// google.rpc.Status, the body of a refused OTLP/HTTP request.
std::string encode_status(Encoding encoding, int code, std::string_view message);

// ExportTraceServiceRequest with all spans of the batch, grouped by resource and scope.
std::string encode_batch(Encoding encoding, const Batch& batch);

// One span and one attribute value as OTLP/JSON, for responses that list spans in OTLP's shape.
void append_span_json(std::string& out, const Span& span);
void append_value_json(std::string& out, const Value& value);

} // namespace hone::otlp
