// The questions people ask, timed on the engine with many spans in it.
//   bench_query [spans]           prints one JSON object; loads the spans first (about 20,000 a second)
#include "bench/span_generator.h"
#include "otlp/decode.h"
#include "telemetry/binary.h"
#include "telemetry/normalise.h"
#include "telemetry/span_row.h"
#include "telemetry/telemetry.h"
#include "telemetry/temporary_directory.h"

#include <algorithm>
#include <cstdio>
#include <functional>
#include <map>

using namespace hone;
using namespace hone::telemetry;

namespace {

class AnyProject final : public ProjectDirectory {
public:
    Result<ProjectRef> resolve(std::string_view, std::string_view name) override {
        return ProjectRef{"project_" + std::string(name), 0, nullptr, 1.0, {}, {}, {}};
    }
};

// Straight into the engine, as the loader does, without the log.
bool load(Telemetry& telemetry, size_t spans, int64_t start_ns, int64_t step_ns, std::string& some_trace,
          std::string& some_project) {
    bench::SpanGenerator generator(7);
    const Prices prices = Prices::built_in();
    size_t done = 0;
    while (done < spans) {
        otlp::Batch batch = generator.batch(20'000, start_ns, step_ns, 20);
        start_ns += static_cast<int64_t>(batch.spans.size()) * step_ns;
        std::string rows;
        std::map<std::pair<std::string, std::string>, std::pair<int64_t, int64_t>> times;
        for (const otlp::Span& raw : batch.spans) {
            const Span span = normalise(batch, raw, prices);
            const std::string project = "project_" + std::string(project_name(*span.resource));
            append_span_row(rows, span, project, start_ns);
            auto& range =
                times.try_emplace({project, std::string(span.trace_id)}, span.start_ns, span.start_ns).first->second;
            range.second = span.start_ns;
            if (done == 0 && project == "project_service-0") some_trace = span.trace_id, some_project = project;
        }
        std::string time_rows;
        for (const auto& [key, range] : times) {
            put_text(time_rows, key.first);
            time_rows += key.second;
            put_number(time_rows, range.first);
            put_number(time_rows, range.second);
        }
        if (!telemetry.engine().insert("hone.trace_times", time_rows, std::chrono::minutes(5)).ok()) return false;
        if (!telemetry.engine().insert("hone.spans", rows, std::chrono::minutes(5)).ok()) return false;
        done += batch.spans.size();
    }
    return true;
}

// One trace of 50,000 spans.
bool load_big_trace(Telemetry& telemetry, const std::string& project, int64_t start_ns) {
    bench::SpanGenerator generator(9);
    otlp::Batch batch = generator.batch(50'000, start_ns, 1'000'000, 1);
    const Prices prices = Prices::built_in();
    std::string rows, time_rows;
    const std::string trace(16, '\x77');
    for (otlp::Span& raw : batch.spans) raw.trace_id = trace;
    for (const otlp::Span& raw : batch.spans) append_span_row(rows, normalise(batch, raw, prices), project, start_ns);
    put_text(time_rows, project);
    for (int i = 0; i < 16; ++i) time_rows += "77";
    put_number(time_rows, start_ns);
    put_number(time_rows, start_ns + 60'000'000'000'000);
    return telemetry.engine().insert("hone.trace_times", time_rows, std::chrono::minutes(5)).ok() &&
           telemetry.engine().insert("hone.spans", rows, std::chrono::minutes(5)).ok();
}

double median_ms(const std::function<bool()>& question, int times = 15) {
    std::vector<double> taken;
    for (int i = 0; i < times; ++i) {
        const auto begin = std::chrono::steady_clock::now();
        if (!question()) return -1;
        taken.push_back(std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin).count());
    }
    std::sort(taken.begin(), taken.end());
    return taken[taken.size() / 2];
}

} // namespace

int main(int argc, char** argv) {
    const size_t spans = argc > 1 ? static_cast<size_t>(std::atoll(argv[1])) : 500'000;
    const int64_t day = 86'400'000'000'000;
    SystemClock clock;
    TemporaryDirectory directory;
    AnyProject projects;
    TelemetryOptions options;
    options.directory = directory.path();
    auto opened = Telemetry::open(options, projects, clock);
    if (!opened.ok()) return 1;
    auto ready = opened.value()->store();
    if (!ready.ok()) {
        std::fprintf(stderr, "cannot start the engine: %s\n", ready.error().message.c_str());
        return 1;
    }
    SpanStore& store = *ready.value();
    const int64_t end = to_ns(clock.now()), begin = end - 7 * day;
    std::string trace, project;
    const auto loading = std::chrono::steady_clock::now();
    if (!load(*opened.value(), spans, begin, 7 * day / static_cast<int64_t>(spans), trace, project)) return 1;
    const double load_seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - loading).count();
    if (!load_big_trace(*opened.value(), project, begin)) return 1;

    Scope all{project, begin, end, "", std::chrono::seconds(60), nullptr};
    Scope last_day{project, end - day, end, "", std::chrono::seconds(60), nullptr};
    Scope errors{project, begin, end, "status = error and model = \"gpt-4o\"", std::chrono::seconds(60), nullptr};
    Scope phrase{project, begin, end, "output ~ \"zebulon quokka incident\"", std::chrono::seconds(60), nullptr};
    const double by_id = median_ms([&] { return store.trace_skeleton(project, trace).ok(); }, 50);
    const double latest = median_ms([&] { return store.list_spans({errors, {}, {}, {}, 50, false, ""}).ok(); });
    const double percentiles = median_ms([&] {
        return store
            .series({last_day,
                     {Metric::latency_p50, Metric::latency_p95, Metric::latency_p99},
                     std::chrono::minutes(5),
                     "",
                     20,
                     "",
                     ""})
            .ok();
    });
    const double cost = median_ms([&] {
        return store.series({all, {Metric::cost, Metric::tokens}, std::chrono::hours(24), "model", 20, "", ""}).ok();
    });
    const double search = median_ms([&] { return store.list_spans({phrase, {}, {}, {}, 50, false, ""}).ok(); });
    std::string big;
    for (int i = 0; i < 16; ++i) big += "77";
    size_t skeleton_spans = 0;
    const double skeleton = median_ms(
        [&] {
            auto found = store.trace_skeleton(project, big);
            skeleton_spans = found.ok() ? found.value().spans.size() : 0;
            return found.ok();
        },
        7);
    const double traces = median_ms([&] { return store.list_traces({last_day, {}, 50, ""}).ok(); });
    std::printf("{\"spans\":%zu,\"load_spans_per_second\":%.0f,\"trace_by_id_ms\":%.1f,\"latest_50_filtered_ms\":%.1f,"
                "\"percentiles_24h_per_5min_ms\":%.1f,"
                "\"cost_by_model_and_day_ms\":%.1f,\"rare_phrase_one_project_ms\":%.1f,\"skeleton_%zu_spans_ms\":%.1f,"
                "\"latest_50_traces_24h_ms\":%.1f}\n",
                spans, static_cast<double>(spans) / load_seconds, by_id, latest, percentiles, cost, search,
                skeleton_spans, skeleton, traces);
    return 0;
}
