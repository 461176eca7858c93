#include "api/testing.h"
#include "base/file.h"

#include <map>
#include <set>

namespace hone::api::testing {

namespace {

void collect_references(const json::Value& value, std::set<std::string>& into) {
    if (const auto* object = value.if_object()) {
        for (const auto& member : *object)
            if (member.key() == "$ref")
                into.emplace(member.value().as_string());
            else
                collect_references(member.value(), into);
    } else if (const auto* array = value.if_array()) {
        for (const auto& each : *array) collect_references(each, into);
    }
}

// "#/components/schemas/Key" → the value there, or null.
const json::Value* resolve(const json::Value& document, std::string_view reference) {
    if (!reference.starts_with("#/")) return nullptr;
    const json::Value* at = &document;
    for (const auto part : split(reference.substr(2), '/')) {
        if (!at->is_object()) return nullptr;
        at = at->as_object().if_contains(part);
        if (at == nullptr) return nullptr;
    }
    return at;
}

template <class Visit>
void for_each_operation(const json::Value& document, Visit visit) {
    for (const auto& path : document.at("paths").as_object())
        for (const auto& operation : path.value().as_object())
            visit(std::string(operation.key()) + " " + std::string(path.key()), operation.value());
}

} // namespace

TEST_CASE("every reference in the OpenAPI document leads somewhere, and every schema is used") {
    const auto document = openapi("1.2.3");
    std::set<std::string> references;
    collect_references(document, references);
    CHECK(references.size() > 10);
    for (const auto& reference : references) {
        INFO(reference);
        CHECK(resolve(document, reference) != nullptr);
    }
    for (const auto& schema : document.at("components").at("schemas").as_object()) {
        INFO(std::string(schema.key()));
        CHECK(references.contains("#/components/schemas/" + std::string(schema.key())));
    }
}

TEST_CASE("the OpenAPI document has every route once, under an id of its own, with its path parameters") {
    const auto document = openapi("1.2.3");
    std::set<std::string> ids, operations;
    for_each_operation(document, [&](const std::string& name, const json::Value& operation) {
        INFO(name);
        operations.insert(name);
        CHECK(ids.emplace(operation.at("operationId").as_string()).second);
        CHECK(operation.at("responses").as_object().contains("default"));
        std::set<std::string> named, declared;
        for (const auto part : split(name, '/'))
            if (part.starts_with('{')) named.emplace(part.substr(1, part.size() - 2));
        if (const auto* parameters = operation.as_object().if_contains("parameters"))
            for (const auto& parameter : parameters->as_array()) {
                CHECK(parameter.at("schema").as_object().size() > 0);
                if (parameter.at("in") == "path") declared.emplace(parameter.at("name").as_string());
            }
        CHECK(named == declared);
    });
    CHECK(operations.size() == routes().size());
    for (const Route& route : routes())
        CHECK(operations.contains(lowercase_ascii(route.method) + " " + std::string(route.path)));
}

TEST_CASE("every route has a summary of one sentence") {
    for (const Route& route : routes()) {
        INFO(route.method, " ", route.path);
        CHECK(route.summary.size() >= 5);
        CHECK(route.summary.ends_with('.'));
        CHECK((route.summary[0] >= 'A' && route.summary[0] <= 'Z'));
        CHECK(!route.path.ends_with('/'));
        if (route.response_kind == ResponseKind::raw) CHECK(!route.content_type.empty());
    }
}

TEST_CASE("no two routes have the same address") {
    std::set<std::string> seen;
    for (const Route& route : routes()) {
        std::string shape(route.method);
        for (const auto part : split(route.path.substr(1), '/'))
            shape += "/" + std::string(part.starts_with('{') ? "{}" : part);
        INFO(shape);
        CHECK(seen.insert(shape).second);
    }
}

// A type's name in the documents is the last part of its C++ name, so two types of two folders may share it by
// accident.
TEST_CASE("no two types have the same name in the documents") {
    std::map<std::string, std::pair<json::Value, std::string>> seen;
    for (const Route& route : routes())
        for (const auto schema_of : {route.body_schema, route.response_schema, route.query_schema}) {
            if (schema_of == nullptr) continue;
            json::Schemas own;
            schema_of(own);
            const std::string where = std::string(route.method) + " " + std::string(route.path);
            for (const auto& [name, schema] : own.named) {
                const auto& first = seen.try_emplace(name, schema, where).first->second;
                const std::string both = name + " of " + where + " and of " + first.second;
                CAPTURE(both);
                CHECK(first.first == schema);
            }
        }
}

TEST_CASE("routes whose response contains a secret are marked, so that it is never stored") {
    for (const Route& route : routes()) {
        if (route.method != "POST" || route.response_schema == nullptr) continue;
        json::Schemas schemas;
        const auto schema = route.response_schema(schemas);
        const std::string text = json::print(schema);
        // Key has `key`, Invite has `path`, Me has `csrf_token`.
        for (const char* holder : {"/Key\"", "/Invite\"", "/Me\""})
            if (text.find(holder) != std::string::npos) {
                INFO(route.method, " ", route.path);
                CHECK(route.secret_response);
            }
    }
}

TEST_CASE("types and permissions are printed for every route and permission") {
    const std::string matrix = permissions_markdown();
    for (const Route& route : routes())
        CHECK(matrix.find("`" + std::string(route.method) + " " + std::string(route.path) + "`") != std::string::npos);
    for (const auto& row : access::permission_table())
        CHECK(matrix.find("| `" + std::string(name_of(row.permission)) + "` |") != std::string::npos);
    const std::string types = typescript_types();
    for (const char* type : {"Me ", "Project ", "Key ", "AuditEntry ", "CreateProject ", "ServerInfo "}) {
        INFO(type);
        CHECK(types.find(type) != std::string::npos);
    }
}

TEST_CASE("the life of a request names files that exist") {
    const std::string root = HONE_SOURCE_DIR;
    const std::string text = must(read_file(root + "/docs/life-of-a-request.md"));
    int named = 0;
    for (const auto word : split(text, '`')) {
        if (!word.starts_with("src/") && !word.starts_with("tests/")) continue;
        INFO(word);
        CHECK(file_exists(root + "/" + std::string(word)));
        ++named;
    }
    CHECK(named > 10);
}

TEST_CASE("what is served as /openapi.json is the printed document") {
    sql::testing::FreshDatabase fresh(sql::Engine::sqlite, sql::testing::Schema::migrated);
    Desk desk(fresh.database());
    const auto answer = desk.send({"GET", "/openapi.json"});
    CHECK(answer.status == 200);
    CHECK(answer.content_type.find("application/json") == 0);
    CHECK(body_of(answer) == openapi("1.2.3"));
}

} // namespace hone::api::testing
