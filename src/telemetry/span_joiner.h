// Adds log records to spans that were stored before the records arrived: reads such spans from the engine, merges, and
// takes them in again, which replaces them. A request ends when the new spans can be read. One thread of its own, which
// waits for requests of SpanParts.
#pragma once

#include "telemetry/ingest/ingest.h"
#include "telemetry/ingest/loader.h"
#include "telemetry/ingest/span_parts.h"
#include "telemetry/query/span_store.h"

#include <functional>
#include <thread>

namespace hone::telemetry {

class SpanJoiner {
public:
    // `store` starts the engine if it does not run.
    SpanJoiner(SpanParts& parts, Ingest& ingest, Loader& loader, ClickHouse& engine,
               std::function<Result<SpanStore*>()> store, const otlp::Limits& limits);
    void start();

private:
    void run(std::stop_token stop);
    Result<> join(const JoinRequest& request, std::stop_token stop);
    // The sequence up to which the log has to be loaded before the joined span can be read; 0: it has not changed.
    Result<uint64_t> join_span(SpanStore& store, const SpanKey& key);
    // False when stop is requested.
    bool wait_loaded(uint64_t sequence, std::stop_token stop);

    SpanParts& m_parts;
    Ingest& m_ingest;
    Loader& m_loader;
    ClickHouse& m_engine;
    const std::function<Result<SpanStore*>()> m_store;
    const otlp::Limits m_limits;
    std::jthread m_thread; // last
};

} // namespace hone::telemetry
