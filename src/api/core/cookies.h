// The cookies of the UI. Pure; any thread.
#pragma once

#include "api/core/call.h"

namespace hone::api {

// Over TLS a cookie has a prefix: browsers then accept it only from this very host, encrypted and for all paths, so
// that a page of a sibling subdomain cannot plant one (RFC 6265bis, 4.1.3). The name without it is not read there.
inline std::string cookie_name(std::string_view name, bool secure) {
    return (secure ? "__Host-" : "") + std::string(name);
}

inline std::string cookie_text(std::string_view name, const std::string& value, std::string_view path,
                               std::string_view same_site, Duration lifetime, bool secure) {
    return cookie_name(name, secure) + "=" + value + "; Path=" + std::string(secure ? "/" : path) +
           "; HttpOnly; SameSite=" + std::string(same_site) +
           "; Max-Age=" + std::to_string(std::chrono::floor<std::chrono::seconds>(lifetime).count()) +
           (secure ? "; Secure" : "");
}

// The login. Other sites' pages never send it along.
inline constexpr std::string_view session_cookie_name = "hone_session";
inline std::string session_cookie(const Call& call, const std::string& token, Duration lifetime) {
    return cookie_text(session_cookie_name, token, "/", "Strict", lifetime, call.head.tls);
}
inline std::string session_token(const net::RequestHead& head) {
    return head.cookie(cookie_name(session_cookie_name, head.tls));
}

// Binds the browser to a sign-in that has begun. Lax: it must arrive with the redirect from the provider.
inline constexpr std::string_view sign_on_cookie_name = "hone_sign_on";
inline std::string sign_on_cookie(const std::string& value, Duration lifetime, bool secure) {
    return cookie_text(sign_on_cookie_name, value, "/v1/login", "Lax", lifetime, secure);
}

} // namespace hone::api
