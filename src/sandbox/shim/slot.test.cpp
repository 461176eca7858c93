#include "base/text.h"
#include "sandbox/image/layer.h"
#include "sandbox/image/store.h"
#include "sandbox/local/local_provider.h"
#include "sandbox/local/test_folder.h"

#include <csignal>
#include <dirent.h>
#include <memory>
#include <poll.h>
#include <unistd.h>

using namespace hone;
using namespace hone::sandbox;

namespace {

constexpr int64_t long_enough_ms = 60'000;

LocalOptions with_slots(const Folder& folder, size_t ready) {
    LocalOptions options;
    options.data_directory = folder.path;
    options.program = hone_program();
    options.ready = ready;
    return options;
}

template <class Condition>
bool wait_until(Condition condition) {
    for (int i = 0; i < 3000; ++i) {
        if (condition()) return true;
        ::poll(nullptr, 0, 20);
    }
    return condition();
}

// Processes of this name with this current directory or, for a spawner, this data directory in its arguments.
std::vector<pid_t> processes(const std::string& name, const std::string& where) {
    std::vector<pid_t> found;
    const std::unique_ptr<DIR, int (*)(DIR*)> stream(::opendir("/proc"), ::closedir);
    while (const dirent* entry = ::readdir(stream.get())) {
        const auto pid = parse_integer(entry->d_name);
        const std::string path = std::string("/proc/") + entry->d_name;
        const auto comm = read_file(path + "/comm", 64);
        const auto command = read_file(path + "/cmdline", 1 << 16);
        if (!pid.ok() || !comm.ok() || !command.ok() || trim(comm.value()) != name) continue;
        if (command.value().find(where) != std::string::npos) found.push_back(static_cast<pid_t>(pid.value()));
    }
    return found;
}

// Ended altogether. A dying process loses its command line and its namespaces before its locks and sockets.
bool is_gone(pid_t pid) {
    const auto status = read_file("/proc/" + std::to_string(pid) + "/stat", 4096);
    if (!status.ok()) return true;
    const char state = status.value()[status.value().rfind(')') + 2];
    return state == 'Z' || state == 'X';
}

std::string output_of(Provider& provider, const SandboxSpec& spec) {
    auto sandbox = provider.start(spec);
    REQUIRE_MESSAGE(sandbox.ok(), sandbox.error().message);
    std::string text = read_all(*sandbox.value(), 0);
    REQUIRE(sandbox.value()->wait_stopped().ok());
    REQUIRE(sandbox.value()->destroy().ok());
    return text;
}

} // namespace

TEST_CASE("a prepared sandbox becomes what the spec describes, once, and is replaced") {
    Folder folder;
    auto provider = open_local_provider(with_slots(folder, 2));
    REQUIRE_MESSAGE(provider.ok(), provider.error().message);
    REQUIRE(provider.value()->await_ready(long_enough_ms));
    const Store store = Store::open(folder.path).value();
    const auto prepared = store.sandboxes();
    CHECK(prepared.size() == 2);
    CHECK(provider.value()->list().value().empty()); // nobody's yet
    for (const SandboxId& id : prepared) {
        CHECK(store.journal(id).ok());
        CHECK(store.lock_dead(id).error().code == Code::busy);
        CHECK_FALSE(provider.value()->attach(id).ok());
    }
    SandboxSpec spec = shell("echo here; echo mine > /workspace/file; stat -f -c '%b %S' /tmp; ulimit -n; cat /opt/it");
    REQUIRE(write_file(folder.path + "/it", "mounted\n", 0644).ok());
    spec.mounts.value.push_back({folder.path + "/it", "/opt/it", true});
    spec.limits.value.disk_bytes = int64_t{1} << 20;
    spec.limits.value.open_files = int64_t{99};
    auto sandbox = provider.value()->start(spec);
    REQUIRE_MESSAGE(sandbox.ok(), sandbox.error().message);
    CHECK(std::find(prepared.begin(), prepared.end(), sandbox.value()->id()) != prepared.end());
    CHECK(provider.value()->list().value().size() == 1);
    CHECK(read_all(*sandbox.value(), 0) == "here\n256 4096\n99\nmounted\n");
    REQUIRE(sandbox.value()->wait_stopped().ok());
    REQUIRE(sandbox.value()->destroy().ok());
    REQUIRE(provider.value()->await_ready(long_enough_ms));
    for (const SandboxId& id : store.sandboxes()) CHECK(id != sandbox.value()->id());
    // Nothing of one start is in the next, whichever slot it gets.
    for (int i = 0; i < 3; ++i)
        CHECK(output_of(*provider.value(), shell("ls /workspace /opt; id -u")).find("file") == std::string::npos);
}

TEST_CASE("layers, threads, a network and a debugger work in a prepared sandbox") {
    Folder folder;
    auto provider = open_local_provider(with_slots(folder, 1));
    REQUIRE(provider.ok());
    for (int i = 0; i < 2; ++i) {
        REQUIRE(provider.value()->await_ready(long_enough_ms));
        SandboxSpec spec = shell("cat /workspace/n 2>/dev/null; echo x >> /workspace/n; wc -l < /workspace/n");
        spec.thread = "t";
        spec.network = NetworkMode::broker;
        spec.allow_ptrace = true;
        spec.limits.value.disk_bytes = int64_t{8} << 20;
        CHECK(output_of(*provider.value(), spec) == (i == 0 ? "1\n" : "x\n2\n"));
    }
    Preparation preparation;
    preparation.space = "space_a";
    preparation.script = "mkdir -p /opt/made; echo prepared > /opt/made/it";
    REQUIRE(provider.value()->await_ready(long_enough_ms));
    auto layer = prepare_layer(*provider.value(), Store::open(folder.path).value(), preparation);
    REQUIRE_MESSAGE(layer.ok(), layer.error().message);
    REQUIRE(provider.value()->await_ready(long_enough_ms));
    SandboxSpec layered = shell("cat /opt/made/it; ls /proc/self/fd | wc -l");
    layered.layers.value = {layer.value().key};
    CHECK(output_of(*provider.value(), layered) == "prepared\n4\n"); // 0, 1, 2 and the folder itself

    REQUIRE(provider.value()->await_ready(long_enough_ms));
    SandboxSpec own = shell("echo never");
    own.root = folder.path + "/no-such-root";
    CHECK(provider.value()->start(own).error().code == Code::not_found);
    REQUIRE(provider.value()->await_ready(long_enough_ms));
    own.root = std::string("host");
    own.limits.value.pids = int64_t{0};
    CHECK(provider.value()->start(own).error().code == Code::invalid);
}

TEST_CASE("slots go with their provider, with the spawner, and by kill") {
    Folder folder;
    const Store store = Store::open(folder.path).value();
    auto provider = open_local_provider(with_slots(folder, 2));
    REQUIRE(provider.ok());
    REQUIRE(provider.value()->await_ready(long_enough_ms));

    // A killed slot: the next start finds another or makes one.
    auto shims = processes("hone-shim", folder.path);
    REQUIRE(shims.size() == 2);
    for (const pid_t pid : shims) ::kill(pid, SIGKILL);
    CHECK(output_of(*provider.value(), shell("echo on")) == "on\n"); // at once, also while they still die
    for (const pid_t pid : shims) REQUIRE(wait_until([&] { return is_gone(pid); }));
    REQUIRE(provider.value()->reconcile().ok());
    REQUIRE(provider.value()->await_ready(long_enough_ms));

    // A killed spawner takes its slots with it, and they clean up after themselves.
    const auto before = store.sandboxes();
    for (const pid_t pid : processes("hone-spawner", folder.path)) ::kill(pid, SIGKILL);
    CHECK(wait_until([&] {
        for (const SandboxId& id : before)
            if (file_exists(store.live(id))) return false;
        return true;
    }));
    // The first to ask finds it dead; then there is a new one.
    (void)provider.value()->list().ok();
    CHECK(output_of(*provider.value(), shell("echo on")) == "on\n");

    provider.value().reset();
    CHECK(wait_until([&] { return store.sandboxes().empty(); }));
    CHECK(wait_until([&] { return processes("hone-shim", folder.path).empty(); }));
}
