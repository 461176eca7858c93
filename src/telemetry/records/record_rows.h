// Log records and points of metrics as rows of the engine's tables `logs` and `metric_points`, in RowBinary. Columns
// are declared once, in record_rows.cpp. Pure; any thread.
#pragma once

#include "otlp/metrics.h"
#include "otlp/records.h"
#include "telemetry/records/known_metrics.h"
#include "telemetry/span/span_row.h"

#include <span>
#include <string>
#include <string_view>

namespace hone::telemetry {

// In the order of the table and of a row.
std::span<const Column> log_columns();
std::span<const Column> metric_point_columns();

// `record` is one of otlp::decode_logs after shape_log_event (span_merge.h). A record that is sent again makes the same
// row: the engine keeps one.
void append_log_row(std::string& out, std::string_view project, const otlp::Batch& batch, const otlp::Span& record,
                    int64_t received_ns);

void append_metric_row(std::string& out, std::string_view project, const otlp::MetricBatch& metrics,
                       const otlp::MetricPoint& point, MetricUse use);

} // namespace hone::telemetry
