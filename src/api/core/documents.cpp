// OpenAPI, TypeScript types and the permission matrix, all from the route table.
#include "api/core/documents.h"

#include "api/core/route.h"
#include "base/status.h"

#include <set>

namespace hone::api {

namespace {

using json::Array;
using json::Object;
using json::Schemas;
using json::Value;

std::string need_text(const Need& need) {
    switch (need.kind) {
    case Need::Kind::guest:
        return "everyone";
    case Need::Kind::login:
        return "everyone logged in";
    case Need::Kind::permission:
        return std::string(name_of(need.permission));
    }
    return "";
}

// "getProject" style ids: method and path words, unique by construction of the table.
std::string operation_id(const Route& route) {
    std::string id = lowercase_ascii(route.method);
    for (auto part : split(route.path.substr(1), '/')) {
        if (part == "v1") continue;
        if (part.starts_with('{')) part = part.substr(1, part.size() - 2);
        id += "_";
        for (const char c : part) id += c == '.' ? '_' : c;
    }
    return id;
}

Array parameters(const Route& route, Schemas& schemas) {
    Array list;
    for (const auto part : split(route.path.substr(1), '/'))
        if (part.starts_with('{'))
            list.push_back(Object{{"name", part.substr(1, part.size() - 2)},
                                  {"in", "path"},
                                  {"required", true},
                                  {"schema", Object{{"type", "string"}}}});
    if (route.query_schema == nullptr) return list;
    Schemas own;
    route.query_schema(own);
    for (const auto& [name, schema] : own.named) {
        if (schema.get_object().contains("enum")) {
            schemas.named.emplace(name, schema);
            continue;
        }
        for (const auto& property : schema.at("properties").get_object()) {
            Value type = property.value();
            Object parameter{{"name", property.key()}, {"in", "query"}, {"required", false}};
            if (const Value* doc = type.get_object().if_contains("description")) parameter["description"] = *doc;
            // A parameter is absent, not null.
            if (const Value* choices = type.get_object().if_contains("anyOf")) type = Value(choices->get_array().at(0));
            parameter["schema"] = std::move(type);
            list.push_back(std::move(parameter));
        }
    }
    return list;
}

Object json_content(Value schema) {
    return Object{{"application/json", Object{{"schema", std::move(schema)}}}};
}

// "application/json, text/event-stream": each without a schema.
Object media_types(std::string_view types) {
    Object content;
    for (const auto type : split(types, ',')) content[trim(type)] = Object{};
    return content;
}

Object success_schema(const Route& route, Schemas& schemas) {
    Object response{{"description", "Done."}};
    switch (route.response_kind) {
    case ResponseKind::no_content:
        return response;
    case ResponseKind::raw:
        response["content"] = media_types(route.content_type);
        return response;
    case ResponseKind::nothing:
        response["content"] = json_content(Object{{"type", "object"},
                                                  {"properties", Object{{"data", Object{{"type", "object"}}}}},
                                                  {"required", Array{"data"}}});
        return response;
    case ResponseKind::one:
        response["content"] = json_content(Object{{"type", "object"},
                                                  {"properties", Object{{"data", route.response_schema(schemas)}}},
                                                  {"required", Array{"data"}}});
        return response;
    case ResponseKind::list: {
        Object list{{"type", "array"}, {"items", route.response_schema(schemas)}};
        Object cursor{{"anyOf", Array{Object{{"type", "string"}}, Object{{"type", "null"}}}}};
        response["content"] =
            json_content(Object{{"type", "object"},
                                {"properties", Object{{"data", std::move(list)}, {"next_cursor", std::move(cursor)}}},
                                {"required", Array{"data", "next_cursor"}}});
        return response;
    }
    }
    return response;
}

std::string_view failure_name(ErrorForm form) {
    switch (form) {
    case ErrorForm::ours:
        return "Failure";
    case ErrorForm::rpc_status:
        return "RpcStatus";
    case ErrorForm::json_rpc:
        return "JsonRpcFailure";
    case ErrorForm::detailed:
        return "DetailedFailure";
    case ErrorForm::oauth:
        return "OAuthFailure";
    }
    return "Failure";
}

Object operation(const Route& route, Schemas& schemas) {
    Object made{{"operationId", operation_id(route)},
                {"summary", route.summary},
                {"description", "For: " + need_text(route.need) + "."}};
    if (Array list = parameters(route, schemas); !list.empty()) made["parameters"] = std::move(list);
    if (route.body_schema != nullptr)
        made["requestBody"] = Object{{"required", true}, {"content", json_content(route.body_schema(schemas))}};
    if (route.takes_raw_body)
        made["requestBody"] = Object{{"required", true}, {"content", media_types(route.body_types)}};
    const bool is_page = route.content_type == "text/html";
    const std::string failed(is_page ? "FailurePage" : failure_name(route.errors));
    const Object failure{{"$ref", "#/components/responses/" + failed}};
    const int status = route.response_kind == ResponseKind::no_content ? 204 : route.good_status;
    Object responses{{std::to_string(status), success_schema(route, schemas)}};
    if (route.empty_status != 0)
        responses[std::to_string(route.empty_status)] = Object{{"description", "Done; the response has no body."}};
    responses["default"] = failure;
    made["responses"] = std::move(responses);
    if (route.need.kind == Need::Kind::guest) made["security"] = Array{};
    return made;
}

Object failure_schema() {
    Array names{"not_allowed", "timeout"}; // only of HTTP: 405 and 408
    for (const CodeStatus& row : code_statuses()) names.push_back(Value(row.name));
    Object codes{{"type", "string"}, {"enum", std::move(names)}};
    Object error{{"type", "object"},
                 {"properties", Object{{"code", std::move(codes)}, {"message", Object{{"type", "string"}}}}},
                 {"required", Array{"code", "message"}}};
    return Object{
        {"type", "object"}, {"properties", Object{{"error", std::move(error)}}}, {"required", Array{"error"}}};
}

Object detailed_failure_schema() {
    Object schema = failure_schema();
    schema["properties"].get_object()["detail"] =
        Object{{"type", "string"}, {"description", "error.message; absent from an error with other members."}};
    return schema;
}

// google.rpc.Status, as the OTLP specification has it.
Object rpc_status_schema() {
    return Object{{"type", "object"},
                  {"properties", Object{{"code", Object{{"type", "integer"}}},
                                        {"message", Object{{"type", "string"}}},
                                        {"details", Object{{"type", "array"}, {"items", Object{{"type", "object"}}}}}}},
                  {"required", Array{"code", "message"}}};
}

Object json_rpc_failure_schema() {
    Object error{{"type", "object"},
                 {"properties", Object{{"code", Object{{"type", "integer"}}}, {"message", Object{{"type", "string"}}}}},
                 {"required", Array{"code", "message"}}};
    return Object{{"type", "object"},
                  {"properties", Object{{"jsonrpc", Object{{"const", "2.0"}}},
                                        {"id", Object{{"type", Array{"string", "number", "null"}}}},
                                        {"error", std::move(error)}}},
                  {"required", Array{"jsonrpc", "id", "error"}}};
}

// RFC 6749, 5.2.
Object oauth_failure_schema() {
    return Object{{"type", "object"},
                  {"properties",
                   Object{{"error", Object{{"type", "string"}}}, {"error_description", Object{{"type", "string"}}}}},
                  {"required", Array{"error", "error_description"}}};
}

Object reference(std::string_view name) {
    return Object{{"$ref", "#/components/schemas/" + std::string(name)}};
}

// One for each ErrorForm, and one for routes that browsers are sent to.
Object failure_responses() {
    Object status = json_content(reference("RpcStatus"));
    status["application/x-protobuf"] = Object{};
    Object page = json_content(reference("Failure"));
    page["text/html"] = Object{};
    return Object{
        {"Failure", Object{{"description", "What went wrong: a code for programs, a message for people."},
                           {"content", json_content(reference("Failure"))}}},
        {"RpcStatus",
         Object{{"description",
                 "What went wrong, in the form of OTLP: google.rpc.Status, in the encoding of the request."},
                {"content", std::move(status)}}},
        {"DetailedFailure",
         Object{{"description", "What went wrong; `detail` repeats the message for Phoenix' clients."},
                {"content", json_content(reference("DetailedFailure"))}}},
        {"OAuthFailure", Object{{"description", "What went wrong, in the form of OAuth (RFC 6749, 5.2)."},
                                {"content", json_content(reference("OAuthFailure"))}}},
        {"FailurePage",
         Object{{"description", "What went wrong, as a page where a browser is sent."}, {"content", std::move(page)}}},
        {"JsonRpcFailure",
         Object{{"description", "What went wrong, as an error of JSON-RPC. Errors of a method have the status 200."},
                {"content", json_content(reference("JsonRpcFailure"))}}},
    };
}

} // namespace

Value openapi(std::string_view version) {
    Schemas schemas;
    Object paths;
    for (const Route& route : routes()) {
        if (!paths.contains(route.path)) paths[route.path] = Object{};
        paths[route.path].get_object()[lowercase_ascii(route.method)] = operation(route, schemas);
    }
    Object components;
    for (auto& [name, schema] : schemas.named) components[name] = std::move(schema);
    components["Failure"] = failure_schema();
    components["DetailedFailure"] = detailed_failure_schema();
    components["RpcStatus"] = rpc_status_schema();
    components["JsonRpcFailure"] = json_rpc_failure_schema();
    components["OAuthFailure"] = oauth_failure_schema();
    Object key{{"type", "http"}, {"scheme", "bearer"}, {"description", "An API key (hone_…)."}};
    Object cookie{{"type", "apiKey"},
                  {"in", "cookie"},
                  {"name", "hone_session"},
                  {"description", "Set by POST /v1/login, over TLS as __Host-hone_session; writes also need the "
                                  "X-CSRF-Token header."}};
    return Object{
        {"openapi", "3.1.0"},
        {"info", Object{{"title", "Hone"},
                        {"version", version},
                        {"description", "API of Hone: traces, evals, runs, reviews."},
                        {"license", Object{{"name", "Apache-2.0"}, {"identifier", "Apache-2.0"}}}}},
        {"servers", Array{Object{{"url", "/"}}}},
        {"security", Array{Object{{"key", Array{}}}, Object{{"cookie", Array{}}}}},
        {"paths", std::move(paths)},
        {"components", Object{{"schemas", std::move(components)},
                              {"responses", failure_responses()},
                              {"securitySchemes", Object{{"key", std::move(key)}, {"cookie", std::move(cookie)}}}}},
    };
}

std::string typescript_types() {
    Schemas taken, sent;
    for (const Route& route : routes()) {
        if (route.body_schema != nullptr) route.body_schema(taken);
        if (route.response_schema != nullptr) route.response_schema(sent);
    }
    for (const auto& [name, schema] : sent.named) taken.named.erase(name); // enums that go both ways
    return "// Printed by `hone print types` from the server's route table. Do not edit.\n\n" +
           json::typescript(sent, json::Direction::sent) + json::typescript(taken, json::Direction::taken);
}

std::string permissions_markdown() {
    std::string out =
        "# Permissions\n\nPrinted by `hone print permissions`. A role holds every permission of the roles to its left. "
        "Restricted\n"
        "projects count only explicit bindings. API keys hold the part of their role that their scopes name.\n\n" +
        access::print_role_matrix() + "\n## Routes\n\n| route | needs | what it does |\n|---|---|---|\n";
    for (const Route& route : routes())
        out += "| `" + std::string(route.method) + " " + std::string(route.path) + "` | " +
               (route.need.kind == Need::Kind::permission ? "`" + need_text(route.need) + "`" : need_text(route.need)) +
               " | " + std::string(route.summary) + " |\n";
    return out;
}

} // namespace hone::api
