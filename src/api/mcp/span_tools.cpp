#include "api/mcp/span_tools.h"

#include "api/mcp/reply.h"
#include "api/mcp/route_call.h"

#include <algorithm>

namespace hone::api {

namespace {

constexpr int64_t most_sql_tool_rows = 10'000;
constexpr int64_t furthest_sql_row = 100'000;
constexpr int64_t most_part_bytes = 128 << 10;

// A cursor that is the number of the first row.
Result<int64_t> row_of(const std::optional<std::string>& cursor) {
    if (!cursor) return int64_t{0};
    const auto row = parse_integer(*cursor);
    if (!row.ok() || row.value() < 0) return invalid("cursor is not valid for this list");
    return row.value();
}

// RFC 6901: /attributes/a~1b
Result<const json::Value*> value_at(const json::Value& tree, std::string_view pointer) {
    const json::Value* at = &tree;
    if (pointer.empty()) return at;
    if (!pointer.starts_with('/')) return invalid("path must begin with /, such as /output");
    for (const std::string_view word : split(pointer.substr(1), '/')) {
        std::string name;
        for (size_t i = 0; i < word.size(); ++i) {
            const bool is_escape = word[i] == '~' && i + 1 < word.size() && (word[i + 1] == '0' || word[i + 1] == '1');
            name += is_escape ? (word[++i] == '0' ? '~' : '/') : word[i];
        }
        const json::Value* next = nullptr;
        if (at->is_object()) {
            next = at->get_object().if_contains(name);
        } else if (at->is_array()) {
            const auto index = parse_integer(name);
            if (index.ok() && index.value() >= 0 && index.value() < static_cast<int64_t>(at->get_array().size()))
                next = &at->get_array()[static_cast<size_t>(index.value())];
        }
        if (next == nullptr) return not_found("value at " + std::string(truncate_utf8(pointer, 200)));
        at = next;
    }
    return at;
}

Result<json::Value> part_of_span(const json::Value& span, const GetSpan& arguments) {
    const json::Value* value = TRY(value_at(span, *arguments.path));
    const std::string text = value->is_string() ? std::string(value->get_string()) : json::print(*value);
    const int64_t length = std::clamp<int64_t>(arguments.length.value_or(usual_bytes), 1, most_part_bytes);
    const TextPart part = part_of(text, static_cast<size_t>(std::max<int64_t>(arguments.offset.value_or(0), 0)),
                                  static_cast<size_t>(length));
    json::Object made{{"path", *arguments.path},
                      {"offset", static_cast<int64_t>(part.offset)},
                      {"total_bytes", static_cast<int64_t>(text.size())},
                      {"text", part.text}};
    if (part.next) made["next_offset"] = static_cast<int64_t>(*part.next);
    return json::Value(std::move(made));
}

} // namespace

Result<json::Value> search_spans_tool(const Call& call, const SearchSpans& arguments) {
    const auto fetch = [&](int64_t limit) -> Result<json::Value> {
        const QueryParameters query{{"filter", arguments.filter},
                                    {"after", text_of(arguments.after)},
                                    {"before", text_of(arguments.before)},
                                    {"limit", std::to_string(limit)},
                                    {"cursor", arguments.cursor}};
        return read_project(call, arguments.project, "/v1/projects/{project}/span_rows", query);
    };
    return fit_page(fetch, std::clamp<int64_t>(arguments.limit.value_or(20), 1, 200), most_bytes);
}

Result<json::Value> get_trace_tool(const Call& call, const GetTrace& arguments) {
    const std::string_view path = "/v1/projects/{project}/traces/{trace}/skeleton";
    const int64_t first = TRY(row_of(arguments.cursor));
    json::Value skeleton =
        data_in(TRY(read_project(call, arguments.project, path, {}, {{"trace", arguments.trace_id}})));
    json::Array& spans = skeleton.at("spans").as_array();
    json::Value reply(
        json::Object{{"span_count", static_cast<int64_t>(spans.size())}, {"is_cut", skeleton.at("is_cut")}});
    fit_rows(reply, "spans", spans, first, static_cast<int64_t>(spans.size()), budget_of(arguments.max_bytes));
    return reply;
}

Result<json::Value> get_span_tool(const Call& call, const GetSpan& arguments) {
    const std::string_view path = "/v1/projects/{project}/traces/{trace}/spans/{span}";
    const PathParameters names{{"trace", arguments.trace_id}, {"span", arguments.span_id}};
    json::Value body = TRY(read_project(call, arguments.project, path, {}, names));
    if (arguments.path) return part_of_span(data_in(std::move(body)), arguments);
    if (arguments.offset || arguments.length) return invalid("offset and length belong to path");
    const size_t before = json::print(body).size();
    fit(body, budget_of(arguments.max_bytes));
    if (body.is_object() && json::print(body).size() < before)
        body.get_object()["advice"] =
            "Long texts were cut. Read one in parts: get_span with path, such as /output, and offset.";
    return body;
}

Result<json::Value> query_sql_tool(const Call& call, const QuerySql& arguments) {
    const std::string project = TRY(project_of(call, arguments.project));
    const int64_t first = TRY(row_of(arguments.cursor));
    const int64_t limit = std::clamp<int64_t>(arguments.limit.value_or(200), 1, most_sql_tool_rows);
    if (first + limit >= furthest_sql_row)
        return invalid("cursor reaches 100000 rows; select less, or aggregate in the query");
    // One more than is shown: whether there is a next page.
    const json::Object body{{"project", project}, {"sql", arguments.sql}, {"limit", first + limit + 1}};
    json::Value result = TRY(call_route(call, "POST", "/v1/sql", {}, {}, json::print(body)));
    json::Value* const rows = result.is_object() ? result.get_object().if_contains("data") : nullptr;
    if (rows == nullptr || !rows->is_array()) return internal("SQL returned no rows");
    json::Value reply(json::Object{{"meta", result.at("meta")}});
    fit_rows(reply, "data", rows->get_array(), first, limit, budget_of(arguments.max_bytes));
    return reply;
}

Result<json::Value> add_evals_tool(const Call& call, const AddEvals& arguments) {
    if (arguments.evals.empty() || arguments.evals.size() > 1000) return invalid("evals has 1 to 1000 evals");
    json::Array rows;
    for (const AddedEval& eval : arguments.evals) {
        json::Object row{{"target", name_of(eval.target.value_or(telemetry::EvalTarget::span))},
                         {"target_id", eval.target_id},
                         {"name", eval.name},
                         {"kind", name_of(telemetry::EvalKind::agent)}};
        if (eval.label) row["label"] = *eval.label;
        if (eval.score) row["score"] = *eval.score;
        if (eval.explanation) row["explanation"] = *eval.explanation;
        rows.push_back(std::move(row));
    }
    const std::string project = TRY(project_of(call, arguments.project));
    const json::Object body{{"data", std::move(rows)}};
    TRY(call_route(call, "POST", "/v1/projects/{project}/evals", {{"project", project}}, {{"brief", "true"}},
                   json::print(body)));
    return json::Value(json::Object{{"written", static_cast<int64_t>(arguments.evals.size())}});
}

} // namespace hone::api
