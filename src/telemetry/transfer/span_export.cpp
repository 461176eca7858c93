#include "telemetry/transfer/span_export.h"

#include "base/file.h"
#include "base/id.h"
#include "otlp/attribute_text.h"
#include "otlp/encode.h"
#include "telemetry/span/text_slices.h"

#include <algorithm>
#include <cerrno>
#include <fcntl.h>
#include <unistd.h>

namespace hone::telemetry {

namespace {

constexpr size_t most_rows = 1000;
constexpr Duration file_deadline = std::chrono::minutes(30);

// Columns of the Parquet file. Attributes are written in full; where a map only looks like a mark for a column (nearly
// never), the marks stay, and the import resolves them.
std::string parquet_columns() {
    const std::string attributes = full_attributes_sql();
    return "toString(trace_id) AS trace_id, toString(span_id) AS span_id, parent_id, toString(name) AS name, "
           "toString(kind) AS kind, otel_kind, start_ns, duration_ns, toString(status) AS status, status_message, "
           "toString(service) AS service, toString(version) AS version, toString(model) AS model, "
           "toString(provider) AS provider, input_tokens, cache_read_tokens, cache_write_tokens, output_tokens, "
           "reasoning_tokens, cost_nano_usd, toString(cost_source) AS cost_source, user_id, chat_session, "
           "toString(tool_name) AS tool_name, toString(finish_reason) AS finish_reason, documents, "
           "toString(exception_type) AS exception_type, exception_message, "
           "arrayMap(key -> toString(key), truncated) AS truncated, input, toString(input_mime) AS input_mime, output, "
           "toString(output_mime) AS output_mime, "
           "if(position(attributes, '{\"$map\":{\"$column\"') > 0, " +
           attributes + ", replaceOne(replaceOne(" + attributes +
           ", '{\"$column\":\"input\"}', toJSONString(input)), '{\"$column\":\"output\"}', toJSONString(output))) AS "
           "attributes, resource, scope, events, links, wire";
}

void append_tokens(std::string& out, const Tokens& tokens) {
    out += R"({"input":)" + std::to_string(tokens.input) + R"(,"cache_read":)" + std::to_string(tokens.cache_read) +
           R"(,"cache_write":)" + std::to_string(tokens.cache_write) + R"(,"output":)" + std::to_string(tokens.output) +
           R"(,"reasoning":)" + std::to_string(tokens.reasoning) + "}";
}

// Pages of spans, each as a piece of the file.
class PageSource final : public net::BodySource {
public:
    PageSource(SpanStore& store, ExportFormat format, const Scope& scope) : m_store(store), m_format(format) {
        m_request.scope = scope;
        m_request.oldest_first = true;
        m_request.limit = most_rows;
    }

    Result<std::string> next() override {
        std::string out;
        while (out.empty() && !m_is_over) { // nothing but the last page may end the file
            const PayloadPage page = TRY(next_page());
            m_request.cursor = page.next_cursor;
            m_is_over = page.next_cursor.empty();
            if (!page.spans.empty()) out = TRY(encode(page.spans));
        }
        return out;
    }

private:
    // Spans of any size: pages shrink where they are large and grow again.
    Result<PayloadPage> next_page() {
        for (;;) {
            auto page = m_store.list_payloads(m_request);
            if (page.ok()) {
                m_request.limit = std::min(most_rows, m_request.limit * 2);
                return page;
            }
            if (page.error().code != Code::too_large || m_request.limit == 1) return page;
            m_request.limit = std::max<size_t>(1, m_request.limit / 8);
        }
    }

    Result<std::string> encode(const std::vector<SpanPayload>& spans) const {
        std::string out;
        if (m_format == ExportFormat::jsonl) {
            for (const SpanPayload& span : spans) append_span_line(out, span);
            return out;
        }
        const otlp::Batch batch = TRY(to_otlp(spans));
        // Protobuf messages that follow each other are one message: the whole file is a single request.
        if (m_format == ExportFormat::otlp_proto) return otlp::encode_batch(otlp::Encoding::protobuf, batch);
        return otlp::encode_batch(otlp::Encoding::json, batch) + "\n";
    }

    SpanStore& m_store;
    const ExportFormat m_format;
    ListSpans m_request;
    bool m_is_over = false;
};

// A file that is removed when it is read or discarded.
class FileSource final : public net::BodySource {
public:
    FileSource(std::string path, Fd file) : m_path(std::move(path)), m_file(std::move(file)) {}
    ~FileSource() override { ::unlink(m_path.c_str()); }

    Result<std::string> next() override {
        std::string bytes(256 << 10, '\0');
        const ssize_t count = ::read(m_file.get(), bytes.data(), bytes.size());
        if (count < 0) return system_error("read " + m_path, errno);
        bytes.resize(static_cast<size_t>(count));
        return bytes;
    }

private:
    const std::string m_path;
    const Fd m_file;
};

// What a cluster made, held as it came.
class TextSource final : public net::BodySource {
public:
    explicit TextSource(std::string bytes) : m_bytes(std::move(bytes)) {}
    Result<std::string> next() override { return std::exchange(m_bytes, {}); }

private:
    std::string m_bytes;
};

Result<std::unique_ptr<net::BodySource>> open_parquet(Telemetry& telemetry, SpanStore& store, const Scope& scope) {
    ClickHouseQuery query = TRY(store.select(scope, parquet_columns()));
    query.sql += " ORDER BY start_ns, span_id, trace_id";
    query.deadline = file_deadline;
    query.set("max_execution_time",
              std::to_string(std::chrono::duration_cast<std::chrono::seconds>(file_deadline).count()));
    query.set("output_format_parquet_compression_method", "zstd");
    query.set("output_format_parquet_row_group_size_bytes", std::to_string(32 << 20));
    query.set("output_format_parquet_string_as_string", "1");
    const EngineProcess* engine = telemetry.engine_process();
    if (engine == nullptr) { // a cluster returns the file itself
        query.sql += " FORMAT Parquet";
        query.most_bytes = size_t{1} << 30;
        return std::unique_ptr<net::BodySource>(std::make_unique<TextSource>(TRY(telemetry.engine().query(query))));
    }
    // The embedded engine would hold the whole result in memory; a file it writes row group by row group.
    // It is named as the engine sees it from its directory, whose own name may have what SQL gives a meaning.
    const std::string below = "/exports/" + make_ulid(SystemClock().now()) + ".parquet";
    const std::string path = engine->directory() + below;
    TRY(make_directories(engine->directory() + "/exports"));
    query.sql += " INTO OUTFILE '/proc/self/cwd" + below + "' FORMAT Parquet";
    auto made = telemetry.engine().query(query);
    Fd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
    const bool is_open = file.is_open();
    auto source = std::make_unique<FileSource>(path, std::move(file)); // from here on it deletes the file
    if (!made.ok()) return std::move(made).error();
    if (!is_open) return internal("the engine wrote no file");
    return std::unique_ptr<net::BodySource>(std::move(source));
}

} // namespace

std::string_view content_type_of(ExportFormat format) {
    switch (format) {
    case ExportFormat::parquet:
        return "application/vnd.apache.parquet";
    case ExportFormat::otlp_proto:
        return "application/x-protobuf";
    default:
        return "application/x-ndjson";
    }
}

std::string_view file_ending_of(ExportFormat format) {
    switch (format) {
    case ExportFormat::jsonl:
        return "jsonl";
    case ExportFormat::parquet:
        return "parquet";
    case ExportFormat::otlp:
        return "otlp.jsonl";
    case ExportFormat::otlp_proto:
        return "otlp.pb";
    }
    return "jsonl";
}

void append_span_line(std::string& out, const SpanPayload& span) {
    const auto text = [&](std::string_view name, std::string_view value) {
        out += ",\"";
        out += name;
        out += "\":";
        otlp::append_json_string(out, value);
    };
    const auto json = [&](std::string_view name, std::string_view value) {
        out += ",\"";
        out += name;
        out += "\":";
        out += value;
    };
    const SpanRow& row = span.row;
    out += R"({"trace_id":")" + row.trace_id + "\"";
    text("span_id", row.span_id);
    text("parent_id", row.parent_id);
    text("name", row.name);
    json("otel_kind", std::to_string(row.otel_kind));
    text("start_time", to_text(from_ns(row.start_ns)));
    text("end_time", to_text(from_ns(row.start_ns + row.duration_ns)));
    text("status", name_of(row.status));
    text("status_message", row.status_message);
    json("attributes", attributes_in_full(span));
    json("resource", span.resource);
    json("scope", span.scope);
    json("events", span.events);
    json("links", span.links);
    json("wire", span.wire);
    std::string truncated = "[";
    for (const std::string& key : span.truncated) {
        if (truncated.size() > 1) truncated += ',';
        otlp::append_json_string(truncated, key);
    }
    json("truncated", truncated + "]");
    // What Hone made of it.
    text("kind", name_of(row.kind));
    text("service", row.service);
    text("model", row.model);
    text("provider", row.provider);
    std::string tokens;
    append_tokens(tokens, row.tokens);
    json("tokens", tokens);
    json("cost_micro_usd", std::to_string((row.cost_nano_usd + 500) / 1000));
    text("user_id", row.user_id);
    text("session_id", row.chat_session);
    out += "}\n";
}

Result<std::unique_ptr<net::BodySource>> open_export(Telemetry& telemetry, ExportFormat format, const Scope& scope) {
    SpanStore& store = *TRY(telemetry.store());
    TRY(store.select(scope, "1")); // a wrong filter is an error now
    if (format == ExportFormat::parquet) return open_parquet(telemetry, store, scope);
    return std::unique_ptr<net::BodySource>(std::make_unique<PageSource>(store, format, scope));
}

} // namespace hone::telemetry
