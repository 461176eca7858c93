// Writes one LLM span per model call into a project, in OpenInference's words, through the same door as spans from
// outside: project rules for redaction and sampling apply, and known shapes of secrets are always taken out. A bounded
// queue and one thread, so that no call waits for it; when the queue is full, spans are dropped and counted, never
// calls.
#pragma once

#include "base/mutex.h"
#include "broker/spending/model_call.h"
#include "otlp/message.h"
#include "telemetry/ingest/ingest.h"

#include <atomic>
#include <deque>
#include <thread>

namespace hone::broker {

// Adds the call's span to a batch.
void add_model_call_span(otlp::Batch& batch, const ModelCall& call);

class ModelSpans final : public ModelCallSink {
public:
    explicit ModelSpans(telemetry::Ingest& ingest);
    // Writes what is left.
    ~ModelSpans() override;

    void called(ModelCall call) override;
    // Returns when everything taken before is written or discarded.
    void flush();
    int64_t dropped() const { return m_dropped; }

    static constexpr size_t most_bytes = 128 << 20; // waiting in memory

private:
    void run();
    void write(const std::vector<ModelCall>& calls);

    telemetry::Ingest& m_ingest;
    std::shared_ptr<const telemetry::Redactor> m_redactor; // shared: Redactor makes them so
    std::atomic<int64_t> m_dropped{0};
    Mutex m_mutex;
    Condition m_changed;
    std::deque<ModelCall> m_waiting GUARDED_BY(m_mutex);
    size_t m_bytes GUARDED_BY(m_mutex) = 0;
    bool m_is_writing GUARDED_BY(m_mutex) = false;
    bool m_stopping GUARDED_BY(m_mutex) = false;
    std::thread m_thread; // last: it uses everything above
};

} // namespace hone::broker
