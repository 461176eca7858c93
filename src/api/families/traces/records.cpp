// Log records and metrics over OTLP. How they are used: docs/send-traces.md.
#include "api/core/drop_in.h"
#include "api/core/in_path.h"
#include "api/core/route.h"
#include "api/core/shapes.h"
#include "telemetry/spans.h"

namespace hone::api {

namespace {

telemetry::IngestRequest records_request(const Call& call, const RawBody& body) {
    telemetry::IngestRequest request;
    request.body = body.bytes;
    request.content_type = call.head.header("Content-Type");
    request.content_encoding = call.head.header("Content-Encoding");
    request.project = project_header(call.head);
    return request;
}

net::Response records_response(telemetry::IngestResponse taken) {
    net::Response response;
    response.status = taken.status;
    response.content_type = std::move(taken.content_type);
    response.body = std::move(taken.body);
    if (taken.retry_after_seconds > 0) response.set_header("Retry-After", std::to_string(taken.retry_after_seconds));
    return response;
}

} // namespace

Result<net::Response> take_logs(const Call& call, const InSpace& query, const RawBody& body) {
    const auto space = TRY(space_of(call, query.space));
    return records_response(TRY(call.services.spans.ingest_logs(call.caller, space, records_request(call, body))));
}

Result<net::Response> take_metrics(const Call& call, const InSpace& query, const RawBody& body) {
    const auto space = TRY(space_of(call, query.space));
    return records_response(TRY(call.services.spans.ingest_metrics(call.caller, space, records_request(call, body))));
}

namespace {

using enum access::Permission;

constexpr Route as_otlp(Route row) {
    return row.takes("application/x-protobuf, application/json")
        .raw("application/x-protobuf, application/json")
        .with_body_limit(telemetry::Ingest::body_limit)
        .on(net::Lane::ingest)
        .from_sdks()
        .fails_as(ErrorForm::rpc_status);
}

const Route records_table[] = {
    as_otlp(route<take_logs>(
        "POST", "/v1/logs", need(trace_write),
        "Send log records: OTLP over HTTP. Those that name a span are shown on it; others can be searched.")),
    as_otlp(
        route<take_metrics>("POST", "/v1/metrics", need(trace_write),
                            "Send metrics: OTLP over HTTP. Those about models become series; others are counted and "
                            "dropped.")),
};

} // namespace

std::span<const Route> records_routes() {
    return records_table;
}

} // namespace hone::api
