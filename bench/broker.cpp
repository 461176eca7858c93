// The model gateway beside a direct connection, in one process with the provider and the clients: added time per
// request and per streamed token, throughput of one stream, many streams at once, memory per connection, and the count
// of tokens against the scripted provider's own. Listeners are on loopback, as in a sandbox. Providers speak TLS, which
// a client without gateway takes apart itself and behind the gateway need not; that is measured, and beside it plain
// HTTP on both ways, where nothing but the gateway's own work counts.
//   bench_broker [requests] [calls] [scripted_model.py]      prints one JSON object
#include "broker/broker.h"
#include "base/log.h"
#include "broker/gateway/gateway.h"
#include "broker/wire/authority.h"
#include "crypto/crypto.h"
#include "net/client/client.h"
#include "sql/migrate.h"
#include "json/json.h"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <list>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

using namespace hone;
using namespace hone::broker;

namespace {

using Steady = std::chrono::steady_clock;
constexpr int tokens_per_stream = 400;
constexpr size_t bulk_bytes = 256 << 20;
constexpr int rounds = 15;               // the pace of a shared machine changes from one to the next
constexpr size_t paced_bytes = 20 << 20; // in one stream of 4 MB/s: some 30,000 tokens per second
constexpr auto pace = std::chrono::milliseconds(16);
constexpr int streams_at_once = 500;
constexpr size_t piece_bytes = 64 << 10;
constexpr const char* direct_path = "/v1/messages";
constexpr const char* gateway_path = "/anthropic/v1/messages";

template <class T>
T must(Result<T> result, const char* what) {
    if (!result.ok()) {
        std::fprintf(stderr, "%s: %s\n", what, result.error().message.c_str());
        std::exit(1);
    }
    return std::move(result).value();
}

void check(bool is_fine, const char* what) {
    if (is_fine) return;
    std::perror(what);
    std::exit(1);
}

Deadline soon() {
    return Deadline::after(std::chrono::seconds(60));
}

int64_t now_ns() {
    return std::chrono::duration_cast<std::chrono::nanoseconds>(Steady::now().time_since_epoch()).count();
}

// Of the calling thread, or of the whole process.
double cpu_ms(clockid_t clock) {
    timespec used{};
    ::clock_gettime(clock, &used);
    return static_cast<double>(used.tv_sec) * 1e3 + static_cast<double>(used.tv_nsec) / 1e6;
}

int64_t resident_kb() {
    std::ifstream file("/proc/self/status");
    for (std::string line; std::getline(file, line);)
        if (line.starts_with("VmRSS:")) return std::atoll(line.c_str() + 6);
    return 0;
}

std::string chunk(std::string_view content) {
    char size[16];
    std::snprintf(size, sizeof size, "%zx\r\n", content.size());
    return size + std::string(content) + "\r\n";
}

// A provider: whole answers, streams of tokens that carry the time they were sent, bulk streams, slow streams.
class Provider {
public:
    // Without a context it speaks plain HTTP.
    explicit Provider(std::shared_ptr<const net::TlsContext> context = nullptr) : m_context(std::move(context)) {
        auto bound = must(net::listen_on("127.0.0.1:0"), "listen");
        address = bound.address;
        m_listener = std::move(bound.descriptor);
        m_thread = std::thread([this] { accept_all(); });
    }
    ~Provider() {
        m_stop.fire();
        m_thread.join();
        for (std::thread& thread : m_connections) thread.join();
    }
    std::string address;
    std::atomic<int> open{0};        // slow streams that have begun
    std::atomic<bool> let_go{false}; // they may end
    std::atomic<double> cpu{0};      // that its last bulk stream took, in ms

private:
    void accept_all() {
        for (;;) {
            pollfd polled{m_listener.get(), POLLIN, 0};
            if (!wait_any({&polled, 1}, m_stop, Deadline::after(std::chrono::hours(1))).ok()) return;
            auto accepted = net::accept_one(m_listener.get());
            if (!accepted.ok() || !accepted.value().descriptor.is_open()) continue;
            m_connections.emplace_back([this, raw = accepted.value().descriptor.release()] {
                Channel channel(net::Socket(Fd(raw)), m_stop);
                if (m_context && !channel.start_tls(must(m_context->accept(raw), "accept"), soon()).ok()) return;
                while (serve(channel)) {
                }
            });
        }
    }

    bool serve(Channel& channel) {
        auto head = read_request(channel, Deadline::after(std::chrono::hours(1)));
        if (!head.ok() || !head.value()) return false;
        std::string body;
        net::BodyDecoder decoder(head.value()->framing, head.value()->length);
        while (!decoder.is_done()) {
            if (channel.buffer().empty()) {
                const auto more = channel.fill(soon(), piece_bytes);
                if (!more.ok() || !more.value()) return false;
            }
            channel.buffer().erase(0, decoder.feed(channel.buffer(), body));
        }
        std::string_view model = "whole";
        for (const std::string_view known : {"tokens", "bulk", "paced", "slow"})
            if (body.find("\"model\":\"" + std::string(known)) != std::string::npos) model = known;
        if (model == "whole") return answer_whole(channel);
        const std::string start =
            "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n";
        if (!channel.write(start, soon()).ok()) return false;
        if (model == "tokens" && !stream_tokens(channel)) return false;
        const double before = cpu_ms(CLOCK_THREAD_CPUTIME_ID);
        if (model == "bulk" && !stream_bulk(channel, bulk_bytes, {})) return false;
        cpu = cpu_ms(CLOCK_THREAD_CPUTIME_ID) - before;
        if (model == "paced" && !stream_bulk(channel, paced_bytes, pace)) return false;
        if (model == "slow") {
            if (!channel.write(chunk("data: {\"type\":\"ping\"}\n\n"), soon()).ok()) return false;
            ++open;
            while (!let_go) std::this_thread::sleep_for(std::chrono::milliseconds(10));
        }
        return channel.write("0\r\n\r\n", soon()).ok();
    }

    static bool answer_whole(Channel& channel) {
        const std::string body =
            R"({"model":"m","content":[{"type":"text","text":"ok"}],"usage":{"input_tokens":5,"output_tokens":2}})";
        return channel
            .write("HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: " +
                       std::to_string(body.size()) + "\r\n\r\n" + body,
                   soon())
            .ok();
    }

    static bool stream_tokens(Channel& channel) {
        for (int i = 0; i < tokens_per_stream; ++i) {
            const std::string data =
                R"(data: {"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"@)" +
                std::to_string(now_ns()) + "@\"}}\n\n";
            if (!channel.write(chunk(data), soon()).ok()) return false;
            std::this_thread::sleep_for(std::chrono::milliseconds(1));
        }
        return true;
    }

    // At full speed, or a piece each `every` by the clock: a late piece is followed by the next at once.
    static bool stream_bulk(Channel& channel, size_t bytes, std::chrono::milliseconds every) {
        std::string piece;
        while (piece.size() < piece_bytes)
            piece +=
                "event: content_block_delta\n"
                R"(data: {"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"some words that a model says in one delta"}})"
                "\n\n";
        const std::string framed = chunk(piece);
        const std::string start =
            "event: message_start\ndata: {\"type\":\"message_start\",\"message\":{\"id\":\"msg_1\",\"model\":\"m\","
            "\"usage\":{\"input_tokens\":5,\"output_tokens\":1}}}\n\n";
        if (!channel.write(chunk(start), soon()).ok()) return false;
        auto due = Steady::now();
        for (size_t sent = 0; sent < bytes; sent += piece.size()) {
            std::this_thread::sleep_until(due += every);
            if (!channel.write(framed, soon()).ok()) return false;
        }
        return true;
    }

    std::shared_ptr<const net::TlsContext> m_context;
    Fd m_listener;
    Cancel m_stop;
    std::list<std::thread> m_connections;
    std::thread m_thread;
};

class NoDecisions final : public Decisions {
public:
    Result<> decided(Decision&) override { return {}; }
    void finished(const Decision&, const Outcome&) override {}
};
class OneSecret final : public SecretOpener {
public:
    Result<crypto::SecretBytes> open(const std::string&) override {
        // As long as providers make them.
        std::string key = "sk-ant-api03-";
        for (int i = 0; key.size() < 108; ++i) key += static_cast<char>('a' + i * 7 % 26);
        return crypto::SecretBytes(key);
    }
};

// A client that stays on one connection.
class Client {
public:
    // With a context it speaks TLS, to localhost.
    Client(const std::string& address, std::string path, const net::TlsContext* trust = nullptr)
        : m_path(std::move(path)) {
        const HostPort place = must(parse_host_port(address, 0), "address");
        auto endpoints = must(net::resolve(place.host, place.port), "resolve");
        Fd descriptor = must(net::start_connect(endpoints.front()), "connect");
        m_channel.emplace(net::Socket(std::move(descriptor)), m_never);
        must(m_channel->wait(POLLOUT, soon()), "connect");
        if (trust)
            must(m_channel->start_tls(must(trust->connect(m_channel->descriptor(), "localhost"), "TLS"), soon()),
                 "handshake");
    }
    // Sends and calls back with each piece of the body.
    void send(const std::string& body, const std::function<void(std::string_view)>& take) {
        must(m_channel->write("POST " + m_path +
                                  " HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\ncontent-length: " +
                                  std::to_string(body.size()) + "\r\n\r\n" + body,
                              soon()),
             "send");
        const auto head = must(read_response(*m_channel, "POST", soon()), "answer");
        check(head && head->status == 200, "an answer with status 200");
        net::BodyDecoder decoder(head->framing, head->length);
        std::string content;
        while (!decoder.is_done()) {
            const size_t read = must(m_channel->read(m_piece, soon()), "read");
            check(read > 0, "a whole answer");
            content.clear();
            decoder.feed({m_piece.data(), read}, content);
            take(content);
        }
    }

private:
    std::string m_path;
    std::vector<char> m_piece = std::vector<char>(piece_bytes);
    Cancel m_never;
    std::optional<Channel> m_channel;
};

struct Percentiles {
    double p50 = 0, p99 = 0;
};
Percentiles of(std::vector<double> values) {
    std::sort(values.begin(), values.end());
    return {values[values.size() / 2], values[values.size() * 99 / 100]};
}

std::string request_body(std::string_view model, size_t bytes) {
    return R"({"model":")" + std::string(model) +
           R"(","stream":true,"max_tokens":100,"messages":[{"role":"user","content":")" + std::string(bytes, 'x') +
           "\"}]}";
}

Percentiles time_requests(const std::string& address, const std::string& path, int count) {
    Client client(address, path);
    const std::string body = request_body("whole", 45'000);
    std::vector<double> took;
    for (int i = -50; i < count; ++i) {
        const auto begin = Steady::now();
        client.send(body, [](std::string_view) {});
        if (i >= 0) took.push_back(std::chrono::duration<double, std::milli>(Steady::now() - begin).count());
    }
    return of(std::move(took));
}

Percentiles time_tokens(const std::string& address, const std::string& path, int streams) {
    Client client(address, path);
    std::vector<double> took;
    for (int i = 0; i < streams; ++i)
        client.send(request_body("tokens", 1000), [&](std::string_view piece) {
            const int64_t now = now_ns();
            for (size_t at = 0; (at = piece.find('@', at)) != std::string_view::npos; ++at) {
                const int64_t sent = std::atoll(std::string(piece.substr(at + 1, 20)).c_str());
                if (sent > 0) took.push_back(static_cast<double>(now - sent) / 1e6);
                at = piece.find('@', at + 1);
                if (at == std::string_view::npos) break;
            }
        });
    return of(std::move(took));
}

double megabytes_per_second(const std::string& address, const std::string& path, std::string_view model,
                            const net::TlsContext* trust = nullptr) {
    Client client(address, path, trust);
    size_t received = 0;
    const auto begin = Steady::now();
    client.send(request_body(model, 100), [&](std::string_view piece) { received += piece.size(); });
    return static_cast<double>(received) / 1e6 / std::chrono::duration<double>(Steady::now() - begin).count();
}

// Everything between a run and its provider.
class House {
public:
    House(const std::string& directory, const std::string& base_url, const std::string& run_id,
          const std::string& ca_file = "")
        : m_database(must(sql::Database::open({.url = "sqlite:" + directory + "/" + run_id + ".db"}), "database")) {
        must(sql::migrate(*m_database, m_clock), "migrate");
        m_audit.emplace(*m_database, m_clock);
        ledger.emplace(*m_database);
        m_budgets.emplace(*m_database, *ledger, *m_audit, m_clock);
        m_gateway.emplace(GatewayOptions{}, *m_budgets, m_prices, m_clock, nullptr, nullptr);
        m_dialer = must(Dialer::create({ca_file}, system_resolver(), [](const auto&, Reach) { return std::nullopt; }),
                        "dialer");
        GatewayRun run;
        run.account.space_id = "space_1";
        run.account.run_id = run_id;
        run.account.run.tokens = int64_t{1} << 50; // a limit, so that the counters work
        must(m_gateway->add_run(run_id, std::move(run)), "run");
        RunAccess access;
        access.run_id = run_id;
        access.space_id = "space_1";
        access.caps.connections = 2000;
        access.decisions = std::make_shared<NoDecisions>();
        access.secrets = std::make_shared<OneSecret>();
        for (const char* protocol : {"anthropic", "openai", "gemini"}) {
            skill::ModelEndpoint& endpoint = access.grant.models.emplace_back();
            endpoint.protocol = protocol;
            endpoint.base_url = base_url;
            endpoint.secret_id = "sec_1";
            endpoint.header = "x-api-key";
            endpoint.format = "{}";
            endpoint.allow_private = true;
        }
        auto bound = must(net::listen_on("127.0.0.1:0"), "listen");
        address = bound.address;
        m_broker = must(Broker::start({}, *m_dialer, m_clock, &*m_gateway), "broker");
        must(m_broker->attach(std::move(access), {Fd(), std::move(bound.descriptor)}), "attach");
    }
    int64_t recorded_tokens() {
        must(ledger->flush(), "flush");
        const auto rows =
            must(m_database->query("SELECT COALESCE(SUM(input_tokens + cache_read_tokens + cache_write_tokens + "
                                   "output_tokens + reasoning_tokens), 0) FROM model_usage"),
                 "sum");
        return rows.front().integer(0);
    }
    std::string address;
    std::optional<UsageLedger> ledger;

private:
    SystemClock m_clock;
    std::unique_ptr<sql::Database> m_database;
    std::optional<access::AuditLog> m_audit;
    std::optional<Budgets> m_budgets;
    telemetry::Prices m_prices = telemetry::Prices::built_in();
    std::optional<Gateway> m_gateway;
    std::unique_ptr<Dialer> m_dialer;
    std::unique_ptr<Broker> m_broker;
};

struct Speeds {
    double direct = 0, gateway = 0, ratio = 0;
    // CPU time per megabyte of each side, in ms, the mean of all rounds; the slowest side is what bounds a stream where
    // each has a core.
    double direct_provider = 0, direct_client = 0, provider = 0, between = 0, client = 0;
    std::string text() const {
        char line[400];
        std::snprintf(line, sizeof line,
                      "{\"direct\":%.0f,\"gateway\":%.0f,\"ratio\":%.2f,\"cpu_ms_per_mb\":{\"direct_provider\":%.2f,"
                      "\"direct_client\":%.2f,\"provider\":%.2f,\"gateway\":%.2f,\"client\":%.2f}}",
                      direct, gateway, ratio, direct_provider, direct_client, provider, between, client);
        return line;
    }
};
// The middle of each; direct and through the gateway in turns, since a machine's pace changes.
Speeds compare(const Provider& provider, const House& house, std::string_view model, int times,
               const net::TlsContext* trust = nullptr) {
    std::vector<double> direct, gateway, ratio;
    Speeds speeds;
    double all_sides = 0;
    const double megabytes = static_cast<double>(bulk_bytes) / 1e6 * times;
    for (int i = 0; i < times; ++i) {
        double mine = cpu_ms(CLOCK_THREAD_CPUTIME_ID);
        direct.push_back(megabytes_per_second(provider.address, direct_path, model, trust));
        speeds.direct_client += (cpu_ms(CLOCK_THREAD_CPUTIME_ID) - mine) / megabytes;
        speeds.direct_provider += provider.cpu / megabytes;
        mine = cpu_ms(CLOCK_THREAD_CPUTIME_ID);
        const double all = cpu_ms(CLOCK_PROCESS_CPUTIME_ID);
        gateway.push_back(megabytes_per_second(house.address, gateway_path, model));
        speeds.client += (cpu_ms(CLOCK_THREAD_CPUTIME_ID) - mine) / megabytes;
        speeds.provider += provider.cpu / megabytes;
        all_sides += (cpu_ms(CLOCK_PROCESS_CPUTIME_ID) - all) / megabytes;
        ratio.push_back(gateway.back() / direct.back());
    }
    speeds.between = all_sides - speeds.client - speeds.provider;
    speeds.direct = of(direct).p50;
    speeds.gateway = of(gateway).p50;
    speeds.ratio = of(ratio).p50;
    return speeds;
}

struct ManyStreams {
    int completed = 0;
    int64_t kb_per_connection = 0;
};
ManyStreams hold_streams(Provider& provider, const std::string& address, const std::string& path) {
    const int64_t before = resident_kb();
    std::atomic<int> completed{0};
    std::vector<std::thread> threads;
    for (int i = 0; i < streams_at_once; ++i)
        threads.emplace_back([&] {
            Client client(address, path);
            client.send(request_body("slow", 1000), [](std::string_view) {});
            ++completed;
        });
    const auto until = Steady::now() + std::chrono::minutes(2);
    while (provider.open < streams_at_once && Steady::now() < until)
        std::this_thread::sleep_for(std::chrono::milliseconds(20));
    const int64_t during = resident_kb();
    provider.let_go = true;
    for (std::thread& thread : threads) thread.join();
    provider.let_go = false;
    provider.open = 0;
    return {completed, (during - before) / streams_at_once};
}

struct Accuracy {
    int calls = 0;
    int64_t told = 0, recorded = 0, cut = 0;
};
// The scripted provider keeps its own count; every format, whole, streamed and cut.
Accuracy count_tokens(const std::string& directory, const std::string& script, int calls) {
    int out[2];
    check(::pipe(out) == 0, "pipe");
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, out[1], 1);
    posix_spawn_file_actions_addclose(&actions, out[0]);
    std::string program = "python3", file = script;
    char* arguments[] = {program.data(), file.data(), nullptr};
    pid_t process = 0;
    check(::posix_spawnp(&process, "python3", &actions, nullptr, arguments, environ) == 0, "start the scripted model");
    posix_spawn_file_actions_destroy(&actions);
    ::close(out[1]);
    std::string line;
    for (char c = 0; ::read(out[0], &c, 1) == 1 && c != '\n';) line += c;
    const std::string url = line.substr(line.find(' ') + 1);

    struct Shot {
        const char* path;
        const char* body;
    };
    constexpr Shot shots[] = {
        {"/anthropic/v1/messages", R"({"model":"c","messages":[{"role":"user","content":"x"}]})"},
        {"/anthropic/v1/messages", R"({"model":"c","stream":true,"messages":[{"role":"user","content":"x"}]})"},
        {"/openai/v1/responses", R"({"model":"g","input":"x"})"},
        {"/openai/v1/responses", R"({"model":"g","input":"x","stream":true})"},
        {"/openai/v1/chat/completions", R"({"model":"g","messages":[]})"},
        {"/openai/v1/chat/completions", R"({"model":"g","stream":true,"messages":[]})"},
        {"/gemini/v1beta/models/m:generateContent", R"({"contents":[]})"},
        {"/gemini/v1beta/models/m:streamGenerateContent?alt=sse", R"({"contents":[]})"},
        {"/gemini/v1beta/models/m:streamGenerateContent", R"({"contents":[]})"},
    };
    constexpr const char* plays[] = {"text", "think", "cut", "text", "cut_early", "exact", "cut_late", "status_529"};
    std::vector<std::unique_ptr<House>> houses;
    for (const char* play : plays)
        houses.push_back(
            std::make_unique<House>(directory, url + "/play/" + play, "run_" + std::to_string(houses.size())));
    net::HttpClient client;
    Accuracy result;
    for (; result.calls < calls; ++result.calls) {
        const Shot& shot = shots[static_cast<size_t>(result.calls) % std::size(shots)];
        net::ClientRequest request;
        request.method = "POST";
        request.url = "http://" + houses[static_cast<size_t>(result.calls / 9) % std::size(plays)]->address + shot.path;
        request.body = shot.body;
        static_cast<void>(client.send(request)); // cut answers are errors
    }
    for (const auto& house : houses) result.recorded += house->recorded_tokens();
    net::ClientRequest request;
    request.url = url + "/_count";
    const auto count = must(json::parse(must(client.send(request), "count").body), "count");
    for (const auto& entry : count.at("tokens").as_object()) result.told += entry.value().as_int64();
    result.cut = count.at("cut").as_int64();
    ::kill(process, SIGKILL);
    ::waitpid(process, nullptr, 0);
    return result;
}

} // namespace

int main(int argc, char** argv) {
    crypto::start();
    set_log(LogFormat::text, Level::warning);
    const int requests = argc > 1 ? std::atoi(argv[1]) : 3000;
    const int calls = argc > 2 ? std::atoi(argv[2]) : 1000;
    const std::string script = argc > 3 ? argv[3] : "tests/scripted_model/scripted_model.py";
    char directory[] = "/tmp/bench_broker_XXXXXX";
    if (::mkdtemp(directory) == nullptr) return 1;
    {
        Provider provider;
        House house(directory, "http://" + provider.address, "run_main");
        const auto authority =
            must(Authority::create("bench", crypto::SecretBytes(std::string_view("0123456789abcdef0123456789abcdef")),
                                   SystemClock().now()),
                 "authority");
        const std::string ca_file = std::string(directory) + "/ca.pem";
        must(write_file(ca_file, authority->certificate()), "write");
        const auto trust = must(net::TlsContext::for_client(ca_file, "", ""), "trust");
        Provider secure(must(authority->context_for("localhost"), "context"));
        House secure_house(directory, "https://localhost:" + secure.address.substr(secure.address.rfind(':') + 1),
                           "run_tls", ca_file);
        const Speeds tls = compare(secure, secure_house, "bulk", rounds, trust.get());
        if (requests == 0) { // for a profiler
            std::printf("%s\n%s\n", tls.text().c_str(), compare(provider, house, "bulk", rounds).text().c_str());
            return 0;
        }
        const Speeds paced_tls = compare(secure, secure_house, "paced", 1, trust.get());
        const Speeds plain = compare(provider, house, "bulk", rounds);
        const Percentiles direct = time_requests(provider.address, direct_path, requests);
        const Percentiles through = time_requests(house.address, gateway_path, requests);
        const Percentiles direct_token = time_tokens(provider.address, direct_path, 5);
        const Percentiles token = time_tokens(house.address, gateway_path, 5);
        const ManyStreams direct_many = hold_streams(provider, provider.address, direct_path);
        const ManyStreams many = hold_streams(provider, house.address, gateway_path);
        const Accuracy accuracy = count_tokens(directory, script, calls);
        std::printf(
            "{\"request_ms\":{\"direct_p50\":%.3f,\"direct_p99\":%.3f,\"gateway_p50\":%.3f,\"gateway_p99\":%.3f,"
            "\"added_p50\":%.3f,\"added_p99\":%.3f},\n"
            " \"token_ms\":{\"direct_p50\":%.3f,\"direct_p99\":%.3f,\"gateway_p50\":%.3f,\"gateway_p99\":%.3f,"
            "\"added_p50\":%.3f,\"added_p99\":%.3f},\n"
            " \"paced_mb_per_second\":{\"direct\":%.2f,\"gateway\":%.2f,\"ratio\":%.2f},\n"
            " \"saturated_mb_per_second\":%s,\n"
            " \"saturated_without_tls_mb_per_second\":%s,\n"
            " \"streams_at_once\":{\"asked\":%d,\"completed\":%d,\"kb_per_connection\":%lld,"
            "\"direct_kb_per_connection\":%lld},\n"
            " \"tokens\":{\"calls\":%d,\"cut\":%lld,\"provider\":%lld,\"recorded\":%lld,\"difference\":%lld}}\n",
            direct.p50, direct.p99, through.p50, through.p99, through.p50 - direct.p50, through.p99 - direct.p99,
            direct_token.p50, direct_token.p99, token.p50, token.p99, token.p50 - direct_token.p50,
            token.p99 - direct_token.p99, paced_tls.direct, paced_tls.gateway, paced_tls.ratio, tls.text().c_str(),
            plain.text().c_str(), streams_at_once, many.completed, static_cast<long long>(many.kb_per_connection),
            static_cast<long long>(direct_many.kb_per_connection), accuracy.calls, static_cast<long long>(accuracy.cut),
            static_cast<long long>(accuracy.told), static_cast<long long>(accuracy.recorded),
            static_cast<long long>(accuracy.recorded - accuracy.told));
    }
    std::filesystem::remove_all(directory);
    return 0;
}
