// TLS 1.2 and 1.3 over a non-blocking socket, by OpenSSL, which no other file includes. The server's side for the
// edge, the client's side with verification for HttpClient. A context may be shared by threads, a session not.
#pragma once

#include "base/result.h"

#include <memory>
#include <string>
#include <string_view>

namespace hone::net {

// Result of one attempt to move bytes.
enum class Io { done, want_read, want_write, closed, failed };
struct IoStep {
    Io state = Io::failed;
    size_t bytes = 0;
};

class TlsSession {
public:
    virtual ~TlsSession() = default;
    virtual Io handshake() = 0;
    virtual IoStep read(char* into, size_t size) = 0;
    virtual IoStep write(std::string_view bytes) = 0;
    // Sends close_notify if the socket accepts it without blocking.
    virtual void close() = 0;
    // Why the last step failed.
    virtual std::string problem() const = 0;
};

class TlsContext {
public:
    // PEM files; checks that they belong together.
    static Result<std::shared_ptr<const TlsContext>> for_server(const std::string& certificate_file,
                                                                const std::string& key_file);
    // An empty ca_file means the system's store; certificate and key are for client certificates, or empty.
    static Result<std::shared_ptr<const TlsContext>>
    for_client(const std::string& ca_file, const std::string& certificate_file, const std::string& key_file);
    // The same from PEM text: the certificate with its chain, and its key.
    static Result<std::shared_ptr<const TlsContext>> for_server_text(const std::string& certificates,
                                                                     const std::string& key);
    // From PEM text: only these authorities are trusted, or the system's store when there are none; the rest as above.
    static Result<std::shared_ptr<const TlsContext>>
    for_client_text(const std::string& authorities, const std::string& certificates, const std::string& key);
    // Trusts the system's store and, unless empty, the authorities of a file as well.
    static Result<std::shared_ptr<const TlsContext>> for_client_with_system_store(const std::string& extra_ca_file);
    virtual ~TlsContext() = default;

    virtual Result<std::unique_ptr<TlsSession>> accept(int descriptor) const = 0;
    // The certificate must be for this host name or ip address.
    virtual Result<std::unique_ptr<TlsSession>> connect(int descriptor, const std::string& host) const = 0;
};

} // namespace hone::net
