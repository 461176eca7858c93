#include "identity/jws.h"

#include "base/text.h"

#include <algorithm>
#include <openssl/core_names.h>
#include <openssl/ec.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/param_build.h>
#include <openssl/rsa.h>

namespace hone::identity {

namespace detail {

template <auto release>
struct Release {
    template <class T>
    void operator()(T* thing) const {
        release(thing);
    }
};
template <class T, auto release>
using Owned = std::unique_ptr<T, Release<release>>;
using OwnedKey = Owned<EVP_PKEY, EVP_PKEY_free>;

} // namespace detail

namespace {

constexpr size_t largest_token = 64 << 10;
constexpr size_t most_keys = 100;
constexpr size_t smallest_rsa_bytes = 256; // 2,048 bits
constexpr size_t largest_rsa_bytes = 1024;
constexpr size_t largest_exponent_bytes = 8;
constexpr size_t curve_bytes = 32; // of a coordinate of P-256, and of a key of Ed25519

using detail::Owned, detail::OwnedKey;
using OwnedNumber = Owned<BIGNUM, BN_free>;

const unsigned char* octets(std::string_view text) {
    return reinterpret_cast<const unsigned char*>(text.data());
}

std::string text_in(const json::Object& object, std::string_view name) {
    const json::Value* value = object.if_contains(name);
    return value != nullptr && value->is_string() ? std::string(value->get_string()) : std::string();
}

OwnedNumber number_of(std::string_view bytes) {
    return OwnedNumber(BN_bin2bn(octets(bytes), static_cast<int>(bytes.size()), nullptr));
}

OwnedKey key_of_parameters(const char* kind, OSSL_PARAM_BLD* builder) {
    const Owned<OSSL_PARAM, OSSL_PARAM_free> parameters(OSSL_PARAM_BLD_to_param(builder));
    const Owned<EVP_PKEY_CTX, EVP_PKEY_CTX_free> context(EVP_PKEY_CTX_new_from_name(nullptr, kind, nullptr));
    EVP_PKEY* made = nullptr;
    if (!parameters || !context || EVP_PKEY_fromdata_init(context.get()) != 1 ||
        EVP_PKEY_fromdata(context.get(), &made, EVP_PKEY_PUBLIC_KEY, parameters.get()) != 1)
        return nullptr;
    OwnedKey key(made);
    const Owned<EVP_PKEY_CTX, EVP_PKEY_CTX_free> check(EVP_PKEY_CTX_new_from_pkey(nullptr, key.get(), nullptr));
    if (!check || EVP_PKEY_public_check(check.get()) != 1) return nullptr;
    return key;
}

OwnedKey rsa_key(const json::Object& jwk) {
    const auto modulus = from_base64url(text_in(jwk, "n")), exponent = from_base64url(text_in(jwk, "e"));
    if (!modulus.ok() || !exponent.ok() || modulus.value().size() < smallest_rsa_bytes ||
        modulus.value().size() > largest_rsa_bytes || exponent.value().empty() ||
        exponent.value().size() > largest_exponent_bytes)
        return nullptr;
    const OwnedNumber n = number_of(modulus.value()), e = number_of(exponent.value());
    if (!n || !e || static_cast<size_t>(BN_num_bytes(n.get())) < smallest_rsa_bytes) return nullptr;
    const Owned<OSSL_PARAM_BLD, OSSL_PARAM_BLD_free> builder(OSSL_PARAM_BLD_new());
    if (!builder || OSSL_PARAM_BLD_push_BN(builder.get(), OSSL_PKEY_PARAM_RSA_N, n.get()) != 1 ||
        OSSL_PARAM_BLD_push_BN(builder.get(), OSSL_PKEY_PARAM_RSA_E, e.get()) != 1)
        return nullptr;
    return key_of_parameters("RSA", builder.get());
}

OwnedKey p256_key(const json::Object& jwk) {
    const auto x = from_base64url(text_in(jwk, "x")), y = from_base64url(text_in(jwk, "y"));
    if (!x.ok() || !y.ok() || x.value().size() != curve_bytes || y.value().size() != curve_bytes) return nullptr;
    const std::string point = "\x04" + x.value() + y.value();
    const Owned<OSSL_PARAM_BLD, OSSL_PARAM_BLD_free> builder(OSSL_PARAM_BLD_new());
    if (!builder || OSSL_PARAM_BLD_push_utf8_string(builder.get(), OSSL_PKEY_PARAM_GROUP_NAME, "prime256v1", 0) != 1 ||
        OSSL_PARAM_BLD_push_octet_string(builder.get(), OSSL_PKEY_PARAM_PUB_KEY, point.data(), point.size()) != 1)
        return nullptr;
    return key_of_parameters("EC", builder.get());
}

OwnedKey ed25519_key(const json::Object& jwk) {
    const auto x = from_base64url(text_in(jwk, "x"));
    if (!x.ok() || x.value().size() != curve_bytes) return nullptr;
    return OwnedKey(EVP_PKEY_new_raw_public_key(EVP_PKEY_ED25519, nullptr, octets(x.value()), curve_bytes));
}

// A JWS has the two numbers of an ECDSA signature side by side; OpenSSL takes them as DER.
std::string ecdsa_der(std::string_view raw) {
    if (raw.size() != 2 * curve_bytes) return "";
    const Owned<ECDSA_SIG, ECDSA_SIG_free> signature(ECDSA_SIG_new());
    OwnedNumber r = number_of(raw.substr(0, curve_bytes)), s = number_of(raw.substr(curve_bytes));
    if (!signature || !r || !s || ECDSA_SIG_set0(signature.get(), r.get(), s.get()) != 1) return "";
    static_cast<void>(r.release()), static_cast<void>(s.release()); // the signature owns them now
    unsigned char* der = nullptr;
    const int size = i2d_ECDSA_SIG(signature.get(), &der);
    if (size <= 0) return "";
    std::string text(reinterpret_cast<const char*>(der), static_cast<size_t>(size));
    OPENSSL_free(der);
    return text;
}

} // namespace

class PublicKey {
public:
    enum class Kind { rsa, p256, ed25519 };
    PublicKey(Kind kind, OwnedKey key) : m_kind(kind), m_key(std::move(key)) {}

    bool fits(Algorithm algorithm) const {
        switch (algorithm) {
        case Algorithm::rs256:
        case Algorithm::ps256:
            return m_kind == Kind::rsa;
        case Algorithm::es256:
            return m_kind == Kind::p256;
        case Algorithm::eddsa:
            return m_kind == Kind::ed25519;
        }
        return false;
    }

    bool verifies(const SignedToken& token) const {
        if (!fits(token.algorithm)) return false;
        const std::string signature =
            token.algorithm == Algorithm::es256 ? ecdsa_der(token.signature) : token.signature;
        if (signature.empty()) return false;
        const Owned<EVP_MD_CTX, EVP_MD_CTX_free> context(EVP_MD_CTX_new());
        EVP_PKEY_CTX* options = nullptr;
        const EVP_MD* digest = token.algorithm == Algorithm::eddsa ? nullptr : EVP_sha256();
        if (!context || EVP_DigestVerifyInit(context.get(), &options, digest, nullptr, m_key.get()) != 1) return false;
        if (token.algorithm == Algorithm::ps256 &&
            (EVP_PKEY_CTX_set_rsa_padding(options, RSA_PKCS1_PSS_PADDING) != 1 ||
             EVP_PKEY_CTX_set_rsa_mgf1_md(options, EVP_sha256()) != 1 ||
             EVP_PKEY_CTX_set_rsa_pss_saltlen(options, RSA_PSS_SALTLEN_DIGEST) != 1))
            return false;
        return EVP_DigestVerify(context.get(), octets(signature), signature.size(), octets(token.signed_part),
                                token.signed_part.size()) == 1;
    }

private:
    const Kind m_kind;
    const OwnedKey m_key;
};

namespace {

std::shared_ptr<const PublicKey> public_key(const json::Object& jwk) {
    const std::string kind = text_in(jwk, "kty"), curve = text_in(jwk, "crv");
    OwnedKey key;
    PublicKey::Kind known{};
    if (kind == "RSA")
        known = PublicKey::Kind::rsa, key = rsa_key(jwk);
    else if (kind == "EC" && curve == "P-256")
        known = PublicKey::Kind::p256, key = p256_key(jwk);
    else if (kind == "OKP" && curve == "Ed25519")
        known = PublicKey::Kind::ed25519, key = ed25519_key(jwk);
    if (!key) return nullptr;
    return std::make_shared<const PublicKey>(known, std::move(key));
}

// Whether the key's owner lets it verify signatures.
bool may_verify(const json::Object& jwk) {
    if (jwk.contains("use") && text_in(jwk, "use") != "sig") return false;
    const json::Value* operations = jwk.if_contains("key_ops");
    if (operations == nullptr) return true;
    return operations->is_array() &&
           std::any_of(operations->get_array().begin(), operations->get_array().end(),
                       [](const json::Value& each) { return each.is_string() && each.get_string() == "verify"; });
}

Result<json::Object> json_part(std::string_view part) {
    const auto text = from_base64url(part);
    if (!text.ok()) return unauthorized("the token is not base64url text");
    auto parsed = json::parse(text.value());
    if (!parsed.ok() || !parsed.value().is_object()) return unauthorized("the token does not contain JSON objects");
    return std::move(parsed).value().get_object();
}

} // namespace

Result<SignedToken> parse_token(std::string_view text, std::string_view own_type) {
    if (text.size() > largest_token) return unauthorized("the token is too long");
    const auto parts = split(text, '.');
    if (parts.size() != 3) return unauthorized("the token is not a signed JSON Web Token");
    const json::Object header = TRY(json_part(parts[0]));
    const std::string name = text_in(header, "alg");
    const auto algorithm = parse_enum<Algorithm>(name);
    if (!algorithm)
        return unauthorized("the token's algorithm " + std::string(truncate_utf8(name, 20)) +
                            " is not accepted; accepted: RS256, PS256, ES256, EdDSA");
    // Nothing here understands a critical extension, so a token that has one must be refused (RFC 7515, 4.1.11).
    if (header.contains("crit")) return unauthorized("the token has a critical header that is not supported");
    const std::string type = text_in(header, "typ");
    if (header.contains("typ") && !equals_ignoring_case(type, "JWT") &&
        (own_type.empty() || !equals_ignoring_case(type, own_type)))
        return unauthorized("the token is of another type than an ID token or a logout token");
    SignedToken token;
    token.algorithm = *algorithm;
    token.key_id = text_in(header, "kid");
    token.claims = TRY(json_part(parts[1]));
    token.signed_part = text.substr(0, parts[0].size() + 1 + parts[1].size());
    auto signature = from_base64url(parts[2]);
    if (!signature.ok() || signature.value().empty()) return unauthorized("the token has no signature");
    token.signature = std::move(signature).value();
    return token;
}

Result<KeySet> parse_key_set(std::string_view text) {
    const auto parsed = json::parse(text);
    const json::Value* list =
        parsed.ok() && parsed.value().is_object() ? parsed.value().get_object().if_contains("keys") : nullptr;
    if (list == nullptr || !list->is_array()) return unavailable("the provider's key set is not a JSON Web Key set");
    if (list->get_array().size() > most_keys)
        return unavailable("the provider's key set has more than " + std::to_string(most_keys) + " keys");
    KeySet set;
    for (const json::Value& each : list->get_array()) {
        if (!each.is_object() || !may_verify(each.get_object())) continue;
        const json::Object& jwk = each.get_object();
        VerificationKey key;
        key.id = text_in(jwk, "kid");
        if (jwk.contains("alg")) {
            key.algorithm = parse_enum<Algorithm>(text_in(jwk, "alg"));
            if (!key.algorithm) continue;
        }
        key.key = public_key(jwk);
        if (key.key) set.keys.push_back(std::move(key));
    }
    return set;
}

Verification verify(const SignedToken& token, const KeySet& keys) {
    std::vector<const VerificationKey*> fitting;
    for (const VerificationKey& key : keys.keys)
        if ((token.key_id.empty() || key.id == token.key_id) && key.key->fits(token.algorithm) &&
            key.algorithm.value_or(token.algorithm) == token.algorithm)
            fitting.push_back(&key);
    // A token without a key id is unambiguous only where there is one key of its kind.
    if (fitting.empty() || (token.key_id.empty() && fitting.size() > 1)) return Verification::no_key;
    const bool valid = std::any_of(fitting.begin(), fitting.end(),
                                   [&](const VerificationKey* key) { return key->key->verifies(token); });
    return valid ? Verification::valid : Verification::invalid;
}

std::string half_hash(Algorithm algorithm, std::string_view text) {
    unsigned char digest[EVP_MAX_MD_SIZE];
    unsigned int size = 0;
    const EVP_MD* kind = algorithm == Algorithm::eddsa ? EVP_sha512() : EVP_sha256();
    CHECK_OR_ABORT(EVP_Digest(text.data(), text.size(), digest, &size, kind, nullptr) == 1);
    return to_base64url({reinterpret_cast<const char*>(digest), size / 2});
}

std::string hmac_sha1(std::string_view key, std::string_view bytes) {
    unsigned char digest[EVP_MAX_MD_SIZE];
    unsigned int size = 0;
    CHECK_OR_ABORT(HMAC(EVP_sha1(), key.data(), static_cast<int>(key.size()), octets(bytes), bytes.size(), digest,
                        &size) != nullptr);
    return {reinterpret_cast<const char*>(digest), size};
}

} // namespace hone::identity
