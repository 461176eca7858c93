// A synthetic application for Signal: an agent with a plan, a search, a tool, an answer and a parser, over a baseline
// and a window, with the noise that real ones have (rare errors, long tails, quiet nights). One fault may be put into
// the window. Deterministic for a seed. For the benchmark of Signal and the tests of its detectors.
#pragma once

#include "otlp/message.h"
#include "signal/analysis/candidate.h"
#include "telemetry/query/evals.h"
#include "telemetry/telemetry.h"

#include <cmath>
#include <fmt/format.h>
#include <string>
#include <vector>

namespace hone::bench {

using signal::Detector;
using signal::hour_ns;

struct CorpusOptions {
    Detector fault = Detector::reported; // reported: none
    uint64_t seed = 1;
    size_t traces = 2400; // three quarters of them in the baseline
    int64_t to_ns = 0;
    int64_t window_hours = 24;
    int64_t baseline_hours = 72;
    double season = 0; // how much slower and longer calls are at the busiest hour: 0.5 is half as much again
    double growth = 1; // of the traffic, from day to day
};

class Corpus {
public:
    explicit Corpus(const CorpusOptions& options) : m_options(options), m_state(options.seed) {
        m_state = next(); // mixed, so that the numbers of one seed are not those of another, one further on
    }

    // The traces number `first` up to `last`, in one batch.
    otlp::Batch batch(size_t first, size_t last) {
        otlp::Batch made;
        for (const char* version : {"1.0", "2.0"}) {
            otlp::Resource resource;
            resource.attributes.push_back({"service.name", {std::string_view("agent")}});
            resource.attributes.push_back({"service.version", {std::string_view(version)}});
            made.resources.push_back(std::move(resource));
        }
        made.scopes.push_back({"corpus", "1", {}, 0, {}});
        for (size_t number = first; number < std::min(last, m_options.traces); ++number) add_trace(made, number);
        return made;
    }

    // Of the traces made so far; the project is the caller's to set.
    std::vector<telemetry::Eval> take_evals() { return std::exchange(m_evals, {}); }

private:
    uint64_t next() {
        m_state += 0x9E3779B97F4A7C15ULL;
        uint64_t z = m_state;
        z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ULL;
        z = (z ^ (z >> 27)) * 0x94D049BB133111EBULL;
        return z ^ (z >> 31);
    }
    double share() { return static_cast<double>(next() >> 11) / 9007199254740992.0; }
    bool happens(double chance) { return share() < chance; }
    double around(double middle) { return middle * std::exp((share() + share() + share() + share() - 2.0) * 0.6); }
    std::string word() {
        std::string made;
        for (size_t length = 4 + next() % 6; made.size() < length;) made += static_cast<char>('a' + next() % 26);
        return made;
    }

    struct Place {
        std::string_view trace;
        std::string_view root;
        int64_t now = 0;
        uint32_t resource = 0;
    };
    std::string_view id(otlp::Batch& batch, size_t bytes) {
        std::string raw;
        while (raw.size() < bytes) raw += static_cast<char>(next() | 1);
        return batch.keep(raw);
    }
    otlp::Span& add(otlp::Batch& batch, Place& place, std::string_view name, std::string_view kind, double ms) {
        otlp::Span span;
        span.trace_id = place.trace;
        span.span_id = id(batch, 8);
        span.parent_span_id = place.root;
        if (place.root.empty()) place.root = span.span_id;
        span.name = name;
        span.kind = 1;
        span.resource = place.resource;
        span.start_ns = static_cast<uint64_t>(place.now);
        ms *= strain(place.now);
        span.end_ns = span.start_ns + static_cast<uint64_t>(ms * 1e6);
        span.status = otlp::StatusCode::ok;
        span.attributes.push_back({"openinference.span.kind", {kind}});
        place.now += static_cast<int64_t>(ms * 1e6);
        batch.spans.push_back(std::move(span));
        return batch.spans.back();
    }
    static void text(otlp::Batch& batch, otlp::Span& span, std::string_view key, std::string value) {
        span.attributes.push_back({key, {batch.keep(std::move(value))}});
    }
    static void fail(otlp::Batch& batch, otlp::Span& span, std::string_view type, std::string message) {
        span.status = otlp::StatusCode::error;
        span.status_message = batch.keep(message);
        otlp::Event event;
        event.time_ns = span.end_ns;
        event.name = "exception";
        event.attributes.push_back({"exception.type", {type}});
        event.attributes.push_back({"exception.message", {span.status_message}});
        span.events.push_back(std::move(event));
    }
    void model_call(otlp::Batch& batch, Place& place, std::string_view name, double tokens, std::string said,
                    bool cut) {
        tokens *= strain(place.now);
        otlp::Span& span = add(batch, place, name, "LLM", around(900));
        span.attributes.push_back({"llm.model_name", {std::string_view("gpt-4o-mini")}});
        span.attributes.push_back({"llm.token_count.prompt", {static_cast<int64_t>(tokens)}});
        span.attributes.push_back({"llm.token_count.completion", {static_cast<int64_t>(around(80))}});
        span.attributes.push_back({"llm.finish_reason", {std::string_view(cut ? "length" : "stop")}});
        text(batch, span, "output.value", std::move(said));
    }

    // How busy an hour is, 0.2 to 1; the same hours every day.
    static double load(double hours) { return 0.6 + 0.4 * std::sin(hours / 24 * 6.283); }
    // What the load does to durations and tokens at this time.
    double strain(int64_t at_ns) const {
        const double hours = static_cast<double>(at_ns - m_options.to_ns) / static_cast<double>(hour_ns);
        return 1 + m_options.season * load(hours);
    }
    // The first trace of the window: with growth it holds more than its share of the time.
    size_t first_in_window() const {
        if (m_options.growth <= 1) return m_options.traces * 3 / 4;
        const double days = static_cast<double>(m_options.baseline_hours) / 24;
        const double before = (std::pow(m_options.growth, days) - 1) / (m_options.growth - 1);
        const double window = std::pow(m_options.growth, days);
        return static_cast<size_t>(static_cast<double>(m_options.traces) * before / (before + window));
    }

    // Nights are quiet; an hour of the window may be ten times as busy.
    int64_t start_of(size_t number, bool in_window) {
        const int64_t from = m_options.to_ns - m_options.window_hours * hour_ns;
        const double hours = static_cast<double>(in_window ? m_options.window_hours : m_options.baseline_hours);
        double at = 0;
        do {
            at = share() * hours;
        } while (!happens(load(at) * std::pow(m_options.growth, (at - hours) / 24)));
        if (is(Detector::cost_spike, in_window) && number % 2 == 0) at = 5 + share();
        const int64_t begin = in_window ? from : from - m_options.baseline_hours * hour_ns;
        return begin + static_cast<int64_t>(at * static_cast<double>(hour_ns) * 0.999);
    }
    bool is(Detector fault, bool in_window) const { return m_options.fault == fault && in_window; }

    void add_trace(otlp::Batch& batch, size_t number) {
        const bool in_window = number >= first_in_window();
        Place place;
        place.trace = id(batch, 16);
        place.now = start_of(number, in_window);
        // The release comes a little before the window.
        const bool released = m_options.fault == Detector::version_regression &&
                              place.now > m_options.to_ns - (m_options.window_hours + 6) * hour_ns;
        place.resource = released ? 1 : 0;
        const size_t root = batch.spans.size();
        add(batch, place, "handle", "AGENT", 1);
        text(batch, batch.spans[root], "session.id", fmt::format("s{}-{}", m_options.seed, number / 2));
        model_call(batch, place, "plan", around(400), "{\"do\": \"" + word() + "\"}", false);
        add(batch, place, "check", "CHAIN", around(3));
        if (happens(0.002) || (is(Detector::error_cluster, in_window) && happens(0.04)))
            fail(batch, batch.spans.back(), "KeyError",
                 fmt::format("no rule {} for customer '{}'", next() % 1000, word()));
        add(batch, place, "parse", "CHAIN", around(2));
        if (happens(0.002) || (is(Detector::unparsable_output, in_window) && happens(0.04)))
            fail(batch, batch.spans.back(), "JSONDecodeError", "Expecting value: line 1 column 1 (char 0)");
        const bool slow = is(Detector::latency_regression, in_window) || released;
        otlp::Span& search = add(batch, place, "search", "RETRIEVER", around(slow ? 700 : 250));
        if (!(happens(0.006) || (is(Detector::empty_retrieval, in_window) && happens(0.12))))
            text(batch, search, "retrieval.documents.0.document.content", word());
        const size_t calls = is(Detector::tool_loop, in_window) && happens(0.03) ? 8 : 1 + next() % 3;
        const std::string input = word();
        for (size_t i = 0; i < calls; ++i) {
            otlp::Span& tool = add(batch, place, "fetch", "TOOL", around(120));
            text(batch, tool, "tool.name", "fetch");
            text(batch, tool, "input.value", calls > 3 ? input : word());
            if (happens(0.002) || (is(Detector::tool_failure, in_window) && happens(0.04)))
                fail(batch, tool, "Timeout", fmt::format("no answer from 10.0.0.{} within {} ms", next() % 255, 5000));
        }
        const bool refuses = is(Detector::refused_output, in_window) && happens(0.06);
        const bool cut = happens(0.003) || (is(Detector::truncated_output, in_window) && happens(0.05));
        model_call(batch, place, "answer", around(is(Detector::token_spike, in_window) ? 3300 : 1500),
                   refuses ? "I'm sorry, but I can't help with that." : word() + " " + word() + " " + word(), cut);
        batch.spans[root].end_ns = static_cast<uint64_t>(place.now);
        if (is(Detector::session_failure, in_window) && number % 2 == 1 && happens(0.35))
            fail(batch, batch.spans[root], "GaveUp", word() + " " + word() + " " + word() + " " + word());
        add_eval(batch.spans[root], in_window);
    }

    void add_eval(const otlp::Span& root, bool in_window) {
        if (!happens(0.25)) return;
        telemetry::Eval eval;
        eval.target = telemetry::EvalTarget::trace;
        eval.kind = telemetry::EvalKind::llm;
        eval.name = "helpful";
        eval.annotator = "judge";
        for (const char byte : root.trace_id) eval.target_id += fmt::format("{:02x}", static_cast<unsigned char>(byte));
        eval.score = std::clamp((is(Detector::eval_drop, in_window) ? 0.55 : 0.8) + (share() - 0.5) * 0.4, 0.0, 1.0);
        // Stands in for the time of the trace: evals of traces are judged by when they were given.
        eval.created_ns = static_cast<int64_t>(root.start_ns);
        m_evals.push_back(std::move(eval));
    }

    const CorpusOptions m_options;
    uint64_t m_state;
    std::vector<telemetry::Eval> m_evals;
};

// The faults that the corpus can hold.
inline constexpr Detector corpus_faults[] = {
    Detector::error_cluster,     Detector::latency_regression, Detector::token_spike,      Detector::cost_spike,
    Detector::tool_failure,      Detector::tool_loop,          Detector::truncated_output, Detector::refused_output,
    Detector::unparsable_output, Detector::empty_retrieval,    Detector::eval_drop,        Detector::version_regression,
    Detector::session_failure};

// Sends a corpus to a project and waits until all of it can be queried.
inline Result<> load_corpus(telemetry::Telemetry& telemetry, const CorpusOptions& options, std::string_view project,
                            const std::string& project_id) {
    Corpus corpus(options);
    constexpr size_t at_once = 500;
    for (size_t at = 0; at < options.traces; at += at_once) {
        otlp::Batch batch = corpus.batch(at, at + at_once);
        TRY(telemetry.ingester().take(batch, "space", project));
    }
    if (!telemetry.loader().wait_loaded(telemetry.log_stats().next_sequence, std::chrono::minutes(5)))
        return busy("the spans were not loaded in time");
    TRY(telemetry.store());
    // The store stamps evals with its clock: those of the baseline and those of the window each with one of their time.
    const int64_t from = options.to_ns - options.window_hours * hour_ns;
    std::vector<telemetry::Eval> before, after;
    for (telemetry::Eval& eval : corpus.take_evals()) {
        eval.project = project_id;
        (eval.created_ns < from ? before : after).push_back(std::move(eval));
    }
    const FakeClock then(from_ns(from - hour_ns)), now(from_ns(options.to_ns - hour_ns));
    TRY(telemetry::Evals(telemetry.engine(), then).upsert(std::move(before)));
    TRY(telemetry::Evals(telemetry.engine(), now).upsert(std::move(after)));
    return {};
}

} // namespace hone::bench
