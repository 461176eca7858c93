// For tests only: makes a certificate authority and server certificates with OpenSSL, in a directory of its own.
#pragma once

#include <string>

namespace hone::net::testing {

struct CertificateFiles {
    std::string certificate;
    std::string key;
};

class TestAuthority {
public:
    TestAuthority();
    ~TestAuthority(); // removes the files
    TestAuthority(const TestAuthority&) = delete;
    TestAuthority& operator=(const TestAuthority&) = delete;

    const std::string& ca_file() const { return m_ca_file; }
    const std::string& directory() const { return m_directory; }
    // `names`: "DNS:localhost,IP:127.0.0.1"; valid from `from_days` to `to_days` relative to now.
    CertificateFiles issue(const std::string& file, const std::string& names, int from_days = -1, int to_days = 1);

private:
    struct Keys;
    std::string m_directory;
    std::string m_ca_file;
    Keys* m_keys;
};

} // namespace hone::net::testing
