// Takes spans in: decode, choose the project, redact, normalise, write to the log, acknowledge. Called by the HTTP and
// gRPC edges on ingest threads; thread-safe. Nothing is acknowledged that is not on disk.
#pragma once

#include "base/time.h"
#include "otlp/encode.h"
#include "otlp/message.h"
#include "telemetry/ingest/loader.h"
#include "telemetry/ingest/quotas.h"
#include "telemetry/ingest/span_parts.h"
#include "telemetry/log/wal.h"
#include "telemetry/redaction/redact.h"
#include "telemetry/span/prices.h"

#include <atomic>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace hone::telemetry {

// What ingest needs about a project.
struct ProjectRef {
    std::string id;
    int64_t retention_days = 30;              // 0: kept without a limit
    std::shared_ptr<const Redactor> redactor; // null: nothing to redact
    double sample = 1.0;                      // share of traces that is kept
    Quota quota;
    std::string space; // whose quota counts too
    Quota space_quota;
    int64_t log_retention_days = 7; // 0: log records are not stored
};

// Finds a project of a space by name and creates it on first use; access/ stands behind it. Thread-safe, and fast:
// called for every request.
class ProjectDirectory {
public:
    virtual ~ProjectDirectory() = default;
    virtual Result<ProjectRef> resolve(std::string_view space, std::string_view name) = 0;
};

struct IngestRequest {
    std::string_view body;
    std::string_view content_type = "application/x-protobuf";
    std::string_view content_encoding; // "", "identity", "gzip" or "zstd"
    std::string_view project;          // header x-project-name; empty: from the resource
    std::string_view space;
    ProjectDirectory* projects = nullptr; // as this caller may write them; null: those of the installation
};

struct Accepted {
    int64_t accepted = 0;
    int64_t rejected = 0;
    int64_t over_quota = 0; // of the rejected
    std::string message;    // what was rejected and why
    uint64_t sequence = 0;
    struct Refusal {
        uint32_t resource; // of the span, in the batch
        std::string reason;
    };
    std::vector<Refusal> refusals; // the first thousand
};

// The response to an OTLP/HTTP request.
struct IngestResponse {
    int status = 200;
    std::string content_type;
    std::string body;
    int retry_after_seconds = 0; // 0: none
};

// What the edges of all kinds of telemetry share: the body without its compression (in `storage` when there was one),
// the encoding of a content type, and the response that refuses a request.
Result<std::string_view> unpack_body(const IngestRequest& request, std::string& storage);
std::optional<otlp::Encoding> encoding_of(std::string_view content_type);
IngestResponse refuse_type(std::string_view content_type);
IngestResponse refuse(otlp::Encoding encoding, const Error& error);
// Sampling keeps or drops whole traces: the decision hangs on the trace id alone.
bool is_sampled(std::string_view trace_id, double share);

class Ingest {
public:
    Ingest(Wal& wal, Loader& loader, Quotas& quotas, ProjectDirectory& projects, const Clock& clock, Prices prices,
           otlp::Limits limits)
        : m_wal(wal),
          m_loader(loader),
          m_quotas(quotas),
          m_projects(projects),
          m_clock(clock),
          m_prices(std::move(prices)),
          m_limits(limits) {}

    IngestResponse respond(const IngestRequest& request);
    Result<Accepted> take(const IngestRequest& request);
    // For batches that come from elsewhere: imports, our own runs.
    Result<Accepted> take(otlp::Batch& batch, std::string_view space, std::string_view project,
                          ProjectDirectory* projects = nullptr);

    // Spans get their log records from here. Before the first request.
    void use_parts(SpanParts& parts) { m_parts = &parts; }

    static constexpr size_t body_limit = 64 << 20; // after decompression

private:
    Wal& m_wal;
    Loader& m_loader;
    Quotas& m_quotas;
    ProjectDirectory& m_projects;
    const Clock& m_clock;
    const Prices m_prices;
    const otlp::Limits m_limits;
    SpanParts* m_parts = nullptr; // null: spans have no parts
    std::atomic<int64_t> m_last_received{0};
};

} // namespace hone::telemetry
