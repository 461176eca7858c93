// Any bytes decode as logs and as metrics in both encodings, or are refused; a record has one event and ids; a point
// has its span, and as many buckets as its bounds demand.
#include "otlp/records.h"
#include "otlp/metrics.h"

#include <cstdlib>

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    using namespace hone::otlp;
    const std::string_view body(reinterpret_cast<const char*>(data), size);
    for (const Encoding encoding : {Encoding::protobuf, Encoding::json}) {
        auto logs = decode_logs(encoding, body, 1);
        if (logs.ok())
            for (const Span& record : logs.value().batch.spans)
                if (record.events.size() != 1 || record.trace_id.size() != 16 || record.span_id.size() != 8)
                    std::abort();
        auto metrics = decode_metrics(encoding, body, 1, [](std::string_view name) { return name.size() % 2 == 0; });
        if (!metrics.ok()) continue;
        if (metrics.value().received.size() != metrics.value().batch.resources.size()) std::abort();
        for (const MetricPoint& point : metrics.value().points)
            if (point.span >= metrics.value().batch.spans.size() || point.time_ns == 0 ||
                (!point.buckets.empty() && point.buckets.size() != point.bounds.size() + 1))
                std::abort();
    }
    return 0;
}
