// Going down in order, and standing up to many connections.
#include "net/testing/raw_client.h"

#include <atomic>
#include <netinet/in.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace hone;
using namespace hone::net;
using namespace hone::net::testing;

TEST_CASE("drain serves requests that have arrived, ends idle connections and event streams, and refuses new ones") {
    LambdaHandler handler;
    Gate gate, running, following;
    std::shared_ptr<EventStream> events;
    handler.on_handle = [&](Request&& request) {
        Response response = text_response(200, "done");
        if (request.path == "/slow") {
            running.open();
            gate.wait();
        }
        if (request.path == "/events")
            response.on_events = [&](std::shared_ptr<EventStream> stream) {
                events = std::move(stream);
                following.open();
            };
        return response;
    };
    auto server = start_server(handler);
    const std::string address = server->addresses()[0];
    RawClient idle(address), slow(address), follower(address);
    CHECK(idle.get("/").status == 200);
    follower.send("GET /events HTTP/1.1\r\nHost: t\r\n\r\n");
    CHECK(following.wait());
    slow.send("GET /slow HTTP/1.1\r\nHost: t\r\n\r\n");
    CHECK(running.wait());
    CHECK_FALSE(server->drain(50ms)); // the slow one is still at work
    CHECK(idle.is_ended());
    CHECK(follower.read_response().complete); // with its last chunk
    const auto [host, port] = parse_host_port(address).value();
    const Endpoint endpoint = resolve(host, port).value().front();
    Fd late(::socket(endpoint.family, SOCK_STREAM, 0));
    CHECK(::connect(late.get(), reinterpret_cast<const sockaddr*>(endpoint.address.data()),
                    static_cast<socklen_t>(endpoint.address.size())) != 0);
    gate.open();
    RawResponse response = slow.read_response();
    CHECK(response.body == "done");
    CHECK(response.headers["connection"] == "close");
    slow.close();
    follower.close();
    CHECK(server->drain(30s));
    CHECK(server->counts().connections_open == 0);
}

TEST_CASE("drain under load loses no request that a handler has seen, and cuts no response") {
    LambdaHandler handler;
    std::atomic<int> handled = 0;
    handler.on_handle = [&](Request&&) {
        ++handled;
        return text_response(200, std::string(5000, 'x'));
    };
    ServerOptions options = test_options();
    options.lanes[0] = {2, 1000};
    auto server = start_server(handler, options);
    const std::string address = server->addresses()[0];
    std::atomic<int> answered = 0, torn = 0;
    std::vector<std::thread> threads;
    for (int t = 0; t < 8; ++t)
        threads.emplace_back([&] {
            RawClient client(address);
            for (;;) {
                if (!client.send("GET / HTTP/1.1\r\nHost: t\r\n\r\n")) return;
                RawResponse response = client.read_response();
                if (response.status == 0) return; // a clean end before any byte of a response
                response.body.size() == 5000 ? ++answered : ++torn;
                if (response.headers["connection"] == "close") return;
            }
        });
    CHECK(eventually([&] { return answered > 200; }));
    CHECK(server->drain(30s));
    for (auto& thread : threads) thread.join();
    CHECK(torn == 0);
    CHECK(answered == handled);
}

namespace {

// The other side of ten thousand connections, as a process of its own: one process may not hold both ends.
// Prints how many it holds, then waits for the end.
[[noreturn]] void hold_connections(uint16_t port, int count, int report, int command) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(port);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    int held = 0;
    for (int i = 0; i < count; ++i) {
        const int socket = ::socket(AF_INET, SOCK_STREAM, 0);
        if (socket < 0 || ::connect(socket, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) break;
        ++held;
    }
    char end = 0;
    if (::write(report, &held, sizeof held) != sizeof held || ::read(command, &end, 1) < 0) ::_exit(1);
    ::_exit(0);
}

size_t resident_bytes() {
    FILE* file = std::fopen("/proc/self/statm", "r");
    unsigned long pages = 0, resident = 0;
    REQUIRE(std::fscanf(file, "%lu %lu", &pages, &resident) == 2);
    std::fclose(file);
    return resident * static_cast<size_t>(::sysconf(_SC_PAGESIZE));
}

} // namespace

TEST_CASE("ten thousand idle connections cost little and do not hinder others") {
    constexpr int count = 10'000;
    rlimit limit{};
    REQUIRE(::getrlimit(RLIMIT_NOFILE, &limit) == 0);
    limit.rlim_cur = limit.rlim_max;
    REQUIRE(::setrlimit(RLIMIT_NOFILE, &limit) == 0);
    REQUIRE_MESSAGE(limit.rlim_max > count + 200, "this test needs a hard limit of open files above 10,200");
    LambdaHandler handler;
    handler.on_plan = [](const RequestHead&) {
        Plan plan;
        plan.response = text_response(200, "alive");
        return plan;
    };
    auto server = start_server(handler);
    const uint16_t port = parse_host_port(server->addresses()[0]).value().second;
    std::array<int, 2> report{}, command{};
    REQUIRE(::pipe(report.data()) == 0);
    REQUIRE(::pipe(command.data()) == 0);
    const size_t before = resident_bytes();
    const pid_t child = ::fork();
    if (child == 0) hold_connections(port, count, report[1], command[0]);
    int held = 0;
    REQUIRE(::read(report[0], &held, sizeof held) == sizeof held);
    CHECK(held == count);
    CHECK(eventually([&] { return server->counts().connections_open == count; }));
    const size_t per_connection = (resident_bytes() - before) / count;
    MESSAGE("bytes per idle connection: ", per_connection);
    CHECK(per_connection < 8192); // generous: sanitizers pad every allocation
    RawClient client(server->addresses()[0]);
    for (int i = 0; i < 100; ++i) CHECK(client.get("/").body == "alive");
    client.close();
    CHECK(::write(command[1], "x", 1) == 1);
    int status = 0;
    REQUIRE(::waitpid(child, &status, 0) == child);
    CHECK(eventually([&] { return server->counts().connections_open == 0; }));
    for (const int descriptor : {report[0], report[1], command[0], command[1]}) ::close(descriptor);
}
