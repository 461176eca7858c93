// The lists that people open first, in a project whose spans all started lately: in the last three minutes, or as long
// as 20,000 a second take. Newest traces, newest spans, errors, one user, chat sessions; first with nothing else to do,
// then while spans arrive.
//   bench_lists [spans [arriving spans a second [directory]]]     prints one JSON object
// With a directory the spans stay there, and the next run measures them without loading them again.
#include "bench/load.h"
#include "bench/machine_state.h"
#include "bench/merges.h"
#include "telemetry/temporary_directory.h"

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <thread>

using namespace hone;
using namespace hone::telemetry;

namespace {

constexpr int64_t least_ns = 180'000'000'000, least_step_ns = 50'000;

// Empty: one of them failed.
std::string measure(SpanStore& store) {
    const auto scope = [](std::string filter) {
        return Scope{"project_bench", 0, INT64_MAX, std::move(filter), std::chrono::seconds(60), nullptr};
    };
    std::string report;
    bool has_failed = false;
    const auto add = [&](const char* name, const std::function<Result<size_t>()>& rows) {
        const double ms = bench::median_ms([&] {
            const auto found = rows();
            if (found.ok() && found.value() == 50) return true;
            std::fprintf(stderr, "%s: %s\n", name,
                         found.ok() ? (std::to_string(found.value()) + " rows").c_str()
                                    : found.error().message.c_str());
            return false;
        });
        has_failed = has_failed || ms < 0;
        char text[100];
        std::snprintf(text, sizeof text, "%s\"%s\":%.1f", report.empty() ? "" : ",", name, ms);
        report += text;
    };
    const auto add_spans = [&](const char* name, const std::string& filter) {
        add(name, [&]() -> Result<size_t> {
            return TRY(store.list_spans({scope(filter), {}, {}, {}, 50, false, ""})).spans.size();
        });
    };
    add("newest_50_traces_ms", [&]() -> Result<size_t> {
        return TRY(store.list_traces({scope(""), {}, 50, ""})).traces.size();
    });
    add_spans("newest_50_spans_ms", "");
    add_spans("errors_ms", "status = error");
    const auto newest = store.list_traces({scope(""), {}, 50, ""}); // of a few hundred users that the texts have
    std::string user;
    for (const TraceRow& trace : newest.ok() ? newest.value().traces : std::vector<TraceRow>{})
        if (!trace.user_id.empty()) user = trace.user_id;
    add_spans("one_user_ms", "user = \"" + user + "\"");
    add("chat_sessions_ms",
        [&]() -> Result<size_t> { return TRY(store.list_sessions(scope(""), 50, "")).sessions.size(); });
    return has_failed ? "" : "{" + report + "}";
}

// So that the requests of each run with the same directory have other ids than those that are there.
uint64_t first_of_now(const SystemClock& clock) {
    return 1'000'000'000 + static_cast<uint64_t>(to_ns(clock.now()) / 1'000'000'000) % 1'000'000 * 1000;
}

} // namespace

int main(int argc, char** argv) {
    const bench::MachineState state;
    const size_t wanted = argc > 1 ? static_cast<size_t>(std::atoll(argv[1])) : 300'000;
    const size_t arriving = argc > 2 ? static_cast<size_t>(std::atoll(argv[2])) : 12'500;
    SystemClock clock;
    const TemporaryDirectory temporary;
    const std::filesystem::path directory = argc > 3 ? argv[3] : temporary.path();
    const std::filesystem::path mark = directory / "bench.loaded";
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
    double load_seconds = 0;
    const bool is_loaded = static_cast<bool>(std::ifstream(mark) >> load_seconds);
    bench::AgentRequests requests(60, "bench", is_loaded ? first_of_now(clock) : 0);
    const size_t bodies = (wanted + bench::AgentRequests::spans - 1) / bench::AgentRequests::spans;
    const int64_t step = std::max(least_step_ns, least_ns / static_cast<int64_t>(wanted)) *
                         static_cast<int64_t>(bench::AgentRequests::spans);
    const int64_t begin = to_ns(clock.now()) - step * static_cast<int64_t>(bodies);
    if (!is_loaded) {
        if (!bench::load(telemetry, bodies,
                         [&](size_t body) { return requests.next(begin + static_cast<int64_t>(body) * step); }))
            return 1;
        load_seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - load_begin).count();
        std::ofstream(mark) << load_seconds << '\n';
    }
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
    if (quiet.empty() || loaded.empty()) return 1;
    std::printf("{\"spans\":%zu,\"load_spans_per_second\":%.0f,\"quiet\":%s,\n \"arriving_per_second\":%zu,"
                "\"while_spans_arrive\":%s,\n \"machine\":%s}\n",
                wanted, static_cast<double>(wanted) / load_seconds, quiet.c_str(), arriving, loaded.c_str(),
                json::print(state.report()).c_str());
    return 0;
}
