// Any bytes decode as logs and as metrics in both encodings, or are refused; a record has one event and ids.
#include "otlp/records.h"

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
        auto metrics = count_metrics(encoding, body);
        if (metrics.ok() && metrics.value().points.size() != metrics.value().batch.resources.size()) std::abort();
    }
    return 0;
}
