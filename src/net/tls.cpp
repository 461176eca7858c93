#include "net/tls.h"

#include <algorithm>
#include <arpa/inet.h>
#include <array>
#include <cerrno>
#include <limits>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>
#include <sys/socket.h>

namespace hone::net {

namespace {

constexpr std::string_view protocol = "\x08http/1.1"; // ALPN wire form

// The reason of the oldest OpenSSL error of this thread; empties the queue.
std::string take_errors() {
    std::string text;
    while (const unsigned long code = ERR_get_error()) {
        std::array<char, 256> line{};
        ERR_error_string_n(code, line.data(), line.size());
        const char* reason = ERR_reason_error_string(code);
        if (text.empty()) text = reason ? reason : line.data();
    }
    return text.empty() ? "unknown TLS error" : text;
}

// A socket BIO that never raises SIGPIPE: OpenSSL's own uses write().
int bio_write(BIO* bio, const char* bytes, int size) {
    BIO_clear_retry_flags(bio);
    const int descriptor = static_cast<int>(reinterpret_cast<intptr_t>(BIO_get_data(bio)));
    const ssize_t sent = ::send(descriptor, bytes, static_cast<size_t>(size), MSG_NOSIGNAL);
    if (sent < 0 && (errno == EAGAIN || errno == EINTR)) BIO_set_retry_write(bio);
    return static_cast<int>(sent);
}

int bio_read(BIO* bio, char* bytes, int size) {
    BIO_clear_retry_flags(bio);
    const int descriptor = static_cast<int>(reinterpret_cast<intptr_t>(BIO_get_data(bio)));
    const ssize_t received = ::recv(descriptor, bytes, static_cast<size_t>(size), 0);
    if (received < 0 && (errno == EAGAIN || errno == EINTR)) BIO_set_retry_read(bio);
    if (received == 0) BIO_set_flags(bio, BIO_FLAGS_IN_EOF);
    return static_cast<int>(received);
}

long bio_control(BIO* bio, int command, long, void*) {
    if (command == BIO_CTRL_FLUSH) return 1;
    if (command == BIO_CTRL_EOF) return BIO_test_flags(bio, BIO_FLAGS_IN_EOF) != 0;
    return 0;
}

int bio_create(BIO* bio) {
    BIO_set_init(bio, 1);
    return 1;
}

struct BioMethod {
    BIO_METHOD* method;
    BioMethod()
        : method(BIO_meth_new(BIO_get_new_index() | BIO_TYPE_SOURCE_SINK | BIO_TYPE_DESCRIPTOR, "hone socket")) {
        CHECK_OR_ABORT(method != nullptr);
        BIO_meth_set_write(method, bio_write);
        BIO_meth_set_read(method, bio_read);
        BIO_meth_set_ctrl(method, bio_control);
        BIO_meth_set_create(method, bio_create);
    }
    ~BioMethod() { BIO_meth_free(method); }
    BioMethod(const BioMethod&) = delete;
    BioMethod& operator=(const BioMethod&) = delete;
};

struct FreeSession {
    void operator()(SSL* session) const { SSL_free(session); }
};
struct FreeBio {
    void operator()(BIO* bio) const { BIO_free(bio); }
};
struct FreeContext {
    void operator()(SSL_CTX* context) const { SSL_CTX_free(context); }
};

class Session final : public TlsSession {
public:
    explicit Session(std::unique_ptr<SSL, FreeSession> session) : m_session(std::move(session)) {}

    Io handshake() override {
        ERR_clear_error();
        const int outcome = SSL_do_handshake(m_session.get());
        return outcome == 1 ? Io::done : explain(outcome);
    }
    IoStep read(char* into, size_t size) override {
        ERR_clear_error();
        size_t bytes = 0;
        const int outcome = SSL_read_ex(m_session.get(), into, size, &bytes);
        return outcome == 1 ? IoStep{Io::done, bytes} : IoStep{explain(outcome), 0};
    }
    IoStep write(std::string_view bytes) override {
        ERR_clear_error();
        size_t written = 0;
        const int outcome = SSL_write_ex(m_session.get(), bytes.data(), bytes.size(), &written);
        return outcome == 1 ? IoStep{Io::done, written} : IoStep{explain(outcome), 0};
    }
    void close() override {
        ERR_clear_error();
        if (!m_broken && SSL_is_init_finished(m_session.get())) SSL_shutdown(m_session.get());
        ERR_clear_error();
    }
    std::string problem() const override { return m_problem; }

private:
    Io explain(int outcome) {
        switch (SSL_get_error(m_session.get(), outcome)) {
        case SSL_ERROR_WANT_READ:
            return Io::want_read;
        case SSL_ERROR_WANT_WRITE:
            return Io::want_write;
        case SSL_ERROR_ZERO_RETURN:
            return Io::closed;
        default:
            break;
        }
        m_broken = true; // OpenSSL forbids any further call but free
        const long verdict = SSL_get_verify_result(m_session.get());
        m_problem = take_errors();
        if (verdict != X509_V_OK) m_problem = X509_verify_cert_error_string(verdict);
        return Io::failed;
    }

    std::unique_ptr<SSL, FreeSession> m_session;
    std::string m_problem;
    bool m_broken = false;
};

int choose_protocol(SSL*, const unsigned char** chosen, unsigned char* size, const unsigned char* offered,
                    unsigned int offered_size, void*) {
    unsigned char* found = nullptr;
    const int outcome = SSL_select_next_proto(&found, size, reinterpret_cast<const unsigned char*>(protocol.data()),
                                              static_cast<unsigned>(protocol.size()), offered, offered_size);
    *chosen = found;
    return outcome == OPENSSL_NPN_NEGOTIATED ? SSL_TLSEXT_ERR_OK : SSL_TLSEXT_ERR_ALERT_FATAL;
}

class Context final : public TlsContext {
public:
    explicit Context(const SSL_METHOD* method) : m_context(SSL_CTX_new(method)) {
        CHECK_OR_ABORT(m_context != nullptr);
        SSL_CTX_set_min_proto_version(m_context.get(), TLS1_2_VERSION);
        SSL_CTX_set_options(m_context.get(),
                            SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_COMPRESSION | SSL_OP_CIPHER_SERVER_PREFERENCE);
        SSL_CTX_set_mode(m_context.get(), SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER |
                                              SSL_MODE_RELEASE_BUFFERS);
        SSL_CTX_set_cipher_list(m_context.get(), "ECDHE+AESGCM:ECDHE+CHACHA20:!aNULL");
    }

    Result<> use_certificate(const std::string& certificate_file, const std::string& key_file) {
        ERR_clear_error();
        if (SSL_CTX_use_certificate_chain_file(m_context.get(), certificate_file.c_str()) != 1)
            return invalid("cannot use certificate " + certificate_file + ": " + take_errors());
        if (SSL_CTX_use_PrivateKey_file(m_context.get(), key_file.c_str(), SSL_FILETYPE_PEM) != 1)
            return invalid("cannot use key " + key_file + ": " + take_errors());
        if (SSL_CTX_check_private_key(m_context.get()) != 1)
            return invalid("key " + key_file + " does not belong to certificate " + certificate_file);
        return {};
    }
    Result<> use_certificate_text(const std::string& certificates, const std::string& key) {
        ERR_clear_error();
        const std::unique_ptr<BIO, FreeBio> chain(
            BIO_new_mem_buf(certificates.data(), static_cast<int>(certificates.size())));
        const std::unique_ptr<BIO, FreeBio> key_text(BIO_new_mem_buf(key.data(), static_cast<int>(key.size())));
        bool first = true;
        while (X509* certificate = PEM_read_bio_X509(chain.get(), nullptr, nullptr, nullptr)) {
            const int used = first ? SSL_CTX_use_certificate(m_context.get(), certificate)
                                   : static_cast<int>(SSL_CTX_add1_chain_cert(m_context.get(), certificate));
            X509_free(certificate);
            if (used != 1) return invalid("cannot use the certificate: " + take_errors());
            first = false;
        }
        EVP_PKEY* private_key = PEM_read_bio_PrivateKey(key_text.get(), nullptr, nullptr, nullptr);
        const int used = private_key ? SSL_CTX_use_PrivateKey(m_context.get(), private_key) : 0;
        EVP_PKEY_free(private_key);
        if (first || used != 1 || SSL_CTX_check_private_key(m_context.get()) != 1)
            return invalid("cannot use the certificate and its key: " + take_errors());
        return {};
    }
    void be_server() {
        SSL_CTX_set_alpn_select_cb(m_context.get(), choose_protocol, nullptr);
        constexpr std::string_view name = "hone";
        SSL_CTX_set_session_id_context(m_context.get(), reinterpret_cast<const unsigned char*>(name.data()),
                                       static_cast<unsigned>(name.size()));
    }
    Result<> be_client(const std::string& ca_file) {
        ERR_clear_error();
        const int loaded = ca_file.empty() ? SSL_CTX_set_default_verify_paths(m_context.get())
                                           : SSL_CTX_load_verify_locations(m_context.get(), ca_file.c_str(), nullptr);
        if (loaded != 1) return invalid("cannot use certificate authorities " + ca_file + ": " + take_errors());
        verify_peers();
        return {};
    }

    Result<> be_client_of(const std::string& authorities) {
        if (authorities.empty()) return be_client("");
        ERR_clear_error();
        const std::unique_ptr<BIO, FreeBio> text(
            BIO_new_mem_buf(authorities.data(), static_cast<int>(authorities.size())));
        X509_STORE* store = SSL_CTX_get_cert_store(m_context.get());
        bool first = true;
        while (X509* certificate = PEM_read_bio_X509(text.get(), nullptr, nullptr, nullptr)) {
            const int added = X509_STORE_add_cert(store, certificate);
            X509_free(certificate);
            if (added != 1) return invalid("cannot use the certificate authority: " + take_errors());
            first = false;
        }
        if (first) return invalid("the certificate authority has no certificate in PEM form");
        ERR_clear_error();
        verify_peers();
        return {};
    }

    // One read from the kernel for several records instead of two for each. Callers try to read before they wait.
    void read_ahead() {
        constexpr size_t bytes = 64 << 10;
        SSL_CTX_set_read_ahead(m_context.get(), 1);
        SSL_CTX_set_default_read_buffer_len(m_context.get(), bytes);
    }

    Result<> trust_also(const std::string& ca_file) {
        ERR_clear_error();
        if (SSL_CTX_load_verify_locations(m_context.get(), ca_file.c_str(), nullptr) == 1) return {};
        return invalid("cannot use certificate authorities " + ca_file + ": " + take_errors());
    }

    Result<std::unique_ptr<TlsSession>> accept(int descriptor) const override {
        auto session = TRY(make(descriptor));
        SSL_set_accept_state(session.get());
        return std::unique_ptr<TlsSession>(std::make_unique<Session>(std::move(session)));
    }
    Result<std::unique_ptr<TlsSession>> connect(int descriptor, const std::string& host) const override {
        auto session = TRY(make(descriptor));
        SSL_set_connect_state(session.get());
        std::array<unsigned char, 16> address{};
        const bool is_address = inet_pton(AF_INET, host.c_str(), address.data()) == 1 ||
                                inet_pton(AF_INET6, host.c_str(), address.data()) == 1;
        const int expected = is_address ? X509_VERIFY_PARAM_set1_ip_asc(SSL_get0_param(session.get()), host.c_str())
                                        : SSL_set1_host(session.get(), host.c_str());
        if (expected != 1) return invalid("not a host name: " + host);
        if (!is_address) SSL_set_tlsext_host_name(session.get(), host.c_str());
        SSL_set_hostflags(session.get(), X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS);
        return std::unique_ptr<TlsSession>(std::make_unique<Session>(std::move(session)));
    }

private:
    void verify_peers() {
        SSL_CTX_set_verify(m_context.get(), SSL_VERIFY_PEER, nullptr);
        SSL_CTX_set_alpn_protos(m_context.get(), reinterpret_cast<const unsigned char*>(protocol.data()),
                                static_cast<unsigned>(protocol.size()));
    }

    Result<std::unique_ptr<SSL, FreeSession>> make(int descriptor) const {
        static const BioMethod method; // OpenSSL wants one per process
        ERR_clear_error();
        std::unique_ptr<SSL, FreeSession> session(SSL_new(m_context.get()));
        BIO* bio = BIO_new(method.method);
        if (!session || !bio) {
            BIO_free(bio);
            return internal("cannot start TLS", take_errors());
        }
        BIO_set_data(bio, reinterpret_cast<void*>(static_cast<intptr_t>(descriptor)));
        SSL_set_bio(session.get(), bio, bio);
        return session;
    }

    std::unique_ptr<SSL_CTX, FreeContext> m_context;
};

} // namespace

Result<std::shared_ptr<const TlsContext>> TlsContext::for_server(const std::string& certificate_file,
                                                                 const std::string& key_file) {
    auto context = std::make_shared<Context>(TLS_server_method()); // shared: sessions may outlive a reload
    TRY(context->use_certificate(certificate_file, key_file));
    context->be_server();
    return std::shared_ptr<const TlsContext>(std::move(context));
}

Result<std::shared_ptr<const TlsContext>>
TlsContext::for_client(const std::string& ca_file, const std::string& certificate_file, const std::string& key_file) {
    auto context = std::make_shared<Context>(TLS_client_method());
    TRY(context->be_client(ca_file));
    if (!certificate_file.empty()) TRY(context->use_certificate(certificate_file, key_file));
    return std::shared_ptr<const TlsContext>(std::move(context));
}

Result<std::shared_ptr<const TlsContext>> TlsContext::for_server_text(const std::string& certificates,
                                                                      const std::string& key) {
    auto context = std::make_shared<Context>(TLS_server_method());
    TRY(context->use_certificate_text(certificates, key));
    context->be_server();
    return std::shared_ptr<const TlsContext>(std::move(context));
}

Result<std::shared_ptr<const TlsContext>>
TlsContext::for_client_text(const std::string& authorities, const std::string& certificates, const std::string& key) {
    auto context = std::make_shared<Context>(TLS_client_method());
    TRY(context->be_client_of(authorities));
    if (!certificates.empty()) TRY(context->use_certificate_text(certificates, key));
    return std::shared_ptr<const TlsContext>(std::move(context));
}

Result<std::shared_ptr<const TlsContext>> TlsContext::for_client_with_system_store(const std::string& extra_ca_file) {
    auto context = std::make_shared<Context>(TLS_client_method());
    TRY(context->be_client(""));
    if (!extra_ca_file.empty()) TRY(context->trust_also(extra_ca_file));
    context->read_ahead();
    return std::shared_ptr<const TlsContext>(std::move(context));
}

} // namespace hone::net
