#include "review/contents.h"

#include "base/file.h"
#include "crypto/crypto.h"
#include "objects/file_store.h"
#include "objects/owner.h"
#include "sql/testing.h"

#include <fcntl.h>
#include <set>
#include <sys/stat.h>

using namespace hone;
using namespace hone::review;

namespace {

struct Shelf {
    Shelf() { crypto::start(); }
    std::string path_in(const std::string& folder, const std::string& digest) const {
        return folder + "/artifacts/" + digest.substr(0, 2) + "/" + digest;
    }
    void make_old(const std::string& folder, const std::string& digest) const {
        const timespec old[2] = {{1'000'000'000, 0}, {1'000'000'000, 0}};
        REQUIRE(::utimensat(AT_FDCWD, path_in(folder, digest).c_str(), old, 0) == 0);
    }
    Contents::IsNamed is_named = [this](const std::string& digest) -> Result<bool> { return named.contains(digest); };

    sql::testing::TemporaryDirectory data, elsewhere;
    objects::FileStore store{elsewhere.path()};
    std::set<std::string> named;
};

constexpr auto hour = std::chrono::hours(1);

} // namespace

TEST_CASE("contents are files of the data directory, or objects of the store, and both are read") {
    Shelf shelf;
    Contents contents(shelf.data.path());
    const std::string before = contents.keep("before").value();
    CHECK(read_file(shelf.path_in(shelf.data.path(), before)).value() == "before");
    contents.set_store(shelf.store, "us");
    const std::string after = contents.keep("after").value();
    CHECK(read_file(shelf.path_in(shelf.elsewhere.path(), after)).value() == "after");
    CHECK(!file_exists(shelf.path_in(shelf.data.path(), after)));
    CHECK(contents.read(before, 100).value() == "before");
    CHECK(contents.read(after, 100).value() == "after");
    CHECK(contents.read(after, 2).error().code == Code::too_large);
    CHECK(contents.read(std::string(64, 'a'), 100).error().code == Code::not_found);
    CHECK(contents.read("../../hone.db", 100).error().code == Code::not_found);
    REQUIRE(write_file(shelf.path_in(shelf.elsewhere.path(), after), "changed").ok());
    CHECK(contents.read(after, 100).error().code == Code::corrupt);
}

TEST_CASE("only what is old and has no name is deleted, in both places") {
    Shelf shelf;
    Contents contents(shelf.data.path());
    const std::string local = contents.keep("local").value();
    contents.set_store(shelf.store, "us");
    const std::string old = contents.keep("old").value(), named = contents.keep("named").value(),
                      recent = contents.keep("recent").value();
    shelf.make_old(shelf.data.path(), local);
    for (const std::string& digest : {old, named}) shelf.make_old(shelf.elsewhere.path(), digest);
    shelf.named = {named};
    const auto swept = contents.sweep(hour, shelf.is_named).value();
    CHECK(swept.removed == 2);
    CHECK(swept.bytes == 8);
    CHECK(contents.read(local, 100).error().code == Code::not_found);
    CHECK(contents.read(old, 100).error().code == Code::not_found);
    CHECK(contents.read(named, 100).ok());
    CHECK(contents.read(recent, 100).ok());
    CHECK(contents.remove(recent, hour, shelf.is_named).ok());
    CHECK(contents.read(recent, 100).ok());
    shelf.make_old(shelf.elsewhere.path(), recent);
    CHECK(contents.remove(recent, hour, shelf.is_named).ok());
    CHECK(contents.read(recent, 100).error().code == Code::not_found);
    CHECK(contents.remove(named, hour, shelf.is_named).ok());
    CHECK(contents.read(named, 100).ok());
}

TEST_CASE("a second installation at the same store reads and writes, and deletes nothing there") {
    Shelf shelf;
    Contents first(shelf.data.path());
    first.set_store(shelf.store, "first");
    const std::string of_first = first.keep("of the first").value();
    CHECK(first.sweep(hour, shelf.is_named).ok()); // it owns the store from now on
    shelf.make_old(shelf.elsewhere.path(), of_first);

    sql::testing::TemporaryDirectory other;
    Contents second(other.path());
    second.set_store(shelf.store, "second");
    CHECK(second.read(of_first, 100).ok());
    CHECK(second.sweep(hour, shelf.is_named).value().removed == 0);
    CHECK(second.remove(of_first, hour, shelf.is_named).ok());
    CHECK(second.read(of_first, 100).ok());
    CHECK(first.sweep(hour, shelf.is_named).value().removed == 1);
}

TEST_CASE("a data directory keeps its name as an owner") {
    Shelf shelf;
    const std::string owner = objects::owner_of(shelf.data.path()).value();
    CHECK(owner.size() == 24);
    CHECK(objects::owner_of(shelf.data.path()).value() == owner);
    CHECK(objects::owner_of(shelf.elsewhere.path()).value() != owner);
    REQUIRE(write_file(shelf.data.path() + "/object-store-owner", "\n").ok());
    CHECK(objects::owner_of(shelf.data.path()).error().code == Code::corrupt);
}
