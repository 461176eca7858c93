#include "telemetry/ingest/record_ingest.h"

#include "base/text.h"
#include "telemetry/ingest/claude_code_logs.h"
#include "telemetry/ingest/ingest_frame.h"
#include "telemetry/ingest/span_merge.h"
#include "telemetry/records/record_rows.h"
#include "telemetry/span/normalise.h"

#include <algorithm>
#include <set>

namespace hone::telemetry {

namespace {

// Headers that hold credentials, as keys of attributes and inside JSON texts; our own keys; the shapes of others.
std::shared_ptr<const Redactor> make_credentials_redactor() {
    RedactionRules rules;
    rules.keys = {"authorization",
                  "Authorization",
                  "x-api-key",
                  "api_key",
                  "http.request.header.authorization",
                  "http.request.header.x-api-key",
                  "http.request.header.cookie"};
    rules.patterns = {R"(\bhone_[A-Za-z0-9_-]{43})", R"((?i)\bbasic\s+[A-Za-z0-9+/=_-]{16,})",
                      R"((?i)\\*"(?:authorization|x-api-key|api[_-]?key)\\*"\s*:\s*\\*"[^"\\]{8,})"};
    rules.secrets = true;
    auto made = Redactor::make(rules);
    CHECK_OR_ABORT(made.ok());
    return std::move(made).value();
}

std::string_view content_type_of(otlp::Encoding encoding) {
    return encoding == otlp::Encoding::json ? "application/json" : "application/x-protobuf";
}

// Reasons in the ledger.
const std::string not_stored = "log records are switched off in the project's settings";
const std::string not_sampled = "the trace of the log record is not sampled";
const std::string record_too_old = "the log record is older than log records are kept";
const std::string record_too_new = "the log record is from the future";
const std::string not_about_models = "the metric is not about models";
const std::string point_too_old = "the point of the metric is older than spans are kept";
const std::string point_too_new = "the point of the metric is from the future";
const std::string point_not_valid = "the point of the metric is not valid";

constexpr int64_t record_future_ns = 86'400'000'000'000; // clocks differ, and time zones are mistaken
constexpr int64_t record_kept_day_ns = 86'400'000'000'000;

// Their content is on the span, or becomes one.
bool is_genai_event(std::string_view name) {
    return name.starts_with("gen_ai.") || name.starts_with("claude_code.user_prompt") ||
           name.starts_with("claude_code.assistant_response") || name.starts_with("claude_code.api_re") ||
           name.starts_with("claude_code.tool_result");
}

} // namespace

struct RecordIngest::Logs {
    otlp::Batch& batch;
    std::map<SpanKey, otlp::Span> by_span;
    RunParts runs;    // of Claude Code
    std::string rows; // to be searched
    Ledger ledger;
    Accepted accepted;
};

RecordIngest::RecordIngest(Ingest& ingest, SpanParts& parts, RecordLog& log, Wal& wal, Loader& loader, Quotas& quotas,
                           ProjectDirectory& projects, const Clock& clock, otlp::Limits limits)
    : m_ingest(ingest),
      m_parts(parts),
      m_log(log),
      m_wal(wal),
      m_loader(loader),
      m_quotas(quotas),
      m_projects(projects),
      m_clock(clock),
      m_limits(limits),
      m_credentials(make_credentials_redactor()) {}

Result<std::vector<ProjectRef>> RecordIngest::resolve(const otlp::Batch& batch, std::string_view space,
                                                      std::string_view header, ProjectDirectory* projects) {
    std::map<std::string, ProjectRef, std::less<>> known;
    std::vector<ProjectRef> resolved;
    for (const otlp::Resource& resource : batch.resources) {
        const std::string name(truncate_utf8(header.empty() ? project_name(resource) : trim(header), 200));
        auto found = known.find(name);
        if (found == known.end())
            found = known.emplace(name, TRY((projects ? *projects : m_projects).resolve(space, name))).first;
        resolved.push_back(found->second);
    }
    return resolved;
}

Result<> RecordIngest::count(const Ledger& ledger) {
    if (ledger.empty()) return {};
    const uint64_t sequence = TRY(m_wal.append(encode_frame(ledger, {})));
    m_loader.accepted(sequence, ledger);
    return {};
}

// --- logs ----------------------------------------------------------------------------------------------------------

void RecordIngest::take_record(Logs& logs, otlp::Span& record, const ProjectRef& project) {
    LedgerCounts& counts = logs.ledger[project.id];
    otlp::Event& event = record.events.front();
    shape_log_event(logs.batch, event);
    counts.redacted += m_credentials->apply(logs.batch, record);
    if (project.redactor) counts.redacted += project.redactor->apply(logs.batch, record);
    if (otlp::names_no_span(record)) {
        const bool is_used = add_claude_code_spans(logs.batch, record, logs.runs);
        const std::string why_not = is_used ? std::string() : store_record(logs, record, project);
        if (why_not.empty()) {
            counts.log_records++;
            return;
        }
        counts.drop_log_records(why_not);
        if (!is_quota_reason(why_not)) return;
        logs.accepted.rejected++;
        logs.accepted.message = why_not;
        return;
    }
    if (!is_sampled(record.trace_id, project.sample)) {
        counts.drop_log_records(not_sampled);
        return;
    }
    counts.log_records++;
    if (!is_genai_event(event.name)) store_record(logs, record, project); // if not, it is still on its span
    SpanKey key{project.id, std::string(record.trace_id), std::string(record.span_id)};
    const auto [place, is_new] = logs.by_span.try_emplace(std::move(key));
    otlp::Span& part = place->second;
    if (is_new) {
        part.trace_id = record.trace_id;
        part.span_id = record.span_id;
        part.start_ns = part.end_ns = record.start_ns;
    }
    part.events.push_back(std::move(event));
}

std::string RecordIngest::over_quota(const ProjectRef& project, int64_t bytes) {
    if (const auto what = m_quotas.take(project.id, project.quota, 0, bytes); !what.empty())
        return quota_reason("project", what);
    const auto of_space = m_quotas.take(project.space, project.space_quota, 0, bytes);
    if (of_space.empty()) return {};
    m_quotas.give_back(project.id, project.quota, 0, bytes);
    return quota_reason("space", of_space);
}

std::string RecordIngest::store_record(Logs& logs, const otlp::Span& record, const ProjectRef& project) {
    if (project.log_retention_days <= 0) return not_stored;
    const int64_t now = to_ns(m_clock.now()), time = static_cast<int64_t>(record.events.front().time_ns);
    if (time < now - project.log_retention_days * record_kept_day_ns) return record_too_old;
    if (time > now + record_future_ns) return record_too_new;
    const size_t before = logs.rows.size();
    append_log_row(logs.rows, project.id, logs.batch, record, now);
    std::string over = over_quota(project, static_cast<int64_t>(logs.rows.size() - before));
    if (!over.empty()) logs.rows.resize(before);
    return over;
}

// Over a quota of bytes the records of a span are rejected.
Result<> RecordIngest::store(Logs& logs, const std::map<std::string, ProjectRef>& projects) {
    std::vector<SpanPart> parts;
    std::vector<SpanKey> keys;
    for (auto& [key, span] : logs.by_span) {
        SpanPart part{key, PartKind::log, encode_part(span, {}, {})};
        const ProjectRef& project = projects.at(key.project);
        const auto bytes = static_cast<int64_t>(part.bytes.size());
        const auto records = static_cast<int64_t>(span.events.size());
        if (const std::string over = over_quota(project, bytes); !over.empty()) {
            logs.accepted.rejected += records;
            logs.accepted.message = over;
            LedgerCounts& counts = logs.ledger[project.id];
            counts.log_records -= records;
            counts.drop_log_records(over, records);
            continue;
        }
        keys.push_back(key);
        parts.push_back(std::move(part));
    }
    TRY(m_parts.add(std::move(parts)));
    TRY(m_log.append({logs.rows, {}}));
    // Spans that arrive from now on find their records; those before are in the span log or in the engine.
    m_parts.request_join(std::move(keys), m_wal.stats().next_sequence);
    return {};
}

Result<Accepted> RecordIngest::take_logs(const IngestRequest& request, otlp::Encoding encoding) {
    std::string unpacked;
    const std::string_view body = TRY(unpack_body(request, unpacked));
    const auto now = static_cast<uint64_t>(to_ns(m_clock.now()));
    otlp::LogBatch decoded = TRY(otlp::decode_logs(encoding, body, now, m_limits));
    otlp::Batch& batch = decoded.batch;
    const auto projects = TRY(resolve(batch, request.space, request.project, request.projects));
    Logs logs{batch, {}, {}, {}, {}, {}};
    for (otlp::Resource& resource : batch.resources) {
        const ProjectRef& project = projects[static_cast<size_t>(&resource - batch.resources.data())];
        m_credentials->apply(batch, resource.attributes);
        if (project.redactor) project.redactor->apply(batch, resource.attributes);
    }
    logs.runs.batch.resources = batch.resources;
    logs.runs.batch.scopes = batch.scopes;
    std::map<std::string, ProjectRef> by_id;
    for (const ProjectRef& project : projects) by_id.emplace(project.id, project);
    for (otlp::Span& record : batch.spans) take_record(logs, record, projects[record.resource]);
    for (const otlp::Rejection& rejection : batch.rejected) {
        logs.ledger[projects[rejection.resource].id].drop_log_records(rejection.reason);
        logs.accepted.rejected++;
        logs.accepted.message = rejection.reason;
    }
    TRY(store(logs, by_id));
    TRY(count(logs.ledger));
    if (!logs.runs.batch.spans.empty()) TRY(take_runs(logs.runs, request.space, request.project, request.projects));
    return logs.accepted;
}

IngestResponse RecordIngest::respond_logs(const IngestRequest& request) {
    const auto encoding = encoding_of(request.content_type);
    if (!encoding) return refuse_type(request.content_type);
    auto taken = take_logs(request, *encoding);
    if (!taken.ok()) return refuse(*encoding, taken.error());
    IngestResponse response;
    response.content_type = content_type_of(*encoding);
    response.body =
        otlp::encode_records_response(*encoding, "rejectedLogRecords", taken.value().rejected, taken.value().message);
    return response;
}

// --- metrics -------------------------------------------------------------------------------------------------------

Result<> RecordIngest::take_metrics(const IngestRequest& request, otlp::Encoding encoding) {
    std::string unpacked;
    const std::string_view body = TRY(unpack_body(request, unpacked));
    const auto now = to_ns(m_clock.now());
    otlp::MetricBatch metrics = TRY(otlp::decode_metrics(
        encoding, body, static_cast<uint64_t>(now), [](std::string_view name) { return metric_use(name).has_value(); },
        m_limits));
    const auto projects = TRY(resolve(metrics.batch, request.space, request.project, request.projects));
    for (otlp::Resource& resource : metrics.batch.resources) {
        const ProjectRef& project = projects[static_cast<size_t>(&resource - metrics.batch.resources.data())];
        m_credentials->apply(metrics.batch, resource.attributes);
        if (project.redactor) project.redactor->apply(metrics.batch, resource.attributes);
    }
    Ledger ledger;
    std::vector<int64_t> known(projects.size(), 0); // points with a reason of their own
    std::string rows;
    for (const otlp::MetricPoint& point : metrics.points) {
        otlp::Span& span = metrics.batch.spans[point.span];
        const ProjectRef& project = projects[span.resource];
        LedgerCounts& counts = ledger[project.id];
        known[span.resource]++;
        const auto time = static_cast<int64_t>(point.time_ns);
        if (project.retention_days > 0 && time < now - project.retention_days * record_kept_day_ns) {
            counts.drop_metric_points(point_too_old, 1);
            continue;
        }
        if (time > now + record_future_ns) {
            counts.drop_metric_points(point_too_new, 1);
            continue;
        }
        counts.redacted += m_credentials->apply(metrics.batch, span.attributes);
        if (project.redactor) counts.redacted += project.redactor->apply(metrics.batch, span.attributes);
        const size_t before = rows.size();
        append_metric_row(rows, project.id, metrics, point, *metric_use(point.name));
        if (const std::string over = over_quota(project, static_cast<int64_t>(rows.size() - before)); !over.empty()) {
            rows.resize(before);
            counts.drop_metric_points(over, 1);
        }
    }
    std::vector<int64_t> invalid_points(projects.size(), 0);
    for (const otlp::Rejection& rejection : metrics.batch.rejected) invalid_points[rejection.resource]++;
    for (size_t i = 0; i < projects.size(); ++i) {
        if (metrics.received[i] == 0) continue;
        LedgerCounts& counts = ledger[projects[i].id];
        counts.metric_points += metrics.received[i];
        if (invalid_points[i] > 0) counts.drop_metric_points(point_not_valid, invalid_points[i]);
        if (const int64_t others = metrics.received[i] - known[i] - invalid_points[i]; others > 0)
            counts.drop_metric_points(not_about_models, others);
    }
    TRY(m_log.append({{}, rows}));
    return count(ledger);
}

IngestResponse RecordIngest::respond_metrics(const IngestRequest& request) {
    const auto encoding = encoding_of(request.content_type);
    if (!encoding) return refuse_type(request.content_type);
    auto taken = take_metrics(request, *encoding);
    if (!taken.ok()) return refuse(*encoding, taken.error());
    IngestResponse response;
    response.content_type = content_type_of(*encoding);
    response.body = otlp::encode_records_response(*encoding, "rejectedDataPoints", 0, "");
    return response;
}

// --- runs ----------------------------------------------------------------------------------------------------------

Result<Accepted> RecordIngest::take_runs(RunParts& runs, std::string_view space, std::string_view project,
                                         ProjectDirectory* projects) {
    otlp::Batch& batch = runs.batch;
    const auto resolved = TRY(resolve(batch, space, project, projects));
    std::vector<SpanPart> parts;
    std::set<SpanKey> in_parts;
    const auto key_of = [&](const otlp::Span& span) {
        return SpanKey{resolved[span.resource].id, std::string(span.trace_id), std::string(span.span_id)};
    };
    for (size_t i = 0; i < batch.spans.size(); ++i)
        if (SpanKey key = key_of(batch.spans[i]); !runs.is_whole[i] || m_parts.has(key, PartKind::run))
            in_parts.insert(std::move(key));
    otlp::Batch known; // as far as it is known
    known.resources = batch.resources;
    known.scopes = batch.scopes;
    known.rejected = batch.rejected;
    for (otlp::Span& span : batch.spans) {
        SpanKey key = key_of(span);
        if (!in_parts.contains(key)) {
            known.spans.push_back(std::move(span));
            continue;
        }
        // Before anything of it is on disk.
        otlp::Resource resource = batch.resources[span.resource];
        if (const auto& redactor = resolved[span.resource].redactor) {
            redactor->apply(batch, span);
            redactor->apply(batch, resource.attributes);
        }
        parts.push_back({std::move(key), PartKind::run, encode_part(span, resource, batch.scopes[span.scope])});
    }
    TRY(m_parts.add(std::move(parts)));
    for (const SpanKey& key : in_parts) TRY(add_run(known, m_parts.of(key, PartKind::run), m_limits));
    return m_ingest.take(known, space, project, projects);
}

} // namespace hone::telemetry
