// What a worker needs of the tier gvisor: the broker's ports, its thread, signals, and a restart of the server.
#include "base/testing.h"
#include "base/text.h"
#include "crypto/crypto.h"
#include "sandbox/local/local_provider.h"
#include "sandbox/local/test_folder.h"

#include <csignal>
#include <filesystem>
#include <poll.h>
#include <sys/socket.h>
#include <thread>
#include <unistd.h>

using namespace hone;
using namespace hone::sandbox;

namespace {

bool has_gvisor() {
    return ::geteuid() == 0 && ::access("/usr/bin/runsc", X_OK) == 0;
}

SandboxSpec gvisor_spec() {
    SandboxSpec spec;
    spec.minimum_tier = Tier::gvisor;
    spec.keep = true;
    spec.limits.value.disk_bytes = int64_t{32} << 20;
    return spec;
}

int64_t run_shell(Sandbox& sandbox, const std::string& script) {
    Command command;
    command.argv = {"/bin/bash", "-c", script};
    auto number = sandbox.execute(command);
    REQUIRE_MESSAGE(number.ok(), number.error().message);
    return number.value();
}

// One connection, as the broker serves it: what was sent, and "hello" back.
std::string serve_once(int listener) {
    pollfd ready{listener, POLLIN, 0};
    if (::poll(&ready, 1, 60'000) != 1) return "nobody connected";
    const Fd connection(::accept4(listener, nullptr, nullptr, SOCK_CLOEXEC));
    char text[64] = {};
    const ssize_t count = ::read(connection.get(), text, sizeof text);
    if (::write(connection.get(), "hello", 5) != 5) return "not written";
    return std::string(text, count > 0 ? static_cast<size_t>(count) : 0);
}

// Processes of the host with this text in their arguments.
int64_t count_arguments(const std::string& text) {
    int64_t found = 0;
    for (const auto& entry : std::filesystem::directory_iterator("/proc")) {
        const auto line = read_file(entry.path().string() + "/cmdline", 1 << 20);
        if (line.ok() && line.value().find(text) != std::string::npos) ++found;
    }
    return found;
}

} // namespace

TEST_CASE("variables and arguments of a command inside gVisor are in no list of the host's processes") {
    if (!has_gvisor()) return skip_test("needs root and runsc");
    Folder folder;
    const auto provider = open_provider(folder);
    const auto started = start(*provider, gvisor_spec());
    Sandbox& sandbox = *started;
    const std::string value = "canary-" + to_hex(crypto::random_bytes(12));
    Command command;
    command.argv = {"/bin/bash", "-c", "echo \"$TOKEN\"; id -u; pwd; command -v ls; exec sleep 600",
                    value + "-argument"};
    command.env = std::map<std::string, std::string>{{"TOKEN", value}};
    auto number = sandbox.execute(command);
    REQUIRE_MESSAGE(number.ok(), number.error().message);
    const std::string expected = value + "\n1000\n/workspace\n/usr/bin/ls\n";
    CHECK(read_all(sandbox, number.value(), expected.size()) == expected);
    CHECK(count_arguments(sandbox.id().text()) > 0); // the command's own process of the host is among them
    CHECK(count_arguments(value) == 0);
    CHECK(sandbox.destroy().ok());
}

TEST_CASE(
    "a command inside gVisor that cannot be started has the reason, and one that ends by itself keeps its exit code") {
    if (!has_gvisor()) return skip_test("needs root and runsc");
    Folder folder;
    const auto provider = open_provider(folder);
    const auto started = start(*provider, gvisor_spec());
    Sandbox& sandbox = *started;
    const auto result_of = [&](const Command& command) {
        auto number = sandbox.execute(command);
        REQUIRE_MESSAGE(number.ok(), number.error().message);
        return sandbox.wait(number.value(), 60'000).value();
    };
    Command command;
    command.argv = {"/bin/absent"};
    CHECK(result_of(command).error == "start /bin/absent: No such file or directory");
    command.argv = {"absent"};
    CHECK(result_of(command).error == "start absent: No such file or directory");
    command.argv = {"/etc/passwd"};
    CHECK(result_of(command).error == "start /etc/passwd: Permission denied");
    command.argv = {"/bin/true"};
    command.cwd = std::string("/absent");
    CHECK(result_of(command).error == "enter the folder of /bin/true: No such file or directory");
    // What runsc itself ends with when it fails, and with a command that a signal has ended.
    for (const int64_t code : {128, 128 + SIGTERM}) {
        const auto result = sandbox.wait(run_shell(sandbox, "exit " + std::to_string(code)), 60'000).value();
        CHECK(result.exit_code == code);
        CHECK_FALSE(result.signal.has_value());
        CHECK_FALSE(result.error.has_value());
    }
    CHECK(sandbox.destroy().ok());
    SandboxSpec alone = gvisor_spec(); // its command is the first process
    alone.keep = false;
    alone.command = Command();
    alone.command->argv = {"/bin/absent"};
    const auto other = start(*provider, alone);
    const auto view = other->wait_stopped(60'000);
    REQUIRE(view.ok());
    CHECK(view.value().commands.at(0).error == "start /bin/absent: No such file or directory");
    CHECK(other->destroy().ok());
}

TEST_CASE("a command inside gVisor that is over its time ends with all of its group") {
    if (!has_gvisor()) return skip_test("needs root and runsc");
    Folder folder;
    const auto provider = open_provider(folder);
    const auto started = start(*provider, gvisor_spec());
    Sandbox& sandbox = *started;
    Command command;
    command.argv = {"/bin/bash", "-c", "sleep 4711 & exec sleep 4712"};
    command.timeout_ms = 500;
    auto number = sandbox.execute(command);
    REQUIRE_MESSAGE(number.ok(), number.error().message);
    const auto result = sandbox.wait(number.value(), 60'000).value();
    CHECK(result.signal == SIGTERM);
    CHECK_FALSE(result.exit_code.has_value());
    REQUIRE(result.limits_hit.size() == 1);
    CHECK(result.limits_hit[0] == LimitHit::timeout);
    const int64_t left = run_shell(sandbox, "cat /proc/[0-9]*/cmdline | tr '\\0' ' ' | grep -o 'sleep 471[12]'");
    CHECK(sandbox.wait(left, 60'000).value().exit_code == 1); // none
    CHECK(read_all(sandbox, left).empty());
    CHECK(sandbox.destroy().ok());
}

TEST_CASE("a gVisor sandbox reaches the broker's ports, and its thread is the same in every tier") {
    if (!has_gvisor()) return skip_test("needs root and runsc");
    Folder folder;
    const auto provider = open_provider(folder);
    SandboxSpec spec = gvisor_spec();
    spec.thread = "one";
    spec.network = NetworkMode::broker;
    const auto started = start(*provider, spec);
    Sandbox& sandbox = *started;
    CHECK(sandbox.view().value().tier == Tier::gvisor);
    auto listeners = sandbox.listeners();
    REQUIRE(listeners.ok());
    REQUIRE(listeners.value().size() == 2);
    for (const int port : {3128, 3129}) {
        std::string received;
        std::jthread broker([&] { received = serve_once(listeners.value()[static_cast<size_t>(port - 3128)].get()); });
        const int64_t number =
            run_shell(sandbox, "exec 3<>/dev/tcp/127.0.0.1/" + std::to_string(port) +
                                   "; printf request >&3; head -c 5 <&3; echo kept > /workspace/mark");
        CHECK(sandbox.wait(number, 60'000).value().exit_code == 0);
        broker.join();
        CHECK(received == "request");
        CHECK(read_all(sandbox, number) == "hello");
    }
    // Nothing else of the host's network is there.
    CHECK(sandbox.wait(run_shell(sandbox, "exec 3<>/dev/tcp/127.0.0.1/22"), 60'000).value().exit_code != 0);
    auto exported = sandbox.workspace();
    REQUIRE_MESSAGE(exported.ok(), exported.error().message);
    CHECK(::faccessat(exported.value().get(), "mark", R_OK, 0) == 0);
    exported.value().reset();
    listeners.value().clear();
    REQUIRE(sandbox.destroy().ok());

    SandboxSpec weaker = shell("cat /workspace/mark && echo more >> /workspace/mark");
    weaker.thread = "one";
    weaker.limits = spec.limits;
    const auto other = start(*provider, weaker);
    CHECK(other->wait_stopped().value().commands[0].exit_code == 0);
    CHECK(read_all(*other, 0) == "kept\n");
    CHECK(other->destroy().ok());
}

TEST_CASE("a gVisor thread volume is full when it is full") {
    if (!has_gvisor()) return skip_test("needs root and runsc");
    Folder folder;
    const auto provider = open_provider(folder);
    SandboxSpec spec = gvisor_spec();
    spec.thread = "one";
    const auto sandbox = start(*provider, spec);
    const int64_t number = run_shell(*sandbox, "dd if=/dev/zero of=/workspace/fill bs=1M count=64 2>/dev/null");
    CHECK(sandbox->wait(number, 120'000).value().exit_code != 0);
    CHECK(sandbox->destroy().ok());
}

TEST_CASE("a signal reaches a command inside gVisor, and an end of the server leaves the sandbox alive") {
    if (!has_gvisor()) return skip_test("needs root and runsc");
    Folder folder;
    SandboxId id;
    {
        const auto provider = open_provider(folder);
        SandboxSpec spec = gvisor_spec();
        spec.detached = true;
        const auto sandbox = start(*provider, spec);
        id = sandbox->id();
        // The trap runs inside: killing runsc's own process on the host would leave no mark.
        const int64_t number =
            run_shell(*sandbox, "trap 'echo ended > /tmp/mark; exit 5' TERM; echo up; while :; do sleep 0.05; done");
        REQUIRE(sandbox->output(number, 0, 60'000).ok());
        REQUIRE(sandbox->signal(number, SIGTERM).ok());
        CHECK(sandbox->wait(number, 60'000).value().exit_code == 5);
    }
    const auto provider = open_provider(folder);
    auto again = provider->attach(id);
    REQUIRE_MESSAGE(again.ok(), again.error().message);
    const int64_t number = run_shell(*again.value(), "cat /tmp/mark");
    CHECK(again.value()->wait(number, 60'000).value().exit_code == 0);
    CHECK(read_all(*again.value(), number) == "ended\n");
    CHECK(again.value()->destroy().ok());
}
