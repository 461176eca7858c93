// The questions people ask, timed on the engine with many spans in it.
//   bench_query [spans [directory]]   prints one JSON object; loads the spans first
// With a directory the spans stay there, and the next run measures them without loading them again.
#include "base/text.h"
#include "bench/machine_state.h"
#include "bench/merges.h"
#include "bench/span_generator.h"
#include "otlp/decode.h"
#include "telemetry/span/binary.h"
#include "telemetry/span/normalise.h"
#include "telemetry/span/span_row.h"
#include "telemetry/telemetry.h"
#include "telemetry/temporary_directory.h"

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <functional>
#include <future>
#include <map>
#include <optional>
#include <thread>

using namespace hone;
using namespace hone::telemetry;

namespace {

class AnyProject final : public ProjectDirectory {
public:
    Result<ProjectRef> resolve(std::string_view, std::string_view name) override {
        return ProjectRef{"project_" + std::string(name), 0, nullptr, 1.0, {}, {}, {}};
    }
};

// What the questions need to know of the spans that are there.
struct Loaded {
    int64_t begin_ns = 0;
    std::string trace, project;
    double spans_per_second = 0;
};

struct Rows {
    std::string spans, times;
    size_t count = 0;
    std::string trace, project; // one of them
};

Rows make_rows(bench::SpanGenerator& generator, const Prices& prices, int64_t start_ns, int64_t step_ns) {
    otlp::Batch batch = generator.batch(20'000, start_ns, step_ns, 20);
    Rows rows;
    rows.count = batch.spans.size();
    std::map<std::pair<std::string, std::string>, std::pair<int64_t, int64_t>> times;
    for (const otlp::Span& raw : batch.spans) {
        const Span span = normalise(batch, raw, prices);
        const std::string project = "project_" + std::string(project_name(*span.resource));
        append_span_row(rows.spans, span, project, start_ns);
        auto& range =
            times.try_emplace({project, std::string(span.trace_id)}, span.start_ns, span.start_ns).first->second;
        range.second = span.start_ns;
        if (project == "project_service-0") rows.trace = span.trace_id, rows.project = project;
    }
    for (const auto& [key, range] : times) {
        put_text(rows.times, key.first);
        rows.times += key.second;
        put_number(rows.times, range.first);
        put_number(rows.times, range.second);
    }
    return rows;
}

// Straight into the engine, as the loader does, without the log; the next rows are made meanwhile.
bool load(Telemetry& telemetry, size_t spans, int64_t step_ns, Loaded& loaded) {
    bench::SpanGenerator generator(7);
    const Prices prices = Prices::built_in();
    int64_t start_ns = loaded.begin_ns;
    const auto make = [&] { return make_rows(generator, prices, start_ns, step_ns); };
    std::future<Rows> next = std::async(std::launch::async, make);
    for (size_t done = 0; done < spans;) {
        const Rows rows = next.get();
        if (done == 0) loaded.trace = rows.trace, loaded.project = rows.project;
        done += rows.count;
        start_ns += static_cast<int64_t>(rows.count) * step_ns;
        if (done < spans) next = std::async(std::launch::async, make);
        if (!telemetry.engine().insert("hone.trace_times", rows.times, std::chrono::minutes(5)).ok()) return false;
        if (!telemetry.engine().insert("hone.spans", rows.spans, std::chrono::minutes(5)).ok()) return false;
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

// Spans of a directory that was loaded before.
std::optional<Loaded> loaded_before(const std::string& directory) {
    std::ifstream file(directory + "/bench.loaded");
    Loaded loaded;
    if (!(file >> loaded.begin_ns >> loaded.trace >> loaded.project >> loaded.spans_per_second)) return {};
    return loaded;
}

// Days of the past become one part after an hour (schema.cpp); here at once.
bool merge_all(Telemetry& telemetry) {
    const auto days = telemetry.engine().query(
        ClickHouseQuery("SELECT DISTINCT partition FROM system.parts WHERE database = 'hone' AND table = 'spans' AND "
                        "active AND partition < (SELECT max(partition) FROM system.parts WHERE database = 'hone' AND "
                        "table = 'spans' AND active) ORDER BY partition FORMAT TSV"));
    if (!days.ok()) return false;
    for (const std::string_view day : split(days.value(), '\n')) {
        if (day.empty()) continue;
        ClickHouseQuery merge("OPTIMIZE TABLE hone.spans PARTITION " + std::string(day) + " FINAL");
        merge.deadline = std::chrono::hours(1);
        merge.set("optimize_skip_merged_partitions", "1");
        if (!telemetry.engine().query(merge).ok()) return false;
    }
    return bench::wait_for_merges(telemetry, 3600);
}

int64_t resident_mb(const std::string& process) {
    std::ifstream file("/proc/" + process + "/status");
    for (std::string line; std::getline(file, line);)
        if (line.starts_with("VmRSS:")) return std::atoll(line.c_str() + 6) / 1024;
    return 0;
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
    const bench::MachineState state;
    const size_t spans = argc > 1 ? static_cast<size_t>(std::atoll(argv[1])) : 500'000;
    const int64_t day = 86'400'000'000'000;
    SystemClock clock;
    const TemporaryDirectory temporary;
    const std::string directory = argc > 2 ? argv[2] : temporary.path();
    AnyProject projects;
    TelemetryOptions options;
    options.directory = directory;
    auto opened = Telemetry::open(options, projects, clock);
    if (!opened.ok()) return 1;
    auto ready = opened.value()->store();
    if (!ready.ok()) {
        std::fprintf(stderr, "cannot start the engine: %s\n", ready.error().message.c_str());
        return 1;
    }
    SpanStore& store = *ready.value();
    auto before = loaded_before(directory);
    Loaded loaded = before.value_or(Loaded{to_ns(clock.now()) - 7 * day, {}, {}, 0});
    const int64_t begin = loaded.begin_ns, end = begin + 7 * day;
    if (!before) {
        const auto loading = std::chrono::steady_clock::now();
        if (!load(*opened.value(), spans, 7 * day / static_cast<int64_t>(spans), loaded)) return 1;
        loaded.spans_per_second = static_cast<double>(spans) /
                                  std::chrono::duration<double>(std::chrono::steady_clock::now() - loading).count();
        if (!load_big_trace(*opened.value(), loaded.project, begin)) return 1;
        std::ofstream(directory + "/bench.loaded")
            << begin << ' ' << loaded.trace << ' ' << loaded.project << ' ' << loaded.spans_per_second << '\n';
    }
    if (!merge_all(*opened.value())) return 1;
    const std::string &trace = loaded.trace, &project = loaded.project;
    const std::string engine = std::to_string(opened.value()->engine_process()->pid());
    const int64_t idle_mb = resident_mb(engine);

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
        return store.series({all, {Metric::cost}, std::chrono::hours(24), "model", 20, "", ""}).ok();
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
    std::printf(
        "{\"spans\":%zu,\"load_spans_per_second\":%.0f,\"trace_by_id_ms\":%.1f,\"latest_50_filtered_ms\":%.1f,"
        "\"percentiles_24h_per_5min_ms\":%.1f,"
        "\"cost_by_model_and_day_ms\":%.1f,\"rare_phrase_one_project_ms\":%.1f,\"skeleton_%zu_spans_ms\":%.1f,"
        "\"latest_50_traces_24h_ms\":%.1f,\"engine_rss_mb_before\":%lld,\"engine_rss_mb\":%lld,\"machine\":%s}\n",
        spans, loaded.spans_per_second, by_id, latest, percentiles, cost, search, skeleton_spans, skeleton, traces,
        static_cast<long long>(idle_mb), static_cast<long long>(resident_mb(engine)),
        json::print(state.report()).c_str());
    return 0;
}
