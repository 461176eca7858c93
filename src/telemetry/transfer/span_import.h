// Takes files of spans in, piece by piece and with bounded memory: Hone's own JSON lines and Parquet, OTLP, and what
// other products export (telemetry/imports). Spans go the way of all others: limits, redaction, quota, log,
// acknowledgement. A bad line is left out and named; the same file twice changes nothing. Called on a request's thread;
// blocks while the log is full.
#pragma once

#include "base/fields.h"
#include "telemetry/telemetry.h"

#include <array>
#include <functional>
#include <string>
#include <vector>

namespace hone::telemetry {

enum class ImportFormat {
    jsonl,
    parquet,
    phoenix,
    otlp,
    otlp_proto,
    langfuse,
    langsmith,
    openai_batch,
    anthropic_batch
};
constexpr auto enum_names(ImportFormat) {
    return std::array{EnumName{ImportFormat::jsonl, "jsonl"},
                      EnumName{ImportFormat::parquet, "parquet"},
                      EnumName{ImportFormat::phoenix, "phoenix"},
                      EnumName{ImportFormat::otlp, "otlp"},
                      EnumName{ImportFormat::otlp_proto, "otlp_proto"},
                      EnumName{ImportFormat::langfuse, "langfuse"},
                      EnumName{ImportFormat::langsmith, "langsmith"},
                      EnumName{ImportFormat::openai_batch, "openai_batch"},
                      EnumName{ImportFormat::anthropic_batch, "anthropic_batch"}};
}

struct ImportProblem {
    int64_t line = 0; // from 1: the line, the row of a Parquet file, the element of any other
    std::string reason;
};

struct ImportReport {
    int64_t accepted = 0; // on disk; duplicates are counted later, in the ledger
    int64_t rejected = 0;
    std::vector<ImportProblem> problems; // the first ones
    bool has_more_problems = false;
};

struct ImportRequest {
    ImportFormat format = ImportFormat::jsonl;
    std::string encoding; // "", "gzip" or "zstd"
    std::string space;
    std::string project; // by name, as `projects` resolves it
    ProjectDirectory* projects = nullptr;
    Duration patience = std::chrono::minutes(2); // with a full log
    bool is_dry_run = false;                     // reads and counts, stores nothing
    int64_t time_ns = 0;                         // of results of batches that have no time
};

// `next` gives the file's bytes; an empty piece is the end.
using PieceSource = std::function<Result<std::string>()>;

// An error in the middle leaves what came before it accepted; its message has the count.
Result<ImportReport> import_spans(Telemetry& telemetry, const ImportRequest& request, const PieceSource& next);

} // namespace hone::telemetry
