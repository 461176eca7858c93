// Version 2 limits are tried on a folder that looks like a group, because few test machines have its controllers free;
// what version 2 does without controllers (clone into, freeze, kill) the other tests use for real where it is mounted.
#include "sandbox/wall/cgroup.h"
#include "base/testing.h"

#include "base/file.h"
#include "base/text.h"
#include "sandbox/local/test_folder.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace hone;
using namespace hone::sandbox;

namespace {

// The files the kernel would put into a group of version 2 with these controllers.
std::string imitate_group(const Folder& folder) {
    const std::string group = folder.path + "/sbx";
    REQUIRE(make_directories(group).ok());
    for (const char* name : {"memory.max", "memory.swap.max", "memory.oom.group", "pids.max", "cpu.max",
                             "cgroup.freeze", "cgroup.kill", "cgroup.procs"})
        REQUIRE(write_file(group + "/" + name, "").ok());
    REQUIRE(write_file(group + "/memory.peak", "123456\n").ok());
    REQUIRE(write_file(group + "/memory.events", "low 0\nhigh 0\nmax 7\noom 1\noom_kill 3\n").ok());
    REQUIRE(write_file(group + "/pids.events", "max 5\n").ok());
    REQUIRE(write_file(group + "/cpu.stat", "usage_usec 2500\nuser_usec 1500\n").ok());
    return group;
}

} // namespace

TEST_CASE("limits are written to a version 2 group as the kernel wants them") {
    Folder folder;
    const std::string path = imitate_group(folder);
    CgroupHost host;
    host.unified = folder.path;
    host.unified_limits = true;
    CHECK(host.keeper() == LimitKeeper::cgroup2);
    const Cgroup group = Cgroup::adopt({path});
    Limits limits;
    limits.memory_bytes = int64_t{64} << 20;
    limits.pids = int64_t{10};
    limits.cpus = 0.5;
    REQUIRE(group.limit(host, limits).ok());
    const auto content = [&](const char* name) { return read_file(path + "/" + name).value(); };
    CHECK(content("memory.max") == "67108864");
    CHECK(content("memory.swap.max") == "0");
    CHECK(content("memory.oom.group") == "1");
    CHECK(content("pids.max") == "11"); // and pid 1
    CHECK(content("cpu.max") == "50000 100000");
    CHECK(group.freeze(true).ok());
    CHECK(content("cgroup.freeze") == "1");
    group.kill();
    CHECK(content("cgroup.kill") == "1");
    const CgroupUse use = group.use();
    CHECK(use.peak_memory_bytes == 123456);
    CHECK(use.oom_kills == 3);
    CHECK(use.pids_refused == 5);
    CHECK(use.cpu_ns == 2'500'000);
}

TEST_CASE("a file of events of the real kernel is quiet until something happens, and again when it was read") {
    CgroupHost host; // version 2 without limits
    host.unified = CgroupHost::probe(false).unified;
    if (host.unified.empty()) return skip_test("needs a cgroup that this user may write to");
    const SandboxId id = make_id<SandboxTag>(SystemClock());
    const std::string directory = host.unified + "/" + id.text();
    auto made = Cgroup::create(host, {directory});
    REQUIRE_MESSAGE(made.ok(), made.error().message);
    const EventFile events(directory + "/cgroup.events");
    const auto changed = [&](int timeout_ms) {
        pollfd wait{events.descriptor(), POLLPRI, 0};
        return ::poll(&wait, 1, timeout_ms) == 1;
    };
    CHECK_FALSE(changed(0));
    REQUIRE(made.value().freeze(true).ok());
    CHECK(changed(10'000));
    CHECK(events.read().find("frozen 1") != std::string::npos);
    CHECK_FALSE(changed(0));
    REQUIRE(made.value().freeze(false).ok());
    CHECK(made.value().remove().ok());
}

TEST_CASE("running out of memory is read from the events of a version 2 group") {
    Folder folder;
    const std::string path = imitate_group(folder);
    const EventFile events(path + "/memory.events");
    CHECK(events.read().find("oom_kill 3") != std::string::npos);
    CHECK(EventFile(path + "/missing").descriptor() == -1);
    CHECK(EventFile(path + "/missing").read().empty());
}

TEST_CASE("a version 2 group that refuses a limit refuses the sandbox") {
    Folder folder;
    CgroupHost host;
    host.unified = folder.path;
    host.unified_limits = true;
    CHECK_FALSE(Cgroup::adopt({folder.path + "/missing"}).limit(host, Limits()).ok());
}

TEST_CASE("groups are made, limited, used and removed on this machine") {
    const CgroupHost host = CgroupHost::probe(false);
    if (host.keeper() == LimitKeeper::rlimit) return skip_test("needs a cgroup that was delegated to this user");
    const SandboxId id = make_id<SandboxTag>(SystemClock());
    const auto planned = Cgroup::plan(host, id);
    REQUIRE_FALSE(planned.empty());
    auto made = Cgroup::create(host, planned);
    REQUIRE_MESSAGE(made.ok(), made.error().message);
    CHECK_FALSE(Cgroup::create(host, planned).ok()); // never an old one
    CHECK(made.value().limit(host, Limits()).ok());
    CHECK(made.value().oom_descriptor() >= 0);
    CHECK(made.value().use().oom_kills == 0);
    CHECK(made.value().remove().ok());
    for (const std::string& directory : planned) CHECK_FALSE(file_exists(directory));
    CHECK(made.value().remove().ok()); // a second time is fine
}

TEST_CASE("a process moves itself into the groups that a clone cannot name") {
    const CgroupHost host = CgroupHost::probe(false);
    if (host.keeper() == LimitKeeper::rlimit) return skip_test("needs a cgroup that was delegated to this user");
    const SandboxId id = make_id<SandboxTag>(SystemClock());
    auto made = Cgroup::create(host, Cgroup::plan(host, id));
    REQUIRE_MESSAGE(made.ok(), made.error().message);
    const auto entrances = made.value().entrances();
    REQUIRE_MESSAGE(entrances.ok(), entrances.error().message);
    if (host.keeper() == LimitKeeper::cgroup1) CHECK_FALSE(entrances.value().empty());
    // Without other threads, as a sandbox's first process is. Its exit status counts the groups that it is in.
    const pid_t pid = ::fork();
    if (pid == 0) {
        if (!enter_groups(entrances.value()).ok()) ::_exit(100);
        int inside = 0;
        const auto groups = read_file("/proc/self/cgroup");
        if (!groups.ok()) ::_exit(101);
        for (const std::string_view line : split(groups.value(), '\n'))
            if (line.ends_with("/" + id.text())) ++inside;
        ::_exit(inside);
    }
    int status = 0;
    REQUIRE(::waitpid(pid, &status, 0) == pid);
    REQUIRE(WIFEXITED(status));
    CHECK(static_cast<size_t>(WEXITSTATUS(status)) == entrances.value().size());
    CHECK(made.value().remove().ok());

    const Fd no_group(::open("/dev/full", O_WRONLY | O_CLOEXEC));
    std::vector<Fd> refusing;
    refusing.emplace_back(::fcntl(no_group.get(), F_DUPFD_CLOEXEC, 3));
    CHECK_FALSE(enter_groups(refusing).ok());
}

TEST_CASE("empty groups of unknown sandboxes are removed once they are old") {
    Folder folder;
    CgroupHost host;
    host.unified = folder.path;
    const SandboxId id = make_id<SandboxTag>(SystemClock());
    const std::string used = folder.path + "/sbx_01ARZ3NDEKTSV4RRFFQ69G5FAV"; // of 2016
    for (const std::string& directory : {folder.path + "/" + id.text(), folder.path + "/other", used, used + "/inside"})
        REQUIRE(make_directories(directory, 0755).ok());
    const Time hour_ago = SystemClock().now() - std::chrono::hours(1);
    CHECK(remove_empty_groups(host, hour_ago) == 0); // new, somebody else's, in use
    REQUIRE(::rmdir((used + "/inside").c_str()) == 0);
    CHECK(remove_empty_groups(host, hour_ago) == 1);
    CHECK_FALSE(file_exists(used));
    CHECK(remove_empty_groups(host, SystemClock().now() + std::chrono::seconds(1)) == 1);
    CHECK(file_exists(folder.path + "/other"));
}
