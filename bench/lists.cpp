// The lists that people open first, in a project whose spans all started lately: in the last three minutes, or as long
// as 20,000 a second take. Newest traces, newest spans, errors, one user, chat sessions; first with nothing else to do,
// then while spans arrive.
//   bench_lists [spans [arriving spans a second]]     prints one JSON object
#include "bench/load.h"
#include "bench/machine_state.h"
#include "bench/merges.h"
#include "telemetry/temporary_directory.h"

#include <algorithm>
#include <cstdio>
#include <thread>

using namespace hone;
using namespace hone::telemetry;

namespace {

constexpr int64_t least_ns = 180'000'000'000, least_step_ns = 50'000;

std::string measure(SpanStore& store) {
    const auto scope = [](std::string filter) {
        return Scope{"project_bench", 0, INT64_MAX, std::move(filter), std::chrono::seconds(60), nullptr};
    };
    const auto spans = [&](const std::string& filter) {
        return bench::median_ms([&] {
            auto page = store.list_spans({scope(filter), {}, {}, {}, 50, false, ""});
            return page.ok() && page.value().spans.size() == 50;
        });
    };
    const double traces = bench::median_ms([&] {
        auto page = store.list_traces({scope(""), {}, 50, ""});
        return page.ok() && page.value().traces.size() == 50;
    });
    const double sessions = bench::median_ms([&] {
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
    bench::AnyProject projects;
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
    if (!bench::load(telemetry, bodies,
                     [&](size_t body) { return requests.next(begin + static_cast<int64_t>(body) * step); }))
        return 1;
    const double load_seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - load_begin).count();
    if (!bench::finish_upgrade(telemetry)) return 1;
    if (!bench::wait_for_merges(telemetry, 900)) return 1;
    const std::string quiet = measure(*ready.value());
    std::string loaded;
    {
        std::jthread sender([&](std::stop_token stop) {
            const auto pause = std::chrono::nanoseconds(1'000'000'000 * bench::AgentRequests::spans / arriving);
            for (auto due = std::chrono::steady_clock::now(); !stop.stop_requested(); due += pause) {
                std::this_thread::sleep_until(due);
                if (!bench::send(telemetry, requests.next(to_ns(clock.now())))) return;
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
