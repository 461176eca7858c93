// The queries of people, with many agent spans of a week in the store: lists, traces by id, search, charts, facets.
//   bench_query [spans [directory]]   prints one JSON object; loads the spans first
// With a directory the spans stay there, and the next run measures them without loading them again. The spans come
// through the loader, so that lists use what a server knows in memory. Four projects; queries are of the largest, with
// 40 %.
#include "base/text.h"
#include "bench/load.h"
#include "bench/machine_state.h"
#include "bench/merges.h"
#include "telemetry/temporary_directory.h"

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <memory>
#include <optional>

using namespace hone;
using namespace hone::telemetry;

namespace {

constexpr int64_t day_ns = 86'400'000'000'000;
constexpr size_t spans_per_request = bench::AgentRequests::spans;
constexpr std::string_view project = "project_shop-0";
constexpr std::string_view rare_text = "zebulon quokka incident";
constexpr size_t big_trace_spans = 50'000;

std::string big_trace_id() {
    std::string hex;
    for (int i = 0; i < 16; ++i) hex += "77";
    return hex;
}

// Of each ten requests four are of the first project, and one is of the last.
size_t project_of(size_t request) {
    static constexpr size_t projects[] = {0, 1, 0, 2, 0, 1, 3, 0, 2, 1};
    return projects[request % std::size(projects)];
}

bool load_week(Telemetry& telemetry, size_t spans, int64_t begin_ns) {
    std::vector<std::unique_ptr<bench::AgentRequests>> senders; // they cannot be moved
    for (uint64_t i = 0; i < 4; ++i)
        senders.push_back(
            std::make_unique<bench::AgentRequests>(30, "shop-" + std::to_string(i), i * uint64_t{1'000'000'000}));
    const size_t requests = (spans + spans_per_request - 1) / spans_per_request;
    const int64_t step = 7 * day_ns / static_cast<int64_t>(requests);
    return bench::load(telemetry, requests, [&](size_t number) {
        return senders[project_of(number)]->next(begin_ns + static_cast<int64_t>(number) * step);
    });
}

// One trace of 50,000 spans on the first day; one of its texts is nowhere else.
bool load_big_trace(Telemetry& telemetry, int64_t begin_ns) {
    constexpr size_t piece = 1000;
    bench::AgentSpans agents(9);
    const std::string trace(16, '\x77');
    std::string root;
    return bench::load(telemetry, 1, [&](size_t) {
        std::string last;
        for (size_t sent = 0; sent < big_trace_spans; sent += piece) {
            otlp::Batch batch = agents.batch(piece, begin_ns + static_cast<int64_t>(sent) * 1'000'000, 1'000'000,
                                             project.substr(project.find('_') + 1));
            if (sent == 0) root = batch.spans[0].span_id;
            for (otlp::Span& span : batch.spans) {
                span.trace_id = trace;
                if (span.parent_span_id.empty() && span.span_id != root) span.parent_span_id = root;
            }
            for (auto& [key, value] : batch.spans[2].attributes)
                if (sent == 0 && key == "output.value") value = {rare_text};
            last = otlp::encode_batch(otlp::Encoding::protobuf, batch);
            if (sent + piece < big_trace_spans && !bench::send(telemetry, last)) return std::string("failed");
        }
        return last;
    });
}

// Days of the past become one part after an hour (schema.cpp); here immediately.
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

// Begin of the week and load rate of a directory that was loaded before.
struct Loaded {
    int64_t begin_ns = 0;
    double spans_per_second = 0;
};
std::optional<Loaded> loaded_before(const std::string& directory) {
    std::ifstream file(directory + "/bench.loaded");
    Loaded loaded;
    if (!(file >> loaded.begin_ns >> loaded.spans_per_second)) return {};
    return loaded;
}

int64_t resident_mb(const std::string& process) {
    std::ifstream file("/proc/" + process + "/status");
    for (std::string line; std::getline(file, line);)
        if (line.starts_with("VmRSS:")) return std::atoll(line.c_str() + 6) / 1024;
    return 0;
}

double stored_bytes(Telemetry& telemetry) {
    const auto bytes =
        telemetry.engine().query(ClickHouseQuery("SELECT sum(bytes_on_disk) FROM system.parts WHERE active AND "
                                                 "database = 'hone' FORMAT TSV"));
    return bytes.ok() ? std::atof(bytes.value().c_str()) : 0;
}

class Queries {
public:
    Queries(SpanStore& store, int64_t begin_ns) : m_store(store), m_begin(begin_ns), m_end(begin_ns + 7 * day_ns) {}

    // Empty: one of them failed.
    std::string measure() {
        lists();
        traces();
        search();
        charts();
        return m_failed ? "" : m_report;
    }

private:
    Scope scope(std::string filter, int64_t from_ns = 0) const {
        return {std::string(project), from_ns, m_end + day_ns, std::move(filter), std::chrono::minutes(5), nullptr};
    }

    void add(std::string_view name, const std::function<bool()>& query) {
        const double ms = bench::median_ms(query);
        if (ms < 0) {
            std::fprintf(stderr, "%s: the query failed, or found something else\n", std::string(name).c_str());
            m_failed = true;
        }
        char text[100];
        std::snprintf(text, sizeof text, "%s\"%s\":%.1f", m_report.empty() ? "" : ",", std::string(name).c_str(), ms);
        m_report += text;
    }

    void add_spans(std::string_view name, const std::string& filter, size_t expected) {
        add(name, [&] {
            const auto page = m_store.list_spans({scope(filter), {}, {}, {}, 50, false, ""});
            return page.ok() && page.value().spans.size() == expected;
        });
    }

    void add_series(std::string_view name, const Series& series) {
        add(name, [&] {
            const auto points = m_store.series(series);
            return points.ok() && !points.value().empty();
        });
    }

    void lists() {
        add("newest_50_traces", [&] {
            const auto page = m_store.list_traces({scope(""), {}, 50, ""});
            return page.ok() && page.value().traces.size() == 50;
        });
        add_spans("newest_50_spans", "", 50);
        add_spans("newest_50_errors", "status = error", 50);
        add_spans("newest_50_errors_of_a_model", "status = error and model = \"gpt-4.1\"", 50);
        add_spans("newest_50_of_a_user", "user = \"user-7\"", 50);
        add("newest_50_chat_sessions", [&] {
            const auto page = m_store.list_sessions(scope(""), 50, "");
            return page.ok() && page.value().sessions.size() == 50;
        });
    }

    void traces() {
        Scope middle = scope("");
        middle.to_ns = m_begin + 3 * day_ns;
        const auto page = m_store.list_traces({middle, {}, 1, ""});
        const std::string trace = page.ok() && !page.value().traces.empty() ? page.value().traces[0].trace_id : "";
        add_skeleton("trace_by_id", trace, 10);
        add_skeleton("skeleton_of_50000", big_trace_id(), big_trace_spans);
    }

    void add_skeleton(std::string_view name, const std::string& trace, size_t expected) {
        add(name, [&] {
            const auto found = m_store.trace_skeleton(std::string(project), trace);
            return found.ok() && found.value().spans.size() == expected;
        });
    }

    void search() {
        add_spans("rare_phrase", "output ~ \"" + std::string(rare_text) + "\"", 1);
        add_spans("phrase_that_is_nowhere", "output ~ \"incident quokka zebulon\"", 0);
        bench::AgentSpans agents(42);
        const std::string text = agents.text(100);
        const std::string word(text.substr(0, text.find(' ')));
        add_spans("newest_50_with_a_word", "output ~ \"" + word + "\"", 50);
    }

    void charts() {
        const Scope week = scope("", m_begin), last_day = scope("", m_end - day_ns);
        const std::vector<Metric> percentiles{Metric::latency_p50, Metric::latency_p95, Metric::latency_p99};
        add_series("percentiles_of_a_day", {last_day, percentiles, std::chrono::minutes(5), "", 20, "", ""});
        add_series("count_and_errors_of_a_week",
                   {week, {Metric::count, Metric::errors}, std::chrono::hours(1), "", 20, "", ""});
        add_series("cost_by_model_of_a_week", {week, {Metric::cost}, std::chrono::hours(24), "model", 20, "", ""});
        for (const std::string field : {"name", "model", "user"})
            add("facet_" + field + "_of_a_week", [&] {
                const auto values = m_store.facet(week, field, 20);
                return values.ok() && !values.value().empty();
            });
        add("attribute_keys_of_a_day", [&] {
            const auto keys = m_store.attribute_keys(last_day, 50);
            return keys.ok() && !keys.value().empty();
        });
    }

    SpanStore& m_store;
    int64_t m_begin, m_end;
    std::string m_report;
    bool m_failed = false;
};

} // namespace

int main(int argc, char** argv) {
    const bench::MachineState state;
    const size_t spans = argc > 1 ? static_cast<size_t>(std::atoll(argv[1])) : 500'000;
    SystemClock clock;
    const TemporaryDirectory temporary;
    const std::string directory = argc > 2 ? argv[2] : temporary.path();
    auto loaded = loaded_before(directory);
    constexpr size_t peak_bytes = 2500; // of a span, before its parts are merged
    std::error_code failed;
    const auto space = std::filesystem::space(directory, failed);
    if (!loaded && !failed && space.available < spans * peak_bytes) {
        std::fprintf(stderr, "%zu spans need %zu GB in %s, which has %zu GB: set TMPDIR\n", spans,
                     spans * peak_bytes >> 30, directory.c_str(), static_cast<size_t>(space.available >> 30));
        return 1;
    }
    bench::AnyProject projects;
    TelemetryOptions options;
    options.directory = directory;
    auto opened = Telemetry::open(options, projects, clock);
    if (!opened.ok()) return 1;
    Telemetry& telemetry = *opened.value();
    auto store = telemetry.store();
    if (!store.ok()) {
        std::fprintf(stderr, "cannot start the engine: %s\n", store.error().message.c_str());
        return 1;
    }
    if (!loaded) {
        loaded = Loaded{to_ns(clock.now()) - 7 * day_ns, 0};
        const auto begin = std::chrono::steady_clock::now();
        if (!load_week(telemetry, spans, loaded->begin_ns)) return 1;
        loaded->spans_per_second = static_cast<double>(spans) /
                                   std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
        if (!load_big_trace(telemetry, loaded->begin_ns)) return 1;
        std::ofstream(directory + "/bench.loaded") << loaded->begin_ns << ' ' << loaded->spans_per_second << '\n';
    }
    if (!merge_all(telemetry) || !bench::finish_upgrade(telemetry)) return 1;
    const std::string engine = std::to_string(telemetry.engine_process()->pid());
    const auto idle_mb = resident_mb(engine);
    const std::string report = Queries(*store.value(), loaded->begin_ns).measure();
    if (report.empty()) return 1;
    std::printf("{\"spans\":%zu,\"load_spans_per_second\":%.0f,\"disk_bytes_per_span\":%.0f,\"median_ms\":{%s},"
                "\"engine_rss_mb_before\":%lld,\"engine_rss_mb\":%lld,\"machine\":%s}\n",
                spans, loaded->spans_per_second, stored_bytes(telemetry) / static_cast<double>(spans + big_trace_spans),
                report.c_str(), static_cast<long long>(idle_mb), static_cast<long long>(resident_mb(engine)),
                json::print(state.report()).c_str());
    return 0;
}
