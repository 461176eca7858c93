// Durable ingest of spans of about 3.4 KB from 8 clients, in one process with the load generator, beside three
// baselines of the same run: decoding only, the engine's own bulk insert of the same rows, sequential write and sync.
//   bench_ingest [spans]          prints one JSON object
#include "bench/machine_state.h"
#include "bench/span_generator.h"
#include "otlp/decode.h"
#include "telemetry/span/normalise.h"
#include "telemetry/span/span_row.h"
#include "telemetry/telemetry.h"
#include "telemetry/temporary_directory.h"

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <deque>
#include <fcntl.h>
#include <fstream>
#include <optional>
#include <sys/resource.h>
#include <thread>
#include <unistd.h>

using namespace hone;
using namespace hone::telemetry;
using Moment = std::chrono::steady_clock::time_point;

namespace {

class AnyProject final : public ProjectDirectory {
public:
    Result<ProjectRef> resolve(std::string_view, std::string_view name) override {
        return ProjectRef{"project_" + std::string(name), 0, nullptr, 1.0, {}, {}, {}};
    }
};

double seconds_since(Moment begin) {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

double own_cpu() {
    rusage usage{};
    getrusage(RUSAGE_SELF, &usage);
    return static_cast<double>(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
           static_cast<double>(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e6;
}

double process_cpu(int pid) {
    std::ifstream file("/proc/" + std::to_string(pid) + "/stat");
    std::string text((std::istreambuf_iterator<char>(file)), {});
    text.erase(0, text.rfind(')') + 2);
    long user = 0, system = 0;
    std::sscanf(text.c_str(), "%*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %ld %ld", &user, &system);
    return static_cast<double>(user + system) / static_cast<double>(sysconf(_SC_CLK_TCK));
}

int64_t resident_mb(const std::string& process) {
    std::ifstream file("/proc/" + process + "/status");
    for (std::string line; std::getline(file, line);)
        if (line.starts_with("VmRSS:")) return std::atoll(line.c_str() + 6) / 1024;
    return 0;
}

struct Load {
    std::vector<std::string> requests;
    size_t spans = 0;
    size_t bytes = 0;
};

Load make_load(size_t spans, int64_t start_ns, uint64_t seed = 42) {
    bench::SpanGenerator generator(seed);
    Load load;
    while (load.spans < spans) {
        const otlp::Batch batch = generator.batch(256, start_ns, 1'000'000, 20);
        start_ns += 256'000'000;
        load.spans += batch.spans.size();
        load.requests.push_back(otlp::encode_batch(otlp::Encoding::protobuf, batch));
        load.bytes += load.requests.back().size();
    }
    return load;
}

// A day earlier than the spans that are sent: a loader that runs for a while knows the spans of its own time, and so
// does the one measured here.
void append_rows(const std::string& body, const Prices& prices, std::string& rows) {
    constexpr uint64_t day_ns = 86'400'000'000'000;
    auto batch = otlp::decode_protobuf(body);
    for (otlp::Span& span : batch.value().spans) span.start_ns -= day_ns, span.end_ns -= day_ns;
    for (const otlp::Span& span : batch.value().spans)
        append_span_row(rows, normalise(batch.value(), span, prices), "project_raw", 1);
}

// Decode, normalise and encode, on one thread.
double decode_all(const Load& load, const Prices& prices) {
    std::string rows;
    const Moment begin = std::chrono::steady_clock::now();
    for (const std::string& body : load.requests) {
        rows.clear();
        append_rows(body, prices, rows);
    }
    return seconds_since(begin);
}

double write_and_sync(const std::string& path, const Load& load) {
    const Fd file(::open(path.c_str(), O_CREAT | O_WRONLY | O_TRUNC, 0600));
    const Moment begin = std::chrono::steady_clock::now();
    for (const std::string& body : load.requests) {
        if (!write_all(file.get(), body).ok()) std::abort();
        if (::fdatasync(file.get()) != 0) std::abort();
    }
    return seconds_since(begin);
}

double percentile(std::vector<double>& values, double share) {
    std::sort(values.begin(), values.end());
    return values.empty()
               ? 0
               : values[std::min(values.size() - 1, static_cast<size_t>(static_cast<double>(values.size()) * share))];
}

// What senders and readers meet at a rate that can be kept up.
struct Steady {
    double spans_per_second = 0;
    std::vector<double> ack_ms, visible_seconds; // visible: from the acknowledgement until the spans can be queried
};

// Ten seconds of one sender.
std::optional<Steady> at_rate(Telemetry& telemetry, double spans_per_second, int64_t start_ns, uint64_t seed) {
    const Load load = make_load(static_cast<size_t>(spans_per_second * 10), start_ns, seed);
    const double pause = static_cast<double>(load.spans) / static_cast<double>(load.requests.size()) / spans_per_second;
    Steady steady;
    std::vector<double>& delays = steady.visible_seconds;
    std::deque<std::pair<uint64_t, Moment>> waiting;
    const auto count_visible = [&] {
        const uint64_t loaded = telemetry.loader().next_sequence();
        for (; !waiting.empty() && waiting.front().first <= loaded; waiting.pop_front())
            delays.push_back(seconds_since(waiting.front().second));
    };
    const Moment begin = std::chrono::steady_clock::now();
    for (size_t i = 0; i < load.requests.size(); ++i) {
        do {
            count_visible();
            std::this_thread::sleep_for(std::chrono::milliseconds(1));
        } while (seconds_since(begin) < pause * static_cast<double>(i));
        const Moment sent = std::chrono::steady_clock::now();
        if (telemetry.ingest({load.requests[i], "application/x-protobuf", "", "", "space"}).status != 200) return {};
        steady.ack_ms.push_back(seconds_since(sent) * 1e3);
        waiting.emplace_back(telemetry.log_stats().next_sequence, std::chrono::steady_clock::now());
    }
    steady.spans_per_second = static_cast<double>(load.spans) / seconds_since(begin); // what became of it
    for (const Moment sent = std::chrono::steady_clock::now(); !waiting.empty() && seconds_since(sent) < 60;) {
        count_visible();
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    if (!waiting.empty()) return {};
    return steady;
}

std::string to_json(Steady& steady) {
    char text[300];
    std::snprintf(text, sizeof text,
                  "{\"spans_per_second\":%.0f,\"visible_seconds_p50\":%.2f,\"visible_seconds_p99\":%.2f,"
                  "\"visible_seconds_max\":%.2f,\"ack_ms_p50\":%.1f,\"ack_ms_p99\":%.1f,\"ack_ms_max\":%.1f}",
                  steady.spans_per_second, percentile(steady.visible_seconds, 0.5),
                  percentile(steady.visible_seconds, 0.99), percentile(steady.visible_seconds, 1.0),
                  percentile(steady.ack_ms, 0.5), percentile(steady.ack_ms, 0.99), percentile(steady.ack_ms, 1.0));
    return text;
}

} // namespace

int main(int argc, char** argv) {
    const bench::MachineState state;
    const size_t wanted = argc > 1 ? static_cast<size_t>(std::atoll(argv[1])) : 100'000;
    SystemClock clock;
    TemporaryDirectory directory;
    AnyProject projects;
    const Load load = make_load(wanted, to_ns(clock.now()) - 3'600'000'000'000);
    const Prices prices = Prices::built_in();
    const double decode_seconds = decode_all(load, prices);
    const double write_seconds = write_and_sync(directory / "plain", load);

    TelemetryOptions options;
    options.directory = directory / "telemetry";
    auto opened = Telemetry::open(options, projects, clock);
    if (!opened.ok() || !opened.value()->store().ok()) {
        std::fprintf(stderr, "cannot start: %s\n", opened.ok() ? "engine" : opened.error().message.c_str());
        return 1;
    }
    Telemetry& telemetry = *opened.value();
    const int engine_pid = telemetry.engine_process()->pid();
    const int64_t idle_engine_mb = resident_mb(std::to_string(engine_pid));

    // The engine alone: the same rows, in blocks of about 20,000; making the rows is not counted.
    double raw_seconds = 0;
    const double raw_engine_cpu = process_cpu(engine_pid);
    const size_t requests_per_block = std::max<size_t>(1, 20'000 * load.requests.size() / load.spans);
    for (size_t from = 0; from < load.requests.size(); from += requests_per_block) {
        std::string block;
        for (size_t i = from; i < std::min(from + requests_per_block, load.requests.size()); ++i)
            append_rows(load.requests[i], prices, block);
        const Moment raw_begin = std::chrono::steady_clock::now();
        if (!telemetry.engine().insert("hone.spans", block, std::chrono::minutes(5)).ok()) return 1;
        raw_seconds += seconds_since(raw_begin);
    }
    const double raw_cpu = process_cpu(engine_pid) - raw_engine_cpu;

    const double cpu_begin = own_cpu(), engine_cpu_begin = process_cpu(engine_pid);
    std::atomic<size_t> next = 0, failures = 0;
    std::vector<std::vector<double>> latencies(8);
    const Moment begin = std::chrono::steady_clock::now();
    {
        std::vector<std::jthread> clients;
        for (size_t c = 0; c < 8; ++c)
            clients.emplace_back([&, c] {
                for (size_t i = 0; (i = next++) < load.requests.size();) {
                    const Moment sent = std::chrono::steady_clock::now();
                    const auto answer = telemetry.ingest({load.requests[i], "application/x-protobuf", "", "", "space"});
                    if (answer.status != 200) ++failures;
                    latencies[c].push_back(seconds_since(sent) * 1e3);
                }
            });
    }
    const double ack_seconds = seconds_since(begin);
    if (!telemetry.loader().wait_loaded(telemetry.log_stats().next_sequence, std::chrono::minutes(10))) return 1;
    const double loaded_seconds = seconds_since(begin);
    const double cpu = own_cpu() - cpu_begin, engine_cpu = process_cpu(engine_pid) - engine_cpu_begin;
    std::vector<double> all;
    for (const auto& list : latencies) all.insert(all.end(), list.begin(), list.end());
    ClickHouseQuery disk("SELECT toString(sum(bytes_on_disk) / sum(rows)) FROM system.parts WHERE database = 'hone' "
                         "AND table = 'spans' AND active FORMAT TSV");
    const auto bytes_per_span = telemetry.engine().query(disk);
    const double n = static_cast<double>(load.spans);
    const int64_t busy_engine_mb = resident_mb(std::to_string(engine_pid)), busy_server_mb = resident_mb("self");
    std::string steady; // at shares of what was loaded while 8 clients sent as fast as they could
    for (const double share : {0.25, 0.5, 0.75}) {
        auto measured = at_rate(telemetry, share * n / loaded_seconds, to_ns(clock.now()), 43 + steady.size());
        if (!measured) return 1;
        steady += (steady.empty() ? "" : ",\n  ") + to_json(*measured);
    }
    std::printf(
        "{\"spans\":%zu,\"bytes_per_span_sent\":%.0f,\"failures\":%zu,\n"
        " \"spans_per_second_acknowledged\":%.0f,\"spans_per_second_loaded\":%.0f,\"cpu_us_per_span_server\":%.1f,"
        "\"cpu_us_per_span_engine\":%.1f,\n"
        " \"ack_ms_p50\":%.1f,\"ack_ms_p99\":%.1f,\"ack_ms_max\":%.1f,\"disk_bytes_per_span\":%.0f,\n"
        " \"baseline_decode_spans_per_second\":%.0f,\"baseline_engine_spans_per_second\":%.0f,\"baseline_engine_cpu_us_"
        "per_span\":%.1f,"
        "\"baseline_write_sync_spans_per_second\":%.0f,\n"
        " \"all_visible_seconds_after_last_ack\":%.1f,\"steady\":[%s],\n"
        " \"ratio_to_engine\":%.2f,\"engine_rss_mb_idle\":%lld,\"engine_rss_mb\":%lld,\"server_rss_mb\":%lld,\n "
        "\"machine\":%s}\n",
        load.spans, static_cast<double>(load.bytes) / n, failures.load(), n / ack_seconds, n / loaded_seconds,
        cpu / n * 1e6, engine_cpu / n * 1e6, percentile(all, 0.5), percentile(all, 0.99), percentile(all, 1.0),
        bytes_per_span.ok() ? std::atof(bytes_per_span.value().c_str()) : 0, n / decode_seconds, n / raw_seconds,
        raw_cpu / n * 1e6, n / write_seconds, loaded_seconds - ack_seconds, steady.c_str(),
        raw_seconds / loaded_seconds, static_cast<long long>(idle_engine_mb), static_cast<long long>(busy_engine_mb),
        static_cast<long long>(busy_server_mb), json::print(state.report()).c_str());
    return failures == 0 ? 0 : 1;
}
