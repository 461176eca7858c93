#include "identity/id_token.h"

#include "crypto/crypto.h"

#include <algorithm>

namespace hone::identity {

namespace {

constexpr size_t longest_subject = 255;
constexpr std::string_view logout_event = "http://schemas.openid.net/event/backchannel-logout";

Error wrong(std::string why) {
    return unauthorized("the provider's token is not accepted: " + std::move(why));
}

std::string claim_text(const json::Object& claims, std::string_view name) {
    const json::Value* value = claims.if_contains(name);
    return value != nullptr && value->is_string() ? std::string(value->get_string()) : std::string();
}

// Seconds since 1970; providers send whole numbers, a few send fractions.
std::optional<double> claim_seconds(const json::Object& claims, std::string_view name) {
    const json::Value* value = claims.if_contains(name);
    if (value == nullptr || !value->is_number()) return std::nullopt;
    return value->to_number<double>();
}

Result<> check_audience(const json::Object& claims, const std::string& client_id) {
    const auto audience = texts_of(claims.if_contains("aud"));
    if (std::find(audience.begin(), audience.end(), client_id) == audience.end())
        return wrong("it is for another client (aud)");
    const std::string party = claim_text(claims, "azp");
    if (audience.size() > 1 && party.empty()) return wrong("it has several audiences and no azp");
    if (claims.contains("azp") && party != client_id) return wrong("it was issued to another client (azp)");
    return {};
}

Result<> check_times(const json::Object& claims, Time now, bool needs_expiry) {
    const double current = static_cast<double>(to_ns(now)) / 1e9;
    const double skew = std::chrono::duration<double>(largest_skew).count();
    const double age = std::chrono::duration<double>(largest_age).count();
    const auto expires = claim_seconds(claims, "exp"), issued = claim_seconds(claims, "iat");
    if (!expires && (needs_expiry || claims.contains("exp"))) return wrong("exp is missing");
    if (!issued) return wrong("iat is missing");
    if (expires && !(*expires > current - skew)) return wrong("it has expired (exp)");
    if (!(*issued < current + skew)) return wrong("it is from the future (iat); compare the clocks of both servers");
    if (!(*issued > current - age - skew)) return wrong("it was issued too long ago (iat)");
    if (claims.contains("nbf")) {
        const auto begins = claim_seconds(claims, "nbf");
        if (!begins || !(*begins < current + skew)) return wrong("it is not valid yet (nbf)");
    }
    return {};
}

Result<std::string> subject_of(const json::Object& claims) {
    std::string subject = claim_text(claims, "sub");
    if (subject.empty() || subject.size() > longest_subject || !is_valid_utf8(subject)) return wrong("sub is missing");
    return subject;
}

} // namespace

Result<std::string> check_id_token(const SignedToken& token, const ExpectedToken& expected) {
    const json::Object& claims = token.claims;
    if (claim_text(claims, "iss") != expected.issuer) return wrong("it is from another issuer (iss)");
    TRY(check_audience(claims, expected.client_id));
    TRY(check_times(claims, expected.now, true));
    const std::string nonce = claim_text(claims, "nonce");
    if (nonce.empty() || !crypto::equal(nonce, expected.nonce)) return wrong("it is of another sign-in (nonce)");
    if (claims.contains("at_hash") &&
        claim_text(claims, "at_hash") != half_hash(token.algorithm, expected.access_token))
        return wrong("it does not belong to the access token (at_hash)");
    return subject_of(claims);
}

Result<LogoutOrder> check_logout_token(const SignedToken& token, const ExpectedToken& expected) {
    const json::Object& claims = token.claims;
    if (claim_text(claims, "iss") != expected.issuer) return wrong("it is from another issuer (iss)");
    TRY(check_audience(claims, expected.client_id));
    TRY(check_times(claims, expected.now, false)); // providers of the first drafts send no exp
    if (claims.contains("nonce")) return wrong("a logout token has no nonce");
    const json::Value* events = claims.if_contains("events");
    const json::Value* event =
        events != nullptr && events->is_object() ? events->get_object().if_contains(logout_event) : nullptr;
    if (event == nullptr || !event->is_object()) return wrong("it is no logout token (events)");
    LogoutOrder order{TRY(subject_of(claims)), claim_text(claims, "jti")};
    if (order.token_id.empty()) return wrong("jti is missing");
    return order;
}

const json::Value* find_claim(const json::Object& claims, std::string_view name) {
    if (const json::Value* whole = claims.if_contains(name)) return whole;
    const size_t dot = name.find('.');
    if (dot == std::string_view::npos) return nullptr;
    const json::Value* outer = claims.if_contains(name.substr(0, dot));
    return outer != nullptr && outer->is_object() ? find_claim(outer->get_object(), name.substr(dot + 1)) : nullptr;
}

std::vector<std::string> texts_of(const json::Value* claim) {
    std::vector<std::string> texts;
    if (claim == nullptr) return texts;
    if (claim->is_string()) texts.emplace_back(claim->get_string());
    if (claim->is_array())
        for (const json::Value& each : claim->get_array())
            if (each.is_string()) texts.emplace_back(each.get_string());
    return texts;
}

} // namespace hone::identity
