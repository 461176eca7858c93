#include "sandbox/image/workspace.h"

#include "base/file.h"
#include "sandbox/local/test_folder.h"

#include <atomic>
#include <cstdlib>
#include <fcntl.h>
#include <filesystem>
#include <sys/stat.h>
#include <thread>
#include <unistd.h>

using namespace hone;
using namespace hone::sandbox;

namespace {

// A workspace beside a file that must never be reached.
struct Place {
    Place() {
        std::filesystem::create_directories(inside + "/folder");
        REQUIRE(write_file(outside, "secret").ok());
        root = Fd(::open(inside.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
        REQUIRE(root.is_open());
    }
    std::string read(const std::string& path) const {
        const Fd copy(::open((directory.path + "/copy").c_str(), O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600));
        const auto copied = copy_workspace_file(root.get(), path, copy.get(), {.most_file_bytes = 100});
        if (!copied.ok()) return code_name(copied.error().code);
        return read_file(directory.path + "/copy").value();
    }
    void put(const std::string& path, const std::string& content) const {
        std::filesystem::create_directories(std::filesystem::path(inside + "/" + path).parent_path());
        REQUIRE(write_file(inside + "/" + path, content).ok());
    }

    const Folder directory;
    const std::string inside = directory.path + "/workspace";
    const std::string outside = directory.path + "/outside.txt";
    Fd root;
};

} // namespace

TEST_CASE("paths are relative text without parts that lead up") {
    for (const char* good : {"a", "a/b.csv", "...", "-rf", " a ", "b\xc3\xbc\x63her/\xe6\x97\xa5.txt", "a..b"}) {
        INFO(good);
        CHECK(checked_workspace_path(good).ok());
    }
    const std::string control("a\x01", 2), zero("a\0b", 3), deep = [] {
        std::string text = "x";
        for (int i = 0; i < 40; ++i) text += "/x";
        return text;
    }();
    for (const std::string& bad :
         {std::string(), std::string("/a"), std::string("a/"), std::string("a//b"), std::string("."), std::string(".."),
          std::string("a/../b"), std::string("a/./b"), std::string("a\\b"), control, zero, deep, std::string("\xff"),
          std::string("\x7f"), std::string(300, 'x'), std::string(1001, 'x')}) {
        INFO(bad);
        CHECK_FALSE(checked_workspace_path(bad).ok());
    }
}

TEST_CASE("a path that is opened part by part leads through no link and not up") {
    const Place place;
    std::filesystem::create_symlink(place.outside, place.inside + "/link");
    std::filesystem::create_directory_symlink(place.directory.path, place.inside + "/up");
    place.put("folder/new/deep.txt", "hello");
    const auto opens = [&](const std::string& path, int flags) {
        const Fd file = open_by_parts(place.root.get(), path, flags);
        return file.is_open() ? 0 : errno;
    };
    CHECK(opens("folder/new/deep.txt", O_RDONLY) == 0);
    CHECK(opens(".", O_RDONLY | O_DIRECTORY) == 0);
    CHECK(opens("folder/new", O_RDONLY | O_DIRECTORY) == 0);
    CHECK(opens("folder/absent", O_RDONLY) == ENOENT);
    CHECK(opens("link", O_RDONLY) == ELOOP);
    CHECK(opens("up", O_RDONLY | O_DIRECTORY) == ENOTDIR);
    CHECK(opens("up/outside.txt", O_RDONLY) == ENOTDIR);
    CHECK(opens("folder/new/deep.txt/more", O_RDONLY) == ENOTDIR);
    for (const char* path : {"..", "../outside.txt", "folder/../../outside.txt"}) {
        INFO(path);
        CHECK(opens(path, O_RDONLY) == EXDEV);
    }
    CHECK(opens(place.outside, O_RDONLY) == ENOENT); // its first part is empty, which is no name
}

TEST_CASE("files are read inside the workspace, and through no link") {
    const Place place;
    std::filesystem::create_symlink(place.outside, place.inside + "/link");
    std::filesystem::create_directory_symlink(place.directory.path, place.inside + "/up");
    REQUIRE(::mkfifo((place.inside + "/pipe").c_str(), 0600) == 0);
    place.put("folder/new/deep.txt", "hello");
    CHECK(place.read("folder/new/deep.txt") == "hello");
    for (const char* path : {"link", "up/outside.txt", "pipe", "folder"}) {
        INFO(path);
        CHECK(place.read(path) == "conflict");
    }
    CHECK(place.read("none") == "not_found");
    place.put("large", std::string(101, 'x'));
    CHECK(place.read("large") == "too_large");
}

TEST_CASE("a folder is listed with folders first, and names that are not text cannot be opened") {
    const Place place;
    place.put("b.txt", "bb");
    place.put("a.txt", "a");
    REQUIRE(write_file(place.inside + "/bad\xffname", "x").ok());
    REQUIRE(write_file(place.inside + "/line\nbreak", "x").ok());
    std::filesystem::create_symlink("/etc", place.inside + "/link");
    const auto entries = list_folder(place.root.get(), "").value();
    std::string names;
    for (const FileEntry& entry : entries) names += entry.name + (entry.path.empty() ? "! " : " ");
    CHECK(names == "folder a.txt b.txt bad\xef\xbf\xbdname! line?break! link ");
    CHECK(entries[2].bytes == 2);
    CHECK(entries[5].kind == FileKind::link);
    CHECK(list_folder(place.root.get(), "link").error().code == Code::conflict);
    CHECK(list_folder(place.root.get(), "", {.most_entries = 3}).error().code == Code::too_large);
}

TEST_CASE("a folder that is swapped for a link meanwhile never leads outside") {
    const Place place;
    place.put("folder/outside.txt", "inside");
    std::atomic<bool> over{false};
    std::jthread worker([&] {
        while (!over) {
            ::rename((place.inside + "/folder").c_str(), (place.inside + "/aside").c_str());
            std::error_code ignored;
            std::filesystem::create_directory_symlink(place.directory.path, place.inside + "/folder", ignored);
            ::unlink((place.inside + "/folder").c_str());
            ::rename((place.inside + "/aside").c_str(), (place.inside + "/folder").c_str());
        }
    });
    for (int i = 0; i < 3000; ++i) {
        const std::string found = place.read("folder/outside.txt");
        CHECK(found != "secret");
    }
    over = true;
}

TEST_CASE("an archive has the files and folders, and neither links nor more than its limits") {
    const Place place;
    place.put("folder/one.txt", "1");
    place.put("folder/" + std::string(150, 'n') + "/\xc3\xa4.txt", "2");
    std::filesystem::create_symlink("/etc/passwd", place.inside + "/folder/link");
    const std::string file = place.directory.path + "/all.tar";
    const Fd into(::open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
    const int64_t bytes = archive_folder(place.root.get(), "folder", into.get()).value();
    CHECK(bytes % 512 == 0);
    CHECK(bytes == static_cast<int64_t>(std::filesystem::file_size(file)));
    const std::string out = place.directory.path + "/out";
    std::filesystem::create_directories(out);
    REQUIRE(std::system(("tar -C " + out + " -xf " + file).c_str()) == 0);
    CHECK(read_file(out + "/one.txt").value() == "1");
    CHECK(read_file(out + "/" + std::string(150, 'n') + "/\xc3\xa4.txt").value() == "2");
    CHECK_FALSE(std::filesystem::is_symlink(out + "/link"));
    CHECK(archive_folder(place.root.get(), "folder", into.get(), {.most_archive_files = 2}).error().code ==
          Code::too_large);
    CHECK(archive_folder(place.root.get(), "folder", into.get(), {.most_archive_bytes = 1}).error().code ==
          Code::too_large);
}
