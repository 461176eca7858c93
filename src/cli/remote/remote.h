// The server as commands see it: requests to the public API, its responses unpacked, its errors turned into what the
// user needs to know. Responses are read as JSON trees, so that fields a newer server adds do no harm. One thread.
#pragma once

#include "cli/remote/context.h"
#include "cli/remote/target.h"
#include "net/client/client.h"
#include "json/json.h"

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace hone::cli {

using Query = std::vector<std::pair<std::string, std::string>>;

struct Call {
    std::string method = "GET";
    std::string path; // "/v1/projects"
    Query query{};    // pairs with an empty value are left out
    std::optional<json::Value> body{};
    std::vector<net::Header> headers{};
};

struct Reply {
    json::Value data; // the "data" of the envelope; an empty object when there is none
    std::string next_cursor;
    std::vector<net::Header> headers;
};

struct Items {
    json::Array items;
    bool more = false; // the server has more than was requested
};

// "/v1/projects" + each segment, escaped.
std::string path_of(std::string_view base, const std::vector<std::string>& segments);

class Remote {
public:
    explicit Remote(Explanation& explanation) : m_explanation(explanation) {}

    // Before the first call.
    void set_target(Target target);
    const Target& target() const { return m_target; }

    Result<Reply> call(const Call& call);
    Result<json::Value> get(std::string path, Query query = {});
    Result<json::Value> post(std::string path, json::Value body, Query query = {});
    // For long work, such as an export: the response comes when it is complete.
    Result<json::Value> perform(std::string path, Query query = {});
    Result<json::Value> patch(std::string path, json::Value body);
    Result<json::Value> put(std::string path, json::Value body);
    Result<json::Value> remove(std::string path, Query query = {});
    // Pages until `limit` items are there; without a limit, until the end.
    Result<Items> list(std::string path, Query query, std::optional<size_t> limit);
    // A list that the API always gives whole.
    Result<Items> list_whole(std::string path, Query query);
    // Streams a response of any length; `content_type` is what it must be, empty: anything. No deadline for the whole,
    // but for silence: --timeout, or `quiet`.
    Result<> stream(const Call& call, std::string_view content_type,
                    const std::function<Result<>(std::string_view)>& sink, std::optional<Duration> quiet = {});
    // Sends a body of any length, piece by piece until an empty one.
    Result<Reply> upload(const Call& call, const std::function<Result<std::string>()>& source,
                         std::optional<uint64_t> length);

private:
    Result<Reply> exchange(const net::ClientRequest& request);
    Result<Reply> unpack(const net::ClientResponse& response);
    Result<> take_items(Reply& reply, std::optional<size_t> limit, Items& into);
    net::ClientRequest request_of(const Call& call) const;
    Error unreachable(Error error);
    Error refusal(int status, const net::ClientResponse& response, std::string_view body);
    Error not_understood(std::string why);

    Explanation& m_explanation;
    Target m_target;
    net::HttpClient m_client;
};

} // namespace hone::cli
