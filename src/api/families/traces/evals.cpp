// Evals: labels and scores of spans, traces and chat sessions.
#include "api/core/in_path.h"
#include "api/core/route.h"
#include "api/core/shapes.h"
#include "api/families/traces/span_views.h"

namespace hone::api {

// --- shapes --------------------------------------------------------------------------------------------------------

struct NewEval {
    json::Defaulted<telemetry::EvalTarget> target = telemetry::EvalTarget::span;
    std::string target_id;
    std::string name;
    std::optional<std::string> identifier;
    json::Defaulted<telemetry::EvalKind> kind = telemetry::EvalKind::human;
    std::optional<std::string> label;
    std::optional<double> score;
    std::optional<std::string> explanation;
    std::optional<json::Value> metadata;
    static constexpr Pack fields{
        Field{"target", &NewEval::target, "span (default), trace or chat_session."},
        Field{"target_id", &NewEval::target_id, "Span id, trace id, or the chat session's name."},
        Field{"name", &NewEval::name, ""},
        Field{"identifier", &NewEval::identifier,
              "Distinguishes evals of the same name; an eval with the same identifier is replaced."},
        Field{"kind", &NewEval::kind, "human (default), llm, code or agent."},
        Field{"label", &NewEval::label, "A label, a score or an explanation is needed."},
        Field{"score", &NewEval::score, ""},
        Field{"explanation", &NewEval::explanation, ""},
        Field{"metadata", &NewEval::metadata, "Any JSON object."},
    };
};

struct WriteEvals {
    std::vector<NewEval> data;
    static constexpr Pack fields{Field{"data", &WriteEvals::data, "The evals, at most 100000."}};
};

struct ListEvalViews {
    static constexpr bool is_query = true;
    std::optional<std::string> space;
    std::optional<telemetry::EvalTarget> target;
    std::vector<std::string> target_id;
    std::optional<std::string> trace_id;
    std::vector<std::string> name;
    std::optional<int64_t> limit;
    std::optional<std::string> cursor;
    static constexpr Pack fields{
        Field{"space", &ListEvalViews::space, "Id or name of the space; the caller's first one if not given."},
        Field{"target", &ListEvalViews::target, "span (if not given), trace or chat_session."},
        Field{"target_id", &ListEvalViews::target_id, "Only evals of this target; may be repeated."},
        Field{"trace_id", &ListEvalViews::trace_id, "Only evals of spans of this trace."},
        Field{"name", &ListEvalViews::name, "Only evals with this name; may be repeated."},
        Field{"limit", &ListEvalViews::limit, "Rows in one response, 1 to 1000; 100 if not given."},
        Field{"cursor", &ListEvalViews::cursor, "next_cursor of the previous response."},
    };
};

struct EvalHistoryQuery {
    static constexpr bool is_query = true;
    std::optional<std::string> space;
    std::optional<telemetry::EvalTarget> target;
    std::optional<std::string> target_id;
    static constexpr Pack fields{
        Field{"space", &EvalHistoryQuery::space, "Id or name of the space; the caller's first one if not given."},
        Field{"target", &EvalHistoryQuery::target, "span (if not given), trace or chat_session."},
        Field{"target_id", &EvalHistoryQuery::target_id, "Id of the target."},
    };
};

struct WriteEvalsOptions {
    static constexpr bool is_query = true;
    std::optional<std::string> space;
    std::optional<bool> brief;
    static constexpr Pack fields{
        Field{"space", &WriteEvalsOptions::space, "Id or name of the space; the caller's first one if not given."},
        Field{"brief", &WriteEvalsOptions::brief, "Return only the ids; always the case above 1000 evals."},
    };
};

struct EvalNameView {
    telemetry::EvalTarget target = telemetry::EvalTarget::span;
    std::string name;
    int64_t count = 0;
    std::vector<std::string> labels;
    static constexpr Pack fields{
        Field{"target", &EvalNameView::target, ""},
        Field{"name", &EvalNameView::name, ""},
        Field{"count", &EvalNameView::count, "Number of evals."},
        Field{"labels", &EvalNameView::labels, "The most frequent labels."},
    };
};

struct EvalView {
    std::string id;
    telemetry::EvalTarget target = telemetry::EvalTarget::span;
    std::string target_id;
    std::string name;
    std::string identifier;
    std::string annotator;
    telemetry::EvalKind kind = telemetry::EvalKind::human;
    std::string label;
    std::optional<double> score;
    std::string explanation;
    json::Value metadata;
    Time created_at{};
    Time updated_at{};
    bool deleted = false;
    std::optional<int64_t> evaluator_version;
    std::optional<std::string> job;
    double inclusion = 1;
    static constexpr Pack fields{
        Field{"id", &EvalView::id, ""},
        Field{"target", &EvalView::target, ""},
        Field{"target_id", &EvalView::target_id, "Span id, trace id, or the chat session's name."},
        Field{"name", &EvalView::name, ""},
        Field{"identifier", &EvalView::identifier, "Distinguishes evals of the same name."},
        Field{"annotator", &EvalView::annotator, "Name of the author."},
        Field{"kind", &EvalView::kind, ""},
        Field{"label", &EvalView::label, ""},
        Field{"score", &EvalView::score, ""},
        Field{"explanation", &EvalView::explanation, ""},
        Field{"metadata", &EvalView::metadata, ""},
        Field{"created_at", &EvalView::created_at, ""},
        Field{"updated_at", &EvalView::updated_at, ""},
        Field{"deleted", &EvalView::deleted, "It was deleted; only in the history."},
        Field{"evaluator_version", &EvalView::evaluator_version, "Version of the evaluator that wrote it; null: none."},
        Field{"job", &EvalView::job, "Key of the job of a task that wrote it; null: none."},
        Field{"inclusion", &EvalView::inclusion, "Probability that the target was sampled; 1: it was not by chance."},
    };
};

// --- handlers ------------------------------------------------------------------------------------------------------

EvalView view_of(const telemetry::Eval& eval) {
    return {eval.id,
            eval.target,
            eval.target_id,
            eval.name,
            eval.identifier,
            eval.annotator,
            eval.kind,
            eval.label,
            eval.score,
            eval.explanation,
            tree_of(eval.metadata),
            from_ns(eval.created_ns),
            from_ns(eval.updated_ns),
            eval.is_deleted,
            eval.evaluator_version > 0 ? std::optional(eval.evaluator_version) : std::nullopt,
            or_null(eval.job),
            eval.inclusion};
}

namespace {

constexpr size_t most_evals = 100'000;
constexpr size_t most_shown = 1000; // of more only the ids are returned

telemetry::Eval eval_of(const NewEval& wanted, const access::Project& project, const access::Caller& caller) {
    telemetry::Eval eval;
    eval.project = project.id.text();
    eval.target = *wanted.target;
    eval.target_id = wanted.target_id;
    eval.name = wanted.name;
    eval.annotator = caller.principal();
    eval.identifier = wanted.identifier.value_or("");
    eval.kind = *wanted.kind;
    eval.label = wanted.label.value_or("");
    eval.score = wanted.score;
    eval.explanation = wanted.explanation.value_or("");
    if (wanted.metadata) eval.metadata = json::print(*wanted.metadata);
    return eval;
}

} // namespace

Result<net::Response> write_evals(const Call& call, const WriteEvalsOptions& query, const WriteEvals& body) {
    const auto project = TRY(project_in_path(call, query.space, access::Permission::eval_write));
    if (body.data.empty() || body.data.size() > most_evals)
        return invalid("data must hold 1 to " + std::to_string(most_evals) + " evals");
    TRY(call.services.spans.store());
    std::vector<telemetry::Eval> evals;
    evals.reserve(body.data.size());
    for (const NewEval& wanted : body.data) evals.push_back(eval_of(wanted, project, call.caller));
    const auto written = TRY(call.services.spans.evals.upsert(std::move(evals)));
    if (!query.brief.value_or(false) && written.size() <= most_shown) {
        List<EvalView> list;
        for (const auto& eval : written) list.data.push_back(view_of(eval));
        return detail::respond(std::move(list));
    }
    std::string ids = R"({"data":[)";
    for (const auto& eval : written) ids += (ids.back() == '[' ? "{\"id\":" : ",{\"id\":") + quote_json(eval.id) + "}";
    return net::json_response(200, ids + R"(],"next_cursor":null})");
}

Result<List<EvalView>> list_evals(const Call& call, const ListEvalViews& query) {
    const auto project = TRY(project_in_path(call, query.space, access::Permission::project_read));
    TRY(call.services.spans.store());
    const auto page = TRY(page_of(query.limit, query.cursor));
    telemetry::ListEvals request;
    request.project = project.id.text();
    request.target = query.target.value_or(telemetry::EvalTarget::span);
    request.target_ids = query.target_id;
    request.trace_id = query.trace_id.value_or("");
    if (query.trace_id && request.target != telemetry::EvalTarget::span)
        return invalid("trace_id is for evals of spans; those of a trace have it as target_id");
    request.names = query.name;
    request.limit = static_cast<size_t>(page.limit);
    request.cursor = page.cursor.value_or("");
    const auto found = TRY(call.services.spans.evals.list(request));
    List<EvalView> list;
    for (const auto& eval : found.evals) list.data.push_back(view_of(eval));
    if (!found.next_cursor.empty()) list.next_cursor = found.next_cursor;
    return list;
}

Result<List<EvalNameView>> list_eval_names(const Call& call, const InSpace& query) {
    const auto project = TRY(project_in_path(call, query.space, access::Permission::project_read));
    TRY(call.services.spans.store());
    List<EvalNameView> list;
    for (auto& one : TRY(call.services.spans.evals.names(project.id.text())))
        list.data.push_back({one.target, std::move(one.name), one.count, std::move(one.labels)});
    return list;
}

Result<List<EvalView>> get_eval_history(const Call& call, const EvalHistoryQuery& query) {
    const auto project = TRY(project_in_path(call, query.space, access::Permission::project_read));
    TRY(call.services.spans.store());
    List<EvalView> list;
    const auto target = query.target.value_or(telemetry::EvalTarget::span);
    for (const auto& eval :
         TRY(call.services.spans.evals.history(project.id.text(), target, query.target_id.value_or(""))))
        list.data.push_back(view_of(eval));
    return list;
}

// --- routes --------------------------------------------------------------------------------------------------------

namespace {

using enum access::Permission;

const Route evals_table[] = {
    route<write_evals>("POST", "/v1/projects/{project}/evals", need(eval_write),
                       "Label and score spans, traces and chat sessions, up to 100,000 in one request.")
        .raw("application/json")
        .with_body_limit(telemetry::Ingest::body_limit)
        .on(net::Lane::query),
    route<list_evals>("GET", "/v1/projects/{project}/evals", need(project_read), "Evals of a project.")
        .on(net::Lane::query),
    route<list_eval_names>("GET", "/v1/projects/{project}/eval_names", need(project_read),
                           "Names of evals in use, with their labels.")
        .on(net::Lane::query),
    route<get_eval_history>("GET", "/v1/projects/{project}/eval_history", need(project_read),
                            "All versions of the evals of one target.")
        .on(net::Lane::query),
};

} // namespace

std::span<const Route> evals_routes() {
    return evals_table;
}

} // namespace hone::api
