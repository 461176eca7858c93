#include "telemetry/span_joiner.h"

#include "base/log.h"
#include "base/text.h"
#include "otlp/encode.h"
#include "telemetry/ingest/span_merge.h"
#include "telemetry/query/span_lookup.h"

#include <algorithm>
#include <map>
#include <set>

namespace hone::telemetry {

namespace {

// A span that is stored already goes to its own project again, past quotas and sampling.
class StoredProject final : public ProjectDirectory {
public:
    explicit StoredProject(std::string id) : m_id(std::move(id)) {}
    Result<ProjectRef> resolve(std::string_view, std::string_view) override {
        return ProjectRef{m_id, 0, nullptr, 1.0, {}, {}, {}};
    }

private:
    const std::string m_id;
};

std::string content_of(const otlp::Span& span) {
    std::string text;
    otlp::append_span_json(text, span);
    return text;
}

} // namespace

SpanJoiner::SpanJoiner(SpanParts& parts, Ingest& ingest, Loader& loader, ClickHouse& engine,
                       std::function<Result<SpanStore*>()> store, const otlp::Limits& limits)
    : m_parts(parts),
      m_ingest(ingest),
      m_loader(loader),
      m_engine(engine),
      m_store(std::move(store)),
      m_limits(limits) {}

void SpanJoiner::start() {
    m_thread = std::jthread([this](std::stop_token stop) { run(stop); });
}

void SpanJoiner::run(std::stop_token stop) {
    while (auto request = m_parts.next_request(stop)) {
        const auto joined = join(*request, stop);
        if (joined.ok() || stop.stop_requested()) continue;
        log(Level::warning, "log records wait for their spans", {{"why", joined.error().message}});
        m_parts.request_join(std::move(request->keys), request->sequence);
        Mutex unused;
        Condition pause;
        Lock lock(unused);
        pause.wait_for(unused, stop, std::chrono::seconds(5), [] { return false; });
    }
}

bool SpanJoiner::wait_loaded(uint64_t sequence, std::stop_token stop) {
    while (!m_loader.wait_loaded(sequence, std::chrono::milliseconds(500)))
        if (stop.stop_requested()) return false;
    return true;
}

Result<> SpanJoiner::join(const JoinRequest& request, std::stop_token stop) {
    if (!wait_loaded(request.sequence, stop)) return {};
    uint64_t readable_at = 0; // the sequence after that of the last span that was taken in
    SpanStore* const store = TRY(m_store());
    std::map<std::string, std::set<SpanKey>> by_project;
    for (const SpanKey& key : request.keys) by_project[key.project].insert(key);
    SpanLookup lookup(m_engine);
    for (const auto& [project, keys] : by_project) {
        std::vector<std::string> ids;
        for (const SpanKey& key : keys) ids.push_back(to_hex(key.span_id));
        const auto all = TRY(lookup.spans({project}, ids));
        for (const FoundPlace& found : all) {
            if (stop.stop_requested()) return {};
            const auto trace_id = from_hex(found.trace_id), span_id = from_hex(found.id);
            if (!trace_id.ok() || !span_id.ok()) continue;
            const SpanKey key{project, trace_id.value(), span_id.value()};
            if (keys.contains(key)) readable_at = std::max(readable_at, TRY(join_span(*store, key)));
        }
    }
    // A reader that waits for the request reads the spans next.
    wait_loaded(readable_at, stop);
    return {};
}

Result<uint64_t> SpanJoiner::join_span(SpanStore& store, const SpanKey& key) {
    auto payload = store.span_payload(key.project, to_hex(key.trace_id), to_hex(key.span_id));
    if (!payload.ok()) {
        if (payload.error().code == Code::not_found) return uint64_t{0}; // deleted in between
        return std::move(payload).error();
    }
    otlp::Batch batch = TRY(to_otlp({payload.value()}));
    const std::string before = content_of(batch.spans.front());
    add_log_parts(batch, batch.spans.front(), m_parts.of(key, PartKind::log), m_limits);
    if (content_of(batch.spans.front()) == before) return uint64_t{0};
    StoredProject project(key.project);
    const Accepted taken = TRY(m_ingest.take(batch, "", "", &project));
    return taken.sequence + 1;
}

} // namespace hone::telemetry
