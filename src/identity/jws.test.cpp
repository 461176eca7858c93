#include "identity/id_token.h"

#include <doctest/doctest.h>

namespace hone::identity {

namespace {

// RFC 7515, appendices A.2 and A.3.
const std::string rsa_keys =
    R"({"keys":[{"kty":"RSA","n":"ofgWCuLjybRlzo0tZWJjNiuSfb4p4fAkd_wWJcyQoTbji9k0l8W26mPddxHmfHQp-Vaw-4qPCJrcS2mJPMEzP1Pt0Bm4d4QlL-yRT-SFd2lZS-pCgNMsD1W_YpRPEwOWvG6b32690r2jZ47soMZo9wGzjb_7OMg0LOL-bSf63kpaSHSXndS5z5rexMdbBYUsLA9e-KXBdQOS-UTo7WTBEMa2R2CapHg665xsmtdVMTBQY4uDZlxvb3qCo5ZwKh9kG4LT6_I5IhlJH7aGhyxXFvUK-DWNmoudF8NAco9_h9iaGNj8q2ethFkMLs91kzk2PAcDTW9gb54h4FRWyuXpoQ","e":"AQAB"}]})";
const std::string payload =
    "eyJpc3MiOiJqb2UiLA0KICJleHAiOjEzMDA4MTkzODAsDQogImh0dHA6Ly9leGFtcGxlLmNvbS9pc19yb290Ijp0cnVlfQ";
const std::string rsa_signature =
    "cC4hiUPoj9Eetdgtv3hF80EGrhuB__dzERat0XF9g2VtQgr9PJbu3XOiZj5RZmh7AAuHIm4Bh-0Qc_lF5YKt_"
    "O8W2Fp5jujGbds9uJdbF9CUAr7t1dnZ"
    "cAcQjbKBYNX4BAynRFdiuB--f_nZLgrnbyTyWzO75vRK5h6xBArLIARNPvkSjtQBMHlb1L07Qe7K0GarZRmB_eSN9383LcOLn6_dO--"
    "xi12jzDwusC-e"
    "OkHWEsqtFZESc6BfI7noOPqvhJ1phCnvWh6IeYI2w9QOYEUipUTI8np6LbgGY9Fs98rqVt5AXLIhWkWywlVmtVrBp0igcN_IoypGlUPQGe77Rw";
const std::string rsa_token = "eyJhbGciOiJSUzI1NiJ9." + payload + "." + rsa_signature;
const std::string ec_keys =
    R"({"keys":[{"kty":"EC","crv":"P-256","x":"f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU","y":"x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0"}]})";
const std::string ec_token = "eyJhbGciOiJFUzI1NiJ9." + payload +
                             ".DtEhU3ljbEg8L38VWAfUAqOyKAM6-Xx-F4GawxaepmXFCgfTjDxw5djxLa8ISlSApmWQxfKTUJqPP3-Kg6NU1Q";

SignedToken token_of(const std::string& text) {
    auto parsed = parse_token(text);
    REQUIRE_MESSAGE(parsed.ok(), (parsed.ok() ? "" : parsed.error().message));
    return std::move(parsed).value();
}

KeySet keys_of(const std::string& text) {
    auto parsed = parse_key_set(text);
    REQUIRE(parsed.ok());
    return std::move(parsed).value();
}

std::string with_header(const std::string& header) {
    return to_base64url(header) + "." + payload + "." + rsa_signature;
}

} // namespace

TEST_CASE("the signatures of RFC 7515 are valid, and no longer when a bit changes") {
    CHECK(verify(token_of(rsa_token), keys_of(rsa_keys)) == Verification::valid);
    CHECK(verify(token_of(ec_token), keys_of(ec_keys)) == Verification::valid);
    for (const auto& [text, keys] : {std::pair(rsa_token, rsa_keys), std::pair(ec_token, ec_keys)}) {
        SignedToken token = token_of(text);
        token.signature[5] = static_cast<char>(token.signature[5] ^ 1);
        CHECK(verify(token, keys_of(keys)) == Verification::invalid);
        token = token_of(text);
        token.signed_part[30] = static_cast<char>(token.signed_part[30] ^ 1);
        CHECK(verify(token, keys_of(keys)) == Verification::invalid);
        token.signature.clear();
        CHECK(verify(token, keys_of(keys)) == Verification::invalid);
    }
}

TEST_CASE("a key verifies only with algorithms of its own kind") {
    CHECK(verify(token_of(rsa_token), keys_of(ec_keys)) == Verification::no_key);
    CHECK(verify(token_of(ec_token), keys_of(rsa_keys)) == Verification::no_key);
    SignedToken token = token_of(rsa_token);
    token.algorithm = Algorithm::ps256;
    CHECK(verify(token, keys_of(rsa_keys)) == Verification::invalid);
    token.algorithm = Algorithm::eddsa;
    CHECK(verify(token, keys_of(rsa_keys)) == Verification::no_key);
    // The key's own `alg` is binding.
    std::string bound = rsa_keys;
    bound.insert(bound.find("\"kty\""), R"("alg":"PS256",)");
    CHECK(verify(token_of(rsa_token), keys_of(bound)) == Verification::no_key);
}

TEST_CASE("only signed tokens with an algorithm of the list are tokens") {
    for (const char* header :
         {R"({"alg":"none"})", R"({"alg":"None"})", R"({"alg":"HS256"})", R"({"alg":"RS512"})", R"({"alg":"rs256"})",
          R"({"alg":1})", R"({})", R"([])", R"({"alg":"RS256","crit":["exp"]})", R"({"alg":"RS256","typ":"at+jwt"})",
          R"({"alg":"RS256","alg":"none"})"}) {
        INFO(header);
        CHECK_FALSE(parse_token(with_header(header)).ok());
    }
    CHECK(parse_token(with_header(R"({"alg":"RS256","typ":"jwt","jku":"https://evil.example"})")).ok());
    for (const std::string& text :
         {std::string(), std::string("a.b"), std::string("a.b.c.d"), rsa_token + "=", rsa_token + ".x",
          "eyJhbGciOiJSUzI1NiJ9." + payload + ".", std::string(1 << 20, 'a')})
        CHECK_FALSE(parse_token(text).ok());
}

TEST_CASE("what is no key for signatures is left out of the set") {
    const std::string good = ec_keys.substr(9, ec_keys.size() - 11);
    const auto count = [](const std::string& key) { return keys_of("{\"keys\":[" + key + "]}").keys.size(); };
    CHECK(count(good) == 1);
    CHECK(count(good + "," + good) == 2);
    CHECK(count(R"({"kty":"oct","k":"c2VjcmV0"})") == 0);
    CHECK(count(R"({"kty":"RSA","n":"AQAB","e":"AQAB"})") == 0); // 24 bits
    CHECK(count(R"({"kty":"EC","crv":"P-384","x":"AA","y":"AA"})") == 0);
    const std::string zero(43, 'A');
    CHECK(count(R"({"kty":"EC","crv":"P-256","x":")" + zero + R"(","y":")" + zero + "\"}") == 0); // not on the curve
    CHECK(count(R"(7,null,{"kty":{}})") == 0);
    std::string encrypts = good;
    encrypts.insert(1, R"("use":"enc",)");
    CHECK(count(encrypts) == 0);
    std::string wraps = good;
    wraps.insert(1, R"("key_ops":["wrapKey"],)");
    CHECK(count(wraps) == 0);
    CHECK_FALSE(parse_key_set("[]").ok());
    CHECK_FALSE(parse_key_set(R"({"keys":{}})").ok());
    // Without a key id two keys of a kind are ambiguous.
    CHECK(verify(token_of(ec_token), keys_of("{\"keys\":[" + good + "," + good + "]}")) == Verification::no_key);
}

TEST_CASE("a token must be from this issuer, for this client, of now and of this sign-in") {
    const Time now = parse_time("2026-03-01T12:00:00Z").value();
    const int64_t seconds = to_ns(now) / 1'000'000'000;
    const ExpectedToken expected{"https://id.example.com", "hone", "nonce-1", "access", now};
    const auto outcome = [&](const char* name, const json::Value& value, bool removed = false) {
        SignedToken token;
        token.algorithm = Algorithm::rs256;
        token.claims = {{"iss", "https://id.example.com"},
                        {"aud", "hone"},
                        {"sub", "1234"},
                        {"nonce", "nonce-1"},
                        {"exp", seconds + 60},
                        {"iat", seconds - 1},
                        {"at_hash", half_hash(Algorithm::rs256, "access")}};
        if (removed)
            token.claims.erase(name);
        else if (*name != '\0')
            token.claims[name] = value;
        const auto checked = check_id_token(token, expected);
        return checked.ok() ? checked.value() : checked.error().message;
    };
    CHECK(outcome("", nullptr) == "1234");
    CHECK(outcome("at_hash", nullptr, true) == "1234");
    CHECK(outcome("exp", seconds - 59) == "1234");
    CHECK(outcome("iat", seconds + 59) == "1234");
    CHECK(outcome("aud", json::Array{"hone"}) == "1234");
    CHECK(outcome("azp", "hone") == "1234");
    for (const char* name : {"iss", "aud", "sub", "nonce", "exp", "iat"}) {
        INFO(name);
        CHECK(outcome(name, nullptr, true).find("not accepted") != std::string::npos);
        CHECK(outcome(name, nullptr).find("not accepted") != std::string::npos);
        CHECK(outcome(name, json::Object()).find("not accepted") != std::string::npos);
    }
    struct Wrong {
        const char* name;
        json::Value value;
    };
    const Wrong wrong[] = {{"iss", "https://id.example.com/"},
                           {"aud", "other"},
                           {"aud", json::Array{"hone", "other"}},
                           {"azp", "other"},
                           {"azp", 7},
                           {"nonce", "nonce-2"},
                           {"exp", seconds - 61},
                           {"iat", seconds + 61},
                           {"iat", seconds - 1000},
                           {"nbf", seconds + 61},
                           {"nbf", "soon"},
                           {"at_hash", "x"},
                           {"at_hash", 1},
                           {"sub", json::Value(std::string_view(std::string(256, 'x')))}};
    for (const Wrong& each : wrong) {
        INFO(each.name);
        CHECK(outcome(each.name, each.value).find("not accepted") != std::string::npos);
    }
}

TEST_CASE("a logout token has the event, a subject and no nonce; an ID token is none") {
    const Time now = parse_time("2026-03-01T12:00:00Z").value();
    const int64_t seconds = to_ns(now) / 1'000'000'000;
    const ExpectedToken expected{"https://id.example.com", "hone", {}, {}, now};
    const auto outcome = [&](const char* name, json::Value value, bool removed = false) {
        SignedToken token;
        token.claims = {
            {"iss", "https://id.example.com"},
            {"aud", "hone"},
            {"sub", "1234"},
            {"iat", seconds - 1},
            {"exp", seconds + 60},
            {"jti", "a"},
            {"events", json::Object{{"http://schemas.openid.net/event/backchannel-logout", json::Object()}}}};
        if (removed)
            token.claims.erase(name);
        else if (*name != '\0')
            token.claims[name] = value;
        const auto checked = check_logout_token(token, expected);
        return checked.ok() ? checked.value().subject + " " + checked.value().token_id : checked.error().message;
    };
    CHECK(outcome("", nullptr) == "1234 a");
    CHECK(outcome("exp", nullptr, true) == "1234 a");
    CHECK(outcome("sid", "a session") == "1234 a");
    for (const char* name : {"iss", "aud", "sub", "iat", "jti", "events"}) {
        INFO(name);
        CHECK(outcome(name, nullptr, true).find("not accepted") != std::string::npos);
        CHECK(outcome(name, nullptr).find("not accepted") != std::string::npos);
        CHECK(outcome(name, json::Object()).find("not accepted") != std::string::npos);
    }
    CHECK(outcome("nonce", "a").find("nonce") != std::string::npos);
    CHECK(outcome("exp", seconds - 61).find("(exp)") != std::string::npos);
    CHECK(outcome("exp", "soon").find("exp") != std::string::npos);
    CHECK(outcome("iat", seconds - 3600).find("(iat)") != std::string::npos);
}

TEST_CASE("claims are found by their name, then by a path") {
    const json::Object claims{{"groups", json::Array{"a", 1, "b"}},
                              {"https://x.example/groups", "c"},
                              {"realm_access", json::Object{{"roles", json::Array{"d"}}}}};
    CHECK(texts_of(find_claim(claims, "groups")) == std::vector<std::string>{"a", "b"});
    CHECK(texts_of(find_claim(claims, "https://x.example/groups")) == std::vector<std::string>{"c"});
    CHECK(texts_of(find_claim(claims, "realm_access.roles")) == std::vector<std::string>{"d"});
    CHECK(find_claim(claims, "groups.x") == nullptr);
    CHECK(find_claim(claims, "") == nullptr);
}

} // namespace hone::identity
