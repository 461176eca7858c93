// Counters of the API for /metrics: requests and time per route and status class. Lock-free, any thread.
#pragma once

#include "api/core/route.h"

#include <array>
#include <atomic>
#include <memory>
#include <string>

namespace hone::api {

class Metrics {
public:
    explicit Metrics(size_t route_count) : m_routes(std::make_unique<PerRoute[]>(route_count)), m_count(route_count) {}

    void count(size_t route, int status, Duration took);
    // Prometheus' text format; routes without requests are left out.
    std::string print(std::span<const Route> routes) const;

private:
    static constexpr std::array<double, 8> bounds{0.001, 0.005, 0.025, 0.1, 0.5, 2.5, 10, 60};
    struct PerRoute {
        std::array<std::atomic<uint64_t>, 6> by_class{}; // [4] is 4xx
        std::array<std::atomic<uint64_t>, bounds.size()> buckets{};
        std::atomic<uint64_t> nanoseconds{0};
    };

    std::unique_ptr<PerRoute[]> m_routes;
    const size_t m_count;
};

} // namespace hone::api
