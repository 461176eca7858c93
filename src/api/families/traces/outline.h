// The spans of a trace as columns: a page with 50,000 spans reads a few megabytes and makes no object for a span before
// it is drawn. Pure function; any thread.
#pragma once

#include "api/families/traces/span_views.h"

namespace hone::api {

struct MissingParent {
    int64_t span = 0;
    std::string parent_id;
    static constexpr Pack fields{
        Field{"span", &MissingParent::span, "Position of the span."},
        Field{"parent_id", &MissingParent::parent_id, "16 hexadecimal digits."},
    };
};

struct TraceOutline {
    bool is_cut = false;
    Time start_time{};
    std::vector<std::string> texts;
    std::vector<std::string> span_ids;
    std::vector<int64_t> parents;
    std::vector<MissingParent> missing_parents;
    std::vector<int64_t> messages;
    std::vector<int64_t> starts_ns;
    std::vector<int64_t> durations_ns;
    std::vector<int64_t> names;
    std::vector<int64_t> kinds;
    std::vector<int64_t> statuses;
    std::vector<int64_t> status_messages;
    std::vector<int64_t> services;
    std::vector<int64_t> models;
    std::vector<int64_t> providers;
    std::vector<int64_t> users;
    std::vector<int64_t> sessions;
    std::vector<int64_t> tools;
    std::vector<int64_t> exceptions;
    std::vector<int64_t> input_tokens;
    std::vector<int64_t> cache_read_tokens;
    std::vector<int64_t> cache_write_tokens;
    std::vector<int64_t> output_tokens;
    std::vector<int64_t> reasoning_tokens;
    std::vector<int64_t> costs_nano_usd;
    static constexpr Pack fields{
        Field{"is_cut", &TraceOutline::is_cut, "The trace has more spans than one response holds."},
        Field{"start_time", &TraceOutline::start_time, "Start of the first span."},
        Field{"texts", &TraceOutline::texts, "Each text once; the first one is empty."},
        Field{"span_ids", &TraceOutline::span_ids,
              "One per span, by start time. The other columns have the same order; a column with zeros only is empty."},
        Field{"parents", &TraceOutline::parents, "Position of the parent; -1: the trace has none."},
        Field{"missing_parents", &TraceOutline::missing_parents, "Spans whose parent is not in the trace."},
        Field{"messages", &TraceOutline::messages, "Positions of spans with is_message."},
        Field{"starts_ns", &TraceOutline::starts_ns, "After start_time."},
        Field{"durations_ns", &TraceOutline::durations_ns, ""},
        Field{"names", &TraceOutline::names, "This and the next columns: positions in texts."},
        Field{"kinds", &TraceOutline::kinds, ""},
        Field{"statuses", &TraceOutline::statuses, ""},
        Field{"status_messages", &TraceOutline::status_messages, ""},
        Field{"services", &TraceOutline::services, ""},
        Field{"models", &TraceOutline::models, ""},
        Field{"providers", &TraceOutline::providers, ""},
        Field{"users", &TraceOutline::users, ""},
        Field{"sessions", &TraceOutline::sessions, "Chat sessions."},
        Field{"tools", &TraceOutline::tools, ""},
        Field{"exceptions", &TraceOutline::exceptions, "Types of exceptions."},
        Field{"input_tokens", &TraceOutline::input_tokens, "Neither read from nor written to a cache."},
        Field{"cache_read_tokens", &TraceOutline::cache_read_tokens, ""},
        Field{"cache_write_tokens", &TraceOutline::cache_write_tokens, ""},
        Field{"output_tokens", &TraceOutline::output_tokens, "Without reasoning."},
        Field{"reasoning_tokens", &TraceOutline::reasoning_tokens, ""},
        Field{"costs_nano_usd", &TraceOutline::costs_nano_usd, ""},
    };
};

TraceOutline outline_of(const telemetry::TraceSkeleton& skeleton);

} // namespace hone::api
