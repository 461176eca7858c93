// LangSmith's protocol as its own clients send it: runs as parts of a form or inline in JSON, each with a beginning
// (post) and an end (patch). Makes spans of them in OpenInference's convention. Pure and bounded; fuzzed. Any thread.
#pragma once

#include "telemetry/ingest/record_ingest.h"
#include "json/json.h"

#include <string>
#include <string_view>
#include <vector>

namespace hone::telemetry {

struct RunOperation {
    bool is_patch = false;
    json::Object run; // with id, inputs, outputs, extra, … inline
};

struct RunOperations {
    std::vector<RunOperation> runs;
    std::vector<json::Object> feedback;
    int64_t attachments = 0; // left out
};

// The body of /runs/multipart; `content_type` has the boundary.
Result<RunOperations> read_run_form(std::string_view content_type, std::string_view body);
// The body of /runs/batch: {"post":[…],"patch":[…]}.
Result<RunOperations> read_run_batch(std::string_view body);
// The body of POST /runs and PATCH /runs/{id}.
Result<RunOperations> read_run(std::string_view body, bool is_patch, std::string_view id = {});

// One span per operation, which must outlive it. A run that cannot be one (no valid id) is counted in `batch.rejected`.
// `now_ns` is the start of a run that has none.
RunParts spans_of_runs(const std::vector<RunOperation>& operations, int64_t now_ns);

// The span id (16 hexadecimal digits) of a run; empty when the id is no UUID.
std::string span_id_of_run(std::string_view id);

} // namespace hone::telemetry
