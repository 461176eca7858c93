// Examples from what a project received: spans, turns of chat sessions, and the evidence of issues.
#include "api/core/in_path.h"
#include "api/core/route.h"
#include "api/core/shapes.h"
#include "api/families/phoenix/dataset_views.h"
#include "evaluate/content/canonical.h"
#include "evaluate/datasets/chat_turns.h"
#include "signal/issue_traces.h"
#include "signal/signal.h"
#include "telemetry/spans.h"

#include <set>

namespace hone::api {

// --- shapes --------------------------------------------------------------------------------------------------------

struct ImportFromSpans {
    std::string project;
    std::string name;
    json::Defaulted<std::string> filter;
    std::optional<std::vector<std::string>> span_ids;
    std::optional<Time> after;
    std::optional<Time> before;
    json::Defaulted<int64_t> limit{1000};
    std::optional<std::vector<std::string>> splits;
    static constexpr Pack fields{
        Field{"project", &ImportFromSpans::project, "Id or name of the project."},
        Field{"name", &ImportFromSpans::name, "Name of the dataset; it is made when there is none."},
        Field{"filter", &ImportFromSpans::filter, "Spans to import, in the filter language; if not given, roots."},
        Field{"span_ids", &ImportFromSpans::span_ids, "Only these spans."},
        Field{"after", &ImportFromSpans::after, "Started at or after this time."},
        Field{"before", &ImportFromSpans::before, "Started before this time."},
        Field{"limit", &ImportFromSpans::limit, "At most this many, newest first; 1 to 10000, 1000 if not given."},
        Field{"splits", &ImportFromSpans::splits, "Names of splits for the new examples."},
    };
};

struct ImportFromChatSession {
    std::string project;
    std::string name;
    json::Defaulted<std::string> session;
    json::Defaulted<std::vector<std::string>> trace_ids;
    std::optional<std::vector<std::string>> splits;
    static constexpr Pack fields{
        Field{"project", &ImportFromChatSession::project, "Id or name of the project."},
        Field{"name", &ImportFromChatSession::name, "Name of the dataset; it is made when there is none."},
        Field{"session", &ImportFromChatSession::session,
              "The chat session; if not given, the one that each trace belongs to."},
        Field{"trace_ids", &ImportFromChatSession::trace_ids,
              "Traces of the turns, up to 200; if not given, all turns of the session."},
        Field{"splits", &ImportFromChatSession::splits, "Names of splits for the new examples."},
    };
};

struct ImportFromIssue {
    std::string name;
    json::Defaulted<int64_t> limit{50};
    static constexpr Pack fields{
        Field{"name", &ImportFromIssue::name, "Name of the dataset; it is made when there is none."},
        Field{"limit", &ImportFromIssue::limit, "At most this many, newest first; 1 to 50, 50 if not given."},
    };
};

// --- handlers ------------------------------------------------------------------------------------------------------

namespace {

evaluate::NewExample example_of_span(const access::Project& project, const telemetry::SpanPayload& span) {
    evaluate::NewExample example;
    example.input = evaluate::span_part(span.input, "input");
    example.output = evaluate::span_part(span.output, "output");
    example.metadata = json::Object{
        {"span_name", span.row.name}, {"span_kind", name_of(span.row.kind)}, {"trace_id", span.row.trace_id}};
    if (!span.row.model.empty()) example.metadata.get_object()["model"] = span.row.model;
    example.source = evaluate::ExampleSource{project.id.text(), span.row.trace_id, span.row.span_id};
    example.names_files = false;
    // The span is imported once.
    example.example_id = "span:" + span.row.span_id;
    return example;
}

} // namespace

Result<One<UploadedView>> import_spans_to_dataset(const Call& call, const InSpace& query, const ImportFromSpans& body) {
    const auto project = TRY(find_project(call, query.space, body.project, access::Permission::project_read));
    TRY(call.services.evaluate.datasets.check_writer(call.caller, project.space_id));
    const int64_t limit = *body.limit;
    if (limit < 1 || limit > 10'000) return invalid("limit must be between 1 and 10000");
    TRY(call.services.spans.wait_until_loaded());
    telemetry::ListSpans request;
    request.scope.project = project.id.text();
    request.scope.cancel = call.head.gone;
    request.scope.filter = *body.filter;
    if (body.after) request.scope.from_ns = to_ns(*body.after);
    if (body.before) request.scope.to_ns = to_ns(*body.before);
    if (body.span_ids)
        for (const std::string& id : *body.span_ids) request.span_ids.push_back(lowercase_ascii(id));
    // The whole of a trace is its root's input and output.
    if (trim(*body.filter).empty() && request.span_ids.empty()) request.conditions.parent_id = "";
    evaluate::Upload upload;
    upload.action = evaluate::UploadAction::append;
    upload.name = body.name;
    upload.source = evaluate::VersionSource::spans;
    upload.replaces_splits = body.splits.has_value();
    while (static_cast<int64_t>(upload.examples.size()) < limit) {
        request.limit =
            static_cast<size_t>(std::min<int64_t>(200, limit - static_cast<int64_t>(upload.examples.size())));
        const auto page = TRY(call.services.spans.payloads(request));
        for (const auto& span : page.spans) {
            evaluate::NewExample example = example_of_span(project, span);
            if (body.splits) example.splits = *body.splits;
            upload.examples.push_back(std::move(example));
        }
        if (page.next_cursor.empty()) break;
        request.cursor = page.next_cursor;
    }
    if (upload.examples.empty()) return not_found("a span that matches");
    return One<UploadedView>{
        uploaded_view(TRY(call.services.evaluate.datasets.upload(call.caller, project.space_id, std::move(upload))))};
}

Result<One<UploadedView>> import_chat_session_to_dataset(const Call& call, const InSpace& query,
                                                         const ImportFromChatSession& body) {
    const auto project = TRY(find_project(call, query.space, body.project, access::Permission::project_read));
    TRY(call.services.evaluate.datasets.check_writer(call.caller, project.space_id));
    TRY(call.services.spans.wait_until_loaded());
    evaluate::Upload upload;
    upload.action = evaluate::UploadAction::append;
    upload.name = body.name;
    upload.source = evaluate::VersionSource::spans;
    upload.replaces_splits = body.splits.has_value();
    upload.examples = TRY(evaluate::examples_of_turns(call.services.spans, project, *body.session, *body.trace_ids));
    if (body.splits)
        for (auto& example : upload.examples) example.splits = *body.splits;
    return One<UploadedView>{
        uploaded_view(TRY(call.services.evaluate.datasets.upload(call.caller, project.space_id, std::move(upload))))};
}

Result<One<UploadedView>> import_issue_to_dataset(const Call& call, const ImportFromIssue& body) {
    constexpr int64_t most_evidence = 50;
    const auto issue =
        TRY(call.services.signal.issues.find(call.caller, TRY(id_in_path<signal::IssueTag>(call, "issue"))));
    if (*body.limit < 1 || *body.limit > most_evidence)
        return invalid("limit must be between 1 and " + std::to_string(most_evidence));
    TRY(call.services.evaluate.datasets.check_writer(call.caller, issue.space_id));
    TRY(call.services.spans.wait_until_loaded());
    const auto project =
        TRY(find_project(call, issue.space_id.text(), issue.project_id.text(), access::Permission::project_read));
    telemetry::ListSpans request;
    request.scope.project = project.id.text();
    request.scope.cancel = call.head.gone;
    request.conditions.trace_ids = TRY(signal::traces_of_issue(call.services.spans, call.services.signal.issues, issue,
                                                               static_cast<size_t>(*body.limit), call.head.gone.get()));
    request.conditions.parent_id = ""; // the whole of a trace is its root's input and output
    request.limit = most_evidence;
    if (request.conditions.trace_ids.empty()) return not_found("a trace of this issue");
    evaluate::Upload upload;
    upload.action = evaluate::UploadAction::append;
    upload.name = body.name;
    upload.source = evaluate::VersionSource::spans;
    upload.note = "issue " + issue.id.text();
    upload.replaces_splits = true;
    std::set<std::string> inputs; // the same input once
    for (const auto& span : TRY(call.services.spans.payloads(request)).spans) {
        evaluate::NewExample example = example_of_span(project, span);
        if (!inputs.insert(json::print(example.input)).second) continue;
        json::Object& metadata = example.metadata.get_object();
        metadata["issue"] = issue.id.text();
        // What was resolved must not come back; what is open fails until it is fixed.
        if (issue.status == signal::Status::resolved) metadata["must_pass"] = true;
        // What the application did wrong is no reference.
        example.output = json::Object{};
        example.splits = {"issue:" + issue.id.text()};
        upload.examples.push_back(std::move(example));
    }
    if (upload.examples.empty()) return not_found("a root span of a trace of this issue");
    return One<UploadedView>{
        uploaded_view(TRY(call.services.evaluate.datasets.upload(call.caller, issue.space_id, std::move(upload))))};
}

// --- routes --------------------------------------------------------------------------------------------------------

namespace {

using enum access::Permission;

const Route dataset_sources_table[] = {
    route<import_spans_to_dataset>("POST", "/v1/datasets/from_spans", need(dataset_write),
                                   "Add the inputs and outputs of spans to a dataset; each span once.")
        .on(net::Lane::query)
        .like_phoenix(),
    route<import_chat_session_to_dataset>(
        "POST", "/v1/datasets/from_chat_session", need(dataset_write),
        "Add turns of chat sessions to a dataset, each with the conversation before it; each turn once.")
        .on(net::Lane::query)
        .like_phoenix(),
    route<import_issue_to_dataset>("POST", "/v1/issues/{issue}/dataset", need(dataset_write),
                                   "Add the evidence of an issue to a dataset; of a resolved issue as must_pass.")
        .on(net::Lane::query),
};

} // namespace

std::span<const Route> dataset_sources_routes() {
    return dataset_sources_table;
}

} // namespace hone::api
