// For tests only: servers on loopback that stand for the internet, a resolver that leads there, a broker with one run,
// and clients that send exactly what they are told. Everything is real but the names.
#pragma once

#include "base/text.h"
#include "broker/broker.h"
#include "broker/egress/placeholder.h"
#include "broker/wire/authority.h"
#include "crypto/crypto.h"
#include "net/testing/certificates.h"
#include "net/testing/raw_client.h"

#include <deque>
#include <doctest/doctest.h>
#include <functional>
#include <list>
#include <set>
#include <thread>

namespace hone::broker::testing {

using namespace std::chrono_literals;
using net::testing::eventually;
using net::testing::RawClient;

inline Deadline soon() {
    return Deadline::after(30s);
}

// A server of the outside world. The handler serves one connection.
class Origin {
public:
    using Serve = std::function<void(Channel&)>;
    Origin(Serve serve, const net::testing::CertificateFiles* certificate = nullptr) : m_serve(std::move(serve)) {
        auto bound = net::listen_on("127.0.0.1:0");
        REQUIRE(bound.ok());
        m_listener = std::move(bound.value().descriptor);
        m_address = bound.value().address;
        if (certificate != nullptr)
            m_context = net::TlsContext::for_server(certificate->certificate, certificate->key).value();
        m_thread = std::thread([this] { accept_all(); });
    }
    ~Origin() {
        m_stop.fire();
        m_thread.join();
        for (std::thread& thread : m_connections) thread.join();
    }
    const std::string& address() const { return m_address; }
    int64_t connections() const { return m_count; }
    const Cancel& stop() const { return m_stop; }

private:
    void accept_all() {
        for (;;) {
            pollfd polled{m_listener.get(), POLLIN, 0};
            if (!wait_any({&polled, 1}, m_stop, Deadline::after(300s)).ok()) return;
            auto accepted = net::accept_one(m_listener.get());
            if (!accepted.ok() || !accepted.value().descriptor.is_open()) continue;
            ++m_count;
            m_connections.emplace_back(
                [this, socket = std::make_shared<Fd>(std::move(accepted.value().descriptor))]() mutable {
                    const int descriptor = socket->get();
                    Channel channel(net::Socket(std::move(*socket)), m_stop);
                    if (m_context && !channel.start_tls(m_context->accept(descriptor).value(), soon()).ok()) return;
                    m_serve(channel);
                    channel.close();
                });
        }
    }

    Serve m_serve;
    Fd m_listener;
    std::string m_address;
    std::shared_ptr<const net::TlsContext> m_context;
    Cancel m_stop;
    std::atomic<int64_t> m_count{0};
    std::list<std::thread> m_connections;
    std::thread m_thread;
};

// Answers every request with its own head and body: the worst that a server can do to a secret.
inline void echo(Channel& channel) {
    for (;;) {
        const auto read = read_request(channel, soon());
        if (!read.ok() || !read.value()) return;
        const RequestHead& head = *read.value();
        net::BodyDecoder decoder(head.framing, head.length);
        std::string body;
        while (!decoder.is_done()) {
            if (channel.buffer().empty() && !channel.fill(soon()).value()) return;
            channel.buffer().erase(0, decoder.feed(channel.buffer(), body));
        }
        std::string text = head.method + " " + head.path + "\n";
        for (const Header& header : head.headers) text += header.name + ": " + header.value + "\n";
        text += "\n" + body;
        ResponseHead answer;
        answer.status = 200;
        answer.reason = "OK";
        answer.framing = Framing::length;
        answer.length = text.size();
        answer.headers = {{"Content-Type", "text/plain"}};
        if (!channel.write(write_response_head(answer) + (head.method == "HEAD" ? "" : text), soon()).ok()) return;
        if (!head.keep_alive) return;
    }
}

// Names lead where the test says; asked names are remembered.
class TestResolver final : public Resolver {
public:
    Result<std::vector<net::Endpoint>> resolve(const std::string& host, uint16_t port) override {
        std::string address;
        {
            const Lock lock(m_mutex);
            m_asked.push_back(host);
            const auto found = m_names.find(host);
            if (found == m_names.end()) {
                if (host.find_first_not_of("0123456789.") != std::string::npos && host.find(':') == std::string::npos)
                    return unavailable("cannot resolve " + host + ": no such name");
                return net::resolve(host, port);
            }
            address = found->second.front();
            if (found->second.size() > 1) found->second.pop_front();
        }
        const auto [where, actual_port] = net::parse_host_port(address).value();
        return net::resolve(where, actual_port);
    }
    // Several addresses: one after the other, as a rebinding server gives them.
    void lead(const std::string& host, std::deque<std::string> addresses) {
        const Lock lock(m_mutex);
        m_names[host] = std::move(addresses);
    }
    std::vector<std::string> asked() const {
        const Lock lock(m_mutex);
        return m_asked;
    }

private:
    mutable Mutex m_mutex;
    std::map<std::string, std::deque<std::string>> m_names;
    std::vector<std::string> m_asked;
};

class RecordedDecisions final : public Decisions {
public:
    Result<> decided(Decision& decision) override {
        const Lock lock(m_mutex);
        if (m_broken) return unavailable("the disk is full");
        m_decisions.push_back(decision);
        return {};
    }
    void finished(const Decision& decision, const Outcome& outcome) override {
        const Lock lock(m_mutex);
        m_outcomes.emplace_back(decision, outcome);
    }
    std::vector<Decision> decisions() const {
        const Lock lock(m_mutex);
        return m_decisions;
    }
    std::vector<std::pair<Decision, Outcome>> outcomes() const {
        const Lock lock(m_mutex);
        return m_outcomes;
    }
    void break_down() {
        const Lock lock(m_mutex);
        m_broken = true;
    }
    // Everything that was said, to search it for secrets.
    std::string text() const {
        std::string text;
        for (const Decision& d : decisions()) {
            text += d.method + " " + d.target.text() + d.path + " " + d.rule + " " + d.reason;
            for (const std::string& name : d.secret_names) text += " " + name;
            text += "\n";
        }
        for (const auto& [d, o] : outcomes()) text += o.address + " " + o.error + "\n";
        return text;
    }

private:
    mutable Mutex m_mutex;
    std::vector<Decision> m_decisions;
    std::vector<std::pair<Decision, Outcome>> m_outcomes;
    bool m_broken = false;
};

class TestSecrets final : public SecretOpener {
public:
    explicit TestSecrets(std::map<std::string, std::string> values) : m_values(std::move(values)) {}
    Result<crypto::SecretBytes> open(const std::string& secret_id) override {
        const Lock lock(m_mutex);
        const auto found = m_values.find(secret_id);
        if (found == m_values.end()) return not_found("secret " + secret_id);
        return crypto::SecretBytes(std::string_view(found->second));
    }
    void set(const std::string& secret_id, const std::string& value) {
        const Lock lock(m_mutex);
        m_values[secret_id] = value;
    }

private:
    Mutex m_mutex;
    std::map<std::string, std::string> m_values;
};

inline constexpr std::string_view canary = "ghp_CANARY7x9QzT2mVb4LkPw8RsYdN3JhGf61aE";

// A credential like that of the github skill, for api.test on 443 below /api.
inline skill::Credential token_for(std::vector<skill::HostRule> hosts) {
    return {"API_TOKEN", "sec_api", "api token", true, std::move(hosts), "authorization", "Bearer {}"};
}

// The internet, a broker and one run.
struct World {
    net::testing::TestAuthority authority;
    net::testing::CertificateFiles certificate =
        authority.issue("server", "DNS:api.test,DNS:plain.test,DNS:other.test,DNS:*.wild.test,DNS:wild.test");
    SystemClock clock;
    TestResolver* resolver = nullptr; // the dialer's
    std::unique_ptr<Dialer> dialer;
    std::shared_ptr<RecordedDecisions> decisions = std::make_shared<RecordedDecisions>();
    std::shared_ptr<TestSecrets> secrets =
        std::make_shared<TestSecrets>(std::map<std::string, std::string>{{"sec_api", std::string(canary)}});
    std::unique_ptr<Broker> broker;
    RunAccess access;
    std::shared_ptr<AttachedRun> attached_run;
    std::string proxy; // address of the listener
    std::string ca_file = authority.directory() + "/run-ca.pem";

    explicit World(bool loopback_is_public = true, DialerOptions options = {}) {
        crypto::start();
        auto made = std::make_unique<TestResolver>();
        resolver = made.get();
        options.extra_ca_file = authority.ca_file();
        // Only what the resolver was told to lead to loopback gets there: addresses in requests are judged as always.
        const AddressCheck open_loopback = [](const net::Endpoint& endpoint, Reach reach) {
            return endpoint.text.starts_with("127.0.0.1:") ? std::optional<std::string_view>()
                                                           : refused_range(endpoint, reach);
        };
        dialer = Dialer::create(std::move(options), std::move(made),
                                loopback_is_public ? open_loopback : default_address_check())
                     .value();
        broker = Broker::start({}, *dialer, clock, nullptr).value();
        access.run_id = "run_1";
        access.decisions = decisions;
        access.secrets = secrets;
    }

    void allow(const std::string& host, uint16_t port = 443, bool tls = true) {
        access.grant.allow.push_back({host, port, tls, {}, "/", false});
    }
    void attach() {
        auto bound = net::listen_on("127.0.0.1:0");
        REQUIRE(bound.ok());
        proxy = bound.value().address;
        auto attached = broker->attach(access, {std::move(bound.value().descriptor), {}});
        REQUIRE_MESSAGE(attached.ok(), (attached.ok() ? "" : attached.error().message));
        attached_run = attached.value();
        REQUIRE(
            write_file(ca_file, attached_run->authority().certificate() + read_file(authority.ca_file()).value()).ok());
    }
    std::string placeholder() { return attached_run->placeholders().of(access.grant.credentials.at(0)).value(); }
};

// A client inside a tunnel.
class TunnelClient {
public:
    explicit TunnelClient(const std::string& proxy) {
        const auto [host, port] = net::parse_host_port(proxy).value();
        const net::Endpoint endpoint = net::resolve(host, port).value().front();
        Fd socket = net::start_connect(endpoint).value();
        m_channel.emplace(net::Socket(std::move(socket)), *m_cancel);
        REQUIRE(m_channel->wait(POLLOUT, soon()).ok());
    }
    // The proxy's answer to CONNECT.
    int connect(const std::string& target, const std::string& more = "") {
        send("CONNECT " + target + " HTTP/1.1\r\nHost: " + target + "\r\n" + more + "\r\n");
        const auto head = read_response(*m_channel, "CONNECT", soon());
        return head.ok() && head.value() ? head.value()->status : 0;
    }
    // TLS as a client that asks for `name` and trusts `ca_file`.
    Result<> secure(const std::string& name, const std::string& ca_file) {
        const auto context = net::TlsContext::for_client(ca_file, "", "").value();
        return m_channel->start_tls(TRY(context->connect(m_channel->descriptor(), name)), soon());
    }
    bool send(std::string_view bytes) { return m_channel->write(bytes, soon()).ok(); }
    struct Answer {
        int status = 0;
        ResponseHead head;
        std::string body;
        bool complete = false;
    };
    Answer answer(std::string_view method = "GET") {
        Answer answer;
        auto head = read_response(*m_channel, method, soon());
        if (!head.ok() || !head.value()) return answer;
        answer.head = std::move(*head.value());
        answer.status = answer.head.status;
        net::BodyDecoder decoder(answer.head.framing, answer.head.length);
        while (!decoder.is_done()) {
            if (m_channel->buffer().empty()) {
                const auto more = m_channel->fill(soon());
                if (!more.ok() || !more.value()) {
                    answer.complete = decoder.finish_at_end() && more.ok();
                    return answer;
                }
            }
            m_channel->buffer().erase(0, decoder.feed(m_channel->buffer(), answer.body));
            if (decoder.is_failed()) return answer;
        }
        answer.complete = true;
        return answer;
    }
    Answer get(const std::string& host, const std::string& path, const std::string& more = "") {
        send("GET " + path + " HTTP/1.1\r\nHost: " + host + "\r\n" + more + "\r\n");
        return answer();
    }
    // True when nothing more comes.
    bool is_ended() {
        m_channel->buffer().clear();
        const auto more = m_channel->fill(soon());
        return !more.ok() || !more.value();
    }
    Channel& channel() { return *m_channel; }

private:
    std::unique_ptr<Cancel> m_cancel = std::make_unique<Cancel>(); // stays where it is when the client moves
    std::optional<Channel> m_channel;
};

} // namespace hone::broker::testing
