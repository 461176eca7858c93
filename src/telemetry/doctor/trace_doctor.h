// What arrives in a project but is not understood: spans without a kind, model calls without model, tokens, price or
// texts, attributes of conventions that nothing reads. Each finding has the line to change in the sender. Counts cover
// the whole window and read small columns only; attributes come from a sample of at most a thousand spans, so that the
// cost is bounded. Thread-safe, blocking.
#pragma once

#include "base/fields.h"
#include "telemetry/engine/clickhouse.h"
#include "telemetry/ingest/ledger.h"
#include "telemetry/query/span_store.h"

#include <array>
#include <string>
#include <vector>

namespace hone::telemetry {

enum class FindingSeverity { problem, notice };
constexpr auto enum_names(FindingSeverity) {
    return std::array{EnumName{FindingSeverity::problem, "problem"}, EnumName{FindingSeverity::notice, "notice"}};
}

struct TraceFinding {
    std::string name; // "calls_without_tokens"
    FindingSeverity severity = FindingSeverity::problem;
    std::string title;       // a sentence
    std::string explanation; // what is missing because of it
    std::string fix;         // the line to change in the sender
    std::string filter;      // of the spans; empty: they cannot be listed
    int64_t count = 0;       // spans, log records or points
    double share = 0;        // of what `title` is about, 0 to 1
    std::vector<std::string> services{};
    std::vector<std::string> scopes{}; // instrumentations
};

struct ConventionShare {
    std::string name;
    int64_t spans = 0; // of the sample
    double share = 0;
    int64_t read = 0; // attributes that fill a field
    int64_t kept = 0; // others of the convention
};

struct UnknownAttribute {
    std::string key;
    int64_t spans = 0; // of the sample
    std::vector<std::string> scopes{};
};

struct TraceDiagnosis {
    int64_t from_ns = 0;
    int64_t to_ns = 0;
    int64_t spans = 0;                    // in the window
    int64_t calls = 0;                    // model calls in the window
    int64_t sampled = 0;                  // spans whose attributes were read
    std::vector<TraceFinding> findings{}; // problems first
    std::vector<ConventionShare> conventions{};
    std::vector<UnknownAttribute> unknown_attributes{};
};

// `counts` is the project's part of the ledger.
Result<TraceDiagnosis> diagnose_traces(ClickHouse& engine, const Scope& scope, const LedgerCounts& counts);

} // namespace hone::telemetry
