// The lists that people open first, in a project whose spans all started in the last three minutes: newest traces,
// newest spans, errors, one user, chat sessions. First with nothing else to do, then while spans arrive.
//   bench_lists [spans]     prints one JSON object
#include "bench/agent_spans.h"
#include "bench/machine_state.h"
#include "bench/merges.h"
#include "otlp/encode.h"
#include "telemetry/telemetry.h"
#include "telemetry/temporary_directory.h"

#include <algorithm>
#include <cstdio>
#include <functional>
#include <thread>

using namespace hone;
using namespace hone::telemetry;

namespace {

constexpr int64_t dense_ns = 180'000'000'000;
constexpr size_t request_spans = 1000;

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

bool send(Telemetry& telemetry, bench::AgentSpans& spans, int64_t start_ns, int64_t step_ns) {
    const otlp::Batch batch = spans.batch(request_spans, start_ns, step_ns, "bench");
    const std::string body = otlp::encode_batch(otlp::Encoding::protobuf, batch);
    return telemetry.ingest({body, "application/x-protobuf", "", "", "space"}).status == 200;
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
    SystemClock clock;
    TemporaryDirectory directory;
    AnyProject projects;
    TelemetryOptions options;
    options.directory = directory / "telemetry";
    auto opened = Telemetry::open(options, projects, clock);
    if (!opened.ok()) return 1;
    Telemetry& telemetry = *opened.value();
    auto ready = telemetry.store();
    if (!ready.ok()) {
        std::fprintf(stderr, "cannot start the engine: %s\n", ready.error().message.c_str());
        return 1;
    }
    bench::AgentSpans spans(42);
    const int64_t step = dense_ns / static_cast<int64_t>(wanted);
    const int64_t begin = to_ns(clock.now()) - dense_ns;
    for (size_t done = 0; done < wanted; done += request_spans)
        if (!send(telemetry, spans, begin + static_cast<int64_t>(done) * step, step)) return 1;
    if (!telemetry.loader().wait_loaded(telemetry.log_stats().next_sequence, std::chrono::minutes(10))) return 1;
    if (!bench::wait_for_merges(telemetry, 300)) return 1;
    const std::string quiet = measure(*ready.value());
    std::string loaded;
    {
        std::jthread sender([&](std::stop_token stop) { // about 4,000 spans a second
            while (!stop.stop_requested()) {
                if (!send(telemetry, spans, to_ns(clock.now()), 250'000)) return;
                std::this_thread::sleep_for(std::chrono::milliseconds(200));
            }
        });
        std::this_thread::sleep_for(std::chrono::seconds(3));
        loaded = measure(*ready.value());
    }
    std::printf("{\"spans\":%zu,\"quiet\":%s,\n \"while_spans_arrive\":%s,\n \"machine\":%s}\n", wanted, quiet.c_str(),
                loaded.c_str(), json::print(state.report()).c_str());
    return 0;
}
