// exec and the channel of a pod against tests/kubernetes_fake, which the fixture finds by HONE_SOURCE_DIR.
#include "kubernetes/pod_channel.h"

#include "kubernetes/fake_cluster_fixture.h"

using namespace hone;
using namespace hone::kubernetes;
using namespace hone::kubernetes::testing;

namespace {

struct Ran {
    std::string out, err;
    std::optional<int64_t> exit_code;
    std::string error;
};
Ran run_command(Api& api, const std::vector<std::string>& command, const std::string& input = "") {
    Ran ran;
    auto exec = Exec::open(api, {"workers", name_for("1"), "worker", command, true, true});
    if (!exec.ok()) {
        ran.error = exec.error().message;
        return ran;
    }
    if (!input.empty()) {
        REQUIRE(exec.value()->send(input).ok());
        REQUIRE(exec.value()->close_input().ok());
    }
    for (;;) {
        const auto step = exec.value()->step(long_enough, [&](ExecStream stream, std::string_view bytes) -> Result<> {
            (stream == ExecStream::err ? ran.err : ran.out) += bytes;
            return {};
        });
        if (step.ok() && step.value()) continue;
        if (!step.ok())
            ran.error = step.error().message;
        else
            ran.exit_code = exec.value()->outcome()->exit_code;
        return ran;
    }
}

std::string text_of_output(size_t size) {
    std::string text;
    for (size_t number = 0; text.size() < size; ++number) text += std::to_string(number) + " ";
    text.resize(size);
    return text;
}

PodChannelOptions channel_options(const std::string& session, int64_t epoch) {
    PodChannelOptions options;
    options.exec = {"workers", name_for("1"), "worker", {"channel"}, true, true};
    options.identity = {LinkSide::server, "sbx_01JCQZ5V8M0000000000000001", epoch, session, ""};
    return options;
}

} // namespace

TEST_CASE("exec carries bytes both ways and returns the exit code") {
    const FakeCluster cluster;
    Client client(cluster.access());
    CHECK(run_command(client.api, {"cat"}).error.find("not found") != std::string::npos);
    REQUIRE(client.api.create(pods, pod_for("1")).value().ok());
    CHECK(run_command(client.api, {"cat"}).error ==
          "could not execute a command in the pod " + name_for("1") + ": container worker is not available");
    cluster.run_pod(name_for("1"));
    const std::string large = text_of_output(1'000'000);
    const Ran echoed = run_command(client.api, {"cat"}, large);
    CHECK(echoed.error == "");
    CHECK((echoed.out == large));
    CHECK(echoed.exit_code == 0);
    CHECK(run_command(client.api, {"exit", "137"}).exit_code == 137);
    const Ran failed = run_command(client.api, {"errors"});
    CHECK(failed.err == "something is wrong\n");
    CHECK(failed.exit_code == 1);
    const Ran pieces = run_command(client.api, {"fragments"});
    CHECK(pieces.out.size() == 60'003);
    CHECK(pieces.out.starts_with("abcdef"));
}

TEST_CASE("what no server should send ends an exec with the reason") {
    const FakeCluster cluster;
    Client client(cluster.access());
    REQUIRE(client.api.create(pods, pod_for("1")).value().ok());
    cluster.run_pod(name_for("1"));
    CHECK(run_command(client.api, {"garbage"}).error == "malformed WebSocket: an extension that was not agreed on");
    CHECK(run_command(client.api, {"wrong_channel"}).error ==
          "the cluster sent a message on a channel that is not its own");
    CHECK(run_command(client.api, {"no_status"}).error ==
          "the cluster closed the connection without a status (1011 internal)");
    CHECK(run_command(client.api, {"oversized"}).error == "a WebSocket message is larger than 4194304 bytes");
    CHECK(run_command(client.api, {"bad_close"}).error ==
          "malformed WebSocket: a close with a code that is not allowed");
    cluster.control(R"({"do":"cut_exec","after":200000})");
    CHECK(run_command(client.api, {"cat"}, text_of_output(1'000'000)).exit_code == std::nullopt);
}

TEST_CASE("streams of a pod survive every cut of its channel, byte by byte") {
    const FakeCluster cluster;
    Client client(cluster.access());
    REQUIRE(client.api.create(pods, pod_for("1")).value().ok());
    cluster.run_pod(name_for("1"));
    cluster.control(R"({"do":"cut_exec","after":700000})");
    PodChannel channel(client.api, channel_options("server-1", 1));
    channel.start();
    REQUIRE(channel.await_connected(long_enough).ok());
    StreamOpen wanted;
    wanted.kind = StreamKind::output;
    wanted.command = 0;
    wanted.offset = 1000;
    const uint32_t output = channel.open(wanted).value();
    StreamOpen given;
    given.kind = StreamKind::input;
    given.command = 7;
    const uint32_t input = channel.open(given).value();
    const std::string sent = text_of_output(1'500'000);
    std::jthread writer([&] {
        CHECK(channel.write(input, sent, long_enough).ok());
        channel.end(input);
    });
    std::string read;
    int64_t cuts = 1;
    for (;;) {
        const auto piece = channel.read(output, long_enough);
        REQUIRE_MESSAGE(piece.ok(), (piece.ok() ? "" : piece.error().message));
        if (piece.value().empty()) break;
        const size_t before = read.size();
        read += piece.value();
        if (before / 500'000 != read.size() / 500'000) { // every half megabyte
            ++cuts;
            cluster.control(R"({"do":"cut_exec"})");
        }
    }
    writer.join();
    CHECK((read == text_of_output(3'000'000).substr(1000)));
    CHECK(channel.read(input, long_enough).value().empty()); // the pod has everything and ends its direction
    const json::Value state = cluster.control(R"({"do":"state"})");
    CHECK(integer_at(state, {"inputs", name_for("1"), "7"}) == 1'500'000);
    CHECK(cuts >= 5);
    CHECK(channel.status().connections > 2);
    // Calls, after all that.
    REQUIRE(channel.write(calls_stream, "are you there?", long_enough).ok());
    CHECK(channel.read(calls_stream, long_enough).value() == "are you there?");
    channel.close(output);
    channel.close(input);
}

TEST_CASE("connections that a pod opens are accepted, and end with their channel") {
    const FakeCluster cluster;
    Client client(cluster.access());
    REQUIRE(client.api.create(pods, pod_for("1")).value().ok());
    cluster.run_pod(name_for("1"));
    PodChannel channel(client.api, channel_options("server-1", 1));
    channel.start();
    REQUIRE(channel.await_connected(long_enough).ok());
    cluster.control(R"({"do":"dial","pod":")" + name_for("1") + R"(","port":3129})");
    const auto accepted = channel.accept(long_enough).value();
    CHECK(accepted.open.port == 3129);
    std::string request;
    while (!request.ends_with("\r\n\r\n")) request += channel.read(accepted.stream, long_enough).value();
    CHECK(request.starts_with("GET / HTTP/1.1"));
    REQUIRE(channel.write(accepted.stream, "HTTP/1.1 200 OK\r\n\r\n", long_enough).ok());
    channel.end(accepted.stream);
    CHECK(channel.read(accepted.stream, long_enough).value().empty());
    channel.close(accepted.stream);
    cluster.control(R"({"do":"dial","pod":")" + name_for("1") + R"(","port":3128})");
    const auto second = channel.accept(long_enough).value();
    cluster.control(R"({"do":"cut_exec"})");
    Result<std::string> rest = channel.read(second.stream, long_enough);
    while (rest.ok() && !rest.value().empty()) rest = channel.read(second.stream, long_enough);
    CHECK(rest.error().message == "the stream is closed: the channel was lost");
    CHECK(channel.write(second.stream, "x", long_enough).error().code == Code::unavailable);
}

TEST_CASE("a newer server takes a pod over, and a pod that was started again has no streams") {
    const FakeCluster cluster;
    Client client(cluster.access()), later(cluster.access());
    REQUIRE(client.api.create(pods, pod_for("1")).value().ok());
    cluster.run_pod(name_for("1"));
    PodChannel first(client.api, channel_options("server-1", 1));
    first.start();
    REQUIRE(first.await_connected(long_enough).ok());
    PodChannel second(later.api, channel_options("server-2", 2));
    second.start();
    REQUIRE(second.await_connected(long_enough).ok());
    cluster.control(R"({"do":"cut_exec"})");
    // The older one is rejected whenever it comes back; the newer one works.
    while (first.status().problem.find("a newer server has this sandbox") == std::string::npos)
        std::this_thread::yield();
    REQUIRE(second.write(calls_stream, "mine", long_enough).ok());
    CHECK(second.read(calls_stream, long_enough).value() == "mine");
    first.stop();
    StreamOpen wanted;
    wanted.kind = StreamKind::input;
    const uint32_t input = second.open(wanted).value();
    REQUIRE(second.write(input, "abc", long_enough).ok());
    cluster.control(R"({"do":"reboot","pod":")" + name_for("1") + R"("})");
    cluster.control(R"({"do":"cut_exec"})");
    CHECK(second.read(input, long_enough).error().message == "the stream is closed: the sandbox was started again");
    CHECK(second.status().restarts == 1);
    REQUIRE(second.write(calls_stream, "again", long_enough).ok());
    CHECK(second.read(calls_stream, long_enough).value() == "again");
    second.stop();
    CHECK(second.read(calls_stream, long_enough).error().message == "the channel of the pod was stopped");
}
