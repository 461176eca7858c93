// With signals, as on a machine without a freezer; with a freezer where the machine has one.
#include "sandbox/wall/stillness.h"
#include "base/testing.h"

#include "base/id.h"
#include "sandbox/wall/process_memory.h"

#include <atomic>
#include <csignal>
#include <doctest/doctest.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

using namespace hone;
using namespace hone::sandbox;

namespace {

struct Shared {
    std::atomic<int64_t> counted{0};
    std::atomic<pid_t> counter{0}, stopped{0};
};

// A process in the place of hone-init with two children: one counts with its second thread after its first has ended,
// the other has stopped itself.
class Family {
public:
    explicit Family(const std::vector<std::string>& groups) {
        void* memory = ::mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
        REQUIRE(memory != MAP_FAILED);
        shared = new (memory) Shared;
        int ends[2];
        REQUIRE(::pipe(ends) == 0);
        root = ::fork();
        REQUIRE(root >= 0);
        if (root == 0) {
            char go = 0;
            while (::read(ends[0], &go, 1) < 0) {
            }
            be_root();
        }
        for (const std::string& group : groups) {
            const Fd file(::open((group + "/cgroup.procs").c_str(), O_WRONLY | O_CLOEXEC));
            REQUIRE(write_all(file.get(), std::to_string(root)).ok());
        }
        REQUIRE(::write(ends[1], "x", 1) == 1);
        ::close(ends[0]);
        ::close(ends[1]);
        wait_for([&] { return shared->stopped != 0 && shared->counted > 0; });
        wait_for([&] { return state_of(shared->stopped) == 'T'; });
    }
    ~Family() {
        for (const pid_t pid : {shared->counter.load(), shared->stopped.load(), root}) ::kill(pid, SIGKILL);
        ::waitpid(root, nullptr, 0);
        ::munmap(shared, sizeof(Shared));
    }
    template <class Condition_>
    static void wait_for(Condition_ condition) {
        for (int i = 0; i < 30'000 && !condition(); ++i) ::poll(nullptr, 0, 1);
        REQUIRE(condition());
    }
    static char state_of(pid_t pid) {
        const auto text = read_file("/proc/" + std::to_string(pid) + "/stat", 4096);
        return text.ok() ? text.value().at(text.value().rfind(')') + 2) : '?';
    }

    Shared* shared = nullptr;
    pid_t root = -1;

private:
    [[noreturn]] void be_root() {
        if (const pid_t child = ::fork(); child == 0) {
            shared->counter = ::getpid();
            std::thread([this] {
                for (;;) ++shared->counted;
            }).detach();
            ::syscall(SYS_exit, 0); // only the first thread ends
        }
        if (const pid_t child = ::fork(); child == 0) {
            shared->stopped = ::getpid();
            ::raise(SIGSTOP);
            for (;;) ::pause();
        }
        for (;;) ::pause();
    }
};

void check_stillness(const Cgroup& group, const std::vector<std::string>& directories) {
    Family family(directories);
    int64_t before = 0, after = 0;
    {
        const Stillness stillness(group, family.root);
        CHECK(stillness.holds());
        before = family.shared->counted;
        ::poll(nullptr, 0, 20); // a running thread would count meanwhile
        after = family.shared->counted;
        CHECK(before == after);
        CHECK(process_descendants(family.root).size() == 2);
    }
    Family::wait_for([&] { return family.shared->counted > after; });
    CHECK(Family::state_of(family.shared->stopped) == 'T'); // it was not continued
}

} // namespace

TEST_CASE("processes are stopped by signals and run again, but for those that were stopped before") {
    check_stillness(Cgroup::adopt({}), {});
}

TEST_CASE("a process that is continued while others are measured is noticed") {
    const Cgroup none = Cgroup::adopt({});
    Family family({});
    const Stillness stillness(none, family.root);
    CHECK(stillness.holds());
    REQUIRE(::kill(family.shared->counter, SIGCONT) == 0);
    Family::wait_for([&] { return !stillness.holds(); });
}

TEST_CASE("processes are stopped by the freezer of their group and run again") {
    const CgroupHost host = CgroupHost::probe(false);
    if (!host.can_freeze()) return skip_test("this machine has no cgroup that can freeze");
    const auto planned = Cgroup::plan(host, make_id<SandboxTag>(SystemClock()));
    auto group = Cgroup::create(host, planned);
    REQUIRE_MESSAGE(group.ok(), group.error().message);
    check_stillness(group.value(), planned);
    CHECK(group.value().remove().ok());
}
