// What the clients of forges share: one request with its errors explained, pages, and careful access to JSON.
#pragma once

#include "forge/clients/forge.h"
#include "json/path.h"

#include <functional>

namespace hone::forge {

class RestClient : public Client {
protected:
    RestClient(ForgeHttp& http, Remote remote, ForgePlace place)
        : m_http(http),
          m_remote(std::move(remote)),
          m_place(std::move(place)) {}

    struct Response {
        int status = 0;
        json::Value body;
        std::string etag;
        std::string next;     // address of the next page
        std::string location; // of a redirect
    };
    // Statuses below 300 and those in `also` are responses; others become errors that name what to do. `doing`
    // completes "could not …".
    Result<Response> call(std::string_view doing, const std::string& method, const std::string& path,
                          const std::optional<json::Value>& body = std::nullopt, std::initializer_list<int> also = {},
                          const std::string& etag = "");
    // Client::try_scope with its requests; an empty `write_path`: it is only read.
    Result<> try_requests(std::string_view doing, const std::string& read_path, const std::string& method,
                          const std::string& write_path);
    // A text, as the forge sends it. The forge may keep it in a store on another host: that one gets no credential and
    // must have a public address.
    Result<std::string> read_text(std::string_view doing, const std::string& path);
    // Every item of a list, page after page (by the header Link), until `take` returns false or ten pages are read.
    Result<> each(std::string_view doing, const std::string& path, const std::function<bool(const json::Value&)>& take);

    ForgeHttp& m_http;
    const Remote m_remote;
    const ForgePlace m_place;

private:
    net::ClientRequest request_to(const std::string& method, const std::string& url) const;
    Result<net::ClientResponse> send(std::string_view doing, const Remote& remote, net::ClientRequest request);
    Error explain(std::string_view doing, const net::ClientResponse& response);
    bool m_following = false; // a redirect
};

// One line of text of the forge.
std::string line_at(const json::Value& value, std::initializer_list<std::string_view> keys, size_t bytes);
using json::member;
using json::number_at;
using json::text_at;
using json::true_at;

// <https://…?page=2>; rel="next" of a Link header.
std::string next_link(std::string_view header);

std::unique_ptr<Client> make_github_client(ForgeHttp& http, const Remote& remote, const ForgePlace& place);
std::unique_ptr<Client> make_gitlab_client(ForgeHttp& http, const Remote& remote, const ForgePlace& place);

} // namespace hone::forge
