#include "telemetry/ingest/ingest.h"

#include "base/status.h"
#include "base/text.h"
#include "net/http/compress.h"
#include "otlp/decode.h"
#include "telemetry/ingest/span_merge.h"
#include "telemetry/span/normalise.h"
#include "telemetry/span/span_row.h"

#include <algorithm>
#include <map>
#include <optional>
#include <zstd.h>

namespace hone::telemetry {

namespace {

constexpr int64_t day_ns = 86'400'000'000'000;
constexpr size_t most_refusals = 1000; // that are listed one by one

Result<std::string> unzstd(std::string_view bytes, size_t limit) {
    const std::unique_ptr<ZSTD_DStream, size_t (*)(ZSTD_DStream*)> stream(ZSTD_createDStream(), ZSTD_freeDStream);
    ZSTD_DCtx_setParameter(stream.get(), ZSTD_d_windowLogMax, 26); // 64 MB: no frame may need more memory
    std::string out;
    ZSTD_inBuffer input{bytes.data(), bytes.size(), 0};
    size_t state = 1;
    while (input.pos < input.size) {
        char piece[64 << 10];
        ZSTD_outBuffer output{piece, sizeof piece, 0};
        state = ZSTD_decompressStream(stream.get(), &output, &input);
        if (ZSTD_isError(state)) return invalid("the body is not zstd");
        if (out.size() + output.pos > limit)
            return too_large("the body is larger than " + std::to_string(limit >> 20) + " MB when unpacked");
        out.append(piece, output.pos);
        if (output.pos == 0 && state != 0 && input.pos == input.size) break;
    }
    for (; state != 0;) { // what is still buffered inside
        char piece[64 << 10];
        ZSTD_outBuffer output{piece, sizeof piece, 0};
        state = ZSTD_decompressStream(stream.get(), &output, &input);
        if (ZSTD_isError(state) || (state != 0 && output.pos == 0)) return invalid("the zstd body is incomplete");
        if (out.size() + output.pos > limit)
            return too_large("the body is larger than " + std::to_string(limit >> 20) + " MB when unpacked");
        out.append(piece, output.pos);
    }
    return out;
}

bool is_json(std::string_view content_type) {
    return equals_ignoring_case(trim(content_type.substr(0, content_type.find(';'))), "application/json");
}

bool is_protobuf(std::string_view content_type) {
    const std::string type = lowercase_ascii(trim(content_type.substr(0, content_type.find(';'))));
    return type == "application/x-protobuf" || type == "application/protobuf";
}

// One request that is written to the log.
class Intake {
public:
    Intake(otlp::Batch& batch, const Prices& prices, Quotas& quotas, const SpanParts* parts, const otlp::Limits& limits,
           int64_t now_ns, int64_t received_ns)
        : m_batch(batch),
          m_prices(prices),
          m_quotas(quotas),
          m_parts(parts),
          m_limits(limits),
          m_received_ns(received_ns),
          m_now_ns(now_ns) {}

    Result<> resolve(ProjectDirectory& directory, std::string_view space, std::string_view header) {
        std::map<std::string, ProjectRef, std::less<>> known;
        for (uint32_t resource = 0; resource < m_batch.resources.size(); ++resource) {
            const std::string name(truncate_utf8(header.empty() ? project_name(m_batch, resource) : trim(header), 200));
            auto found = known.find(name);
            if (found == known.end()) found = known.emplace(name, TRY(directory.resolve(space, name))).first;
            m_projects.push_back(found->second);
        }
        return {};
    }

    void take() {
        for (const otlp::Rejection& rejection : m_batch.rejected) reject(rejection.resource, rejection.reason);
        for (otlp::Resource& resource : m_batch.resources) {
            const size_t index = static_cast<size_t>(&resource - m_batch.resources.data());
            if (const auto& redactor = m_projects[index].redactor)
                m_ledger[m_projects[index].id].redacted += redactor->apply(m_batch, resource.attributes);
        }
        m_rows.reserve(m_batch.spans.size() * 2048);
        for (otlp::Span& span : m_batch.spans) take(span);
    }

    std::string frame() const {
        std::vector<std::string_view> rows;
        size_t begin = 0;
        for (const size_t end : m_ends) {
            rows.push_back(std::string_view(m_rows).substr(begin, end - begin));
            begin = end;
        }
        return encode_frame(m_ledger, rows);
    }

    const Ledger& ledger() const { return m_ledger; }

    // Spans that have log records now.
    std::vector<SpanKey> keys_with_logs() const {
        std::vector<SpanKey> keys;
        for (const otlp::Span& span : m_batch.spans)
            if (SpanKey key = key_of(span); m_parts->has(key, PartKind::log)) keys.push_back(std::move(key));
        return keys;
    }

    // Nothing of it was stored.
    void give_quotas_back() {
        for (const ProjectRef& project : m_projects) {
            const auto counts = m_ledger.find(project.id);
            if (counts == m_ledger.end()) continue;
            const int64_t spans = counts->second.received - counts->second.rejected_total();
            m_quotas.give_back(project.id, project.quota, spans, counts->second.bytes);
            m_quotas.give_back(project.space, project.space_quota, spans, counts->second.bytes);
            m_ledger.erase(counts); // several resources may share the project
        }
    }

    Accepted accepted() const {
        Accepted result;
        result.refusals = m_refusals;
        result.accepted = static_cast<int64_t>(m_ends.size());
        std::map<std::string, int64_t> reasons;
        for (const auto& [project, counts] : m_ledger)
            for (const auto& [reason, count] : counts.rejected) {
                result.rejected += count;
                if (is_quota_reason(reason)) result.over_quota += count;
                reasons[reason] += count;
            }
        for (const auto& [reason, count] : reasons)
            result.message += (result.message.empty() ? "" : "; ") + std::to_string(count) +
                              (count == 1 ? " span: " : " spans: ") + reason;
        return result;
    }

private:
    SpanKey key_of(const otlp::Span& span) const {
        return {m_projects[span.resource].id, std::string(span.trace_id), std::string(span.span_id)};
    }

    void reject(uint32_t resource, const std::string& reason) {
        LedgerCounts& counts = m_ledger[m_projects[resource].id];
        counts.received++;
        counts.rejected[reason]++;
        if (m_refusals.size() < most_refusals) m_refusals.push_back({resource, reason});
    }

    void take(otlp::Span& raw) {
        const ProjectRef& project = m_projects[raw.resource];
        const auto start = static_cast<int64_t>(raw.start_ns);
        if (start > m_now_ns + day_ns) return reject(raw.resource, "start time is more than a day in the future");
        if (project.retention_days > 0 && start < m_now_ns - project.retention_days * day_ns)
            return reject(raw.resource, "start time is older than the project's retention");
        if (!is_sampled(raw.trace_id, project.sample)) return reject(raw.resource, "left out by sampling");
        LedgerCounts& counts = m_ledger[project.id];
        if (m_parts && !m_parts->is_empty())
            if (const auto logs = m_parts->of(key_of(raw), PartKind::log); !logs.empty())
                add_log_parts(m_batch, raw, logs, m_limits);
        const int64_t redacted = project.redactor ? project.redactor->apply(m_batch, raw) : 0;
        const size_t begin = m_rows.size();
        append_span_row(m_rows, normalise(m_batch, raw, m_prices), project.id, m_received_ns);
        if (const std::string reason = over_quota(project, static_cast<int64_t>(m_rows.size() - begin));
            !reason.empty()) {
            m_rows.resize(begin);
            return reject(raw.resource, reason);
        }
        counts.redacted += redacted;
        m_ends.push_back(m_rows.size());
        counts.received++;
        counts.truncated += !raw.truncated.empty();
        counts.bytes += static_cast<int64_t>(m_rows.size() - begin);
    }

    // Empty when both quotas have room; then the span is counted.
    std::string over_quota(const ProjectRef& project, int64_t bytes) {
        if (const auto what = m_quotas.take(project.id, project.quota, 1, bytes); !what.empty())
            return quota_reason("project", what);
        if (const auto what = m_quotas.take(project.space, project.space_quota, 1, bytes); !what.empty()) {
            m_quotas.give_back(project.id, project.quota, 1, bytes);
            return quota_reason("space", what);
        }
        return {};
    }

    otlp::Batch& m_batch;
    const Prices& m_prices;
    Quotas& m_quotas;
    const SpanParts* m_parts;
    const otlp::Limits& m_limits;
    const int64_t m_received_ns;
    const int64_t m_now_ns;             // the clock's, which may have jumped back
    std::vector<ProjectRef> m_projects; // one per resource
    Ledger m_ledger;
    std::vector<Accepted::Refusal> m_refusals;
    std::string m_rows;
    std::vector<size_t> m_ends;
};

} // namespace

Result<Accepted> Ingest::take(otlp::Batch& batch, std::string_view space, std::string_view project,
                              ProjectDirectory* projects) {
    // Two requests never share a timestamp, so that a row identifies its request.
    const int64_t now = to_ns(m_clock.now());
    int64_t last = m_last_received.load(), received = 0;
    do received = std::max(now, last + 1);
    while (!m_last_received.compare_exchange_weak(last, received));
    const uint64_t parts_before = m_parts ? m_parts->generation() : 0;
    Intake intake(batch, m_prices, m_quotas, m_parts, m_limits, now, received);
    TRY(intake.resolve(projects ? *projects : m_projects, space, project));
    intake.take();
    Accepted accepted = intake.accepted();
    if (accepted.accepted + accepted.rejected == 0) return accepted;
    auto appended = m_wal.append(intake.frame());
    if (!appended.ok()) {
        intake.give_quotas_back();
        return std::move(appended).error();
    }
    accepted.sequence = appended.value();
    m_loader.accepted(accepted.sequence, intake.ledger());
    m_quotas.save_soon();
    // Log records that arrived meanwhile were not seen above.
    if (m_parts && m_parts->generation() != parts_before)
        m_parts->request_join(intake.keys_with_logs(), accepted.sequence + 1);
    return accepted;
}

// Sampling keeps or drops whole traces: the decision hangs on the trace id alone.
bool is_sampled(std::string_view trace_id, double share) {
    if (share >= 1.0) return true;
    uint64_t random = 0;
    for (const char byte : trace_id.substr(8)) random = random << 8 | static_cast<unsigned char>(byte);
    return static_cast<double>(random >> 11) * 0x1.0p-53 < share;
}

Result<std::string_view> unpack_body(const IngestRequest& request, std::string& storage) {
    constexpr size_t limit = Ingest::body_limit;
    std::string_view body = request.body;
    const std::string encoding = lowercase_ascii(trim(request.content_encoding));
    if (encoding == "gzip")
        body = storage = TRY(net::gunzip(request.body, limit));
    else if (encoding == "zstd")
        body = storage = TRY(unzstd(request.body, limit));
    else if (!encoding.empty() && encoding != "identity")
        return invalid("unknown content encoding; use gzip, zstd or none");
    if (body.size() > limit) return too_large("the body is larger than 64 MB");
    return body;
}

std::optional<otlp::Encoding> encoding_of(std::string_view content_type) {
    if (is_json(content_type)) return otlp::Encoding::json;
    if (is_protobuf(content_type)) return otlp::Encoding::protobuf;
    return std::nullopt;
}

Result<Accepted> Ingest::take(const IngestRequest& request) {
    std::string unpacked;
    const std::string_view body = TRY(unpack_body(request, unpacked));
    std::optional<otlp::Batch> batch;
    if (is_json(request.content_type))
        batch = TRY(otlp::decode_json(body, m_limits));
    else
        batch = TRY(otlp::decode_protobuf(body, m_limits));
    return take(*batch, request.space, request.project, request.projects);
}

IngestResponse refuse_type(std::string_view content_type) {
    const bool json = is_json(content_type);
    IngestResponse response;
    response.content_type = json ? "application/json" : "application/x-protobuf";
    response.status = 415;
    response.body = otlp::encode_status(json ? otlp::Encoding::json : otlp::Encoding::protobuf, 3,
                                        "use application/x-protobuf or application/json");
    return response;
}

IngestResponse refuse(otlp::Encoding encoding, const Error& error) {
    IngestResponse response;
    response.content_type = encoding == otlp::Encoding::json ? "application/json" : "application/x-protobuf";
    // OTLP clients retry 429, 502, 503 and 504 only, and drop the data after any other status: what is not the
    // request's fault is therefore `unavailable`.
    const bool is_request_fault = error.code == Code::invalid || error.code == Code::too_large ||
                                  error.code == Code::unauthorized || error.code == Code::forbidden ||
                                  error.code == Code::not_found || error.code == Code::busy;
    const Code code = is_request_fault ? error.code : Code::unavailable;
    constexpr int soon = 2; // an SDK stops after ten seconds: time for four more attempts
    response.status = http_status(code);
    if (code == Code::busy || code == Code::unavailable) response.retry_after_seconds = soon;
    response.body = otlp::encode_status(encoding, static_cast<int>(grpc_code(code)), error.message);
    return response;
}

IngestResponse Ingest::respond(const IngestRequest& request) {
    const auto encoding_sent = encoding_of(request.content_type);
    if (!encoding_sent) return refuse_type(request.content_type);
    const otlp::Encoding encoding = *encoding_sent;
    IngestResponse response;
    response.content_type = encoding == otlp::Encoding::json ? "application/json" : "application/x-protobuf";
    auto taken = take(request);
    if (!taken.ok()) return refuse(encoding, taken.error());
    if (taken.value().accepted == 0 && taken.value().over_quota > 0 &&
        taken.value().over_quota == taken.value().rejected) {
        // Nothing was taken, and nothing will be before the day is over: the sender must keep it or drop it.
        response.status = 429;
        const int64_t left = day_ns - to_ns(m_clock.now()) % day_ns;
        response.retry_after_seconds = static_cast<int>(std::min<int64_t>(3600, left / 1'000'000'000 + 1));
        response.body =
            otlp::encode_status(encoding, static_cast<int>(GrpcCode::resource_exhausted), taken.value().message);
        return response;
    }
    response.body = otlp::encode_response(encoding, taken.value().rejected, taken.value().message);
    return response;
}

} // namespace hone::telemetry
