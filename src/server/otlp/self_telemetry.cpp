#include "server/otlp/self_telemetry.h"

#include "base/log.h"
#include "base/text.h"
#include "crypto/crypto.h"
#include "json/json.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <map>
#include <optional>

namespace hone::server {

namespace {

constexpr Duration send_timeout = std::chrono::seconds(10);
constexpr Duration last_send_timeout = std::chrono::seconds(2);

json::Object text_value(std::string_view name, std::string_view value) {
    return {{"key", name}, {"value", json::Object{{"stringValue", repair_utf8(value)}}}};
}

json::Object resource_of(std::string_view server, std::string_view version) {
    return {{"attributes", json::Array{text_value("service.name", "hone"), text_value("service.version", version),
                                       text_value("service.instance.id", server)}}};
}

json::Object span_of(const Operation& operation) {
    json::Array attributes{text_value("hone.operation", operation.kind)};
    for (const auto& [name, value] : operation.attributes) attributes.push_back(text_value(name, value));
    const int64_t start = to_ns(operation.start);
    json::Object span{
        {"traceId", operation.trace_id},
        {"spanId", operation.span_id},
        {"name", repair_utf8(operation.name)},
        {"kind", operation.kind == "request" ? 2 : 1},
        {"startTimeUnixNano", std::to_string(start)},
        {"endTimeUnixNano", std::to_string(start + std::max<int64_t>(0, operation.length.count()))},
        {"attributes", std::move(attributes)},
    };
    if (!operation.parent_id.empty()) span["parentSpanId"] = operation.parent_id;
    if (operation.has_failed) span["status"] = json::Object{{"code", 2}, {"message", repair_utf8(operation.problem)}};
    return span;
}

// One line of Prometheus' text format: name{label="value",…} number
struct MetricSample {
    std::string name;
    std::map<std::string, std::string> labels;
    double value = 0;
};

std::optional<MetricSample> read_sample(std::string_view line) {
    MetricSample sample;
    const size_t end = line.find_first_of("{ ");
    if (end == line.npos) return std::nullopt;
    sample.name = line.substr(0, end);
    line.remove_prefix(end);
    if (line.front() == '{') {
        line.remove_prefix(1);
        while (!line.empty() && line.front() != '}') {
            const size_t equals = line.find("=\"");
            if (equals == line.npos) return std::nullopt;
            const std::string label(line.substr(0, equals));
            line.remove_prefix(equals + 2);
            std::string value;
            while (!line.empty() && line.front() != '"') {
                const bool is_escape = line.front() == '\\' && line.size() > 1;
                if (is_escape) line.remove_prefix(1);
                value += is_escape && line.front() == 'n' ? '\n' : line.front();
                line.remove_prefix(1);
            }
            if (line.empty()) return std::nullopt;
            line.remove_prefix(1);
            if (line.starts_with(',')) line.remove_prefix(1);
            sample.labels[label] = std::move(value);
        }
        if (line.empty()) return std::nullopt;
        line.remove_prefix(1);
    }
    const std::string number(trim(line));
    char* after = nullptr;
    sample.value = std::strtod(number.c_str(), &after);
    if (number.empty() || *after != 0) return std::nullopt;
    return sample;
}

json::Array attributes_of(const std::map<std::string, std::string>& labels) {
    json::Array attributes;
    for (const auto& [name, value] : labels) attributes.push_back(text_value(name, value));
    return attributes;
}

// The samples of one metric.
class MetricFamily {
public:
    std::string name, help, type;

    void add(MetricSample sample) { m_samples.push_back(std::move(sample)); }
    bool is_empty() const { return m_samples.empty(); }
    bool has(std::string_view sample) const {
        return sample == name || (type == "histogram" &&
                                  (sample == name + "_bucket" || sample == name + "_sum" || sample == name + "_count"));
    }
    json::Object print(const json::Object& times) const {
        json::Object made{{"name", name}, {"description", help}};
        if (type == "histogram") {
            made["histogram"] = json::Object{{"aggregationTemporality", 2}, {"dataPoints", histogram_points(times)}};
            return made;
        }
        json::Array points;
        for (const MetricSample& sample : m_samples) {
            if (!std::isfinite(sample.value)) continue;
            json::Object point = times;
            point["attributes"] = attributes_of(sample.labels);
            point["asDouble"] = sample.value;
            points.push_back(std::move(point));
        }
        if (type == "counter")
            made["sum"] =
                json::Object{{"aggregationTemporality", 2}, {"isMonotonic", true}, {"dataPoints", std::move(points)}};
        else
            made["gauge"] = json::Object{{"dataPoints", std::move(points)}};
        return made;
    }

private:
    json::Array histogram_points(const json::Object& times) const {
        struct Histogram {
            std::map<double, double> below; // by bound
            double sum = 0, count = 0;
        };
        std::map<std::map<std::string, std::string>, Histogram> all;
        for (const MetricSample& sample : m_samples) {
            auto labels = sample.labels;
            const auto bound = labels.extract("le");
            Histogram& one = all[labels];
            if (sample.name.ends_with("_sum"))
                one.sum = sample.value;
            else if (sample.name.ends_with("_count"))
                one.count = sample.value;
            else if (bound && bound.mapped() != "+Inf")
                one.below[std::strtod(bound.mapped().c_str(), nullptr)] = sample.value;
        }
        json::Array points;
        for (const auto& [labels, one] : all) {
            json::Array bounds, counts;
            double before = 0;
            for (const auto& [bound, below] : one.below) {
                bounds.push_back(bound);
                counts.emplace_back(std::to_string(static_cast<int64_t>(std::max(0.0, below - before))));
                before = below;
            }
            counts.emplace_back(std::to_string(static_cast<int64_t>(std::max(0.0, one.count - before))));
            json::Object point = times;
            point["attributes"] = attributes_of(labels);
            point["count"] = std::to_string(static_cast<int64_t>(one.count));
            point["sum"] = one.sum;
            point["explicitBounds"] = std::move(bounds);
            point["bucketCounts"] = std::move(counts);
            points.push_back(std::move(point));
        }
        return points;
    }

    std::vector<MetricSample> m_samples;
};

} // namespace

Result<std::vector<net::Header>> parse_telemetry_headers(std::string_view text) {
    std::vector<net::Header> headers;
    for (const std::string_view part : split(text, ',')) {
        if (trim(part).empty()) continue;
        const size_t equals = part.find('=');
        const std::string_view name = trim(part.substr(0, equals));
        const bool is_name = !name.empty() && std::all_of(name.begin(), name.end(), [](char c) {
            return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '_';
        });
        if (equals == part.npos || !is_name)
            return invalid("telemetry_headers must be Name=value pairs separated by commas, such as "
                           "Authorization=Bearer%20KEY");
        const std::string value = TRY(percent_decode(trim(part.substr(equals + 1)), false));
        if (value.find_first_of("\r\n") != value.npos || value.find('\0') != value.npos)
            return invalid("telemetry_headers has a value with a line end");
        headers.push_back({std::string(name), value});
    }
    return headers;
}

std::string spans_request(const std::vector<Operation>& operations, std::string_view server, std::string_view version) {
    json::Array spans;
    for (const Operation& operation : operations) spans.push_back(span_of(operation));
    const json::Object scope{{"scope", json::Object{{"name", "hone"}, {"version", version}}},
                             {"spans", std::move(spans)}};
    return json::print(json::Object{
        {"resourceSpans",
         json::Array{json::Object{{"resource", resource_of(server, version)}, {"scopeSpans", json::Array{scope}}}}}});
}

std::string metrics_request(std::string_view text, std::string_view server, std::string_view version, Time started,
                            Time now) {
    const json::Object times{{"startTimeUnixNano", std::to_string(to_ns(started))},
                             {"timeUnixNano", std::to_string(to_ns(now))}};
    json::Array metrics;
    MetricFamily family;
    const auto finish = [&] {
        if (!family.is_empty()) metrics.push_back(family.print(times));
        family = {};
    };
    for (const std::string_view line : split(text, '\n')) {
        constexpr std::string_view help = "# HELP ", type = "# TYPE ";
        if (line.starts_with(help)) {
            finish();
            const std::string_view rest = line.substr(help.size());
            family.name = rest.substr(0, rest.find(' '));
            family.help = rest.substr(std::min(rest.size(), family.name.size() + 1));
        } else if (line.starts_with(type)) {
            const std::string_view rest = line.substr(type.size());
            if (const std::string_view name = rest.substr(0, rest.find(' ')); name != family.name) {
                finish();
                family.name = name;
            }
            family.type = rest.substr(std::min(rest.size(), family.name.size() + 1));
        } else if (!line.empty() && line.front() != '#') {
            auto sample = read_sample(line);
            if (sample && family.has(sample->name)) family.add(std::move(*sample));
        }
    }
    finish();
    const json::Object scope{{"scope", json::Object{{"name", "hone"}, {"version", version}}},
                             {"metrics", std::move(metrics)}};
    return json::print(json::Object{
        {"resourceMetrics",
         json::Array{json::Object{{"resource", resource_of(server, version)}, {"scopeMetrics", json::Array{scope}}}}}});
}

SelfTelemetry::SelfTelemetry(SelfTelemetryOptions options, const Clock& clock)
    : m_options(std::move(options)),
      m_clock(clock),
      m_started(clock.now()),
      m_client([&] {
          net::ClientOptions client;
          client.ca_file = m_options.ca_file;
          return client;
      }()),
      m_metrics_at(clock.steady()),
      m_duty(
          {.name = "telemetry of this server", .period = m_options.spans_interval, .threads = 1, .is_reported = false},
          [this] { return step(); }) {}

SelfTelemetry::~SelfTelemetry() {
    set_operation_sink(nullptr);
    m_duty.stop();
    if (const auto last = send_spans(last_send_timeout, 1); !last.ok())
        log(Level::warning, "the last spans of this server were not sent", {{"why", last.error().message}});
}

void SelfTelemetry::start() {
    set_operation_sink(this);
    m_duty.start();
}

void SelfTelemetry::take(Operation&& operation) {
    bool is_much = false;
    {
        const Lock lock(m_mutex);
        if (m_waiting.size() >= m_options.most_waiting) {
            ++m_dropped;
            return;
        }
        m_waiting.push_back(std::move(operation));
        is_much = m_waiting.size() == m_options.most_in_request;
    }
    if (is_much) m_duty.wake();
}

Result<> SelfTelemetry::send(const std::string& path, const std::string& body, Duration timeout) {
    net::ClientRequest request;
    request.method = "POST";
    request.url = m_options.endpoint + path;
    request.headers = m_options.headers;
    request.headers.push_back({"Content-Type", "application/json"});
    request.headers.push_back({std::string(self_telemetry_header), "1"});
    request.body = body;
    request.total_timeout = timeout;
    request.max_response_bytes = 1 << 20;
    const auto response = TRY(m_client.send(request));
    const int status = response.status;
    if (status >= 200 && status < 300) return {};
    const std::string why = "the receiver of telemetry_endpoint responds with status " + std::to_string(status);
    if (status == 408 || status == 429 || status >= 500) return unavailable(why);
    return invalid(why); // the same again would not be accepted either
}

Result<> SelfTelemetry::send_spans(Duration timeout, size_t most_requests) {
    for (size_t i = 0; i < most_requests; ++i) {
        if (m_sending.empty()) {
            const Lock lock(m_mutex);
            while (!m_waiting.empty() && m_sending.size() < m_options.most_in_request) {
                Operation& operation = m_sending.emplace_back(std::move(m_waiting.front()));
                m_waiting.pop_front();
                // Once: a request that is repeated has the same spans.
                if (operation.trace_id.empty()) operation.trace_id = to_hex(crypto::random_bytes(16));
                operation.span_id = to_hex(crypto::random_bytes(8));
            }
        }
        if (m_sending.empty()) return {};
        const auto sent = send("/v1/traces", spans_request(m_sending, m_options.server, m_options.version), timeout);
        if (!sent.ok()) {
            ++m_failures;
            if (sent.error().code != Code::invalid) return sent; // these are sent again
            m_dropped += static_cast<int64_t>(m_sending.size());
            m_sending.clear();
            return sent;
        }
        m_sent += static_cast<int64_t>(m_sending.size());
        m_sending.clear();
    }
    return {};
}

Result<Duration> SelfTelemetry::step() {
    auto sent = send_spans(send_timeout, m_options.most_waiting / m_options.most_in_request + 1);
    if (const Duration now = m_clock.steady(); m_options.metrics && now >= m_metrics_at) {
        m_metrics_at = now + m_options.metrics_interval;
        const auto metrics =
            send("/v1/metrics",
                 metrics_request(m_options.metrics(), m_options.server, m_options.version, m_started, m_clock.now()),
                 send_timeout);
        if (!metrics.ok()) ++m_failures;
        if (sent.ok()) sent = metrics;
    }
    // Once, and not at every attempt.
    if (!sent.ok() && !m_is_failing)
        log(Level::warning, "telemetry of this server is not accepted", {{"why", sent.error().message}});
    if (sent.ok() && m_is_failing) log(Level::info, "telemetry of this server is accepted again");
    m_is_failing = !sent.ok();
    return std::min(m_options.spans_interval, m_options.metrics_interval);
}

void SelfTelemetry::metrics(MetricsWriter& out) const {
    size_t waiting = 0;
    {
        const Lock lock(m_mutex);
        waiting = m_waiting.size();
    }
    out.counter("telemetry_spans_sent_total", "Spans about this server that telemetry_endpoint accepted.",
                m_sent.load());
    out.counter("telemetry_spans_dropped_total",
                "Spans about this server that were dropped: the queue was full, or the receiver rejected them.",
                m_dropped.load());
    out.counter("telemetry_failures_total", "Requests to telemetry_endpoint that failed.", m_failures.load());
    out.gauge("telemetry_spans_waiting", "Spans about this server that wait to be sent.", waiting);
}

} // namespace hone::server
