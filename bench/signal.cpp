// Signal on a synthetic corpus: for each fault and several seeds, was it found (recall), and was what was found the
// fault (precision); findings on clean data, which are all false; and how long a scan takes when the window is large.
//   bench_signal [spans [seeds]]          prints one JSON object
#include "bench/merges.h"
#include "bench/signal_corpus.h"
#include "bench/span_generator.h"
#include "signal/detect/detectors.h"
#include "telemetry/temporary_directory.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <fstream>

using namespace hone;
using namespace hone::bench;

namespace {

class AnyProject final : public telemetry::ProjectDirectory {
public:
    Result<telemetry::ProjectRef> resolve(std::string_view, std::string_view name) override {
        return telemetry::ProjectRef{"project_" + std::string(name), 0, nullptr, 1.0, {}, {}, {}};
    }
};

template <class T>
T must(Result<T> result) {
    if (result.ok()) return std::move(result).value();
    std::fprintf(stderr, "%s (%s)\n", result.error().message.c_str(), result.error().trail.c_str());
    std::exit(1);
}

int64_t peak_mb(int pid) {
    std::ifstream file("/proc/" + std::to_string(pid) + "/status");
    for (std::string line; std::getline(file, line);)
        if (line.starts_with("VmHWM:")) return std::atoll(line.c_str() + 6) / 1024;
    return 0;
}

signal::Findings find_problems(telemetry::Telemetry& telemetry, const CorpusOptions& options,
                               const std::string& project) {
    const SystemClock clock;
    const signal::Window window{project, options.to_ns - (options.window_hours + options.baseline_hours) * hour_ns,
                                options.to_ns - options.window_hours * hour_ns, options.to_ns};
    return must(signal::run_detectors(telemetry.engine(), window, clock));
}

struct Row {
    std::string fault;
    int64_t runs = 0, hits = 0, findings = 0;
};

// Data without a fault that a detector might take for one.
struct Clean {
    const char* name;
    double season, growth;
};
constexpr Clean clean_kinds[] = {{"clean", 0, 1}, {"clean, by the hour", 0.6, 1}, {"clean, growing", 0.6, 1.3}};

// All that is found on clean data is wrong.
std::vector<Row> false_findings(telemetry::Telemetry& telemetry, int64_t now_ns, uint64_t seeds) {
    std::vector<Row> rows;
    for (const Clean& kind : clean_kinds) {
        Row row{kind.name};
        for (uint64_t seed = 1; seed <= seeds * 3; ++seed) {
            CorpusOptions options;
            options.seed = seed;
            options.to_ns = now_ns;
            options.season = kind.season;
            options.growth = kind.growth;
            const std::string project = fmt::format("clean{}-{}", &kind - clean_kinds, seed);
            must(load_corpus(telemetry, options, project, "project_" + project));
            const auto findings = find_problems(telemetry, options, "project_" + project);
            ++row.runs;
            row.findings += static_cast<int64_t>(findings.candidates.size());
            for (const auto& candidate : findings.candidates)
                std::fprintf(stderr, "%s, seed %llu: %s\n", kind.name, static_cast<unsigned long long>(seed),
                             candidate.title.c_str());
        }
        std::fprintf(stderr, "%-20s %lld findings in %lld runs\n", kind.name, static_cast<long long>(row.findings),
                     static_cast<long long>(row.runs));
        rows.push_back(row);
    }
    return rows;
}

std::vector<Row> accuracy(telemetry::Telemetry& telemetry, int64_t now_ns, uint64_t seeds) {
    std::vector<Detector> faults(std::begin(corpus_faults), std::end(corpus_faults));
    std::vector<Row> rows;
    for (const Detector fault : faults) {
        Row row{std::string(name_of(fault))};
        for (uint64_t seed = 1; seed <= seeds; ++seed) {
            CorpusOptions options;
            options.fault = fault;
            options.seed = seed;
            options.to_ns = now_ns;
            const std::string project = row.fault + std::to_string(seed);
            must(load_corpus(telemetry, options, project, "project_" + project));
            const auto findings = find_problems(telemetry, options, "project_" + project);
            ++row.runs;
            row.findings += static_cast<int64_t>(findings.candidates.size());
            row.hits += std::any_of(findings.candidates.begin(), findings.candidates.end(),
                                    [&](const auto& candidate) { return candidate.detector == fault; });
            for (const auto& candidate : findings.candidates)
                if (candidate.detector != fault)
                    std::fprintf(stderr, "%s, seed %llu: also %s\n", row.fault.c_str(),
                                 static_cast<unsigned long long>(seed), candidate.title.c_str());
        }
        std::fprintf(stderr, "%-20s found %lld of %lld, %lld findings\n", row.fault.c_str(),
                     static_cast<long long>(row.hits), static_cast<long long>(row.runs),
                     static_cast<long long>(row.findings));
        rows.push_back(row);
    }
    return rows;
}

} // namespace

int main(int argc, char** argv) {
    const size_t spans = argc > 1 ? static_cast<size_t>(std::atoll(argv[1])) : 1'000'000;
    const uint64_t seeds = argc > 2 ? static_cast<uint64_t>(std::atoll(argv[2])) : 3;
    const SystemClock clock;
    AnyProject projects;
    const telemetry::TemporaryDirectory directory;
    telemetry::TelemetryOptions options;
    options.directory = directory.path();
    const auto telemetry = must(telemetry::Telemetry::open(options, projects, clock));
    const int64_t now_ns = to_ns(clock.now());
    const auto rows = accuracy(*telemetry, now_ns, seeds);
    const auto clean = false_findings(*telemetry, now_ns, seeds);

    // Spans of 3.4 KB, all in the window, a tenth as many before it.
    SpanGenerator generator(7);
    CorpusOptions large;
    large.to_ns = now_ns;
    for (size_t made = 0; made < spans + spans / 10;) {
        const size_t count = std::min<size_t>(5000, spans + spans / 10 - made);
        const bool before = made < spans / 10;
        const int64_t start = now_ns - (before ? 60 : 23) * hour_ns;
        otlp::Batch batch = generator.batch(count, start + static_cast<int64_t>(made) * 60'000, 1000, 1);
        made += batch.spans.size();
        must(telemetry->ingester().take(batch, "space", "large"));
    }
    if (!telemetry->loader().wait_loaded(telemetry->log_stats().next_sequence, std::chrono::minutes(20))) return 1;
    const auto scan = [&](double& seconds) {
        const auto began = clock.steady();
        auto findings = find_problems(*telemetry, large, "project_large");
        seconds = std::chrono::duration<double>(clock.steady() - began).count();
        return findings;
    };
    double merging_seconds = 0, seconds = 0;
    scan(merging_seconds);
    if (!wait_for_merges(*telemetry, 600)) return 1;
    const auto findings = scan(seconds);

    json::Object table;
    for (const Row& row : rows)
        table[row.fault] = json::Object{
            {"recall", static_cast<double>(row.hits) / static_cast<double>(row.runs)},
            {"precision", row.findings > 0 ? static_cast<double>(row.hits) / static_cast<double>(row.findings) : 1.0}};
    json::Object quiet;
    for (const Row& row : clean) quiet[row.fault] = json::Object{{"runs", row.runs}, {"false_findings", row.findings}};
    json::Object detectors;
    for (const auto& cost : findings.costs) detectors[cost.name] = cost.took_ms;
    const int engine = telemetry->engine_process() != nullptr ? telemetry->engine_process()->pid() : 0;
    std::printf("%s\n", json::print(json::Object{{"corpus", std::move(table)},
                                                 {"clean_data", std::move(quiet)},
                                                 {"scan_spans", findings.spans},
                                                 {"scan_seconds", seconds},
                                                 {"scan_seconds_while_merging", merging_seconds},
                                                 {"scan_rows_read", findings.cost.rows_read},
                                                 {"scan_questions", findings.cost.questions},
                                                 {"scan_milliseconds_by_detector", std::move(detectors)},
                                                 {"engine_peak_mb", peak_mb(engine)}})
                            .c_str());
    return 0;
}
