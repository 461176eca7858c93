// Any bytes are read as a form, a batch or a run, or are refused; what is read becomes spans with ids and times.
#include "telemetry/imports/langsmith_runs.h"

#include "crypto/crypto.h"

#include <cstdlib>

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    using namespace hone;
    static const bool is_started = (crypto::start(), true);
    (void)is_started;
    const std::string_view body(reinterpret_cast<const char*>(data), size);
    for (auto read : {telemetry::read_run_form("multipart/form-data; boundary=b", body),
                      telemetry::read_run_batch(body), telemetry::read_run(body, false)}) {
        if (!read.ok()) continue;
        const auto runs = telemetry::spans_of_runs(read.value().runs, 1);
        if (runs.is_whole.size() != runs.batch.spans.size()) std::abort();
        for (const otlp::Span& span : runs.batch.spans)
            if (span.trace_id.size() != 16 || span.span_id.size() != 8 || span.start_ns == 0) std::abort();
    }
    return 0;
}
