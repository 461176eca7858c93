// A certificate authority for one run: trusted by that run's sandbox only, good for a day. Signs leaf certificates for
// the hosts whose TLS the broker must intercept. Its keys follow from the run's seed, so that programs which have read
// its certificate still trust it after a restart of the server. The keys never leave this object. Thread-safe.
#pragma once

#include "base/mutex.h"
#include "base/time.h"
#include "crypto/secret_bytes.h"
#include "net/tls.h"

#include <map>
#include <memory>
#include <string>

namespace hone::broker {

class Authority {
public:
    static Result<std::unique_ptr<Authority>> create(const std::string& run_id, const crypto::SecretBytes& seed,
                                                     Time now);
    ~Authority();
    Authority(const Authority&) = delete;
    Authority& operator=(const Authority&) = delete;

    // PEM.
    const std::string& certificate() const { return m_certificate; }
    // A server context with a leaf for this host name or address; made once, then kept.
    Result<std::shared_ptr<const net::TlsContext>> context_for(const std::string& host);

    static constexpr size_t kept_leaves = 256;

private:
    struct Keys;
    Authority();
    Result<std::string> sign_leaf(const std::string& host) const;

    std::unique_ptr<Keys> m_keys;
    std::string m_certificate;
    Time m_not_before{};
    Mutex m_mutex;
    // Shared: a connection may still use a context that has been dropped from here.
    std::map<std::string, std::shared_ptr<const net::TlsContext>> m_contexts GUARDED_BY(m_mutex);
};

// The system's authorities as PEM text; empty when the machine has none.
std::string system_authorities();

} // namespace hone::broker
