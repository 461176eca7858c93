// Span queries of Phoenix' Python client (get_spans_dataframe): POST /v1/spans (ADR 0010).
#include "api/core/in_path.h"
#include "api/core/route.h"
#include "api/core/shapes.h"
#include "api/families/phoenix/phoenix.h"
#include "api/families/phoenix/span_condition.h"
#include "api/families/phoenix/span_frame.h"
#include "crypto/crypto.h"

namespace hone::api {

// --- shapes --------------------------------------------------------------------------------------------------------

struct QuerySpansOf {
    static constexpr bool is_query = true;
    std::optional<std::string> space;
    std::optional<std::string> project_name;
    static constexpr Pack fields{
        Field{"space", &QuerySpansOf::space, "Id or name of the space; the caller's first one if not given."},
        Field{"project_name", &QuerySpansOf::project_name, "Project by id or name; \"default\" if not given."},
    };
};

struct QuerySpans {
    static constexpr bool ignores_unknown = true;
    std::vector<FrameQuery> queries;
    std::optional<Time> start_time;
    std::optional<Time> end_time;
    std::optional<int64_t> limit;
    std::optional<bool> root_spans_only;
    static constexpr Pack fields{
        Field{"queries", &QuerySpans::queries, "Each becomes one table; at most 20."},
        Field{"start_time", &QuerySpans::start_time, "Started at or after this time."},
        Field{"end_time", &QuerySpans::end_time, "Started before this time."},
        Field{"limit", &QuerySpans::limit, "Spans of each query, 1 to 100000; 1000 if not given."},
        Field{"root_spans_only", &QuerySpans::root_spans_only, "Only spans without a parent."},
    };
};

// --- handlers ------------------------------------------------------------------------------------------------------

namespace {

constexpr size_t most_span_queries = 20;
constexpr int64_t most_queried_spans = 100'000;
constexpr size_t most_queried_bytes = 256 << 20;
constexpr int64_t spans_of_a_page = 1000;

Result<std::vector<json::Value>> queried_spans(const Call& call, const telemetry::ListSpans& wanted, int64_t limit) {
    telemetry::ListSpans request = wanted;
    std::vector<json::Value> spans;
    size_t bytes = 0;
    while (limit > 0) {
        request.limit = static_cast<size_t>(std::min(limit, spans_of_a_page));
        const auto page = TRY(call.services.spans.payloads(request));
        for (const auto& payload : page.spans)
            bytes += payload.attributes.size() + payload.input.size() + payload.output.size() + payload.events.size();
        if (bytes > most_queried_bytes)
            return too_large("these spans have more than 256 MiB; use a smaller limit or a shorter time");
        for (json::Value& span : TRY(phoenix_spans_of(request.scope.project, page.spans)))
            spans.push_back(std::move(span));
        limit -= static_cast<int64_t>(page.spans.size());
        if (page.next_cursor.empty()) break;
        request.cursor = page.next_cursor;
    }
    return spans;
}

} // namespace

Result<net::Response> query_spans(const Call& call, const QuerySpansOf& query, const QuerySpans& body) {
    if (body.queries.size() > most_span_queries)
        return invalid("at most " + std::to_string(most_span_queries) + " queries in one request");
    const int64_t limit = body.limit.value_or(1000);
    if (limit < 1 || limit > most_queried_spans)
        return invalid("limit must be between 1 and " + std::to_string(most_queried_spans));
    const auto project =
        TRY(find_project(call, query.space, query.project_name.value_or("default"), access::Permission::project_read));
    std::vector<std::string> tables;
    for (const FrameQuery& each : body.queries) {
        telemetry::ListSpans request;
        if (each.filter && each.filter->condition && !trim(*each.filter->condition).empty())
            request.scope.filter = TRY(filter_of_condition(*each.filter->condition));
        if (body.start_time) request.scope.from_ns = to_ns(*body.start_time);
        if (body.end_time) request.scope.to_ns = to_ns(*body.end_time);
        if (body.root_spans_only.value_or(false)) request.conditions.parent_id = "";
        request.scope.project = project.id.text();
        request.scope.cancel = call.head.gone;
        tables.push_back(print_frame(each, TRY(queried_spans(call, request, limit))));
    }
    const std::string boundary = "hone-" + crypto::random_token(16);
    net::Response response;
    response.content_type = "multipart/mixed; boundary=" + boundary;
    for (const std::string& table : tables)
        response.body += "--" + boundary + "\r\nContent-Type: application/json\r\n\r\n" + table + "\r\n";
    response.body += "--" + boundary + "--\r\n";
    return response;
}

// --- routes --------------------------------------------------------------------------------------------------------

namespace {

using enum access::Permission;

const Route phoenix_span_queries_table[] = {
    route<query_spans>("POST", "/v1/spans", need(project_read),
                       "Query spans with conditions of Phoenix' client; tables for pandas, one part each.")
        .raw("multipart/mixed")
        .on(net::Lane::query)
        .like_phoenix(),
};

} // namespace

std::span<const Route> phoenix_span_queries_routes() {
    return phoenix_span_queries_table;
}

} // namespace hone::api
