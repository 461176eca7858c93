// A run's own trace, in the project hone-runs of its space: AGENT for the run, CHAIN per turn, TOOL per call; the
// gateway adds an LLM span per model call below the run. They are ingested as all spans. One thread at a time.
#pragma once

#include "run/run.h"
#include "telemetry/ingest/ingest.h"

#include <map>
#include <string>

namespace hone::run {

constexpr std::string_view runs_project = "hone-runs";

// Takes a run's finished spans. The server's implementation gives them to telemetry; it must not block for long.
class SpanSink {
public:
    virtual ~SpanSink() = default;
    virtual void take(otlp::Batch& batch, const access::SpaceId& space) = 0;
};

// 16 hexadecimal digits: the run's root span.
std::string root_span_id(const RunId& run);

class RunSpans {
public:
    RunSpans(SpanSink& sink, const Clock& clock, const Run& run) : m_sink(sink), m_clock(clock), m_run(run) {}

    void turn_started(int64_t turn, const std::string& prompt);
    // Tool calls and results as they come.
    void happened(const RunEvent& event);
    // A model call that the gateway did not see, as the agent provider reports it: an LLM span of source `provider`.
    struct ProviderCall {
        std::string id; // unique in the run
        std::string model;
        harness::Usage usage;
    };
    void model_called(const ProviderCall& call);
    void turn_ended(const std::string& answer, bool failed);
    // Sent at the end of every turn too, so that the trace has its root while the run continues; the last one counts.
    void run_ended(State state, const std::string& answer);

private:
    struct Open {
        Time start{};
        std::string name;
        std::string input;
    };
    struct Made;
    void send(const Made& made);
    void report(State state) const;
    std::string span_id(std::string_view what) const;

    SpanSink& m_sink;
    const Clock& m_clock;
    Run m_run;
    int64_t m_turn = 0;
    Open m_turn_open;
    std::map<std::string, Open> m_tools;
};

} // namespace hone::run
