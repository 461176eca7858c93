#include "net/testing/certificates.h"

#include "base/result.h"

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <openssl/ec.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>

namespace hone::net::testing {

namespace {

EVP_PKEY* make_key() {
    EVP_PKEY* key = EVP_EC_gen("P-256");
    CHECK_OR_ABORT(key != nullptr);
    return key;
}

void add_extension(X509* certificate, X509* issuer, int kind, const std::string& value) {
    X509V3_CTX context;
    X509V3_set_ctx(&context, issuer, certificate, nullptr, nullptr, 0);
    X509_EXTENSION* extension = X509V3_EXT_conf_nid(nullptr, &context, kind, value.c_str());
    CHECK_OR_ABORT(extension != nullptr);
    X509_add_ext(certificate, extension, -1);
    X509_EXTENSION_free(extension);
}

X509* make_certificate(const char* name, long serial, int from_days, int to_days, EVP_PKEY* key) {
    X509* certificate = X509_new();
    X509_set_version(certificate, 2);
    ASN1_INTEGER_set(X509_get_serialNumber(certificate), serial);
    X509_gmtime_adj(X509_getm_notBefore(certificate), from_days * 86400L);
    X509_gmtime_adj(X509_getm_notAfter(certificate), to_days * 86400L);
    X509_set_pubkey(certificate, key);
    X509_NAME_add_entry_by_txt(X509_get_subject_name(certificate), "CN", MBSTRING_ASC,
                               reinterpret_cast<const unsigned char*>(name), -1, -1, 0);
    return certificate;
}

void write(const std::string& path, X509* certificate) {
    FILE* file = std::fopen(path.c_str(), "w");
    CHECK_OR_ABORT(file != nullptr && PEM_write_X509(file, certificate) == 1);
    std::fclose(file);
}

void write(const std::string& path, EVP_PKEY* key) {
    FILE* file = std::fopen(path.c_str(), "w");
    CHECK_OR_ABORT(file != nullptr && PEM_write_PrivateKey(file, key, nullptr, nullptr, 0, nullptr, nullptr) == 1);
    std::fclose(file);
}

} // namespace

struct TestAuthority::Keys {
    EVP_PKEY* key;
    X509* certificate;
    long next_serial = 2;
};

TestAuthority::TestAuthority() : m_keys(new Keys{}) {
    std::string pattern = (std::filesystem::temp_directory_path() / "hone-net-XXXXXX").string();
    CHECK_OR_ABORT(::mkdtemp(pattern.data()) != nullptr);
    m_directory = pattern;
    m_ca_file = m_directory + "/ca.pem";
    m_keys->key = make_key();
    m_keys->certificate = make_certificate("Test Authority", 1, -365, 365, m_keys->key);
    X509_set_issuer_name(m_keys->certificate, X509_get_subject_name(m_keys->certificate));
    add_extension(m_keys->certificate, m_keys->certificate, NID_basic_constraints, "critical,CA:TRUE");
    X509_sign(m_keys->certificate, m_keys->key, EVP_sha256());
    write(m_ca_file, m_keys->certificate);
}

TestAuthority::~TestAuthority() {
    X509_free(m_keys->certificate);
    EVP_PKEY_free(m_keys->key);
    delete m_keys;
    std::error_code ignored;
    std::filesystem::remove_all(m_directory, ignored);
}

CertificateFiles TestAuthority::issue(const std::string& file, const std::string& names, int from_days, int to_days) {
    EVP_PKEY* key = make_key();
    X509* certificate = make_certificate("test", m_keys->next_serial++, from_days, to_days, key);
    X509_set_issuer_name(certificate, X509_get_subject_name(m_keys->certificate));
    add_extension(certificate, m_keys->certificate, NID_subject_alt_name, names);
    X509_sign(certificate, m_keys->key, EVP_sha256());
    CertificateFiles files{m_directory + "/" + file + ".pem", m_directory + "/" + file + ".key"};
    write(files.certificate, certificate);
    write(files.key, key);
    X509_free(certificate);
    EVP_PKEY_free(key);
    return files;
}

} // namespace hone::net::testing
