#include "signal/reading.h"

#include "base/text.h"
#include "signal/analysis/small_clusters.h"
#include "signal/text/failure_text.h"

#include <algorithm>
#include <cctype>

namespace hone::signal {

namespace {

constexpr size_t most_digest_spans = 150;
constexpr size_t most_digest_texts = 8;
constexpr size_t longest_digest_input = 800;
constexpr size_t longest_digest_output = 1600;
constexpr size_t shortest_quote = 8;

constexpr ReadKindRow read_kind_table[] = {
    {ReadKind::wrong_result, "returns a wrong result", "The result does not solve the task, or is wrong."},
    {ReadKind::unsupported_claim, "states what nothing in the trace supports",
     "A result or a step states facts, or the use of a tool, that no span of the trace shows.", Detector::unused_tools},
    {ReadKind::misread_result, "misreads what a tool returned",
     "A step draws a conclusion that the result of a tool does not allow."},
    {ReadKind::poor_search, "searches for the wrong thing",
     "Queries do not fit the task, or an unsuitable source is used.", Detector::empty_retrieval},
    {ReadKind::wrong_tool, "uses the wrong tool", "Another tool that is offered fits the step better.",
     Detector::invalid_tool_call},
    {ReadKind::off_task, "works on something else than its task", "Steps do not serve the task, or change it."},
    {ReadKind::ignored_instruction, "does not follow its instruction",
     "An instruction in the trace, about format or conduct, is not followed.", Detector::ignored_instruction},
    {ReadKind::lost_context, "forgets what earlier steps found",
     "A step contradicts or repeats what the conversation already contains."},
    {ReadKind::wasted_steps, "uses steps that bring no progress", "Steps or calls repeat without a new result.",
     Detector::agent_loop, Detector::tool_loop},
    {ReadKind::unfinished, "ends before its task is done", "The agent stops, or hands over, without a result.",
     Detector::missing_result},
};

// Without control characters, each run of spaces as one.
std::string squeezed(std::string_view text) {
    std::string made;
    for (const char letter : text) {
        if (std::isspace(static_cast<unsigned char>(letter)) == 0)
            made += letter;
        else if (!made.empty() && made.back() != ' ')
            made += ' ';
    }
    while (!made.empty() && made.back() == ' ') made.pop_back();
    return made;
}

// The beginning and the end of a text.
std::string cut_text(std::string_view text, size_t most) {
    if (text.size() <= most) return repair_utf8(text);
    const std::string_view head = truncate_utf8(text, most * 2 / 3);
    return repair_utf8(std::string(head) + "\n[…]\n" + std::string(text.substr(text.size() - most / 3)));
}

json::Value texts_of(const SampledSpan& span) {
    json::Object texts{{"span_id", span.span_id}};
    const std::string_view input = span.kind == "llm" ? std::string_view(span.newest.content) : span.input;
    if (!input.empty()) texts[span.kind == "llm" ? "newest_message" : "input"] = cut_text(input, longest_digest_input);
    std::string output = span.output;
    for (const auto& call : span.calls) output += "\n" + call.name + " " + call.arguments;
    if (!output.empty()) texts["output"] = cut_text(output, longest_digest_output);
    if (!span.message.empty()) texts["message"] = cut_text(span.message, longest_digest_input);
    return texts;
}

} // namespace

std::span<const ReadKindRow> read_kinds() {
    return read_kind_table;
}

const ReadKindRow& about_kind(ReadKind kind) {
    return read_kind_table[static_cast<size_t>(kind)];
}

std::vector<size_t> spans_that_matter(const SampledTrace& trace, const std::set<std::string>& marked) {
    const size_t most = std::min(most_digest_texts, trace.spans.size() * 2 / 3);
    std::vector<size_t> chosen;
    const auto add = [&](size_t span) {
        if (chosen.size() < most && std::find(chosen.begin(), chosen.end(), span) == chosen.end())
            chosen.push_back(span);
    };
    for (size_t i = 0; i < trace.spans.size(); ++i)
        if (marked.contains(trace.spans[i].span_id)) add(i);
    // The task and the result.
    size_t first_call = SampledTrace::none, last_call = SampledTrace::none;
    for (size_t i = 0; i < trace.spans.size(); ++i) {
        if (trace.spans[i].parent == SampledTrace::none &&
            (!trace.spans[i].input.empty() || !trace.spans[i].output.empty()))
            add(i);
        if (trace.spans[i].kind != "llm") continue;
        if (first_call == SampledTrace::none) first_call = i;
        last_call = i;
    }
    if (last_call != SampledTrace::none) add(last_call);
    for (size_t i = 0; i < trace.spans.size(); ++i)
        if (is_origin(trace, i)) add(i);
    if (first_call != SampledTrace::none) add(first_call);
    // What the last calls were given.
    for (size_t i = trace.spans.size(); i-- > 0;)
        if (trace.spans[i].kind == "tool" || trace.spans[i].kind == "retriever") add(i);
    for (size_t i = trace.spans.size(); i-- > 0;)
        if (trace.spans[i].kind == "llm") add(i);
    return chosen;
}

json::Value digest_of(const SampledTrace& trace, const std::set<std::string>& marked) {
    const auto matter = spans_that_matter(trace, marked);
    json::Array spans, texts;
    const int64_t begin = trace.spans.empty() ? 0 : trace.spans.front().start_ns;
    for (size_t i = 0; i < trace.spans.size(); ++i) {
        const bool is_shown = std::find(matter.begin(), matter.end(), i) != matter.end();
        if (spans.size() >= most_digest_spans && !is_shown) continue;
        const SampledSpan& span = trace.spans[i];
        json::Object row{{"span_id", span.span_id},
                         {"parent_id", span.parent_id},
                         {"name", repair_utf8(truncate_utf8(span.name, 120))},
                         {"kind", span.kind},
                         {"start_ms", (span.start_ns - begin) / 1'000'000},
                         {"duration_ms", (span.end_ns - span.start_ns) / 1'000'000}};
        if (!span.tool.empty() && span.tool != span.name) row["tool"] = repair_utf8(truncate_utf8(span.tool, 80));
        if (span.failed) row["failed"] = true;
        if (span.input_tokens > 0) row["input_tokens"] = span.input_tokens;
        spans.push_back(std::move(row));
    }
    const auto left_out = static_cast<int64_t>(trace.spans.size() - spans.size());
    for (const size_t span : matter) texts.push_back(texts_of(trace.spans[span]));
    return json::Object{
        {"trace_id", trace.id}, {"spans", std::move(spans)}, {"spans_left_out", left_out}, {"texts", std::move(texts)}};
}

bool has_quote(const SampledSpan& span, std::string_view quote) {
    const std::string wanted = squeezed(quote);
    if (wanted.size() < shortest_quote) return false;
    const auto contains = [&](std::string_view text) { return squeezed(text).find(wanted) != std::string::npos; };
    if (contains(span.input) || contains(span.output) || contains(span.message) || contains(span.newest.content))
        return true;
    for (const auto& call : span.calls)
        if (contains(call.name + " " + call.arguments)) return true;
    return std::any_of(span.head.begin(), span.head.end(),
                       [&](const telemetry::Message* message) { return contains(message->content); });
}

std::string reading_place(const SampledTrace& trace, size_t span) {
    const size_t agent = trace.spans[span].kind == "agent" ? span : trace.above(span, "agent");
    return normalised_name(trace.spans[agent == SampledTrace::none ? span : agent].name);
}

} // namespace hone::signal
