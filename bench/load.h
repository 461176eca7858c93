// Requests of agent traces through the whole path into a store, the loader included, so that a store knows in memory
// what that of a server knows. For benchmarks of queries.
#pragma once

#include "bench/agent_requests.h"
#include "telemetry/telemetry.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <functional>
#include <string>
#include <thread>
#include <vector>

namespace hone::bench {

class AnyProject final : public telemetry::ProjectDirectory {
public:
    Result<telemetry::ProjectRef> resolve(std::string_view, std::string_view name) override {
        return telemetry::ProjectRef{"project_" + std::string(name), 0, nullptr, 1.0, {}, {}, {}};
    }
};

inline bool send(telemetry::Telemetry& telemetry, std::string_view body) {
    for (;;) {
        const int status = telemetry.ingest({body, "application/x-protobuf", "", "", "space"}).status;
        if (status == 200 || status != 429) return status == 200;
        std::this_thread::sleep_for(std::chrono::milliseconds(100)); // the log is full: the engine has to catch up
    }
}

// Sends the requests 0 to `count` - 1 from four threads, and waits until all of them can be queried.
inline bool load(telemetry::Telemetry& telemetry, size_t count, const std::function<std::string(size_t)>& request) {
    std::atomic<size_t> next = 0, failures = 0;
    {
        std::vector<std::jthread> threads;
        for (size_t i = 0; i < 4; ++i)
            threads.emplace_back([&] {
                for (size_t number = 0; (number = next++) < count && failures == 0;)
                    if (!send(telemetry, request(number))) ++failures;
            });
    }
    return failures == 0 &&
           telemetry.loader().wait_loaded(telemetry.log_stats().next_sequence, std::chrono::minutes(60));
}

// What a server does in the background before its lists are quick: also after it opened a store of an earlier process.
inline bool finish_upgrade(telemetry::Telemetry& telemetry) {
    auto more = telemetry.upgrade().step();
    while (more.ok() && more.value()) more = telemetry.upgrade().step();
    return more.ok();
}

// Of up to `times` calls; of fewer, but three, when they take long. Below zero: one of them failed.
inline double median_ms(const std::function<bool()>& query, size_t times = 11) {
    std::vector<double> taken;
    const auto start = std::chrono::steady_clock::now();
    while (taken.size() < times &&
           (taken.size() < 3 || std::chrono::steady_clock::now() - start < std::chrono::seconds(5))) {
        const auto begin = std::chrono::steady_clock::now();
        if (!query()) return -1;
        taken.push_back(std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin).count());
    }
    std::sort(taken.begin(), taken.end());
    return taken[taken.size() / 2];
}

} // namespace hone::bench
