#include "api/core/metrics.h"

#include "base/metrics.h"

namespace hone::api {

void Metrics::count(size_t route, int status, Duration took) {
    CHECK_OR_ABORT(route < m_count);
    PerRoute& row = m_routes[route];
    row.by_class[static_cast<size_t>(std::clamp(status / 100, 0, 5))].fetch_add(1, std::memory_order_relaxed);
    row.nanoseconds.fetch_add(static_cast<uint64_t>(std::max<int64_t>(took.count(), 0)), std::memory_order_relaxed);
    const double seconds = std::chrono::duration<double>(took).count();
    for (size_t i = 0; i < bounds.size(); ++i)
        if (seconds <= bounds[i]) {
            row.buckets[i].fetch_add(1, std::memory_order_relaxed);
            break;
        }
}

std::string Metrics::print(std::span<const Route> routes) const {
    MetricsWriter requests, seconds;
    requests.family(MetricKind::counter, "http_requests_total", "API requests by route and status.");
    seconds.family(MetricKind::histogram, "http_request_seconds", "Duration of API requests.");
    for (size_t i = 0; i < m_count; ++i) {
        const PerRoute& row = m_routes[i];
        const std::string_view method = routes[i].method, route = routes[i].path;
        uint64_t all = 0;
        for (size_t status = 0; status < row.by_class.size(); ++status) {
            const uint64_t count = row.by_class[status].load(std::memory_order_relaxed);
            all += count;
            const std::string status_class = std::to_string(status) + "xx";
            if (count != 0) requests.sample({{"method", method}, {"route", route}, {"status", status_class}}, count);
        }
        if (all == 0) continue;
        const auto add_bucket = [&](std::string_view bound, uint64_t count) {
            seconds.sample({{"method", method}, {"route", route}, {"le", bound}}, count, "_bucket");
        };
        uint64_t below = 0;
        for (size_t b = 0; b < bounds.size(); ++b) {
            below += row.buckets[b].load(std::memory_order_relaxed);
            add_bucket(fmt::to_string(bounds[b]), below);
        }
        add_bucket("+Inf", all);
        const double sum = static_cast<double>(row.nanoseconds.load(std::memory_order_relaxed)) / 1e9;
        seconds.sample({{"method", method}, {"route", route}}, sum, "_sum");
        seconds.sample({{"method", method}, {"route", route}}, all, "_count");
    }
    return requests.text() + seconds.text();
}

} // namespace hone::api
