#include "sandbox/image/store.h"

#include "sandbox/local/test_folder.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>

using namespace hone;
using namespace hone::sandbox;

TEST_CASE("a folder in the making stays, and goes when its maker has died") {
    Folder folder;
    const auto store = Store::open(folder.path);
    REQUIRE(store.ok());
    const std::string half = store.value().live() + "/.new-sbx_x";
    REQUIRE(::mkdir(half.c_str(), 0700) == 0);
    // What every maker holds while it works, for however long.
    Fd maker(::open((store.value().directory() + "/making.lock").c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
    REQUIRE(::flock(maker.get(), LOCK_SH) == 0);
    CHECK(store.value().sandboxes().empty());
    CHECK(file_exists(half));
    Journal journal;
    journal.id = make_id<SandboxTag>(SystemClock());
    auto other = store.value().begin(journal); // makers do not wait for each other
    REQUIRE(other.ok());
    CHECK(store.value().sandboxes() == std::vector{journal.id});
    CHECK(store.value().lock_dead(journal.id).error().code == Code::busy);
    maker.reset();
    CHECK(store.value().sandboxes() == std::vector{journal.id});
    CHECK_FALSE(file_exists(half));
    other.value().reset();
    CHECK(store.value().lock_dead(journal.id).ok());
    CHECK(store.value().journal(journal.id).value().id == journal.id);

    // A shim of a version before holds a file of its own.
    const Fd separate(::open((store.value().live(journal.id) + "/lock").c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
    REQUIRE(::flock(separate.get(), LOCK_EX) == 0);
    CHECK(store.value().lock_dead(journal.id).error().code == Code::busy);
    CHECK(store.value().forget(journal.id).ok());
    CHECK(store.value().sandboxes().empty());
}
