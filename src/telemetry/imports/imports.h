// Exports of other products, element by element: a line of JSON becomes OTLP spans. Ids come from the product's own
// ids, so that importing twice stores once. Pure and bounded; fuzzed. Any thread.
#pragma once

#include "base/result.h"
#include "otlp/message.h"

#include <string>
#include <string_view>
#include <vector>

namespace hone::telemetry {

// One element as OTLP.
struct ImportElement {
    std::string otlp;                   // ResourceSpans fields of an ExportTraceServiceRequest
    size_t resources = 0;               // how many of them
    std::vector<std::string> truncated; // keys that were cut before (of a single span)
    std::vector<std::string> rejected;  // reasons, one per span that cannot be taken
};

ImportElement element_of(const otlp::Batch& batch);

// A trace of Langfuse with its observations, a trace or an observation alone (API, download, blob storage), or a page
// of them ({"data":[…]}).
Result<ImportElement> read_langfuse(std::string_view json);
// A run of LangSmith (SDK, API, bulk export), or a page of them ({"runs":[…]}).
Result<ImportElement> read_langsmith(std::string_view json);
// A line of the output or error file of an OpenAI batch. Its request can be in the member "request". `time_ns` is when
// it happened, if the line has no time.
Result<ImportElement> read_openai_batch(std::string_view json, int64_t time_ns);
// A line of the results of an Anthropic message batch, which have no times.
Result<ImportElement> read_anthropic_batch(std::string_view json, int64_t time_ns);

} // namespace hone::telemetry
