#include "api/metrics.h"

#include <fmt/format.h>

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
    std::string requests =
        "# HELP hone_http_requests_total API requests answered.\n# TYPE hone_http_requests_total counter\n";
    std::string seconds =
        "# HELP hone_http_request_seconds Time to answer API requests.\n# TYPE hone_http_request_seconds histogram\n";
    for (size_t i = 0; i < m_count; ++i) {
        const PerRoute& row = m_routes[i];
        const std::string labels = fmt::format("method=\"{}\",route=\"{}\"", routes[i].method, routes[i].path);
        uint64_t all = 0;
        for (size_t status = 0; status < row.by_class.size(); ++status) {
            const uint64_t count = row.by_class[status].load(std::memory_order_relaxed);
            all += count;
            if (count != 0)
                requests += fmt::format("hone_http_requests_total{{{},status=\"{}xx\"}} {}\n", labels, status, count);
        }
        if (all == 0) continue;
        uint64_t below = 0;
        for (size_t b = 0; b < bounds.size(); ++b) {
            below += row.buckets[b].load(std::memory_order_relaxed);
            seconds += fmt::format("hone_http_request_seconds_bucket{{{},le=\"{}\"}} {}\n", labels, bounds[b], below);
        }
        seconds += fmt::format("hone_http_request_seconds_bucket{{{},le=\"+Inf\"}} {}\n", labels, all);
        seconds += fmt::format("hone_http_request_seconds_sum{{{}}} {}\n", labels,
                               static_cast<double>(row.nanoseconds.load(std::memory_order_relaxed)) / 1e9);
        seconds += fmt::format("hone_http_request_seconds_count{{{}}} {}\n", labels, all);
    }
    return requests + seconds;
}

} // namespace hone::api
