// The cookies of the UI. Pure; any thread.
#pragma once

#include "api/core/call.h"

namespace hone::api {

inline std::string cookie_text(std::string_view name, const std::string& value, std::string_view path,
                               std::string_view same_site, Duration lifetime, bool secure) {
    return std::string(name) + "=" + value + "; Path=" + std::string(path) +
           "; HttpOnly; SameSite=" + std::string(same_site) +
           "; Max-Age=" + std::to_string(std::chrono::floor<std::chrono::seconds>(lifetime).count()) +
           (secure ? "; Secure" : "");
}

// The login. Other sites' pages never send it along.
inline std::string session_cookie(const Call& call, const std::string& token, Duration lifetime) {
    return cookie_text("hone_session", token, "/", "Strict", lifetime, call.head.tls);
}

// Binds the browser to a sign-in that has begun. Lax: it must arrive with the redirect from the provider.
inline constexpr std::string_view sign_on_cookie_name = "hone_sign_on";
inline std::string sign_on_cookie(const std::string& value, Duration lifetime, bool secure) {
    return cookie_text(sign_on_cookie_name, value, "/v1/login", "Lax", lifetime, secure);
}

} // namespace hone::api
