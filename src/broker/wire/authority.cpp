#include "broker/wire/authority.h"

#include "base/file.h"
#include "crypto/crypto.h"

#include <arpa/inet.h>
#include <array>
#include <openssl/bio.h>
#include <openssl/bn.h>
#include <openssl/core_names.h>
#include <openssl/ec.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/param_build.h>
#include <openssl/pem.h>
#include <openssl/x509.h>
#include <openssl/x509v3.h>

namespace hone::broker {

namespace {

constexpr auto lifetime = std::chrono::hours(25); // a run lives a day at most
constexpr auto slack = std::chrono::hours(1);     // a sandbox's clock is ours, but leap days and tests are not

template <auto release>
struct Free {
    template <class T>
    void operator()(T* thing) const {
        release(thing);
    }
};
using Certificate = std::unique_ptr<X509, Free<X509_free>>;
using Key = std::unique_ptr<EVP_PKEY, Free<EVP_PKEY_free>>;
using Bio = std::unique_ptr<BIO, Free<BIO_free_all>>;

Error openssl_error(const std::string& what) {
    std::array<char, 256> text{};
    ERR_error_string_n(ERR_get_error(), text.data(), text.size());
    ERR_clear_error();
    return internal(what, text.data());
}

std::string take_text(BIO* bio) {
    char* bytes = nullptr;
    const long size = BIO_get_mem_data(bio, &bytes);
    return std::string(bytes, static_cast<size_t>(size));
}

bool add_extension(X509* certificate, X509* issuer, int what, const std::string& value) {
    X509V3_CTX context;
    X509V3_set_ctx(&context, issuer, certificate, nullptr, nullptr, 0);
    X509_EXTENSION* extension = X509V3_EXT_conf_nid(nullptr, &context, what, value.c_str());
    if (extension == nullptr) return false;
    const bool added = X509_add_ext(certificate, extension, -1) == 1;
    X509_EXTENSION_free(extension);
    return added;
}

bool set_random_serial(X509* certificate) {
    const std::unique_ptr<BIGNUM, Free<BN_free>> number(BN_new());
    return number && BN_rand(number.get(), 127, BN_RAND_TOP_ANY, BN_RAND_BOTTOM_ANY) == 1 &&
           BN_to_ASN1_INTEGER(number.get(), X509_get_serialNumber(certificate)) != nullptr;
}

bool set_name(X509_NAME* name, const std::string& common_name) {
    const auto* organization = reinterpret_cast<const unsigned char*>("Hone");
    // Common names end at 64 bytes; the alternative name below is what counts.
    const std::string shown = common_name.substr(0, 64);
    return X509_NAME_add_entry_by_txt(name, "O", MBSTRING_ASC, organization, -1, -1, 0) == 1 &&
           X509_NAME_add_entry_by_txt(name, "CN", MBSTRING_ASC, reinterpret_cast<const unsigned char*>(shown.c_str()),
                                      -1, -1, 0) == 1;
}

bool set_validity(X509* certificate, Time from, Time until) {
    const auto seconds = [](Time time) {
        return static_cast<time_t>(std::chrono::floor<std::chrono::seconds>(time).time_since_epoch().count());
    };
    return ASN1_TIME_set(X509_getm_notBefore(certificate), seconds(from)) != nullptr &&
           ASN1_TIME_set(X509_getm_notAfter(certificate), seconds(until)) != nullptr;
}

bool is_address(const std::string& host) {
    std::array<unsigned char, 16> bytes{};
    return inet_pton(AF_INET, host.c_str(), bytes.data()) == 1 || inet_pton(AF_INET6, host.c_str(), bytes.data()) == 1;
}

// A P-256 key that follows from seed and purpose: the private number is 1 + hash mod (order - 1).
Result<Key> derive_key(const crypto::SecretBytes& seed, std::string_view purpose) {
    using Number = std::unique_ptr<BIGNUM, Free<BN_clear_free>>;
    std::string bytes = crypto::keyed_hash(seed.reveal(), purpose);
    const Number number(
        BN_bin2bn(reinterpret_cast<const unsigned char*>(bytes.data()), static_cast<int>(bytes.size()), nullptr));
    crypto::wipe(bytes);
    const std::unique_ptr<EC_GROUP, Free<EC_GROUP_free>> group(EC_GROUP_new_by_curve_name(NID_X9_62_prime256v1));
    const std::unique_ptr<BN_CTX, Free<BN_CTX_free>> room(BN_CTX_secure_new());
    const Number order(group ? BN_dup(EC_GROUP_get0_order(group.get())) : nullptr);
    const std::unique_ptr<EC_POINT, Free<EC_POINT_free>> point(group ? EC_POINT_new(group.get()) : nullptr);
    std::array<unsigned char, 65> public_bytes{};
    if (!number || !order || !room || !point || BN_sub_word(order.get(), 1) != 1 ||
        BN_nnmod(number.get(), number.get(), order.get(), room.get()) != 1 || BN_add_word(number.get(), 1) != 1 ||
        EC_POINT_mul(group.get(), point.get(), number.get(), nullptr, nullptr, room.get()) != 1 ||
        EC_POINT_point2oct(group.get(), point.get(), POINT_CONVERSION_UNCOMPRESSED, public_bytes.data(),
                           public_bytes.size(), room.get()) != public_bytes.size())
        return openssl_error("cannot derive a key");
    const std::unique_ptr<OSSL_PARAM_BLD, Free<OSSL_PARAM_BLD_free>> builder(OSSL_PARAM_BLD_new());
    const std::unique_ptr<EVP_PKEY_CTX, Free<EVP_PKEY_CTX_free>> context(
        EVP_PKEY_CTX_new_from_name(nullptr, "EC", nullptr));
    if (!builder || !context ||
        OSSL_PARAM_BLD_push_utf8_string(builder.get(), OSSL_PKEY_PARAM_GROUP_NAME, "P-256", 0) != 1 ||
        OSSL_PARAM_BLD_push_octet_string(builder.get(), OSSL_PKEY_PARAM_PUB_KEY, public_bytes.data(),
                                         public_bytes.size()) != 1 ||
        OSSL_PARAM_BLD_push_BN(builder.get(), OSSL_PKEY_PARAM_PRIV_KEY, number.get()) != 1)
        return openssl_error("cannot derive a key");
    const std::unique_ptr<OSSL_PARAM, Free<OSSL_PARAM_free>> parameters(OSSL_PARAM_BLD_to_param(builder.get()));
    EVP_PKEY* made = nullptr;
    if (!parameters || EVP_PKEY_fromdata_init(context.get()) != 1 ||
        EVP_PKEY_fromdata(context.get(), &made, EVP_PKEY_KEYPAIR, parameters.get()) != 1)
        return openssl_error("cannot derive a key");
    return Key(made);
}

} // namespace

struct Authority::Keys {
    Key authority;
    Key leaf; // one for all hosts: the sandbox sees a single peer anyway
    Certificate certificate;
    crypto::SecretBytes leaf_text; // PEM
};

Authority::Authority() : m_keys(std::make_unique<Keys>()) {}
Authority::~Authority() = default;

Result<std::unique_ptr<Authority>> Authority::create(const std::string& run_id, const crypto::SecretBytes& seed,
                                                     Time now) {
    std::unique_ptr<Authority> made(new Authority());
    Keys& keys = *made->m_keys;
    made->m_not_before = now - slack;
    keys.authority = TRY(derive_key(seed, "key of the authority"));
    keys.leaf = TRY(derive_key(seed, "key of the leaves"));
    keys.certificate.reset(X509_new());
    X509* certificate = keys.certificate.get();
    if (!keys.authority || !keys.leaf || !certificate || X509_set_version(certificate, 2) != 1 ||
        !set_random_serial(certificate) || !set_name(X509_get_subject_name(certificate), "Hone run " + run_id) ||
        X509_set_issuer_name(certificate, X509_get_subject_name(certificate)) != 1 ||
        !set_validity(certificate, made->m_not_before, now + lifetime) ||
        X509_set_pubkey(certificate, keys.authority.get()) != 1 ||
        !add_extension(certificate, certificate, NID_basic_constraints, "critical,CA:TRUE,pathlen:0") ||
        !add_extension(certificate, certificate, NID_key_usage, "critical,keyCertSign,cRLSign") ||
        !add_extension(certificate, certificate, NID_subject_key_identifier, "hash") ||
        X509_sign(certificate, keys.authority.get(), EVP_sha256()) == 0)
        return openssl_error("cannot make the run's certificate authority");
    const Bio text(BIO_new(BIO_s_mem()));
    const Bio key_text(BIO_new(BIO_s_secmem()));
    if (PEM_write_bio_X509(text.get(), certificate) != 1 ||
        PEM_write_bio_PrivateKey(key_text.get(), keys.leaf.get(), nullptr, nullptr, 0, nullptr, nullptr) != 1)
        return openssl_error("cannot write the run's certificate authority");
    made->m_certificate = take_text(text.get());
    std::string leaf_text = take_text(key_text.get());
    keys.leaf_text = crypto::SecretBytes::take(leaf_text);
    return made;
}

Result<std::string> Authority::sign_leaf(const std::string& host) const {
    const Certificate leaf(X509_new());
    X509* issuer = m_keys->certificate.get();
    const std::string names = (is_address(host) ? "IP:" : "DNS:") + host;
    if (!leaf || X509_set_version(leaf.get(), 2) != 1 || !set_random_serial(leaf.get()) ||
        !set_name(X509_get_subject_name(leaf.get()), host) ||
        X509_set_issuer_name(leaf.get(), X509_get_subject_name(issuer)) != 1 ||
        !set_validity(leaf.get(), m_not_before, m_not_before + slack + lifetime) ||
        X509_set_pubkey(leaf.get(), m_keys->leaf.get()) != 1 ||
        !add_extension(leaf.get(), issuer, NID_basic_constraints, "critical,CA:FALSE") ||
        !add_extension(leaf.get(), issuer, NID_key_usage, "critical,digitalSignature") ||
        !add_extension(leaf.get(), issuer, NID_ext_key_usage, "serverAuth") ||
        !add_extension(leaf.get(), issuer, NID_subject_alt_name, names) ||
        !add_extension(leaf.get(), issuer, NID_authority_key_identifier, "keyid") ||
        X509_sign(leaf.get(), m_keys->authority.get(), EVP_sha256()) == 0)
        return openssl_error("cannot make a certificate for " + host);
    const Bio text(BIO_new(BIO_s_mem()));
    if (PEM_write_bio_X509(text.get(), leaf.get()) != 1) return openssl_error("cannot write a certificate");
    return take_text(text.get());
}

Result<std::shared_ptr<const net::TlsContext>> Authority::context_for(const std::string& host) {
    const Lock lock(m_mutex);
    if (const auto found = m_contexts.find(host); found != m_contexts.end()) return found->second;
    std::string key(m_keys->leaf_text.reveal());
    auto certificate = sign_leaf(host);
    auto context = certificate.ok() ? net::TlsContext::for_server_text(certificate.value() + m_certificate, key)
                                    : Result<std::shared_ptr<const net::TlsContext>>(certificate.error());
    crypto::wipe(key);
    if (!context.ok()) return context;
    if (m_contexts.size() >= kept_leaves) m_contexts.erase(m_contexts.begin());
    m_contexts[host] = context.value();
    return context;
}

std::string system_authorities() {
    for (const char* path : {"/etc/ssl/certs/ca-certificates.crt", "/etc/pki/tls/certs/ca-bundle.crt",
                             "/etc/ssl/ca-bundle.pem", "/etc/ssl/cert.pem"})
        if (auto content = read_file(path); content.ok()) return std::move(content).value();
    return {};
}

} // namespace hone::broker
