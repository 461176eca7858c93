#include "sandbox/image/volume.h"
#include "base/testing.h"

#include "base/file.h"
#include "sandbox/image/store.h"
#include "sandbox/local/test_folder.h"

#include <fcntl.h>
#include <optional>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <unistd.h>

using namespace hone;
using namespace hone::sandbox;

namespace {

Limits of_size(int64_t bytes) {
    Limits limits;
    limits.disk_bytes = bytes;
    return limits;
}

int64_t blocks_of(const Volume& volume) {
    struct statfs status {};
    REQUIRE(::fstatfs(volume.files.get(), &status) == 0);
    return static_cast<int64_t>(status.f_blocks) * status.f_bsize;
}

bool has(const Volume& volume, const char* name) {
    return ::faccessat(volume.files.get(), name, F_OK, 0) == 0;
}

} // namespace

TEST_CASE("a new thread is empty and of its own size, whatever others of the same size hold") {
    if (!can_mount_images()) return skip_test("needs root and loop mounts; an ordinary user's threads are directories");
    Folder folder;
    const Store store = Store::open(folder.path).value();
    const Volumes volumes(store, true);
    {
        auto first = volumes.open("first", of_size(16 << 20));
        REQUIRE_MESSAGE(first.ok(), first.error().message);
        CHECK(Fd(::openat(first.value().files.get(), "mine", O_WRONLY | O_CREAT | O_CLOEXEC, 0644)).is_open());
        CHECK(volumes.open("first", of_size(16 << 20)).error().code == Code::busy);
        auto second = volumes.open("second", of_size(16 << 20));
        auto larger = volumes.open("larger", of_size(48 << 20));
        REQUIRE(second.ok());
        REQUIRE(larger.ok());
        CHECK_FALSE(has(second.value(), "mine"));
        CHECK_FALSE(has(second.value(), "lost+found"));
        CHECK(blocks_of(second.value()) <= 16 << 20);
        CHECK(blocks_of(larger.value()) > 32 << 20);
    }
    CHECK(has(volumes.open("first", of_size(16 << 20)).value(), "mine"));
    CHECK(volumes.expire(SystemClock().now() + std::chrono::hours(1)).value() ==
          3); // what was kept empty goes uncounted
    CHECK_FALSE(has(volumes.open("first", of_size(16 << 20)).value(), "mine"));
}

TEST_CASE("a spare volume becomes the first thread of its size, and is gone when it is not wanted") {
    if (!can_mount_images()) return skip_test("needs root and loop mounts");
    Folder folder;
    const Store store = Store::open(folder.path).value();
    const Volumes volumes(store, true);
    const auto spare = [&](int64_t bytes) {
        auto made = volumes.make_spare(folder.path + "/spare.ext4", of_size(bytes));
        REQUIRE_MESSAGE(made.ok(), made.error().message);
        return std::optional(std::move(made).value());
    };
    {
        auto prepared = spare(16 << 20);
        struct stat before {
        }, after{};
        REQUIRE(::fstat(prepared->mount.get(), &before) == 0);
        auto thread = volumes.open("thread", of_size(16 << 20), std::move(prepared));
        REQUIRE_MESSAGE(thread.ok(), thread.error().message);
        REQUIRE(::fstat(thread.value().files.get(), &after) == 0);
        CHECK(before.st_dev == after.st_dev); // the same mount
        CHECK_FALSE(file_exists(folder.path + "/spare.ext4"));
        CHECK(Fd(::openat(thread.value().files.get(), "mine", O_WRONLY | O_CREAT | O_CLOEXEC, 0644)).is_open());
    }
    CHECK(has(volumes.open("thread", of_size(16 << 20), spare(16 << 20)).value(), "mine")); // there already
    CHECK_FALSE(file_exists(folder.path + "/spare.ext4"));
    CHECK(blocks_of(volumes.open("larger", of_size(48 << 20), spare(16 << 20)).value()) > 32 << 20); // not its size
    CHECK_FALSE(file_exists(folder.path + "/spare.ext4"));
    {
        auto damaged = spare(16 << 20); // as after errors of the disk: nothing can be changed any more
        const Fd files(::openat(damaged->mount.get(), ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
        uint32_t immediately = 2;                                                   // EXT4_GOING_FLAGS_NOLOGFLUSH
        REQUIRE(::ioctl(files.get(), _IOR('X', 125, uint32_t), &immediately) == 0); // EXT4_IOC_SHUTDOWN
        auto thread = volumes.open("after a full disk", of_size(16 << 20), std::move(damaged));
        REQUIRE_MESSAGE(thread.ok(), thread.error().message);
        CHECK(Fd(::openat(thread.value().files.get(), "mine", O_WRONLY | O_CREAT | O_CLOEXEC, 0644)).is_open());
        CHECK_FALSE(file_exists(folder.path + "/spare.ext4"));
    }
}
