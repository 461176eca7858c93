#include "telemetry/transfer/span_import.h"

#include "otlp/decode.h"
#include "telemetry/transfer/import_lines.h"
#include "telemetry/transfer/parquet_import.h"
#include "telemetry/transfer/unpack_stream.h"

#include <map>
#include <poll.h>

namespace hone::telemetry {

namespace {

constexpr size_t batch_bytes = 8 << 20;
constexpr size_t batch_resources = 4000;
constexpr size_t most_problems = 100;

class Import {
public:
    Import(Telemetry& telemetry, const ImportRequest& request) : m_telemetry(telemetry), m_request(request) {}

    Result<> take(std::string_view element, int64_t number) {
        if (m_request.format == ImportFormat::otlp_proto) {
            m_body += element;
            m_lines.push_back(number);
        } else {
            auto read = read_element(element);
            if (!read.ok()) {
                refuse(number, read.error().message);
            } else {
                for (const std::string& reason : read.value().rejected) refuse(number, reason);
                if (!read.value().truncated.empty())
                    m_truncated.emplace(static_cast<uint32_t>(m_lines.size()), std::move(read.value().truncated));
                m_body += read.value().otlp;
                m_lines.insert(m_lines.end(), read.value().resources, number);
            }
        }
        return m_body.size() >= batch_bytes || m_lines.size() + m_refused.size() >= batch_resources ? flush()
                                                                                                    : Result<>();
    }

    void refuse(int64_t number, std::string reason) { m_refused.push_back({number, std::move(reason)}); }

    Result<> flush() {
        if (m_body.empty() && m_refused.empty()) return {};
        auto decoded = otlp::decode_protobuf(m_body, m_telemetry.limits());
        if (!decoded.ok()) return invalid("the spans before this place cannot be read: " + decoded.error().message);
        otlp::Batch& batch = decoded.value();
        for (otlp::Span& span : batch.spans)
            if (const auto cut = m_truncated.find(span.resource); cut != m_truncated.end())
                span.truncated.insert(span.truncated.end(), cut->second.begin(), cut->second.end());
        for (const ImportProblem& problem : m_refused) { // counted in the ledger too
            m_lines.resize(batch.resources.size());
            m_lines.push_back(problem.line);
            batch.rejected.push_back({problem.reason, static_cast<uint32_t>(batch.resources.size())});
            batch.resources.emplace_back();
        }
        const Accepted accepted = m_request.is_dry_run ? count_batch(batch) : TRY(take_batch(batch));
        m_report.accepted += accepted.accepted;
        m_report.rejected += accepted.rejected;
        for (const Accepted::Refusal& refusal : accepted.refusals) {
            if (m_report.problems.size() < most_problems)
                m_report.problems.push_back({m_lines[refusal.resource], refusal.reason});
        }
        m_body.clear();
        m_lines.clear();
        m_truncated.clear();
        m_refused.clear();
        return {};
    }

    ImportReport finish() {
        m_report.has_more_problems = m_report.rejected > static_cast<int64_t>(m_report.problems.size());
        return std::move(m_report);
    }

    Error stopped(Error error) const {
        if (m_report.accepted > 0)
            error.message += "; " + std::to_string(m_report.accepted) + " spans before this place are stored";
        return error;
    }

    void read_as(ImportFormat format) { m_format = format; }

private:
    Result<ImportElement> read_element(std::string_view element) const {
        switch (m_format.value_or(m_request.format)) {
        case ImportFormat::phoenix:
            return read_phoenix_span(element);
        case ImportFormat::otlp:
            return read_otlp_line(element);
        case ImportFormat::langfuse:
            return read_langfuse(element);
        case ImportFormat::langsmith:
            return read_langsmith(element);
        case ImportFormat::openai_batch:
            return read_openai_batch(element, m_request.time_ns);
        case ImportFormat::anthropic_batch:
            return read_anthropic_batch(element, m_request.time_ns);
        default:
            return read_span_line(element);
        }
    }

    static Accepted count_batch(const otlp::Batch& batch) {
        Accepted counted;
        counted.accepted = static_cast<int64_t>(batch.spans.size());
        counted.rejected = static_cast<int64_t>(batch.rejected.size());
        for (const otlp::Rejection& rejection : batch.rejected)
            counted.refusals.push_back({rejection.resource, rejection.reason});
        return counted;
    }

    // A full log empties again: wait for it instead of failing half-way.
    Result<Accepted> take_batch(otlp::Batch& batch) {
        const auto until = std::chrono::steady_clock::now() + m_request.patience;
        for (;;) {
            auto accepted = m_telemetry.ingester().take(batch, m_request.space, m_request.project, m_request.projects);
            const bool shall_wait = !accepted.ok() && accepted.error().code == Code::busy;
            if (!shall_wait || std::chrono::steady_clock::now() > until) return accepted;
            ::poll(nullptr, 0, 200); // the log has no signal for "there is room again"
        }
    }

    Telemetry& m_telemetry;
    const ImportRequest& m_request;
    std::optional<ImportFormat> m_format; // what a Parquet file holds
    std::string m_body;                   // OTLP, ResourceSpans after ResourceSpans
    std::vector<int64_t> m_lines;         // where each of them came from
    std::map<uint32_t, std::vector<std::string>> m_truncated;
    std::vector<ImportProblem> m_refused;
    ImportReport m_report;
};

ElementSplitter::Kind imported_kind_of(ImportFormat format) {
    switch (format) {
    case ImportFormat::phoenix:
        return ElementSplitter::Kind::json_values;
    case ImportFormat::otlp_proto:
        return ElementSplitter::Kind::otlp_messages;
    case ImportFormat::langfuse:
    case ImportFormat::langsmith:
    case ImportFormat::openai_batch:
    case ImportFormat::anthropic_batch:
        return ElementSplitter::Kind::json;
    default:
        return ElementSplitter::Kind::lines;
    }
}

Result<> read_all(Telemetry& telemetry, const ImportRequest& request, const PieceSource& next, Import& import) {
    const bool is_parquet = request.format == ImportFormat::parquet;
    ElementSplitter splitter(
        imported_kind_of(request.format),
        [&](std::string_view element, int64_t number) { return import.take(element, number); },
        [&](int64_t number, std::string reason) { import.refuse(number, std::move(reason)); });
    const auto add = [&](std::string_view bytes) { return splitter.add(bytes); };
    if (is_parquet) {
        const auto begin = [&](const ParquetRows& rows) -> Result<> {
            import.read_as(rows.format);
            return {};
        };
        TRY(read_parquet(telemetry.directory(), telemetry.engine_options(), next, begin, add));
    } else {
        const auto unpacked = TRY(UnpackStream::make(request.encoding));
        for (std::string piece; !(piece = TRY(next())).empty();) TRY(unpacked->add(piece, add));
        TRY(unpacked->finish());
    }
    TRY(splitter.finish());
    return import.flush();
}

} // namespace

Result<ImportReport> import_spans(Telemetry& telemetry, const ImportRequest& request, const PieceSource& next) {
    Import import(telemetry, request);
    if (auto done = read_all(telemetry, request, next, import); !done.ok()) {
        if (auto kept = import.flush(); !kept.ok()) return import.stopped(std::move(kept).error());
        return import.stopped(std::move(done).error());
    }
    return import.finish();
}

} // namespace hone::telemetry
