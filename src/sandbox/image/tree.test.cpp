// Trees that a worker makes hard to measure on purpose.
#include "sandbox/image/tree.h"

#include "base/testing.h"
#include "sandbox/local/test_folder.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace hone;
using namespace hone::sandbox;

namespace {

TreeSize size_of(const std::string& path, int64_t most_files = 1'000'000, Unreadable unreadable = Unreadable::report) {
    const Fd directory(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    REQUIRE(directory.is_open());
    return measure_tree(directory.get(), most_files, unreadable);
}

void make_file(const std::string& path, int64_t bytes) {
    REQUIRE(write_file(path, std::string(static_cast<size_t>(bytes), 'x')).ok());
}

} // namespace

TEST_CASE("a tree with thousands of directories side by side is measured to its end") {
    Folder folder;
    for (int i = 0; i < 3000; ++i) {
        const std::string path = folder.path + "/" + std::to_string(i);
        REQUIRE(::mkdir(path.c_str(), 0755) == 0);
    }
    make_file(folder.path + "/2999/large", 1 << 20);
    const TreeSize size = size_of(folder.path);
    CHECK(size.complete);
    CHECK(size.files == 3001);
    CHECK(size.bytes >= 1 << 20);
}

TEST_CASE("a file below a thousand directories is found, and reading continues beside each of them") {
    Folder folder;
    constexpr int depth = 1500;
    Fd directory(::open(folder.path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    for (int i = 0; i < depth; ++i) {
        for (const char* name : {"a", "d", "z"}) REQUIRE(::mkdirat(directory.get(), name, 0755) == 0);
        directory = Fd(::openat(directory.get(), "d", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    }
    const Fd file(::openat(directory.get(), "large", O_WRONLY | O_CREAT | O_CLOEXEC, 0644));
    REQUIRE(write_all(file.get(), std::string(1 << 20, 'x')).ok());
    const TreeSize size = size_of(folder.path);
    CHECK(size.complete);
    CHECK(size.files == 3 * depth + 1);
    CHECK(size.bytes >= 1 << 20);
}

TEST_CASE("more files than allowed make the measurement incomplete") {
    Folder folder;
    for (int i = 0; i < 20; ++i) make_file(folder.path + "/" + std::to_string(i), 1);
    CHECK(size_of(folder.path, 20).complete);
    CHECK_FALSE(size_of(folder.path, 19).complete);
}

TEST_CASE("hard links count once, holes not at all") {
    Folder folder;
    make_file(folder.path + "/one", 1 << 20);
    for (int i = 0; i < 50; ++i)
        REQUIRE(::link((folder.path + "/one").c_str(), (folder.path + "/link" + std::to_string(i)).c_str()) == 0);
    make_file(folder.path + "/sparse", 1);
    REQUIRE(::truncate((folder.path + "/sparse").c_str(), int64_t{1} << 40) == 0);
    const TreeSize size = size_of(folder.path);
    CHECK(size.files == 52);
    CHECK(size.bytes >= 1 << 20);
    CHECK(size.bytes < 2 << 20);
}

TEST_CASE("a directory that cannot be read makes the measurement incomplete, or is opened when nothing uses it") {
    for (const mode_t mode : {mode_t{0}, mode_t{0400}, mode_t{0100}}) { // neither, only listing, only searching
        Folder folder;
        REQUIRE(::chmod(folder.path.c_str(), 0755) == 0);
        REQUIRE(::mkdir((folder.path + "/closed").c_str(), 0755) == 0);
        make_file(folder.path + "/closed/large", 1 << 20);
        const bool root = ::geteuid() == 0;
        if (root) REQUIRE(::chown((folder.path + "/closed").c_str(), 54321, 54321) == 0);
        REQUIRE(::chmod((folder.path + "/closed").c_str(), mode) == 0);
        // Root reads everything: an ordinary user measures.
        const pid_t child = ::fork();
        if (child == 0) {
            if (root && (::setgid(54321) != 0 || ::setuid(54321) != 0)) ::_exit(10);
            const Fd directory(::open(folder.path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
            const TreeSize reported = measure_tree(directory.get(), 100);
            if (reported.complete || !reported.denied || reported.bytes >= 1 << 20) ::_exit(11);
            const TreeSize opened = measure_tree(directory.get(), 100, Unreadable::open);
            ::_exit(opened.complete && !opened.denied && opened.bytes >= 1 << 20 ? 0 : 12);
        }
        int status = 0;
        REQUIRE(::waitpid(child, &status, 0) == child);
        CHECK(WIFEXITED(status));
        CHECK(WEXITSTATUS(status) == 0);
    }
}
