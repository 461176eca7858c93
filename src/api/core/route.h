// One row of the route table declares everything about an endpoint: dispatch, authorization, OpenAPI, TypeScript types
// and the permission matrix are made from it. `route<handler>(…)` takes the types from the handler's signature.
#pragma once

#include "api/core/call.h"
#include "api/core/lenient.h"
#include "api/core/query.h"
#include "net/server.h"
#include "json/schema.h"

#include <span>

namespace hone::api {

// Who may call: everyone, everyone who is logged in, or holders of a permission.
struct Need {
    enum class Kind { guest, login, permission } kind = Kind::login;
    access::Permission permission{};
};
constexpr Need guest{Need::Kind::guest, {}};
constexpr Need login{Need::Kind::login, {}};
constexpr Need need(access::Permission permission) {
    return {Need::Kind::permission, permission};
}

// What the handler returns, for documents.
enum class ResponseKind { one, list, nothing, no_content, raw };

// What an error looks like: our envelope, or the one of the route's protocol.
enum class ErrorForm {
    ours,
    rpc_status, // OTLP: google.rpc.Status, in the encoding of the request
    json_rpc,   // MCP
    detailed,   // ours, with the message also in `detail`, where Phoenix' clients read it
    oauth,      // RFC 6749, 5.2: error and error_description
};

struct Route {
    std::string_view method;
    std::string_view path; // "/v1/projects/{project}"
    Need need;
    std::string_view summary;
    Result<net::Response> (*handle)(const Call&, std::string_view body) = nullptr;
    ResponseKind response_kind = ResponseKind::raw;
    // For documents: the schema of body and response, and of each query parameter. Null where there is none.
    json::Value (*body_schema)(json::Schemas&) = nullptr;
    json::Value (*response_schema)(json::Schemas&) = nullptr;
    json::Value (*query_schema)(json::Schemas&) = nullptr;
    // Chained refinements of the row.
    net::Lane lane = net::Lane::control;
    bool secret_response = false;       // never kept for idempotent replay
    std::string_view content_type = ""; // of a raw response; several are separated by ", "
    std::string_view body_types = "";   // of a raw body, in the same form
    int empty_status = 0;               // another good one, of a response without a body
    bool takes_raw_body = false;
    bool streams_body = false; // the handler pulls it; no idempotency key, because the body is not known before
    size_t body_limit = 0;     // 0: the usual one
    int good_status = 200;     // of a response; 204 where there is none
    int invalid_status = 400;  // of an invalid request
    ErrorForm errors = ErrorForm::ours;
    bool takes_sender_keys = false; // the key in any form that SDKs send (drop_in.h)
    bool ignores_unknown_query = false;
    bool is_patient = false; // never refused because of the caller's rate or a full queue: it waits

    constexpr Route secret() const {
        return with([](Route& row) { row.secret_response = true; });
    }
    constexpr Route raw(std::string_view type) const {
        return with([&](Route& row) { row.content_type = type; });
    }
    constexpr Route with_body_limit(size_t bytes) const {
        return with([&](Route& row) { row.body_limit = bytes; });
    }
    constexpr Route responds(int status) const {
        return with([&](Route& row) { row.good_status = status; });
    }
    // Phoenix' clients expect 422 where the rest of the API has 400, the message in `detail`, and that query parameters
    // of other versions are ignored. Not for deletions: a condition with a misspelt name would delete more.
    constexpr Route like_phoenix() const {
        return with([](Route& row) {
            row.invalid_status = 422;
            row.errors = ErrorForm::detailed;
            row.ignores_unknown_query = row.method != "DELETE";
        });
    }
    // For clients that send without limit and end at the first refusal.
    constexpr Route patient() const {
        return with([](Route& row) { row.is_patient = true; });
    }
    constexpr Route or_empty(int status) const {
        return with([&](Route& row) { row.empty_status = status; });
    }
    constexpr Route takes(std::string_view types) const {
        return with([&](Route& row) { row.body_types = types; });
    }
    constexpr Route from_sdks() const {
        return with([](Route& row) { row.takes_sender_keys = true; });
    }
    constexpr Route fails_as(ErrorForm form) const {
        return with([&](Route& row) { row.errors = form; });
    }
    constexpr Route on(net::Lane wanted) const {
        return with([&](Route& row) { row.lane = wanted; });
    }

private:
    template <class Change>
    constexpr Route with(Change change) const {
        Route row = *this;
        change(row);
        return row;
    }
};

namespace detail {

template <class T>
struct IsOne : std::false_type {};
template <class T>
struct IsOne<One<T>> : std::true_type {
    using type = T;
};
template <class T>
struct IsList : std::false_type {};
template <class T>
struct IsList<List<T>> : std::true_type {
    using type = T;
};

template <class Argument>
Result<Argument> read_argument(const Call& call, std::string_view body) {
    if constexpr (QueryType<Argument>) {
        const auto pairs = TRY(net::parse_query(call.head.query));
        return read_query<Argument>(pairs, call.ignores_unknown_query);
    } else if constexpr (std::same_as<Argument, RawBody>) {
        return RawBody{body};
    } else if constexpr (std::same_as<Argument, StreamedBody>) {
        return StreamedBody{call.body_stream};
    } else if constexpr (json::IgnoresUnknown<Argument>) {
        json::Value tree = TRY(json::parse(body));
        return read_lenient<Argument>(std::move(tree));
    } else {
        return json::read<Argument>(body);
    }
}

template <class Shape>
net::Response respond(Shape shape) {
    if constexpr (std::same_as<Shape, net::Response>) {
        return shape;
    } else if constexpr (std::same_as<Shape, NoContent>) {
        net::Response response;
        response.status = 204;
        return response;
    } else if constexpr (std::same_as<Shape, Nothing>) {
        return net::json_response(200, R"({"data":{}})");
    } else if constexpr (IsOne<Shape>::value) {
        json::Object envelope;
        envelope["data"] = json::to_value(shape.data);
        return net::json_response(200, json::print(std::move(envelope)));
    } else {
        json::Object envelope;
        envelope["data"] = json::to_value(shape.data);
        envelope["next_cursor"] = json::to_value(shape.next_cursor);
        return net::json_response(200, json::print(std::move(envelope)));
    }
}

// Takes a handler apart: Result<Shape>(const Call&, const Arguments&...).
template <auto handler, class Shape, class... Arguments>
struct Handler {
    static constexpr bool takes_query = (QueryType<Arguments> || ...);
    static constexpr bool streams_body = (std::same_as<Arguments, StreamedBody> || ...);
    static constexpr bool takes_raw_body = streams_body || (std::same_as<Arguments, RawBody> || ...);
    static constexpr bool takes_body = !takes_raw_body && (!QueryType<Arguments> || ...);

    static Result<net::Response> call(const Call& call, std::string_view body) {
        if constexpr (!takes_query)
            if (!call.head.query.empty() && !call.ignores_unknown_query)
                return invalid("this route takes no query parameters");
        return call_with(call, body, std::index_sequence_for<Arguments...>{});
    }

    template <size_t... index>
    static Result<net::Response> call_with(const Call& call, std::string_view body, std::index_sequence<index...>) {
        (void)body;
        std::tuple<std::optional<Arguments>...> read;
        std::optional<Error> failed;
        [[maybe_unused]] const auto read_one = [&]<size_t i>(std::integral_constant<size_t, i>) {
            using Argument = std::tuple_element_t<i, std::tuple<Arguments...>>;
            if (failed) return;
            auto argument = read_argument<Argument>(call, body);
            if (argument.ok())
                std::get<i>(read) = std::move(argument).value();
            else
                failed = std::move(argument).error();
        };
        (read_one(std::integral_constant<size_t, index>{}), ...);
        if (failed) return std::move(*failed);
        auto shape = TRY(handler(call, *std::get<index>(read)...));
        return respond(std::move(shape));
    }

    template <bool query>
    static json::Value schema(json::Schemas& schemas) {
        json::Value made;
        const auto describe = [&]<class Argument>(std::type_identity<Argument>) {
            if constexpr (!std::same_as<Argument, RawBody> && !std::same_as<Argument, StreamedBody> &&
                          QueryType<Argument> == query)
                made = json::schema_of<Argument>(schemas);
        };
        (describe(std::type_identity<Arguments>{}), ...);
        return made;
    }
    static json::Value response_schema(json::Schemas& schemas) {
        if constexpr (IsOne<Shape>::value)
            return json::schema_of<typename IsOne<Shape>::type>(schemas);
        else if constexpr (IsList<Shape>::value)
            return json::schema_of<typename IsList<Shape>::type>(schemas);
        else
            return nullptr;
    }
    static constexpr ResponseKind kind() {
        if constexpr (std::same_as<Shape, net::Response>)
            return ResponseKind::raw;
        else if constexpr (std::same_as<Shape, NoContent>)
            return ResponseKind::no_content;
        else if constexpr (std::same_as<Shape, Nothing>)
            return ResponseKind::nothing;
        else if constexpr (IsOne<Shape>::value)
            return ResponseKind::one;
        else
            return ResponseKind::list;
    }
};

template <auto handler, class Signature>
struct Deduce;
template <auto handler, class Shape, class... Arguments>
struct Deduce<handler, Result<Shape> (*)(const Call&, const Arguments&...)> {
    using type = Handler<handler, Shape, Arguments...>;
};

} // namespace detail

template <auto handler>
constexpr Route route(std::string_view method, std::string_view path, Need need, std::string_view summary) {
    using Taken = typename detail::Deduce<handler, decltype(handler)>::type;
    Route row;
    row.method = method;
    row.path = path;
    row.need = need;
    row.summary = summary;
    row.handle = &Taken::call;
    row.response_kind = Taken::kind();
    row.takes_raw_body = Taken::takes_raw_body;
    row.streams_body = Taken::streams_body;
    if constexpr (Taken::takes_body) row.body_schema = &Taken::template schema<false>;
    if constexpr (Taken::takes_query) row.query_schema = &Taken::template schema<true>;
    row.response_schema = &Taken::response_schema;
    return row;
}

// All rows, in the order of the documents (routes.cpp).
std::span<const Route> routes();

} // namespace hone::api
