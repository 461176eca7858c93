// Reads a Parquet file of spans: in an engine process of its own that can reach nothing but the file, because a file
// from outside may be made to break its reader. Rows come out as lines of JSON. One import, one thread.
#pragma once

#include "telemetry/transfer/span_import.h"

namespace hone::telemetry {

struct ParquetRows {
    ImportFormat format = ImportFormat::jsonl; // our own export, Phoenix's data frame or LangSmith's bulk export
};

// `begin` receives the kind of the file, then `take` gets pieces of JSON lines.
Result<> read_parquet(const std::string& directory, const EngineProcessOptions& engine, const PieceSource& next,
                      const std::function<Result<>(const ParquetRows&)>& begin,
                      const std::function<Result<>(std::string_view)>& take);

} // namespace hone::telemetry
