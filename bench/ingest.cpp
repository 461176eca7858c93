// Durable ingest of spans of about 3.6 KB from 8 clients, in one process with the load generator, beside baselines of
// the same run: decoding only, the engine's own bulk insert of the same rows, sequential write and sync, and a copy in
// memory. CPU by stage, disk at its peak and after merges, latency of 1 and 64 clients.
//   bench_ingest [spans [real|repetitive [quick]]]     prints one JSON object; quick: only the full speed
#include "bench/agent_spans.h"
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
#include <filesystem>
#include <fstream>
#include <map>
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

// Seconds of each thread of a process, by the thread's name.
std::map<std::string, double> thread_cpu(const std::string& process) {
    std::map<std::string, double> seconds;
    std::error_code failed;
    for (const auto& task : std::filesystem::directory_iterator("/proc/" + process + "/task", failed)) {
        std::ifstream file(task.path() / "stat");
        std::string text((std::istreambuf_iterator<char>(file)), {});
        const size_t open = text.find('('), close = text.rfind(')');
        if (open == std::string::npos || close == std::string::npos) continue;
        long user = 0, system = 0;
        std::sscanf(text.c_str() + close + 2, "%*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %ld %ld", &user, &system);
        seconds[text.substr(open + 1, close - open - 1)] +=
            static_cast<double>(user + system) / static_cast<double>(sysconf(_SC_CLK_TCK));
    }
    return seconds;
}

double cpu_of(const std::map<std::string, double>& threads, std::string_view name) {
    double sum = 0;
    for (const auto& [thread, seconds] : threads) sum += thread.starts_with(name) ? seconds : 0;
    return sum;
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

bool is_repetitive = false;

Load make_load(size_t spans, int64_t start_ns, uint64_t seed = 42) {
    bench::SpanGenerator repetitive(seed);
    bench::AgentSpans agents(seed);
    Load load;
    while (load.spans < spans) {
        const otlp::Batch batch = is_repetitive ? repetitive.batch(256, start_ns, 1'000'000, 20)
                                                : agents.batch(100, start_ns, 1'000'000, "bench");
        start_ns += static_cast<int64_t>(batch.spans.size()) * 1'000'000;
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

// On one thread: decoding alone, then with normalising and writing the row.
double decode_all(const Load& load) {
    const Moment begin = std::chrono::steady_clock::now();
    size_t spans = 0;
    for (const std::string& body : load.requests) spans += otlp::decode_protobuf(body).value().spans.size();
    return spans == load.spans ? seconds_since(begin) : 0;
}

double decode_and_normalise_all(const Load& load, const Prices& prices) {
    std::string rows;
    const Moment begin = std::chrono::steady_clock::now();
    for (const std::string& body : load.requests) {
        rows.clear();
        append_rows(body, prices, rows);
    }
    return seconds_since(begin);
}

double copy_all(const Load& load) {
    std::vector<char> copy(load.bytes);
    std::fill(copy.begin(), copy.end(), '\1'); // its pages are there
    const Moment begin = std::chrono::steady_clock::now();
    size_t at = 0;
    for (const std::string& body : load.requests) at += body.copy(copy.data() + at, body.size());
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

struct Sent {
    double seconds = 0; // until the last acknowledgement
    size_t failures = 0;
    std::vector<double> ack_ms;
};

// Each client sends its next request when the one before is acknowledged.
Sent send_all(Telemetry& telemetry, const Load& load, size_t clients) {
    std::atomic<size_t> next = 0, failures = 0;
    std::vector<std::vector<double>> latencies(clients);
    const Moment begin = std::chrono::steady_clock::now();
    {
        std::vector<std::jthread> threads;
        for (size_t c = 0; c < clients; ++c)
            threads.emplace_back([&, c] {
                for (size_t i = 0; (i = next++) < load.requests.size();) {
                    const Moment sent = std::chrono::steady_clock::now();
                    const auto answer = telemetry.ingest({load.requests[i], "application/x-protobuf", "", "", "space"});
                    if (answer.status != 200) ++failures;
                    latencies[c].push_back(seconds_since(sent) * 1e3);
                }
            });
    }
    Sent sent{seconds_since(begin), failures, {}};
    for (const auto& list : latencies) sent.ack_ms.insert(sent.ack_ms.end(), list.begin(), list.end());
    return sent;
}

std::string latency_json(Sent& sent, double spans) {
    char text[200];
    std::snprintf(text, sizeof text,
                  "{\"spans_per_second\":%.0f,\"ack_ms_p50\":%.1f,\"ack_ms_p99\":%.1f,\"ack_ms_max\":%.1f}",
                  spans / sent.seconds, percentile(sent.ack_ms, 0.5), percentile(sent.ack_ms, 0.99),
                  percentile(sent.ack_ms, 1.0));
    return text;
}

double ask_number(Telemetry& telemetry, const std::string& sql) {
    const auto text = telemetry.engine().query(ClickHouseQuery(sql + " FORMAT TSV"));
    return text.ok() ? std::atof(text.value().c_str()) : 0;
}

double bytes_of_parts(Telemetry& telemetry, std::string_view which) {
    return ask_number(telemetry, "SELECT sum(bytes_on_disk) FROM system.parts WHERE database = 'hone' AND table = "
                                 "'spans'" +
                                     std::string(which));
}

// The most that all parts took together, old ones included, while it lives.
class DiskPeak {
public:
    explicit DiskPeak(Telemetry& telemetry)
        : m_thread([this, &telemetry](std::stop_token stop) {
              while (!stop.stop_requested()) {
                  m_bytes = std::max(m_bytes.load(), bytes_of_parts(telemetry, ""));
                  std::this_thread::sleep_for(std::chrono::milliseconds(500));
              }
          }) {}
    double bytes() const { return m_bytes; }

private:
    std::atomic<double> m_bytes = 0;
    std::jthread m_thread; // last
};

void wait_for_quiet(Telemetry& telemetry) {
    for (int quiet = 0, waited = 0; quiet < 4 && waited < 600; ++waited) {
        std::this_thread::sleep_for(std::chrono::milliseconds(500));
        quiet = ask_number(telemetry, "SELECT count() FROM system.merges") == 0 ? quiet + 1 : 0;
    }
}

} // namespace

int main(int argc, char** argv) {
    const bench::MachineState state;
    const size_t wanted = argc > 1 ? static_cast<size_t>(std::atoll(argv[1])) : 200'000;
    is_repetitive = argc > 2 && std::string_view(argv[2]) == "repetitive";
    const bool is_quick = argc > 3 && std::string_view(argv[3]) == "quick";
    SystemClock clock;
    TemporaryDirectory directory;
    AnyProject projects;
    const Load load = make_load(wanted, to_ns(clock.now()) - 3'600'000'000'000);
    const double n = static_cast<double>(load.spans);
    const Prices prices = Prices::built_in();
    const double decode_seconds = decode_all(load);
    const double both_seconds = decode_and_normalise_all(load, prices);
    const double write_seconds = write_and_sync(directory / "plain", load), copy_seconds = copy_all(load);

    TelemetryOptions options;
    options.directory = directory / "telemetry";
    auto opened = Telemetry::open(options, projects, clock);
    if (!opened.ok() || !opened.value()->store().ok()) {
        std::fprintf(stderr, "cannot start: %s\n", opened.ok() ? "engine" : opened.error().message.c_str());
        return 1;
    }
    Telemetry& telemetry = *opened.value();
    const int engine_pid = telemetry.engine_process()->pid();
    const std::string engine_name = std::to_string(engine_pid);
    const int64_t idle_engine_mb = resident_mb(engine_name);

    // The engine alone: the same rows, in blocks of about 20,000; making the rows is not counted.
    double raw_seconds = 0, raw_cpu = 0;
    if (!is_quick) {
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
        raw_cpu = process_cpu(engine_pid) - raw_engine_cpu;
        wait_for_quiet(telemetry);
        const double day = ask_number(telemetry, "SELECT min(toInt64(partition)) FROM system.parts WHERE database = "
                                                 "'hone' AND table = 'spans' AND active");
        ClickHouseQuery drop("ALTER TABLE hone.spans DROP PARTITION " + std::to_string(static_cast<int64_t>(day)));
        if (!telemetry.engine().query(drop).ok()) return 1;
    }

    const double cpu_begin = own_cpu(), engine_cpu_begin = process_cpu(engine_pid);
    const auto own_threads = thread_cpu("self"), engine_threads = thread_cpu(engine_name);
    std::optional<DiskPeak> peak(telemetry);
    const Moment begin = std::chrono::steady_clock::now();
    Sent sent = send_all(telemetry, load, 8);
    if (!telemetry.loader().wait_loaded(telemetry.log_stats().next_sequence, std::chrono::minutes(10))) return 1;
    const double loaded_seconds = seconds_since(begin);
    const double cpu = own_cpu() - cpu_begin, engine_cpu = process_cpu(engine_pid) - engine_cpu_begin;
    const auto own_after = thread_cpu("self"), engine_after = thread_cpu(engine_name);
    const double merging = cpu_of(engine_after, "MergeMutate") - cpu_of(engine_threads, "MergeMutate");
    const double logging = cpu_of(own_after, "span-log") - cpu_of(own_threads, "span-log");
    const double loading = cpu_of(own_after, "span-loader") - cpu_of(own_threads, "span-loader");
    const double parts = ask_number(telemetry, "SELECT count() FROM system.parts WHERE database = 'hone' AND table = "
                                               "'spans' AND active");
    const int64_t busy_engine_mb = resident_mb(engine_name), busy_server_mb = resident_mb("self");
    wait_for_quiet(telemetry);
    const double peak_bytes = peak->bytes();
    peak.reset();
    const double settled_cpu = process_cpu(engine_pid) - engine_cpu_begin;
    const double bytes = bytes_of_parts(telemetry, " AND active");

    std::string connections, steady; // steady: at shares of what was loaded while 8 clients sent as fast as they could
    if (!is_quick) {
        for (const auto& [clients, spans] : {std::pair<size_t, size_t>{1, 30'000}, {64, 150'000}}) {
            const Load more = make_load(spans, to_ns(clock.now()), 1000 + clients);
            Sent each = send_all(telemetry, more, clients);
            if (each.failures > 0) return 1;
            connections += (connections.empty() ? "\"" : ",\"") + std::to_string(clients) +
                           "\":" + latency_json(each, static_cast<double>(more.spans));
            if (!telemetry.loader().wait_loaded(telemetry.log_stats().next_sequence, std::chrono::minutes(10)))
                return 1;
        }
        for (const double share : {0.25, 0.5, 0.75}) {
            auto measured = at_rate(telemetry, share * n / loaded_seconds, to_ns(clock.now()), 43 + steady.size());
            if (!measured) return 1;
            steady += (steady.empty() ? "" : ",\n  ") + to_json(*measured);
        }
    }
    std::printf(
        "{\"spans\":%zu,\"text\":\"%s\",\"bytes_per_span_sent\":%.0f,\"failures\":%zu,\n"
        " \"spans_per_second_acknowledged\":%.0f,\"spans_per_second_loaded\":%.0f,\"cpu_us_per_span_server\":%.1f,"
        "\"cpu_us_per_span_engine\":%.1f,\"cpu_us_per_span_engine_after_merges\":%.1f,\n"
        " \"stages_cpu_us_per_span\":{\"decode\":%.1f,\"normalise\":%.1f,\"log\":%.1f,\"load\":%.1f,\"insert\":%.1f,"
        "\"merge\":%.1f,\"merge_after\":%.1f},\n"
        " \"ack_ms_p50\":%.1f,\"ack_ms_p99\":%.1f,\"ack_ms_max\":%.1f,\"connections\":{%s},\n"
        " \"disk_bytes_per_span\":%.0f,\"disk_bytes_per_span_peak\":%.0f,\"parts_when_loaded\":%.0f,\n"
        " \"baseline_decode_spans_per_second\":%.0f,\"baseline_engine_spans_per_second\":%.0f,\"baseline_engine_cpu_us_"
        "per_span\":%.1f,\"baseline_write_sync_spans_per_second\":%.0f,\"baseline_copy_spans_per_second\":%.0f,\n"
        " \"all_visible_seconds_after_last_ack\":%.1f,\"steady\":[%s],\n"
        " \"ratio_to_engine\":%.2f,\"engine_rss_mb_idle\":%lld,\"engine_rss_mb\":%lld,\"server_rss_mb\":%lld,\n "
        "\"machine\":%s}\n",
        load.spans, is_repetitive ? "repetitive" : "real", static_cast<double>(load.bytes) / n, sent.failures,
        n / sent.seconds, n / loaded_seconds, cpu / n * 1e6, engine_cpu / n * 1e6, settled_cpu / n * 1e6,
        decode_seconds / n * 1e6, (both_seconds - decode_seconds) / n * 1e6, logging / n * 1e6, loading / n * 1e6,
        (engine_cpu - merging) / n * 1e6, merging / n * 1e6, (settled_cpu - engine_cpu) / n * 1e6,
        percentile(sent.ack_ms, 0.5), percentile(sent.ack_ms, 0.99), percentile(sent.ack_ms, 1.0), connections.c_str(),
        bytes / n, peak_bytes / n, parts, n / both_seconds, is_quick ? 0.0 : n / raw_seconds, raw_cpu / n * 1e6,
        n / write_seconds, n / copy_seconds, loaded_seconds - sent.seconds, steady.c_str(),
        raw_seconds / loaded_seconds, static_cast<long long>(idle_engine_mb), static_cast<long long>(busy_engine_mb),
        static_cast<long long>(busy_server_mb), json::print(state.report()).c_str());
    return sent.failures == 0 ? 0 : 1;
}
