// LangSmith's own protocol, for clients that are pointed here: runs become spans, feedback becomes evals.
#include "api/core/in_path.h"
#include "api/core/route.h"
#include "api/core/shapes.h"
#include "crypto/crypto.h"
#include "telemetry/imports/langsmith_runs.h"
#include "telemetry/spans.h"

#include <set>

namespace hone::api {

// What LangSmith's clients send when they read projects, which they call sessions.
struct LangsmithSessions {
    static constexpr bool is_query = true;
    std::optional<std::string> space;
    std::optional<std::string> name;
    std::optional<std::string> name_contains;
    std::optional<int64_t> limit;
    std::optional<int64_t> offset;
    std::optional<std::string> include_stats;
    std::optional<std::string> reference_free;
    static constexpr Pack fields{
        Field{"space", &LangsmithSessions::space, "Id or name of the space; the caller's first one if not given."},
        Field{"name", &LangsmithSessions::name, "Only the project of this name."},
        Field{"name_contains", &LangsmithSessions::name_contains, "Only projects whose name contains this."},
        Field{"limit", &LangsmithSessions::limit, "Rows in one response, 1 to 1000; 100 if not given."},
        Field{"offset", &LangsmithSessions::offset, "Number of projects to skip."},
        Field{"include_stats", &LangsmithSessions::include_stats, "Has no effect."},
        Field{"reference_free", &LangsmithSessions::reference_free, "Has no effect."},
    };
};

namespace {

telemetry::Eval eval_of_feedback(const json::Object& feedback, const access::Caller& caller) {
    const auto text = [&](std::string_view name) {
        const json::Value* value = feedback.if_contains(name);
        return value && value->is_string() ? std::string(value->get_string()) : std::string();
    };
    telemetry::Eval eval;
    eval.name = truncate_utf8(text("key"), 200);
    eval.annotator = caller.principal();
    eval.identifier = truncate_utf8(text("id"), 200);
    eval.explanation = text("comment");
    if (const json::Value* source = feedback.if_contains("feedback_source"); source && source->is_object())
        if (const json::Value* type = source->get_object().if_contains("type"); type && type->is_string())
            if (type->get_string() == "model" || type->get_string() == "auto_eval")
                eval.kind = telemetry::EvalKind::llm;
    if (const json::Value* score = feedback.if_contains("score")) {
        if (score->is_bool()) eval.score = score->get_bool() ? 1 : 0;
        if (score->is_int64()) eval.score = static_cast<double>(score->get_int64());
        if (score->is_double()) eval.score = score->get_double();
    }
    if (const json::Value* value = feedback.if_contains("value"); value && !value->is_null())
        eval.label = truncate_utf8(value->is_string() ? std::string(value->get_string()) : json::print(*value), 1000);
    return eval;
}

// not_found when a run has not arrived; LangSmith's clients retry then.
Result<> write_feedback(const Call& call, const access::SpaceId& space, const std::vector<json::Object>& feedback) {
    std::vector<telemetry::PlaceName> names;
    std::vector<telemetry::Eval> evals;
    for (const json::Object& entry : feedback) {
        telemetry::Eval eval = eval_of_feedback(entry, call.caller);
        if (eval.name.empty()) return invalid("feedback needs a key");
        const json::Value* run = entry.if_contains("run_id");
        const std::string id = run && run->is_string() ? telemetry::span_id_of_run(run->get_string()) : std::string();
        if (id.empty()) return invalid("feedback needs run_id, a UUID");
        names.push_back({id, id});
        eval.target_id = id;
        evals.push_back(std::move(eval));
    }
    const auto places = TRY(call.services.spans.places(call.caller, space, telemetry::EvalTarget::span, names,
                                                       access::Permission::eval_write));
    for (telemetry::Eval& eval : evals) {
        const auto place = places.find(eval.target_id);
        if (place == places.end()) return not_found("the run of the feedback");
        eval.project = place->second.project.id.text();
    }
    TRY(call.services.spans.evals.upsert(std::move(evals)));
    return {};
}

Result<std::string_view> unpacked_body(const Call& call, const RawBody& body, std::string& storage) {
    telemetry::IngestRequest request;
    request.body = body.bytes;
    request.content_encoding = call.head.header("Content-Encoding");
    return telemetry::unpack_body(request, storage);
}

// Who may not send gets no hint about the body.
template <class Read>
Result<net::Response> take_operations(const Call& call, const InSpace& query, const RawBody& body, Read read) {
    const auto space = TRY(space_of(call, query.space));
    TRY(call.services.spans.check_sender(call.caller, space));
    std::string storage;
    const std::string_view text = TRY(unpacked_body(call, body, storage));
    const telemetry::RunOperations operations = TRY(read(text));
    auto runs = telemetry::spans_of_runs(operations.runs, to_ns(call.services.clock.now()));
    json::Object response;
    response["message"] = "Runs accepted";
    if (!runs.batch.resources.empty()) {
        const auto accepted = TRY(call.services.spans.ingest_runs(call.caller, space, runs));
        if (accepted.accepted == 0 && accepted.over_quota > 0) return busy(accepted.message);
        if (!accepted.message.empty()) response["rejected"] = accepted.message;
    }
    // The runs are stored: feedback that cannot be written does not make the client send them again.
    if (!operations.feedback.empty())
        if (const auto written = write_feedback(call, space, operations.feedback); !written.ok())
            response["feedback"] = "not written: " + written.error().message;
    return net::json_response(202, json::print(std::move(response)));
}

} // namespace

Result<net::Response> get_langsmith_info(const Call&) {
    return net::json_response(
        200, R"({"version":"0.10.0","batch_ingest_config":{"use_multipart_endpoint":true,"size_limit":100,)"
             R"("size_limit_bytes":20971520,"scale_up_qsize_trigger":1000,"scale_up_nthreads_limit":16,)"
             R"("scale_down_nempty_trigger":4},"instance_flags":{"gzip_body_enabled":true}})");
}

Result<net::Response> take_run_form(const Call& call, const InSpace& query, const RawBody& body) {
    return take_operations(call, query, body, [&](std::string_view form) {
        return telemetry::read_run_form(call.head.header("Content-Type"), form);
    });
}

Result<net::Response> take_run_batch(const Call& call, const InSpace& query, const RawBody& body) {
    return take_operations(call, query, body, [](std::string_view text) { return telemetry::read_run_batch(text); });
}

Result<net::Response> begin_run(const Call& call, const InSpace& query, const RawBody& body) {
    return take_operations(call, query, body, [](std::string_view text) { return telemetry::read_run(text, false); });
}

Result<net::Response> end_run(const Call& call, const InSpace& query, const RawBody& body) {
    return take_operations(call, query, body,
                           [&](std::string_view text) { return telemetry::read_run(text, true, call.at("run_id")); });
}

namespace {

constexpr int64_t most_sessions = 1000;

// Its clients require UUIDs: the same for the same id of Hone.
std::string uuid_of(std::string_view id) {
    const std::string digits = to_hex(crypto::hash(id).substr(0, 16));
    return digits.substr(0, 8) + "-" + digits.substr(8, 4) + "-4" + digits.substr(13, 3) + "-8" + digits.substr(17, 3) +
           "-" + digits.substr(20, 12);
}

json::Object session_of(const access::Project& project) {
    return json::Object{{"id", uuid_of(project.id.text())},
                        {"name", project.name},
                        {"description", project.description},
                        {"start_time", to_text(project.created_at)},
                        {"tenant_id", uuid_of(project.space_id.text())},
                        {"reference_dataset_id", nullptr}};
}

} // namespace

Result<net::Response> list_langsmith_sessions(const Call& call, const LangsmithSessions& query) {
    const auto space = TRY(space_of(call, query.space));
    const int64_t limit = query.limit.value_or(100), offset = query.offset.value_or(0);
    if (limit < 1 || limit > most_sessions) return invalid("query parameter limit must be between 1 and 1000");
    if (offset < 0) return invalid("query parameter offset must not be negative");
    json::Array sessions;
    if (query.name) {
        auto project = call.access().projects.find(call.caller, space, *query.name);
        if (!project.ok() && project.error().code != Code::not_found) return std::move(project).error();
        if (project.ok() && project.value().name == *query.name && offset == 0)
            sessions.push_back(session_of(project.value()));
    } else if (offset < most_sessions) {
        const auto page = TRY(page_of(std::min(most_sessions, offset + limit), {}));
        const auto projects = TRY(call.access().projects.list(call.caller, space, query.name_contains, page));
        for (size_t at = static_cast<size_t>(offset); at < projects.data.size(); ++at)
            sessions.push_back(session_of(projects.data[at]));
    }
    return net::json_response(200, json::print(std::move(sessions)));
}

Result<net::Response> take_feedback(const Call& call, const InSpace& query, const RawBody& body) {
    const auto space = TRY(space_of(call, query.space));
    std::string storage;
    const std::string_view text = TRY(unpacked_body(call, body, storage));
    json::Value tree = TRY(json::parse(text));
    if (!tree.is_object()) return invalid("the body must be a feedback");
    TRY(write_feedback(call, space, {tree.get_object()}));
    return net::json_response(200, json::print(tree));
}

namespace {

using enum access::Permission;

constexpr Route for_langsmith(Route row) {
    return row.raw("application/json")
        .with_body_limit(telemetry::Ingest::body_limit)
        .on(net::Lane::ingest)
        .responds(202)
        .from_sdks();
}

const Route langsmith_table[] = {
    route<get_langsmith_info>("GET", "/api/v1/info", guest, "What LangSmith's clients read before they send.")
        .raw("application/json"),
    for_langsmith(route<take_run_form>("POST", "/api/v1/runs/multipart", need(trace_write),
                                       "Send runs as a form, in LangSmith's protocol.")
                      .takes("multipart/form-data")),
    for_langsmith(route<take_run_batch>("POST", "/api/v1/runs/batch", need(trace_write),
                                        "Send runs as lists, in LangSmith's protocol.")
                      .takes("application/json")),
    for_langsmith(route<begin_run>("POST", "/api/v1/runs", need(trace_write), "Send one run, in LangSmith's protocol.")
                      .takes("application/json")),
    for_langsmith(route<end_run>("PATCH", "/api/v1/runs/{run_id}", need(trace_write),
                                 "Send the end of a run, in LangSmith's protocol.")
                      .takes("application/json")),
    route<list_langsmith_sessions>("GET", "/api/v1/sessions", need(project_read),
                                   "Projects, as LangSmith's clients read them.")
        .raw("application/json")
        .on(net::Lane::query)
        .from_sdks(),
    route<take_feedback>("POST", "/api/v1/feedback", need(eval_write),
                         "Write an eval of a run, in LangSmith's protocol.")
        .takes("application/json")
        .raw("application/json")
        .on(net::Lane::query)
        .from_sdks(),
};

} // namespace

std::span<const Route> langsmith_routes() {
    return langsmith_table;
}

} // namespace hone::api
