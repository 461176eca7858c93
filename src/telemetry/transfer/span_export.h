// Spans of a project as a file: JSON lines, OTLP or Parquet, oldest first, every attribute with its type. Made page by
// page while the reader keeps up, so that memory stays bounded however many there are. One export, one thread at a
// time; span_import.h reads all of these formats again.
#pragma once

#include "base/fields.h"
#include "net/http/http.h"
#include "telemetry/telemetry.h"

#include <array>
#include <memory>
#include <string_view>

namespace hone::telemetry {

enum class ExportFormat { jsonl, parquet, otlp, otlp_proto };
constexpr auto enum_names(ExportFormat) {
    return std::array{EnumName{ExportFormat::jsonl, "jsonl"}, EnumName{ExportFormat::parquet, "parquet"},
                      EnumName{ExportFormat::otlp, "otlp"}, EnumName{ExportFormat::otlp_proto, "otlp_proto"}};
}

std::string_view content_type_of(ExportFormat format);
// "jsonl", "parquet", "otlp.jsonl", "otlp.pb"
std::string_view file_ending_of(ExportFormat format);

// Checks the filter and, for Parquet, makes the whole file (beside the engine's data; it goes with the source).
Result<std::unique_ptr<net::BodySource>> open_export(Telemetry& telemetry, ExportFormat format, const Scope& scope);

// One span as a line of JSON, with its line end. What OTLP carried comes first and is all that an import reads.
void append_span_line(std::string& out, const SpanPayload& span);

} // namespace hone::telemetry
