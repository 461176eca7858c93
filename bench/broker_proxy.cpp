// The egress proxy beside a direct connection, in one process with server and clients: throughput of a TLS tunnel, of a
// host that has a secret (TLS taken apart, answer searched), added time per request there, and many tunnels at once.
//   bench_broker_proxy [megabytes] [requests]      prints one JSON object
#include "base/log.h"
#include "broker/broker.h"
#include "broker/wire/authority.h"
#include "crypto/crypto.h"
#include "net/http/url.h"
#include "json/json.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <list>
#include <sys/resource.h>
#include <thread>
#include <unistd.h>

using namespace hone;
using namespace hone::broker;

namespace {

using Steady = std::chrono::steady_clock;
constexpr int rounds = 5;
constexpr int tunnels_at_once = 500;

template <class T>
T must(Result<T> result, const char* what) {
    if (result.ok()) return std::move(result).value();
    std::fprintf(stderr, "%s: %s\n", what, result.error().message.c_str());
    std::exit(1);
}

Deadline soon() {
    return Deadline::after(std::chrono::seconds(120));
}

int64_t resident_kb() {
    std::ifstream file("/proc/self/status");
    for (std::string line; std::getline(file, line);)
        if (line.starts_with("VmRSS:")) return std::atoll(line.c_str() + 6);
    return 0;
}

// Answers GET /N with N bytes, over TLS.
class Server {
public:
    explicit Server(std::shared_ptr<const net::TlsContext> context) : m_context(std::move(context)) {
        auto bound = must(net::listen_on("127.0.0.1:0"), "listen");
        address = bound.address;
        m_listener = std::move(bound.descriptor);
        m_thread = std::thread([this] { accept_all(); });
    }
    ~Server() {
        m_stop.fire();
        m_thread.join();
        for (std::thread& thread : m_connections) thread.join();
    }
    std::string address;

private:
    void accept_all() {
        for (;;) {
            pollfd polled{m_listener.get(), POLLIN, 0};
            if (!wait_any({&polled, 1}, m_stop, Deadline::after(std::chrono::hours(1))).ok()) return;
            auto accepted = net::accept_one(m_listener.get());
            if (!accepted.ok() || !accepted.value().descriptor.is_open()) continue;
            m_connections.emplace_back([this, raw = accepted.value().descriptor.release()] {
                Channel channel(net::Socket(Fd(raw)), m_stop);
                if (!channel.start_tls(must(m_context->accept(raw), "accept"), soon()).ok()) return;
                while (serve(channel)) {
                }
            });
        }
    }
    static bool serve(Channel& channel) {
        const auto head = read_request(channel, Deadline::after(std::chrono::hours(1)));
        if (!head.ok() || !head.value()) return false;
        int64_t left = std::atoll(head.value()->path.c_str() + 1);
        const std::string start = "HTTP/1.1 200 OK\r\nContent-Length: " + std::to_string(left) + "\r\n\r\n";
        if (!channel.write(start, soon()).ok()) return false;
        static const std::string piece(256 << 10, 'x');
        for (; left > 0; left -= static_cast<int64_t>(piece.size()))
            if (!channel.write(std::string_view(piece).substr(0, static_cast<size_t>(left)), soon()).ok()) return false;
        return true;
    }

    std::shared_ptr<const net::TlsContext> m_context;
    Fd m_listener;
    Cancel m_stop;
    std::list<std::thread> m_connections;
    std::thread m_thread;
};

class Client {
public:
    Client(const std::string& address, const std::string& through, const std::string& host,
           const std::string& ca_file) {
        const auto [where, port] = must(net::parse_host_port(through.empty() ? address : through), "address");
        Fd socket = must(net::start_connect(must(net::resolve(where, port), "resolve").front()), "connect");
        m_channel.emplace(net::Socket(std::move(socket)), m_cancel);
        must(m_channel->wait(POLLOUT, soon()), "connect");
        if (!through.empty()) {
            must(m_channel->write("CONNECT " + host + ":443 HTTP/1.1\r\nHost: " + host + ":443\r\n\r\n", soon()),
                 "write");
            const auto answer = must(read_response(*m_channel, "CONNECT", soon()), "CONNECT");
            if (!answer || answer->status != 200) std::fprintf(stderr, "CONNECT was refused\n"), std::exit(1);
        }
        const auto trust = must(net::TlsContext::for_client(ca_file, "", ""), "trust");
        must(m_channel->start_tls(must(trust->connect(m_channel->descriptor(), host), "TLS"), soon()), "handshake");
        m_host = host;
    }
    // Seconds.
    double get(int64_t bytes) {
        const auto start = Steady::now();
        must(m_channel->write("GET /" + std::to_string(bytes) + " HTTP/1.1\r\nHost: " + m_host + "\r\n\r\n", soon()),
             "write");
        const auto head = must(read_response(*m_channel, "GET", soon()), "read");
        if (!head || head->status != 200) std::fprintf(stderr, "the request was refused\n"), std::exit(1);
        std::vector<char> piece(256 << 10);
        for (int64_t left = bytes; left > 0;) {
            const size_t got = must(m_channel->read(piece, soon()), "read");
            if (got == 0) std::fprintf(stderr, "the answer broke off\n"), std::exit(1);
            left -= static_cast<int64_t>(got);
        }
        return std::chrono::duration<double>(Steady::now() - start).count();
    }

private:
    Cancel m_cancel;
    std::optional<Channel> m_channel;
    std::string m_host;
};

class Loopback final : public Resolver {
public:
    std::string address;
    Result<std::vector<net::Endpoint>> resolve(const std::string&, uint16_t) override {
        const auto [host, port] = TRY(net::parse_host_port(address));
        return net::resolve(host, port);
    }
};

class Forgetful final : public Decisions {
    Result<> decided(Decision&) override { return {}; }
    void finished(const Decision&, const Outcome&) override {}
};

class OneSecret final : public SecretOpener {
    Result<crypto::SecretBytes> open(const std::string&) override {
        return crypto::SecretBytes("ghp_0123456789abcdefghijABCDEFGHIJ012345");
    }
};

double middle(std::vector<double> values, double part = 0.5) {
    std::sort(values.begin(), values.end());
    return values[static_cast<size_t>(static_cast<double>(values.size() - 1) * part)];
}

} // namespace

int main(int count, char** words) {
    set_log(LogFormat::text, Level::error);
    crypto::start();
    const rlimit files{8192, 8192};
    ::setrlimit(RLIMIT_NOFILE, &files);
    const int64_t bytes = (count > 1 ? std::atoll(words[1]) : 512) << 20;
    const int requests = count > 2 ? std::atoi(words[2]) : 3000;

    const SystemClock clock;
    const auto authority =
        must(Authority::create("bench", crypto::SecretBytes(std::string_view("0123456789abcdef0123456789abcdef")),
                               clock.now()),
             "authority");
    const std::string ca_file = "/tmp/hone-bench-" + std::to_string(::getpid()) + ".pem";
    must(write_file(ca_file, authority->certificate()), "write");
    auto resolver = std::make_unique<Loopback>();
    Loopback& names = *resolver;
    const auto nothing_is_refused = [](const net::Endpoint&, Reach) { return std::optional<std::string_view>(); };
    const auto dialer = must(Dialer::create({ca_file}, std::move(resolver), nothing_is_refused), "dialer");
    RunAccess access;
    access.run_id = "run_bench";
    access.caps.connections = 2000;
    access.decisions = std::make_shared<Forgetful>();
    access.secrets = std::make_shared<OneSecret>();
    access.grant.allow.push_back({"tunnel.test", 443, true, {}, "/", false});
    access.grant.credentials.push_back(
        {"TOKEN", "sec", "token", true, {{"secret.test", 443, true, {}, "/", false}}, "authorization", "Bearer {}"});
    // One context would do, but the names differ.
    Server tunnelled(must(authority->context_for("tunnel.test"), "context"));
    Server brokered(must(authority->context_for("secret.test"), "context"));
    const auto broker = must(Broker::start({}, *dialer, clock, nullptr), "broker");
    auto bound = must(net::listen_on("127.0.0.1:0"), "listen");
    const std::string proxy = bound.address;
    const auto session = must(broker->attach(access, {std::move(bound.descriptor), {}}), "attach");
    const std::string run_ca = ca_file + ".run";
    must(write_file(run_ca, session->authority().certificate()), "write");

    std::vector<double> direct, tunnel, inspected, tunnel_ratio, inspected_ratio;
    for (int i = 0; i < rounds; ++i) {
        names.address = tunnelled.address;
        direct.push_back(Client(tunnelled.address, "", "tunnel.test", ca_file).get(bytes));
        tunnel.push_back(Client("", proxy, "tunnel.test", ca_file).get(bytes));
        names.address = brokered.address;
        inspected.push_back(Client("", proxy, "secret.test", run_ca).get(bytes));
        tunnel_ratio.push_back(direct.back() / tunnel.back());
        inspected_ratio.push_back(direct.back() / inspected.back());
    }
    std::vector<double> request_direct, request_inspected;
    {
        Client plain(brokered.address, "", "secret.test", ca_file);
        Client through("", proxy, "secret.test", run_ca);
        for (int i = 0; i < requests; ++i) {
            request_direct.push_back(plain.get(200));
            request_inspected.push_back(through.get(200));
        }
    }
    names.address = tunnelled.address;
    const int64_t before = resident_kb();
    std::list<Client> clients;
    for (int i = 0; i < tunnels_at_once; ++i) {
        clients.emplace_back("", proxy, "tunnel.test", ca_file);
        clients.back().get(1000);
    }
    const int64_t live = broker->live_connections();
    const int64_t kb_each = (resident_kb() - before) / tunnels_at_once;
    for (Client& client : clients) client.get(1000);
    clients.clear();

    const double megabytes = static_cast<double>(bytes) / (1 << 20);
    const double added_p50 = (middle(request_inspected) - middle(request_direct)) * 1e6;
    std::printf("{\"megabytes\":%.0f,\"direct_mb_per_s\":%.0f,\"tunnel_mb_per_s\":%.0f,\"tunnel_ratio\":%.3f,"
                "\"inspected_mb_per_s\":%.0f,\"inspected_ratio\":%.3f,\"request_direct_p50_us\":%.0f,"
                "\"request_inspected_p50_us\":%.0f,\"request_direct_p99_us\":%.0f,\"request_inspected_p99_us\":%.0f,"
                "\"request_added_p50_us\":%.0f,\"tunnels_at_once\":%lld,\"kb_per_tunnel_with_both_ends\":%lld}\n",
                megabytes, megabytes / middle(direct), megabytes / middle(tunnel), middle(tunnel_ratio),
                megabytes / middle(inspected), middle(inspected_ratio), middle(request_direct) * 1e6,
                middle(request_inspected) * 1e6, middle(request_direct, 0.99) * 1e6,
                middle(request_inspected, 0.99) * 1e6, added_p50, static_cast<long long>(live),
                static_cast<long long>(kb_each));
    ::unlink(ca_file.c_str());
    ::unlink(run_ca.c_str());
    return 0;
}
