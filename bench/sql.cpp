// What the SQL guard adds to a query: the queries of tests/corpus/sql over spans of one project.
//   bench_sql CORPUS [spans [rounds]]   prints one JSON object
// "check" is everything before the query itself runs, "run" the whole of it; "bare" is the query alone, as the reader.
#include "base/file.h"
#include "base/text.h"
#include "bench/machine_state.h"
#include "bench/span_generator.h"
#include "otlp/decode.h"
#include "telemetry/guard/sql_guard.h"
#include "telemetry/span/normalise.h"
#include "telemetry/span/span_row.h"
#include "telemetry/telemetry.h"
#include "telemetry/temporary_directory.h"

#include <algorithm>
#include <cstdio>

using namespace hone;
using namespace hone::telemetry;

namespace {

class OneProject final : public ProjectDirectory {
public:
    Result<ProjectRef> resolve(std::string_view, std::string_view) override {
        return ProjectRef{"project_bench", 0, nullptr, 1.0, {}, {}, {}};
    }
};

bool load_spans(Telemetry& telemetry, size_t wanted, int64_t now_ns) {
    bench::SpanGenerator generator(7);
    const Prices prices = Prices::built_in();
    for (size_t done = 0; done < wanted;) {
        otlp::Batch batch = generator.batch(20'000, now_ns - 3'600'000'000'000, 1'000'000, 1);
        std::string rows;
        for (const otlp::Span& raw : batch.spans)
            append_span_row(rows, normalise(batch, raw, prices), "project_bench", now_ns);
        if (!telemetry.engine().insert("hone.spans", std::move(rows), std::chrono::seconds(60)).ok()) return false;
        done += batch.spans.size();
    }
    return true;
}

std::vector<std::string> queries_in(const std::string& text) {
    std::vector<std::string> found;
    for (size_t begin = text.find("\n\n"); begin != std::string::npos;) {
        const size_t end = text.find("\n\n", begin + 2);
        found.push_back(text.substr(begin + 2, end == std::string::npos ? end : end - begin - 2));
        begin = end;
    }
    return found;
}

struct Times {
    std::vector<double> ms;
    template <class Action>
    bool take(Action action) {
        const auto begin = std::chrono::steady_clock::now();
        const bool done = action();
        ms.push_back(std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin).count());
        return done;
    }
    double at(double share) {
        std::sort(ms.begin(), ms.end());
        return ms[std::min(ms.size() - 1, static_cast<size_t>(share * static_cast<double>(ms.size())))];
    }
};

} // namespace

int main(int argc, char** argv) {
    if (argc < 2) return 2;
    const bench::MachineState state;
    const auto corpus = read_file(argv[1], 1 << 20);
    const size_t spans = argc > 2 ? static_cast<size_t>(std::atoll(argv[2])) : 100'000;
    const int rounds = argc > 3 ? std::atoi(argv[3]) : 3;
    TemporaryDirectory directory;
    OneProject projects;
    SystemClock clock;
    TelemetryOptions options;
    options.directory = directory.path();
    auto opened = Telemetry::open(options, projects, clock);
    if (!corpus.ok() || !opened.ok() || !opened.value()->store().ok()) return 1;
    Telemetry& telemetry = *opened.value();
    if (!load_spans(telemetry, spans, to_ns(clock.now()))) return 1;
    SqlGuard guard(telemetry.engine());
    Times check, run, bare;
    int failed = 0, queries = 0;
    for (int round = 0; round <= rounds; ++round) {
        for (const std::string& sql : queries_in(corpus.value())) {
            SqlRequest request;
            request.project = "project_bench";
            request.sql = sql;
            request.deadline = std::chrono::seconds(60);
            if (round == 0) { // warms up, and takes out what 100,000 spans are too many for
                failed += guard.run(request).ok() ? 0 : 1;
                continue;
            }
            ++queries;
            Result<CheckedSql> checked = internal("not run");
            check.take([&] { return (checked = guard.check(request)).ok(); });
            if (!checked.ok()) continue;
            ClickHouseQuery query(checked.value().text);
            query.as_reader = true;
            query.database = checked.value().database;
            query.set("default_format", "JSON").set("max_memory_usage", "536870912").set("max_threads", "2");
            query.deadline = std::chrono::seconds(60);
            bare.take([&] { return telemetry.engine().query(query).ok(); });
            run.take([&] { return guard.run(request).ok(); });
        }
    }
    std::printf("{\"spans\":%zu,\"queries\":%d,\"failed\":%d,\"check_ms_p50\":%.2f,\"check_ms_p99\":%.2f,"
                "\"bare_ms_p50\":%.2f,\"bare_ms_p99\":%.2f,\"run_ms_p50\":%.2f,\"run_ms_p99\":%.2f,\"machine\":%s}\n",
                spans, queries, failed, check.at(0.5), check.at(0.99), bare.at(0.5), bare.at(0.99), run.at(0.5),
                run.at(0.99), json::print(state.report()).c_str());
    return 0;
}
