// Sends what this server does over OTLP/HTTP to the address that telemetry_endpoint names: operations
// (base/metrics.h) as spans, the numbers of /metrics as metrics. Operations wait in a bounded queue; what does not
// fit is dropped and counted, so no request waits for the receiver. Any thread; one sends.
#pragma once

#include "base/duty.h"
#include "base/metrics.h"
#include "base/mutex.h"
#include "net/client/client.h"
#include "net/http/http.h"

#include <atomic>
#include <deque>
#include <functional>
#include <string>
#include <vector>

namespace hone::server {

struct SelfTelemetryOptions {
    std::string endpoint; // without /v1/traces
    std::vector<net::Header> headers;
    std::string ca_file;
    std::string server; // service.instance.id
    std::string version;
    Duration metrics_interval = std::chrono::seconds(60);
    Duration spans_interval = std::chrono::seconds(5);
    size_t most_waiting = 4096;
    size_t most_in_request = 512;
    std::function<std::string()> metrics; // as /metrics prints them
};

// "Name=value,Name2=value2", values percent-encoded where they have a comma, as OTEL_EXPORTER_OTLP_HEADERS.
Result<std::vector<net::Header>> parse_telemetry_headers(std::string_view text);
// The text of /metrics as an ExportMetricsServiceRequest in JSON.
std::string metrics_request(std::string_view text, std::string_view server, std::string_view version, Time started,
                            Time now);
std::string spans_request(const std::vector<Operation>& operations, std::string_view server, std::string_view version);

class SelfTelemetry final : public OperationSink {
public:
    SelfTelemetry(SelfTelemetryOptions options, const Clock& clock);
    ~SelfTelemetry() override; // sends what is left, if the receiver takes it within two seconds

    void start();
    void take(Operation&& operation) override;
    void metrics(MetricsWriter& out) const;
    // Sends what waits, and metrics when they are due. For tests; otherwise a thread of its own does.
    Result<Duration> step();

private:
    Result<> send(const std::string& path, const std::string& body, Duration timeout);
    Result<> send_spans(Duration timeout, size_t most_requests);

    const SelfTelemetryOptions m_options;
    const Clock& m_clock;
    const Time m_started;
    net::HttpClient m_client;
    mutable Mutex m_mutex;
    std::deque<Operation> m_waiting GUARDED_BY(m_mutex);
    std::vector<Operation> m_sending; // only the sender's thread
    Duration m_metrics_at{};          // as well
    bool m_is_failing = false;        // as well
    std::atomic<int64_t> m_sent{0}, m_dropped{0}, m_failures{0};
    Duty m_duty; // last
};

} // namespace hone::server
