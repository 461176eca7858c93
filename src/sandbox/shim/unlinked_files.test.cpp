// As the process that has the right to trace all of them: what an ordinary user may inspect is in tests/adversary.
#include "sandbox/shim/unlinked_files.h"

#include "sandbox/local/test_folder.h"
#include "sandbox/wall/channel.h"

#include <csignal>
#include <fcntl.h>
#include <functional>
#include <span>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

using namespace hone;
using namespace hone::sandbox;

namespace {

constexpr int64_t megabyte = 1 << 20;

int unlinked_file(const std::string& folder) {
    const std::string path = folder + "/file";
    const int file = ::open(path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (file < 0 || ::unlink(path.c_str()) != 0 || !write_all(file, std::string(megabyte, 'x')).ok()) ::_exit(1);
    return file;
}

void send_descriptor(int socket, int descriptor, std::string_view text) {
    if (!send_packet(socket, text, std::span<const int>(&descriptor, 1)).ok()) ::_exit(1);
    ::close(descriptor);
}

// A process in the place of hone-init whose child does something, reports that it is done, and waits.
class Holder {
public:
    using Act = std::function<void(const std::function<void()>& wait)>;

    explicit Holder(const Act& act) {
        int ready[2], stop[2];
        REQUIRE((::pipe2(ready, O_CLOEXEC) == 0 && ::pipe2(stop, O_CLOEXEC) == 0));
        root = ::fork();
        REQUIRE(root >= 0);
        if (root == 0) {
            ::prctl(PR_SET_PDEATHSIG, SIGKILL);
            if (::fork() != 0) {
                ::close(ready[1]); // only the child's is left: its end is noticed
                for (;;) ::pause();
            }
            ::prctl(PR_SET_PDEATHSIG, SIGKILL);
            ::close(stop[1]);
            act([&] {
                char end = 0;
                (void)!::write(ready[1], "x", 1);
                (void)!::read(stop[0], &end, 1);
            });
            ::_exit(0);
        }
        ::close(ready[1]);
        ::close(stop[0]);
        m_stop = Fd(stop[1]);
        const Fd reader(ready[0]);
        char done = 0;
        REQUIRE(::read(reader.get(), &done, 1) == 1);
    }
    ~Holder() {
        ::kill(root, SIGKILL);
        ::waitpid(root, nullptr, 0);
    }

    UnlinkedUse use(Inspection inspection) const {
        struct stat status {};
        const Fd memory(::memfd_create("device", MFD_CLOEXEC));
        REQUIRE(::fstat(memory.get(), &status) == 0);
        return unlinked_use(root, {status.st_dev}, inspection);
    }
    // In whole megabytes.
    int64_t taken() const {
        const UnlinkedUse found = use(Inspection::taken);
        CHECK(found.complete);
        return found.bytes / megabyte;
    }
    pid_t root = 0;

private:
    Fd m_stop;
};

// Until the process ends.
[[noreturn]] void end_first_thread() {
    ::syscall(SYS_exit, 0);
    std::abort();
}

} // namespace

TEST_CASE("files without a name count while a process has them open or mapped") {
    const Folder folder;
    const Holder open([&](const auto& wait) {
        unlinked_file(folder.path);
        wait();
    });
    CHECK(open.taken() == 1);
    CHECK(open.use(Inspection::listed).bytes / megabyte == 1);
    const Holder mapped([&](const auto& wait) {
        const int file = unlinked_file(folder.path);
        if (::mmap(nullptr, megabyte, PROT_READ, MAP_SHARED, file, 0) == MAP_FAILED) ::_exit(1);
        ::close(file);
        wait();
    });
    CHECK(mapped.taken() == 1);
    const Holder named([&](const auto& wait) {
        if (!write_file(folder.path + "/named", std::string(megabyte, 'x')).ok()) ::_exit(1);
        const int file = ::open((folder.path + "/named").c_str(), O_RDONLY | O_CLOEXEC);
        wait();
        ::close(file);
    });
    CHECK(named.taken() == 0);
}

TEST_CASE("files without a name count when only a thread has them, and when the first thread has ended") {
    const Folder folder;
    const Holder own_table([&](const auto& wait) {
        std::thread([&] {
            if (::unshare(CLONE_FILES) != 0) ::_exit(1);
            unlinked_file(folder.path);
            wait();
            ::_exit(0);
        }).join();
    });
    CHECK(own_table.taken() == 1);
    CHECK(own_table.use(Inspection::listed).bytes / megabyte == 1);
    const Holder second([&](const auto& wait) {
        std::thread thread([&] {
            unlinked_file(folder.path);
            // Until the first thread has ended.
            while (read_file("/proc/self/maps").ok() && !read_file("/proc/self/maps").value().empty())
                std::this_thread::yield();
            wait();
            ::_exit(0);
        });
        end_first_thread();
    });
    CHECK(second.taken() == 1);
    CHECK(second.use(Inspection::listed).bytes / megabyte == 1);
}

TEST_CASE("files that were sent to a socket and not received count") {
    const Folder folder;
    for (const int type : {SOCK_STREAM, SOCK_DGRAM, SOCK_SEQPACKET}) {
        CAPTURE(type);
        const Holder queue([&](const auto& wait) {
            int pair[2], inner[2];
            if (::socketpair(AF_UNIX, type | SOCK_CLOEXEC, 0, pair) != 0 ||
                ::socketpair(AF_UNIX, type | SOCK_CLOEXEC, 0, inner) != 0)
                ::_exit(1);
            (void)!::write(pair[0], "no descriptor", 13);
            for (int i = 0; i < 3; ++i) send_descriptor(pair[0], unlinked_file(folder.path), "descriptor");
            (void)!::write(pair[0], "no descriptor", 13);
            // A socket in a queue, with a file in its own.
            send_descriptor(inner[0], unlinked_file(folder.path), "x");
            send_descriptor(pair[0], inner[1], "x");
            wait();
        });
        CHECK_FALSE(queue.use(Inspection::listed).complete);
        for (int repeated = 0; repeated < 2; ++repeated) CHECK(queue.taken() == 4); // the queue stays as it is
    }
}

TEST_CASE("a queue that cannot be read to its end is not complete") {
    const Folder folder;
    const Holder empty_message([&](const auto& wait) {
        int pair[2];
        if (::socketpair(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0, pair) != 0) ::_exit(1);
        send_descriptor(pair[0], unlinked_file(folder.path), "");
        send_descriptor(pair[0], unlinked_file(folder.path), "");
        wait();
    });
    for (int repeated = 0; repeated < 2; ++repeated) CHECK_FALSE(empty_message.use(Inspection::taken).complete);
}
