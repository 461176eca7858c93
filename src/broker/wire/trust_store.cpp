#include "broker/wire/trust_store.h"

#include <array>
#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <vector>

namespace hone::broker {

namespace {

void add_number(std::string& out, uint64_t value, int bytes) {
    for (int shift = (bytes - 1) * 8; shift >= 0; shift -= 8) out += static_cast<char>(value >> shift & 0xff);
}

void add_certificates(std::string& out, std::string_view text) {
    add_number(out, text.size(), 2);
    out += text;
}

// The bytes of each certificate in the text. Parsing all of a system's authorities takes tens of
// milliseconds, at every start of a run, only to write the same bytes again.
std::vector<std::string> read_certificates(const std::string& authorities) {
    std::vector<std::string> found;
    BIO* text = BIO_new_mem_buf(authorities.data(), static_cast<int>(authorities.size()));
    char* name = nullptr;
    char* header = nullptr;
    unsigned char* bytes = nullptr;
    long size = 0;
    while (PEM_read_bio(text, &name, &header, &bytes, &size) == 1) {
        const std::string_view kind = name;
        if (kind == PEM_STRING_X509 || kind == PEM_STRING_X509_OLD)
            found.emplace_back(reinterpret_cast<char*>(bytes), static_cast<size_t>(size));
        OPENSSL_free(name);
        OPENSSL_free(header);
        OPENSSL_free(bytes);
    }
    BIO_free(text);
    ERR_clear_error(); // the end of the text counts as an error
    return found;
}

} // namespace

Result<std::string> make_java_trust_store(const std::string& authorities, std::string_view password) {
    const std::vector<std::string> certificates = read_certificates(authorities);
    if (certificates.empty()) return invalid("there is no certificate in the bundle");
    std::string store;
    add_number(store, 0xfeedfeed, 4);
    add_number(store, 2, 4); // version
    add_number(store, certificates.size(), 4);
    for (size_t i = 0; i < certificates.size(); ++i) {
        add_number(store, 2, 4); // a trusted certificate
        add_certificates(store, "authority-" + std::to_string(i));
        add_number(store, 0, 8); // when it was added
        add_certificates(store, "X.509");
        add_number(store, certificates[i].size(), 4);
        store += certificates[i];
    }
    // The seal: SHA-1 over the password in UTF-16, two fixed words, and the content.
    std::string sealed;
    for (const char c : password) add_number(sealed, static_cast<unsigned char>(c), 2);
    sealed += "Mighty Aphrodite" + store;
    std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
    unsigned size = 0;
    if (EVP_Digest(sealed.data(), sealed.size(), digest.data(), &size, EVP_sha1(), nullptr) != 1)
        return internal("cannot seal the Java key store");
    store.append(reinterpret_cast<const char*>(digest.data()), size);
    return store;
}

} // namespace hone::broker
