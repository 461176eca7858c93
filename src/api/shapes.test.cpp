// The OpenAPI document against the API itself: whatever is wrong with a request, the answer has the status, content
// type and shape that the document promises. No property-based client is needed to see it break (tests/peers has one).
#include "api/testing.h"

#include <algorithm>
#include <set>

namespace hone::api::testing {

namespace {

// The part of JSON Schema that the document uses.
class Checker {
public:
    explicit Checker(const json::Value& document) : m_document(document) {}

    bool fits(const json::Value& schema, const json::Value& value) const {
        const json::Object& rules = schema.as_object();
        if (const auto* reference = rules.if_contains("$ref")) return fits(at(reference->as_string()), value);
        if (const auto* choices = rules.if_contains("anyOf"))
            return std::any_of(choices->as_array().begin(), choices->as_array().end(),
                               [&](const json::Value& one) { return fits(one, value); });
        if (const auto* only = rules.if_contains("const"); only != nullptr && *only != value) return false;
        if (const auto* names = rules.if_contains("enum"); names != nullptr && !has(names->as_array(), value))
            return false;
        if (const auto* type = rules.if_contains("type"); type != nullptr && !is_a(*type, value)) return false;
        return fits_members(rules, value);
    }
    const json::Value& at(std::string_view reference) const {
        const json::Value* found = &m_document;
        for (const auto part : split(reference.substr(2), '/')) found = &found->at(part);
        return *found;
    }

private:
    static bool has(const json::Array& list, const json::Value& value) {
        return std::find(list.begin(), list.end(), value) != list.end();
    }
    static bool is_a(const json::Value& type, const json::Value& value) {
        if (const auto* several = type.if_array())
            return std::any_of(several->begin(), several->end(), [&](const auto& one) { return is_a(one, value); });
        const std::string_view name = type.as_string();
        return (name == "object" && value.is_object()) || (name == "array" && value.is_array()) ||
               (name == "string" && value.is_string()) || (name == "null" && value.is_null()) ||
               (name == "boolean" && value.is_bool()) || (name == "number" && value.is_number()) ||
               (name == "integer" && (value.is_int64() || value.is_uint64()));
    }
    bool fits_members(const json::Object& rules, const json::Value& value) const {
        if (const auto* object = value.if_object()) {
            if (const auto* required = rules.if_contains("required"))
                for (const auto& name : required->as_array())
                    if (!object->contains(name.as_string())) return false;
            if (const auto* properties = rules.if_contains("properties"))
                for (const auto& property : properties->as_object())
                    if (const auto* member = object->if_contains(property.key());
                        member != nullptr && !fits(property.value(), *member))
                        return false;
        }
        if (const auto* items = rules.if_contains("items"); items != nullptr && value.is_array())
            for (const auto& item : value.as_array())
                if (!fits(*items, item)) return false;
        return true;
    }

    const json::Value& m_document;
};

struct Walk {
    sql::testing::FreshDatabase fresh{sql::Engine::sqlite, sql::testing::Schema::migrated};
    Desk desk{fresh.database(), {.requests_per_minute = 0}};
    json::Value document = openapi("1.2.3");
    Checker checker{document};
    std::vector<net::Header> admin = desk.as_admin();

    const json::Object& responses_of(const Route& route) const {
        return document.at("paths").at(route.path).at(lowercase_ascii(route.method)).at("responses").as_object();
    }
    // The documented response for this status.
    const json::Object& response_of(const Route& route, int status) const {
        const auto& responses = responses_of(route);
        const json::Value* found = responses.if_contains(std::to_string(status));
        if (found == nullptr) found = &responses.at("default");
        const auto* reference = found->as_object().if_contains("$ref");
        return (reference != nullptr ? checker.at(reference->as_string()) : *found).as_object();
    }
    void check(const Route& route, const net::Response& response) const {
        INFO(route.method, " ", route.path, " answered ", response.status, " ", response.content_type, " ",
             response.body.substr(0, 300));
        if (response.status >= 500) { // there is no span engine here
            CHECK(response.status == 503);
            if (route.errors == ErrorForm::ours) CHECK(code_of(response) == "unavailable");
        }
        const json::Object& documented = response_of(route, response.status);
        const auto* content = documented.if_contains("content");
        CHECK(response.content_type.empty() == (content == nullptr));
        if (content == nullptr || response.content_type.empty()) return;
        const std::string type(trim(response.content_type.substr(0, response.content_type.find(';'))));
        const auto* media = content->as_object().if_contains(type);
        if (media == nullptr) media = content->as_object().if_contains("*/*");
        REQUIRE(media != nullptr);
        if (const auto* schema = media->as_object().if_contains("schema"))
            CHECK(checker.fits(*schema, must(json::parse(response.body))));
    }
    static std::string target(const Route& route) {
        std::string path;
        for (const auto part : split(route.path.substr(1), '/'))
            path += part.starts_with('{') ? "/x" : "/" + std::string(part);
        return path;
    }
    net::Response send(const Route& route, std::string body, std::string type) {
        Ask ask{std::string(route.method), target(route), std::move(body), admin};
        if (!type.empty()) ask.headers.push_back({"Content-Type", std::move(type)});
        return desk.send(ask);
    }
};

// Of a malformed body in this content type.
int status_of_raw(const Route& route, std::string_view type) {
    if (route.errors == ErrorForm::rpc_status && type == "text/plain") return 415;
    // Agents of others cannot be let in here, there is no such provider, the hook is not signed.
    if (route.path == "/oauth/token" || route.path == "/v1/login/{provider}/logout") return 404;
    if (route.path == "/v1/forge_hooks/{repo}") return 403;
    if (route.path == "/v1/hooks/{automation}") return 401;
    return route.invalid_status;
}

// Of a request with an unknown query parameter, an empty object and ids that do not exist.
int status_of_unknown(const Route& route, const net::Response& response) {
    if (!route.ignores_unknown_query) return route.invalid_status;
    if (route.path == "/v1/sessions/{session}") return 503; // there is no span engine here
    const bool has_id = route.path.find('{') != route.path.npos;
    if (route.method == "GET" && has_id) return 404;
    if (route.method == "GET") return route.path == "/v1/experiments/compare" ? 422 : 200;
    // Where a field of the body is needed, it is missed before the id.
    const bool misses_field = message_of(response).find("is missing") != std::string::npos;
    return has_id && !misses_field && code_of(response) == "not_found" ? 404 : 422;
}

} // namespace

TEST_CASE("the checker of shapes sees what is wrong") {
    const json::Value document = openapi("1.2.3");
    const Checker checker(document);
    const auto fits = [&](std::string_view name, std::string_view text) {
        return checker.fits(checker.at("#/components/schemas/" + std::string(name)), must(json::parse(text)));
    };
    CHECK(fits("Failure", R"({"error":{"code":"not_allowed","message":"no"}})"));
    CHECK_FALSE(fits("Failure", R"({"error":{"code":"no_such_code","message":"no"}})"));
    CHECK_FALSE(fits("Failure", R"({"error":{"code":"invalid"}})"));
    CHECK_FALSE(fits("Failure", R"({"code":3,"message":"no"})"));
    CHECK(fits("RpcStatus", R"({"code":3,"message":"no"})"));
    CHECK_FALSE(fits("RpcStatus", R"({"code":"3","message":"no"})"));
    CHECK(fits("JsonRpcFailure", R"({"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"no"}})"));
    CHECK_FALSE(fits("JsonRpcFailure", R"({"jsonrpc":"1.0","id":null,"error":{"code":-32600,"message":"no"}})"));
    CHECK_FALSE(fits("JsonRpcFailure", R"({"error":{"code":"invalid","message":"no"}})"));
}

TEST_CASE("a method that the document does not have is rejected as documented") {
    Walk walk;
    int tried = 0;
    for (const auto& path : walk.document.at("paths").as_object()) {
        std::set<std::string> allowed;
        const Route* any = nullptr;
        for (const Route& route : routes())
            if (leads_to(route.path, std::string_view(path.key()))) {
                if (route.path == std::string_view(path.key())) any = &route;
                allowed.emplace(route.method);
                if (route.method == "GET") allowed.emplace("HEAD");
            }
        REQUIRE(any != nullptr);
        for (const std::string method : {"GET", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "LINK"}) {
            if (allowed.contains(method)) continue;
            const auto response = walk.desk.send({method, Walk::target(*any), "{}", walk.admin});
            INFO(method, " ", std::string(path.key()), " answered ", response.status, " ", response.body);
            ++tried;
            CHECK(response.status == 405);
            CHECK(code_of(response) == "not_allowed");
            CHECK(response.content_type == "application/json");
            CHECK(walk.checker.fits(walk.checker.at("#/components/schemas/Failure"), body_of(response)));
            std::set<std::string> named;
            for (const auto each : split(response.header("Allow"), ',')) named.emplace(trim(each));
            CHECK(named == allowed);
        }
    }
    CHECK(tried > 1000);
}

TEST_CASE("a malformed body, a wrong content type and a wrong query are rejected as documented") {
    Walk walk;
    int bodies = 0, raw = 0, queries = 0;
    for (const Route& route : routes()) {
        INFO(route.method, " ", route.path);
        if (route.body_schema != nullptr) {
            ++bodies;
            const auto malformed = walk.send(route, "{\"", "application/json");
            CHECK(malformed.status == route.invalid_status);
            walk.check(route, malformed);
            const auto list = walk.send(route, "[1,{}]", "application/json");
            CHECK(list.status == route.invalid_status);
            walk.check(route, list);
            const auto wrong = walk.send(route, "{}", "text/plain");
            CHECK(wrong.status == 415);
            CHECK(code_of(wrong) == "invalid");
            walk.check(route, wrong);
        }
        if (route.takes_raw_body) {
            ++raw;
            for (const std::string type : {"application/json", "application/x-protobuf", "text/plain"}) {
                const auto refused = walk.send(route, "{\"", type);
                CHECK(refused.status == status_of_raw(route, type));
                walk.check(route, refused);
            }
        }
        ++queries;
        Ask ask{std::string(route.method), Walk::target(route) + "?no_such_parameter=1", "", walk.admin};
        if (route.body_schema != nullptr) ask.body = "{}";
        const auto unknown = walk.desk.send(ask);
        CHECK(unknown.status == status_of_unknown(route, unknown));
        walk.check(route, unknown);
        // Without a key, and with one that is not valid.
        if (route.need.kind == Need::Kind::guest) continue;
        for (const auto& headers : {std::vector<net::Header>{}, Desk::with_key("hone_wrong")}) {
            const auto refused = walk.desk.send({std::string(route.method), Walk::target(route), "{}", headers});
            CHECK(refused.status == 401);
            walk.check(route, refused);
        }
    }
    CHECK(bodies > 50);
    CHECK(raw >= 5);
    CHECK(queries > 200);
}

TEST_CASE("the document names the content types of every raw body and response") {
    for (const Route& route : routes()) {
        INFO(route.method, " ", route.path);
        CHECK(route.takes_raw_body == !route.body_types.empty());
        CHECK((route.response_kind == ResponseKind::raw) == !route.content_type.empty());
    }
}

} // namespace hone::api::testing
