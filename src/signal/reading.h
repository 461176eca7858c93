// Readings: a worker with a model reads a few traces of a project and reports problems that no program sees. What it
// may report is typed; each entry quotes the span that shows it. Declared once for the API, the tools of workers, the
// CLI and the UI. Values and pure functions; any thread.
#pragma once

#include "signal/analysis/trace_sample.h"
#include "signal/issue.h"

#include <set>
#include <span>

namespace hone::signal {

// What only a reader of the texts can decide.
enum class ReadKind {
    wrong_result,
    unsupported_claim,
    misread_result,
    poor_search,
    wrong_tool,
    off_task,
    ignored_instruction,
    lost_context,
    wasted_steps,
    unfinished,
};
constexpr auto enum_names(ReadKind) {
    using enum ReadKind;
    return std::array{EnumName{wrong_result, "wrong_result"},
                      EnumName{unsupported_claim, "unsupported_claim"},
                      EnumName{misread_result, "misread_result"},
                      EnumName{poor_search, "poor_search"},
                      EnumName{wrong_tool, "wrong_tool"},
                      EnumName{off_task, "off_task"},
                      EnumName{ignored_instruction, "ignored_instruction"},
                      EnumName{lost_context, "lost_context"},
                      EnumName{wasted_steps, "wasted_steps"},
                      EnumName{unfinished, "unfinished"}};
}

struct ReadKindRow {
    ReadKind kind;
    std::string_view title;   // after the name of the place
    std::string_view meaning; // for the worker and for people
    // Detectors that find the same without a model: a span that one of them reports confirms that issue.
    Detector native = Detector::reported;
    Detector other_native = Detector::reported;
};
std::span<const ReadKindRow> read_kinds();
const ReadKindRow& about_kind(ReadKind kind);

enum class Verdict { confirmed, rejected };
constexpr auto enum_names(Verdict) {
    return std::array{EnumName{Verdict::confirmed, "confirmed"}, EnumName{Verdict::rejected, "rejected"}};
}

struct ReadFinding {
    ReadKind kind = ReadKind::wrong_result;
    std::string trace_id;
    std::string span_id;
    std::string statement;
    std::string quote;
    static constexpr Pack fields{
        Field{"kind", &ReadFinding::kind, "One of the kinds that the file lists."},
        Field{"trace_id", &ReadFinding::trace_id, "A trace of the file."},
        Field{"span_id", &ReadFinding::span_id, "Span that shows it."},
        Field{"statement", &ReadFinding::statement, "What is wrong, in one sentence; at most 300 bytes."},
        Field{"quote", &ReadFinding::quote,
              "The decisive text, word for word from input, output or message of the span; 8 to 300 bytes."},
    };
};

struct ReadVerdict {
    IssueId issue;
    Verdict verdict = Verdict::confirmed;
    std::string trace_id;
    std::string span_id;
    std::string reason;
    std::string quote;
    static constexpr Pack fields{
        Field{"issue", &ReadVerdict::issue, "Id of a candidate of the file."},
        Field{"verdict", &ReadVerdict::verdict, "confirmed or rejected."},
        Field{"trace_id", &ReadVerdict::trace_id, "Trace of the candidate."},
        Field{"span_id", &ReadVerdict::span_id, "Span of the candidate."},
        Field{"reason", &ReadVerdict::reason, "The reason, in one sentence; at most 300 bytes."},
        Field{"quote", &ReadVerdict::quote,
              "The decisive text, word for word from input, output or message of the span; 8 to 300 bytes."},
    };
};

struct ReadReport {
    std::vector<ReadFinding> findings;
    std::optional<std::vector<ReadVerdict>> verdicts;
    static constexpr Pack fields{
        Field{"findings", &ReadReport::findings, "Problems in the traces of the file; may be empty. At most 50."},
        Field{"verdicts", &ReadReport::verdicts, "Decisions about the candidates of the file. At most 50."},
    };
};

struct ReadRefusal {
    std::string entry;
    std::string why;
    static constexpr Pack fields{
        Field{"entry", &ReadRefusal::entry, "findings[0]"},
        Field{"why", &ReadRefusal::why, "What is wrong with it."},
    };
};

struct ReadOutcome {
    int64_t findings = 0;
    int64_t confirmed = 0;
    int64_t rejected = 0;
    std::vector<IssueId> issues;
    std::vector<ReadRefusal> refused;
    static constexpr Pack fields{
        Field{"findings", &ReadOutcome::findings, "Findings that were stored."},
        Field{"confirmed", &ReadOutcome::confirmed, "Issues that were confirmed."},
        Field{"rejected", &ReadOutcome::rejected, "Issues that were rejected; they stay open with a lower score."},
        Field{"issues", &ReadOutcome::issues, "Issues with findings in at least two traces."},
        Field{"refused", &ReadOutcome::refused, "Entries that were not stored. They can be sent again, corrected."},
    };
};

struct ReadingStarted {
    std::string run_id;
    int64_t traces = 0;
    static constexpr Pack fields{
        Field{"run_id", &ReadingStarted::run_id, "Run that reads."},
        Field{"traces", &ReadingStarted::traces, "Traces that it was given."},
    };
};

// What readings of the last 30 days found and cost.
struct ReadingTotals {
    int64_t readings = 0;
    int64_t traces = 0;
    int64_t findings = 0;
    int64_t confirmed = 0;
    int64_t rejected = 0;
    int64_t refused = 0;
    int64_t tokens = 0;
    int64_t cost_micro_usd = 0;
    int64_t tokens_per_1000_traces = 0;
    int64_t cost_micro_usd_per_1000_traces = 0;
    Time last_at{};
    static constexpr Pack fields{
        Field{"readings", &ReadingTotals::readings, "Readings of the last 30 days."},
        Field{"traces", &ReadingTotals::traces, "Traces that they were given."},
        Field{"findings", &ReadingTotals::findings, "Findings that they reported."},
        Field{"confirmed", &ReadingTotals::confirmed, "Issues that they confirmed."},
        Field{"rejected", &ReadingTotals::rejected, "Issues that they rejected."},
        Field{"refused", &ReadingTotals::refused, "Entries that did not pass the checks."},
        Field{"tokens", &ReadingTotals::tokens, "Tokens that they used."},
        Field{"cost_micro_usd", &ReadingTotals::cost_micro_usd, "Their cost in millionths of a US dollar."},
        Field{"tokens_per_1000_traces", &ReadingTotals::tokens_per_1000_traces, "Tokens for 1,000 traces."},
        Field{"cost_micro_usd_per_1000_traces", &ReadingTotals::cost_micro_usd_per_1000_traces,
              "Cost of 1,000 traces in millionths of a US dollar."},
        Field{"last_at", &ReadingTotals::last_at, "Start of the newest one."},
    };
};

// What a worker is shown of a trace: all spans without texts, up to 150, and cut texts of the spans that matter, first
// the marked ones. Never more than two thirds of the spans and never more than eight.
json::Value digest_of(const SampledTrace& trace, const std::set<std::string>& marked);
// The spans of which texts are shown, in this order.
std::vector<size_t> spans_that_matter(const SampledTrace& trace, const std::set<std::string>& marked);

// Whether a text of the span contains the quote; spaces and line breaks count as one.
bool has_quote(const SampledSpan& span, std::string_view quote);

// Where a problem of this span belongs: its agent, else the span; without numbers.
std::string reading_place(const SampledTrace& trace, size_t span);

} // namespace hone::signal
