// Takes in what is not a whole span: log records, metrics, and runs that are sent in parts. Log records that name a
// span become events of it, whatever arrives first; those of Claude Code that name none become spans. Log records that
// are no GenAI event are stored to be searched (records/), and metrics about models to be series; what is dropped is
// counted in the ledger with its reason. Called by the HTTP and gRPC edges on ingest threads; thread-safe.
#pragma once

#include "otlp/metrics.h"
#include "otlp/records.h"
#include "telemetry/ingest/ingest.h"
#include "telemetry/ingest/span_parts.h"
#include "telemetry/records/record_log.h"

#include <map>
#include <vector>

namespace hone::telemetry {

// Spans of which each may be a part of a run: without its end, or what ends it.
struct RunParts {
    otlp::Batch batch;
    std::vector<bool> is_whole; // one per span: nothing else is expected to arrive
    void add(otlp::Span span, bool whole) {
        batch.spans.push_back(std::move(span));
        is_whole.push_back(whole);
    }
};

class RecordIngest {
public:
    RecordIngest(Ingest& ingest, SpanParts& parts, RecordLog& log, Wal& wal, Loader& loader, Quotas& quotas,
                 ProjectDirectory& projects, const Clock& clock, otlp::Limits limits);

    IngestResponse respond_logs(const IngestRequest& request);
    IngestResponse respond_metrics(const IngestRequest& request);
    // Stores the parts and takes in each run as far as it is known now; the end of a run replaces its beginning.
    Result<Accepted> take_runs(RunParts& runs, std::string_view space, std::string_view project,
                               ProjectDirectory* projects);

private:
    struct Logs; // of one request

    Result<Accepted> take_logs(const IngestRequest& request, otlp::Encoding encoding);
    Result<> take_metrics(const IngestRequest& request, otlp::Encoding encoding);
    Result<std::vector<ProjectRef>> resolve(const otlp::Batch& batch, std::string_view space, std::string_view header,
                                            ProjectDirectory* projects);
    void take_record(Logs& logs, otlp::Span& record, const ProjectRef& project);
    // Puts it among those that can be searched. Returns why not; empty: it is there.
    std::string store_record(Logs& logs, const otlp::Span& record, const ProjectRef& project);
    // Why a project may not store so many bytes; empty: it may, and they are counted.
    std::string over_quota(const ProjectRef& project, int64_t bytes);
    Result<> store(Logs& logs, const std::map<std::string, ProjectRef>& projects);
    Result<> count(const Ledger& ledger);

    Ingest& m_ingest;
    SpanParts& m_parts;
    RecordLog& m_log;
    Wal& m_wal;
    Loader& m_loader;
    Quotas& m_quotas;
    ProjectDirectory& m_projects;
    const Clock& m_clock;
    const otlp::Limits m_limits;
    const std::shared_ptr<const Redactor> m_credentials; // log records often repeat headers: always redacted
};

} // namespace hone::telemetry
