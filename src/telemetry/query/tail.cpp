#include "telemetry/query/tail.h"

#include "base/log.h"
#include "telemetry/query/filter.h"

#include <algorithm>

namespace hone::telemetry {

namespace {

constexpr size_t most_waiting_parts = 64;
constexpr Duration query_deadline = std::chrono::seconds(5);
// Requests are acknowledged in about the order in which they came; this is far more than they are apart.
constexpr int64_t overlap_ns = 2'000'000'000;
constexpr Duration arrivals_poll = std::chrono::milliseconds(500);
constexpr size_t most_delivered_ids = 20'000;

std::string tail_identity(std::string_view trace_id, std::string_view span_id) {
    std::string id(trace_id);
    id += span_id;
    return id;
}

} // namespace

Tail::Tail(std::function<Result<SpanStore*>()> store, SpanArrivals* arrivals)
    : m_store(std::move(store)),
      m_arrivals(arrivals) {
    m_thread = std::jthread([this](std::stop_token stop) { run(stop); });
}

Tail::~Tail() {
    m_thread.request_stop();
    {
        const Lock lock(m_mutex); // so that the thread is either before its check or waits
        m_changed.notify_all();
    }
    m_thread = {};
}

Result<uint64_t> Tail::watch(Watch watch) {
    TRY(parse_filter(watch.filter));
    auto watcher = std::make_shared<Watcher>();
    watcher->had_first = !watch.after_ns;
    watcher->watch = std::move(watch);
    const Lock lock(m_mutex);
    if (m_watchers.size() >= most_watchers)
        return busy(std::to_string(most_watchers) + " live tails are open, which is as many as there may be");
    const uint64_t id = m_next_id++;
    m_watchers.emplace(id, std::move(watcher));
    m_changed.notify_all();
    return id;
}

int64_t Tail::announce(const std::string& project) {
    if (m_arrivals == nullptr) return 0;
    const auto now = m_arrivals->watch({project});
    if (now.ok()) return now.value();
    log(Level::warning, "a live tail begins with spans of this server only", {{"why", now.error().message}});
    return INT64_MAX; // until the thread has announced it
}

bool Tail::has_room() {
    const Lock lock(m_mutex);
    return m_watchers.size() < most_watchers;
}

void Tail::unwatch(uint64_t id) {
    std::shared_ptr<Watcher> gone; // its callback is destroyed outside the lock
    const Lock lock(m_mutex);
    const auto found = m_watchers.find(id);
    if (found == m_watchers.end()) return;
    gone = std::move(found->second);
    m_watchers.erase(found);
}

void Tail::loaded(std::span<const SpanRowHead> rows) {
    std::map<std::string, std::shared_ptr<Part>, std::less<>> parts;
    {
        const Lock lock(m_mutex);
        for (const auto& [id, watcher] : m_watchers) parts.emplace(watcher->watch.project, nullptr);
    }
    if (parts.empty()) return;
    for (const SpanRowHead& row : rows) {
        const auto wanted = parts.find(row.project);
        if (wanted == parts.end()) continue;
        if (!wanted->second) wanted->second = std::make_shared<Part>();
        Part& part = *wanted->second;
        part.first_start_ns = std::min(part.first_start_ns, row.start_ns);
        part.last_start_ns = std::max(part.last_start_ns, row.start_ns);
        part.first_received_ns = std::min(part.first_received_ns, row.received_ns);
        part.last_received_ns = std::max(part.last_received_ns, row.received_ns);
        part.ids.insert(tail_identity(row.trace_id, row.span_id));
    }
    const Lock lock(m_mutex);
    for (auto& [project, part] : parts) {
        if (!part) continue;
        part->project = project;
        m_parts.push_back(std::move(part));
    }
    while (m_parts.size() > most_waiting_parts) {
        for (auto& [id, watcher] : m_watchers)
            if (watcher->watch.project == m_parts.front()->project)
                watcher->missed += static_cast<int64_t>(m_parts.front()->ids.size());
        m_parts.pop_front();
    }
    m_changed.notify_all();
}

// A watcher that wants to begin in the past and has not been served yet.
std::shared_ptr<Tail::Watcher> Tail::next_new(uint64_t& id) {
    for (auto& [key, watcher] : m_watchers)
        if (!watcher->had_first) {
            id = key;
            return watcher;
        }
    return nullptr;
}

void Tail::run(std::stop_token stop) {
    while (!stop.stop_requested()) {
        uint64_t id = 0;
        std::shared_ptr<Watcher> fresh;
        std::shared_ptr<const Part> part;
        std::map<uint64_t, std::shared_ptr<Watcher>> watchers;
        {
            Lock lock(m_mutex);
            while (!stop.stop_requested() && m_parts.empty() && !next_new(id)) {
                if (m_arrivals == nullptr || m_watchers.empty())
                    m_changed.wait(m_mutex);
                else if (m_changed.wait_for(m_mutex, arrivals_poll) == std::cv_status::timeout)
                    break;
            }
            fresh = next_new(id);
            if (!fresh && !m_parts.empty()) {
                part = std::move(m_parts.front());
                m_parts.pop_front();
                watchers = m_watchers;
            }
        }
        if (stop.stop_requested()) return;
        if (fresh) hand_first(id, *fresh);
        for (auto& [key, watcher] : watchers)
            if (watcher->watch.project == part->project) hand_part(key, *watcher, *part);
        if (m_arrivals != nullptr) read_arrivals();
    }
}

// What other servers have stored.
void Tail::read_arrivals() {
    const auto now = std::chrono::steady_clock::now();
    if (now - m_read_at < arrivals_poll) return;
    m_read_at = now;
    std::map<uint64_t, std::shared_ptr<Watcher>> watchers;
    {
        const Lock lock(m_mutex);
        watchers = m_watchers;
    }
    std::set<std::string> projects;
    for (const auto& [id, watcher] : watchers) projects.insert(watcher->watch.project);
    if (projects.empty()) return;
    if (now - m_announced_at > SpanArrivals::watch_length / 3) {
        if (const auto renewed = m_arrivals->watch(projects); renewed.ok()) {
            m_announced_at = now;
            for (auto& [id, watcher] : watchers)
                watcher->watch.announced_ns = std::min(watcher->watch.announced_ns, renewed.value());
        }
    }
    const auto arrivals = m_arrivals->read(projects);
    if (!arrivals.ok()) {
        log(Level::warning, "live tails show spans of this server only", {{"why", arrivals.error().message}});
        return;
    }
    for (auto& [id, watcher] : watchers) {
        std::set<std::string> seen;
        for (const SpanArrival& arrival : arrivals.value()) {
            if (arrival.project != watcher->watch.project || arrival.stored_ns <= watcher->watch.announced_ns) continue;
            seen.insert(arrival.id);
            if (watcher->seen_arrivals.contains(arrival.id)) continue;
            Part part;
            part.project = arrival.project;
            part.first_start_ns = arrival.first_start_ns;
            part.last_start_ns = arrival.last_start_ns;
            part.first_received_ns = arrival.first_received_ns;
            part.last_received_ns = arrival.last_received_ns;
            part.foreign_spans = arrival.spans;
            hand_part(id, *watcher, part);
        }
        watcher->seen_arrivals = std::move(seen); // older ones are not read again
    }
}

// Times of blocks of several servers overlap.
void Tail::leave_out_delivered(Watcher& watcher, TailBatch& batch) const {
    if (m_arrivals == nullptr) return;
    std::erase_if(batch.spans, [&](const SpanRow& row) {
        const auto [place, is_new] = watcher.delivered.insert(tail_identity(row.trace_id, row.span_id));
        if (is_new) watcher.delivered_order.push_back(*place);
        return !is_new;
    });
    while (watcher.delivered_order.size() > most_delivered_ids) {
        watcher.delivered.erase(watcher.delivered_order.front());
        watcher.delivered_order.pop_front();
    }
}

Result<TailBatch> Tail::matching(const Watcher& watcher, const Scope& scope) {
    SpanStore& store = *TRY(m_store());
    ListSpans request;
    request.scope = scope;
    request.limit = most_in_batch;
    SpanPage page = TRY(store.list_spans(request));
    TailBatch batch;
    batch.spans = std::move(page.spans);
    if (!page.next_cursor.empty()) {
        Series count;
        count.scope = scope;
        count.metrics = {Metric::count};
        count.bucket = Duration(0);
        const auto points = TRY(store.series(count));
        const auto all = points.empty() ? 0 : static_cast<int64_t>(points.front().values.front());
        batch.dropped = std::max<int64_t>(0, all - static_cast<int64_t>(batch.spans.size()));
    }
    std::erase_if(batch.spans, [&](const SpanRow& row) {
        return watcher.first_ids.contains(tail_identity(row.trace_id, row.span_id));
    });
    std::reverse(batch.spans.begin(), batch.spans.end());
    return batch;
}

void Tail::hand_first(uint64_t id, Watcher& watcher) {
    Scope scope;
    scope.project = watcher.watch.project;
    scope.filter = watcher.watch.filter;
    scope.deadline = query_deadline;
    scope.received_from_ns = std::max<int64_t>(0, *watcher.watch.after_ns - overlap_ns);
    auto batch = matching(watcher, scope);
    {
        const Lock lock(m_mutex);
        watcher.had_first = true;
    }
    if (!batch.ok()) {
        log(Level::warning, "live tail starts without earlier spans", {{"why", batch.error().message}});
        return;
    }
    for (const SpanRow& row : batch.value().spans) watcher.first_ids.insert(tail_identity(row.trace_id, row.span_id));
    batch.value().position_ns = *watcher.watch.after_ns;
    deliver(id, watcher, std::move(batch).value());
}

void Tail::hand_part(uint64_t id, Watcher& watcher, const Part& part) {
    Scope scope;
    scope.project = part.project;
    scope.filter = watcher.watch.filter;
    scope.from_ns = part.first_start_ns;
    scope.to_ns = part.last_start_ns + 1;
    scope.received_from_ns = part.first_received_ns;
    scope.received_to_ns = part.last_received_ns + 1;
    scope.deadline = query_deadline;
    auto found = matching(watcher, scope);
    TailBatch batch;
    if (found.ok()) {
        batch = std::move(found).value();
    } else {
        log(Level::warning, "a live tail misses spans", {{"why", found.error().message}});
        batch.dropped = static_cast<int64_t>(part.ids.size()) + part.foreign_spans;
    }
    // Times of blocks overlap; what belongs to another block comes with that one.
    if (part.foreign_spans == 0)
        std::erase_if(batch.spans,
                      [&](const SpanRow& row) { return !part.ids.contains(tail_identity(row.trace_id, row.span_id)); });
    leave_out_delivered(watcher, batch);
    batch.position_ns = part.last_received_ns;
    deliver(id, watcher, std::move(batch));
}

void Tail::deliver(uint64_t id, Watcher& watcher, TailBatch&& batch) {
    {
        const Lock lock(m_mutex);
        if (!m_watchers.contains(id)) return;
        batch.dropped += std::exchange(watcher.missed, 0);
    }
    if (batch.spans.empty() && batch.dropped == 0) return;
    if (!watcher.watch.take(std::move(batch))) unwatch(id);
}

} // namespace hone::telemetry
