#include "api/route.h"
#include "api/span_handlers.h"

namespace hone::api {

namespace {

constexpr size_t most_evals = 100'000;
constexpr size_t most_shown = 1000; // more are answered with their ids only

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

Result<net::Response> write_evals(const Call& call, const HowToWriteEvals& query, const WriteEvals& body) {
    const auto project = TRY(project_in_path(call, query.space, access::Permission::eval_write));
    if (body.data.empty() || body.data.size() > most_evals)
        return invalid("data must hold 1 to " + std::to_string(most_evals) + " evals");
    TRY(store_of(call));
    std::vector<telemetry::Eval> evals;
    evals.reserve(body.data.size());
    for (const NewEval& wanted : body.data) evals.push_back(eval_of(wanted, project, call.caller));
    const auto written = TRY(TRY(spans_of(call))->evals.upsert(std::move(evals)));
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
    TRY(store_of(call));
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
    const auto found = TRY(TRY(spans_of(call))->evals.list(request));
    List<EvalView> list;
    for (const auto& eval : found.evals) list.data.push_back(view_of(eval));
    if (!found.next_cursor.empty()) list.next_cursor = found.next_cursor;
    return list;
}

Result<List<EvalNameView>> list_eval_names(const Call& call, const InSpace& query) {
    const auto project = TRY(project_in_path(call, query.space, access::Permission::project_read));
    TRY(store_of(call));
    List<EvalNameView> list;
    for (auto& one : TRY(TRY(spans_of(call))->evals.names(project.id.text())))
        list.data.push_back({one.target, std::move(one.name), one.count, std::move(one.labels)});
    return list;
}

Result<List<EvalView>> get_eval_history(const Call& call, const AskEvalHistory& query) {
    const auto project = TRY(project_in_path(call, query.space, access::Permission::project_read));
    TRY(store_of(call));
    List<EvalView> list;
    const auto target = query.target.value_or(telemetry::EvalTarget::span);
    for (const auto& eval :
         TRY(TRY(spans_of(call))->evals.history(project.id.text(), target, query.target_id.value_or(""))))
        list.data.push_back(view_of(eval));
    return list;
}

} // namespace hone::api
