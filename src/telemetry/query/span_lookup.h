// Finds spans, traces and chat sessions by their ids alone, in the projects that a caller may see. For addresses that
// do not name the project. Thread-safe, blocking.
#pragma once

#include "base/result.h"
#include "telemetry/engine/clickhouse.h"

#include <string>
#include <vector>

namespace hone::telemetry {

// Where something lies. An id may be found in several projects: the one used last comes first.
struct FoundPlace {
    std::string id; // span id, trace id, or the chat session's name
    std::string project;
    std::string trace_id; // of a span
};

// Attributes of one span that are texts; empty where it has none.
struct SpanTexts {
    std::string trace_id, span_id;
    std::vector<std::string> values; // in the order of the keys
};

// How many spans of a trace a rule evaluates, and how many of these match.
struct TraceMatch {
    std::string trace_id;
    int64_t spans = 0;
    int64_t evaluated = 0;
    int64_t matched = 0;
};

// The spans of a trace that name one version of a prompt in `prompt.id` or `llm.prompt_template.version`.
struct PromptUse {
    std::string project;
    std::string trace_id;
    std::string version; // as the spans name it
    std::string name;    // of the newest of these spans
    int64_t spans = 0;
    int64_t last_ns = 0; // when that one began
};

class SpanLookup {
public:
    explicit SpanLookup(ClickHouse& engine) : m_engine(engine) {}

    Result<std::vector<FoundPlace>> spans(const std::vector<std::string>& projects,
                                          const std::vector<std::string>& span_ids);
    Result<std::vector<FoundPlace>> traces(const std::vector<std::string>& projects,
                                           const std::vector<std::string>& trace_ids);
    Result<std::vector<FoundPlace>> chat_sessions(const std::vector<std::string>& projects,
                                                  const std::vector<std::string>& names);
    // The traces that have a span in one of these chat sessions.
    Result<std::vector<std::string>> traces_of_sessions(const std::string& project,
                                                        const std::vector<std::string>& names);
    // Of the spans that have at least one of these attributes.
    Result<std::vector<SpanTexts>> attributes_of_spans(const std::string& project,
                                                       const std::vector<std::string>& span_ids,
                                                       const std::vector<std::string_view>& keys);
    Result<std::vector<SpanTexts>> attributes_of_traces(const std::string& project,
                                                        const std::vector<std::string>& trace_ids,
                                                        const std::vector<std::string_view>& keys);

    // Of the traces that have spans in the project. `filter`: the spans that are evaluated; both in the filter
    // language.
    Result<std::vector<TraceMatch>> match_traces(const std::string& project, const std::vector<std::string>& trace_ids,
                                                 const std::string& filter, const std::string& condition);

    // Newest first, of spans that began at `since_ns` or later. `versions`: every name of every version.
    Result<std::vector<PromptUse>> prompt_uses(const std::vector<std::string>& projects,
                                               const std::vector<std::string>& versions, int64_t since_ns,
                                               int64_t limit);

private:
    Result<std::vector<SpanTexts>> texts(const std::string& project, const std::string& condition,
                                         const std::vector<std::string>& ids,
                                         const std::vector<std::string_view>& keys);
    Result<std::vector<FoundPlace>> find(const std::string& sql, const std::vector<std::string>& projects,
                                         const std::vector<std::string>& ids);

    ClickHouse& m_engine;
};

} // namespace hone::telemetry
