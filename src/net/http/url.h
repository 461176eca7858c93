// Query strings, path segments and URLs: decoding with errors, no tricks let through. Pure functions, any thread.
#pragma once

#include "base/result.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace hone::net {

using QueryPairs = std::vector<std::pair<std::string, std::string>>;

// "a=1&b=x%20y" decoded, in order, '+' as space; "a" is ("a",""). At most 256 pairs; bad escapes, NUL and bad UTF-8
// are errors.
Result<QueryPairs> parse_query(std::string_view query);

// "/v1/projects/my%20app" -> {"v1","projects","my app"}. A slash in a name is encoded (team%2Fapp). Empty segments, "."
// and ".." (also beside an encoded slash), NUL and bad UTF-8 are errors, a trailing slash too. "/" is no segments.
Result<std::vector<std::string>> split_path(std::string_view path);

// An absolute http or https URL, or unix:/path/to.sock:/target.
struct Url {
    bool tls = false;
    std::string unix_path; // set for unix:
    std::string host;      // lower case, without brackets
    uint16_t port = 0;
    std::string user_info; // decoded "user:password", empty when absent
    std::string target;    // path and query, at least "/"

    std::string host_and_port() const; // for dialling: "[::1]:80"
    std::string host_header() const;   // leaves out the default port
    std::string origin() const;        // "https://host:port"
};
Result<Url> parse_url(std::string_view text);

// Where a Location header points, seen from `base`.
Result<Url> resolve_url(const Url& base, std::string_view location);

// "host:port", "[v6]:port" -> both parts. The port is needed.
Result<std::pair<std::string, uint16_t>> parse_host_port(std::string_view text);

} // namespace hone::net
