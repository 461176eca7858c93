#include "objects/file_store.h"

#include "base/file.h"
#include "objects/conformance.test.h"

#include <fcntl.h>
#include <filesystem>
#include <sys/stat.h>
#include <unistd.h>

using namespace hone;
using namespace hone::objects;

namespace {

class StoreFolder {
public:
    StoreFolder() {
        char path[] = "/tmp/hone-objects-XXXXXX";
        REQUIRE(::mkdtemp(path) != nullptr);
        m_path = path;
    }
    ~StoreFolder() { std::filesystem::remove_all(m_path); }
    const std::string& path() const { return m_path; }

private:
    std::string m_path;
};

} // namespace

TEST_CASE("a directory is an object store") {
    crypto::start();
    const StoreFolder folder;
    FileStore store(folder.path() + "/not/made/yet");
    testing::run_conformance(store);
    CHECK(!store.presigned_get("check/x", std::chrono::minutes(5), "x").value());
}

TEST_CASE("keys are paths, readable by the owner alone, and nothing else in the directory is an object") {
    crypto::start();
    const StoreFolder folder;
    FileStore store(folder.path());
    REQUIRE(store.put("artifacts/ab/abcd", pieces_of("content")).ok());
    CHECK(testing::read_range(store, "artifacts/ab/abcd", {0, 1}) == "c");
    CHECK(read_file(folder.path() + "/artifacts/ab/abcd").value() == "content");
    struct stat status {};
    REQUIRE(::stat((folder.path() + "/artifacts/ab/abcd").c_str(), &status) == 0);
    CHECK((status.st_mode & 0777) == 0600);
    REQUIRE(::stat((folder.path() + "/artifacts").c_str(), &status) == 0);
    CHECK((status.st_mode & 0777) == 0700);
    // Links, directories and foreign names.
    REQUIRE(write_file(folder.path() + "/hone.db", "secret").ok());
    REQUIRE(::symlink((folder.path() + "/hone.db").c_str(), (folder.path() + "/artifacts/link").c_str()) == 0);
    REQUIRE(write_file(folder.path() + "/artifacts/a name", "x").ok());
    CHECK(store.get("artifacts/link", {}, [](std::string_view) { return Result<>(); }).ok() == false);
    CHECK(store.get("artifacts/ab", {}, [](std::string_view) { return Result<>(); }).error().code == Code::not_found);
    CHECK(!store.head("artifacts/link").value());
    CHECK(!store.head("artifacts/ab").value());
    const auto listed = store.list("artifacts/", "").value();
    REQUIRE(listed.objects.size() == 1);
    CHECK(listed.objects.front().key == "artifacts/ab/abcd");
}

TEST_CASE("folders are listed where their keys belong in the order of bytes") {
    crypto::start();
    const StoreFolder folder;
    FileStore store(folder.path());
    const std::vector<std::string> keys{"check/a+", "check/a-b", "check/a.c", "check/a/1", "check/a/2/x", "check/a0"};
    for (const std::string& key : keys) REQUIRE(store.put(key, pieces_of("x")).ok());
    std::vector<std::string> listed;
    std::string cursor;
    do {
        const ObjectPage page = store.list("check/", cursor, 1).value();
        for (const ObjectInfo& object : page.objects) listed.push_back(object.key);
        cursor = page.next;
    } while (!cursor.empty() && listed.size() < 20);
    CHECK(listed == keys);
}

TEST_CASE("what a broken upload left behind is no object and is discarded later") {
    crypto::start();
    const StoreFolder folder;
    FileStore store(folder.path());
    REQUIRE(store.put("backups/a", pieces_of("x")).ok());
    for (const char* name : {"/backups/b.x1Y2z3.new", "/backups/c.x1Y2z3.new"})
        REQUIRE(write_file(folder.path() + name, "half").ok());
    const timespec old[2] = {{1'000'000'000, 0}, {1'000'000'000, 0}};
    REQUIRE(::utimensat(AT_FDCWD, (folder.path() + "/backups/b.x1Y2z3.new").c_str(), old, 0) == 0);
    REQUIRE(::utimensat(AT_FDCWD, (folder.path() + "/backups/a").c_str(), old, 0) == 0);
    CHECK(store.list("backups/", "").value().objects.size() == 1);
    CHECK(store.discard_unfinished(std::chrono::hours(24)).value() == 1);
    CHECK(!file_exists(folder.path() + "/backups/b.x1Y2z3.new"));
    CHECK(file_exists(folder.path() + "/backups/c.x1Y2z3.new"));
    CHECK(file_exists(folder.path() + "/backups/a"));
}

TEST_CASE("a directory that cannot be written is an error of the probe") {
    crypto::start();
    const StoreFolder folder;
    REQUIRE(write_file(folder.path() + "/check", "a file where a folder belongs").ok());
    FileStore store(folder.path());
    CHECK(!probe(store).ok());
}
