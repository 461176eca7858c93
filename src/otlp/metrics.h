// OTLP metric requests from bytes. Points of the metrics that the caller keeps are read whole; of others only their
// number. A point's attributes are those of a span in a batch, through the decoders of traces: limits and repaired
// texts are the same. Pure and bounded; fuzzed. Any thread.
#pragma once

#include "base/result.h"
#include "otlp/encode.h"
#include "otlp/message.h"

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace hone::otlp {

enum class MetricKind : uint8_t { gauge, sum, histogram };
constexpr auto enum_names(MetricKind) {
    return std::array{EnumName{MetricKind::gauge, "gauge"}, EnumName{MetricKind::sum, "sum"},
                      EnumName{MetricKind::histogram, "histogram"}};
}

struct MetricPoint {
    std::string name;
    std::string unit;
    MetricKind kind = MetricKind::gauge; // exponential histograms and summaries: histograms without buckets
    bool is_cumulative = false;          // since start_ns; otherwise since the point before
    uint64_t start_ns = 0;               // 0: unknown
    uint64_t time_ns = 0;
    double value = 0;   // of a histogram: its sum
    uint64_t count = 0; // of a histogram: its values; otherwise 1
    std::vector<double> bounds{};
    std::vector<uint64_t> buckets{}; // one more than bounds, or none
    size_t span = 0;                 // in the batch: its attributes, resource and scope
};

struct MetricBatch {
    std::shared_ptr<const std::string> text; // what the batch views into
    Batch batch;                             // the resources; a span for each kept point
    std::vector<MetricPoint> points;         // kept and valid
    std::vector<int64_t> received;           // data points, one number per resource
};

// ExportMetricsServiceRequest. `now_ns` is the time of points that have none.
Result<MetricBatch> decode_metrics(Encoding encoding, std::string_view body, uint64_t now_ns,
                                   const std::function<bool(std::string_view name)>& is_kept,
                                   const Limits& limits = {});

} // namespace hone::otlp
