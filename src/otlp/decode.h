// OTLP trace requests (ExportTraceServiceRequest) from bytes, without intermediate message objects. Pure and bounded;
// fuzzed. A span that breaks a rule is rejected alone and counted; a body that is not OTLP at all is an Error.
// Texts that are not UTF-8 are repaired. Any thread.
#pragma once

#include "base/result.h"
#include "otlp/message.h"

#include <string_view>

namespace hone::otlp {

// `body` must outlive the batch.
Result<Batch> decode_protobuf(std::string_view body, const Limits& limits = {});

// OTLP/JSON's own rules: hexadecimal ids, 64-bit integers as texts, unknown fields ignored.
Result<Batch> decode_json(std::string_view body, const Limits& limits = {});

} // namespace hone::otlp
