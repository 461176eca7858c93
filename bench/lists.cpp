// The lists that people open first, in a project whose spans all started lately: in the last three minutes, or as long
// as 20,000 a second take. Newest traces, newest spans, errors, one user, chat sessions; first with nothing else to do,
// then while spans arrive.
//   bench_lists [spans [arriving spans a second]]     prints one JSON object
#include "bench/agent_requests.h"
#include "bench/machine_state.h"
#include "bench/merges.h"
#include "otlp/encode.h"
#include "telemetry/telemetry.h"
#include "telemetry/temporary_directory.h"

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <functional>
#include <thread>

using namespace hone;
using namespace hone::telemetry;

namespace {

constexpr int64_t least_ns = 180'000'000'000, least_step_ns = 50'000;
constexpr size_t senders = 4;

class AnyProject final : public ProjectDirectory {
public:
    Result<ProjectRef> resolve(std::string_view, std::string_view name) override {
        return ProjectRef{"project_" + std::string(name), 0, nullptr, 1.0, {}, {}, {}};
    }
};

double median_ms(const std::function<bool()>& question, int times = 11) {
    std::vector<double> taken;
    for (int i = 0; i < times; ++i) {
        const auto begin = std::chrono::steady_clock::now();
        if (!question()) return -1;
        taken.push_back(std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin).count());
    }
    std::sort(taken.begin(), taken.end());
    return taken[taken.size() / 2];
}

bool send(Telemetry& telemetry, bench::AgentRequests& requests, int64_t start_ns) {
    const std::string body = requests.next(start_ns);
    for (;;) {
        const int status = telemetry.ingest({body, "application/x-protobuf", "", "", "space"}).status;
        if (status == 200 || status != 429) return status == 200;
        std::this_thread::sleep_for(std::chrono::milliseconds(100)); // the log is full: the engine has to catch up
    }
}

std::string measure(SpanStore& store) {
    const auto scope = [](std::string filter) {
        return Scope{"project_bench", 0, INT64_MAX, std::move(filter), std::chrono::seconds(60), nullptr};
    };
    const auto spans = [&](const std::string& filter) {
        return median_ms([&] {
            auto page = store.list_spans({scope(filter), {}, {}, {}, 50, false, ""});
            return page.ok() && page.value().spans.size() == 50;
        });
    };
    const double traces = median_ms([&] {
        auto page = store.list_traces({scope(""), {}, 50, ""});
        return page.ok() && page.value().traces.size() == 50;
    });
    const double sessions = median_ms([&] {
        auto page = store.list_sessions(scope(""), 50, "");
        return page.ok() && page.value().sessions.size() == 50;
    });
    char text[300];
    std::snprintf(text, sizeof text,
                  "{\"newest_50_traces_ms\":%.1f,\"newest_50_spans_ms\":%.1f,\"errors_ms\":%.1f,\"one_user_ms\":%.1f,"
                  "\"chat_sessions_ms\":%.1f}",
                  traces, spans(""), spans("status = error"), spans("user = \"user-7\""), sessions);
    return text;
}

} // namespace

int main(int argc, char** argv) {
    const bench::MachineState state;
    const size_t wanted = argc > 1 ? static_cast<size_t>(std::atoll(argv[1])) : 300'000;
    const size_t arriving = argc > 2 ? static_cast<size_t>(std::atoll(argv[2])) : 12'500;
    SystemClock clock;
    TemporaryDirectory directory;
    AnyProject projects;
    TelemetryOptions options;
    options.directory = directory / "telemetry";
    auto opened = Telemetry::open(options, projects, clock);
    if (!opened.ok()) return 1;
    Telemetry& telemetry = *opened.value();
    const auto load_begin = std::chrono::steady_clock::now();
    auto ready = telemetry.store();
    if (!ready.ok()) {
        std::fprintf(stderr, "cannot start the engine: %s\n", ready.error().message.c_str());
        return 1;
    }
    bench::AgentRequests requests(60, "bench");
    const size_t bodies = (wanted + bench::AgentRequests::spans - 1) / bench::AgentRequests::spans;
    const int64_t step = std::max(least_step_ns, least_ns / static_cast<int64_t>(wanted)) *
                         static_cast<int64_t>(bench::AgentRequests::spans);
    const int64_t begin = to_ns(clock.now()) - step * static_cast<int64_t>(bodies);
    std::atomic<size_t> next = 0, failures = 0;
    {
        std::vector<std::jthread> threads;
        for (size_t i = 0; i < senders; ++i)
            threads.emplace_back([&] {
                for (size_t body = 0; (body = next++) < bodies && failures == 0;)
                    if (!send(telemetry, requests, begin + static_cast<int64_t>(body) * step)) ++failures;
            });
    }
    if (failures > 0) return 1;
    if (!telemetry.loader().wait_loaded(telemetry.log_stats().next_sequence, std::chrono::minutes(30))) return 1;
    const double load_seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - load_begin).count();
    for (auto more = telemetry.upgrade().step(); !more.ok() || more.value(); more = telemetry.upgrade().step())
        if (!more.ok()) return 1;
    if (!bench::wait_for_merges(telemetry, 900)) return 1;
    const std::string quiet = measure(*ready.value());
    std::string loaded;
    {
        std::jthread sender([&](std::stop_token stop) {
            const auto pause = std::chrono::nanoseconds(1'000'000'000 * bench::AgentRequests::spans / arriving);
            for (auto due = std::chrono::steady_clock::now(); !stop.stop_requested(); due += pause) {
                std::this_thread::sleep_until(due);
                if (!send(telemetry, requests, to_ns(clock.now()))) return;
            }
        });
        std::this_thread::sleep_for(std::chrono::seconds(3));
        loaded = measure(*ready.value());
    }
    std::printf("{\"spans\":%zu,\"load_spans_per_second\":%.0f,\"quiet\":%s,\n \"arriving_per_second\":%zu,"
                "\"while_spans_arrive\":%s,\n \"machine\":%s}\n",
                wanted, static_cast<double>(wanted) / load_seconds, quiet.c_str(), arriving, loaded.c_str(),
                json::print(state.report()).c_str());
    return 0;
}
