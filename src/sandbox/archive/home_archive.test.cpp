// The home of a pod is the same after a journey as bytes; what a pod sends that is no home is not kept, and what is not
// a home makes nothing outside of one.
#include "sandbox/archive/home_archive.h"

#include "base/file.h"
#include "base/testing.h"
#include "sandbox/image/tree.h"
#include "sandbox/local/test_folder.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/xattr.h>
#include <unistd.h>

using namespace hone;
using namespace hone::sandbox;

namespace {

Fd home_folder(const std::string& path) {
    if (!file_exists(path)) REQUIRE(::mkdir(path.c_str(), 0755) == 0);
    Fd folder(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    REQUIRE(folder.is_open());
    return folder;
}

std::string packed_home(const std::string& path) {
    std::string all;
    const auto done = pack_home(home_folder(path).get(), home_limits, [&](std::string_view bytes) -> Result<> {
        all += bytes;
        return {};
    });
    REQUIRE_MESSAGE(done.ok(), (done.ok() ? "" : done.error().message));
    return all;
}

// Borders of pieces fall everywhere.
std::function<Result<std::string>()> pieces_of_text(const std::string& bytes) {
    return [&bytes, at = size_t{0}]() mutable -> Result<std::string> {
        const std::string piece = bytes.substr(at, 7);
        at += piece.size();
        return piece;
    };
}

Result<> checked(const std::string& bytes, const LayerLimits& limits = home_limits) {
    return check_home(limits, pieces_of_text(bytes));
}

Result<> unpacked_home(const std::string& path, const std::string& bytes, Existing existing = Existing::stays) {
    return unpack_home(home_folder(path).get(), existing, home_limits, pieces_of_text(bytes));
}

std::string little_endian(uint64_t number) {
    std::string out;
    for (int i = 0; i < 8; ++i) out.push_back(static_cast<char>(number >> (8 * i)));
    return out;
}
std::string with_size(std::string_view text) {
    return little_endian(text.size()) + std::string(text);
}
std::string numbers_with(uint64_t mode, uint64_t attributes = 0) {
    return little_endian(mode) + little_endian(0) + little_endian(0) + little_endian(attributes);
}
std::string file_entry(std::string_view name, std::string_view content, uint64_t mode = 0644) {
    return "F" + with_size(name) + numbers_with(mode) + with_size(content);
}
std::string folder_entry(std::string_view name, const std::string& entries) {
    return "D" + with_size(name) + numbers_with(0755) + entries + "U";
}
std::string link_entry(char kind, std::string_view name, std::string_view target) {
    return kind + with_size(name) + with_size(target);
}
std::string home_of(const std::string& entries) {
    return "HONEHOME1" + entries + "E";
}

mode_t mode_of(const std::string& path) {
    struct stat status {};
    REQUIRE(::lstat(path.c_str(), &status) == 0);
    return status.st_mode;
}

} // namespace

TEST_CASE("a home that was packed and made again has equal files, links, modes and times, and nothing else") {
    Folder folder;
    const std::string from = folder.path + "/from", to = folder.path + "/to";
    for (const char* name : {"", "/.local", "/.local/bin", "/closed"})
        REQUIRE(::mkdir((from + name).c_str(), 0755) == 0);
    REQUIRE(write_file(from + "/.local/bin/tool", "#!/bin/sh\n", 0755).ok());
    REQUIRE(write_file(from + "/large", std::string(600'000, 'x') + "end", 0640).ok());
    REQUIRE(::link((from + "/large").c_str(), (from + "/same").c_str()) == 0);
    REQUIRE(::symlink("/usr/bin/python3", (from + "/python").c_str()) == 0);
    REQUIRE(::symlink("/usr/bin", (from + "/programs").c_str()) == 0);
    REQUIRE(write_file(from + "/closed/file", "content", 0400).ok());
    REQUIRE(::chmod((from + "/closed").c_str(), 0555) == 0);
    // None of these is in an archive.
    REQUIRE(write_file(from + "/" + home_mark, "made\n").ok());
    REQUIRE(::chmod((from + "/.local/bin/tool").c_str(), 06755) == 0);
    REQUIRE(::setxattr((from + "/large").c_str(), "user.note", "x", 1, 0) == 0);
    REQUIRE(::mkfifo((from + "/pipe").c_str(), 0600) == 0);
    const std::string bytes = packed_home(from);
    REQUIRE(checked(bytes).ok());
    REQUIRE(unpacked_home(to, bytes).ok());
    CHECK(packed_home(to) == bytes);
    CHECK(read_file(to + "/same").value() == read_file(from + "/large").value());
    CHECK(mode_of(to + "/.local/bin/tool") == (S_IFREG | 0755)); // never as another user
    CHECK(mode_of(to + "/closed") == (S_IFDIR | 0555));
    CHECK(std::filesystem::read_symlink(to + "/programs") == "/usr/bin");
    for (const char* name : {"/pipe", "/.hone-layer"}) CHECK_FALSE(file_exists(to + name));
    char value[8];
    CHECK(::getxattr((to + "/large").c_str(), "user.note", value, sizeof value) == -1);
    ::chmod((from + "/closed").c_str(), 0755);
    ::chmod((to + "/closed").c_str(), 0755);
}

TEST_CASE("an archive of a home that is cut anywhere, or has more behind its end, is rejected") {
    Folder folder;
    const std::string bytes =
        home_of(file_entry("a", "content") + folder_entry("b", file_entry("c", "x")) + link_entry('L', "d", "/etc"));
    REQUIRE(checked(bytes).ok());
    for (size_t length = 0; length < bytes.size(); ++length) {
        CAPTURE(length);
        CHECK(checked(bytes.substr(0, length)).error().code == Code::corrupt);
        CHECK_FALSE(unpacked_home(folder.path + "/cut" + std::to_string(length), bytes.substr(0, length)).ok());
    }
    CHECK(checked(bytes + "x").error().code == Code::corrupt);
    CHECK(checked("HONELAYER1E").error().code == Code::corrupt);
}

TEST_CASE("what a pod sends that is no home is rejected before it is kept, and makes nothing outside of one") {
    Folder folder;
    REQUIRE(write_file(folder.path + "/outside", "unchanged").ok());
    int number = 0;
    const auto is_rejected = [&](const std::string& entries) {
        const bool is_unpacked = unpacked_home(folder.path + "/home" + std::to_string(++number), home_of(entries)).ok();
        const auto found = checked(home_of(entries));
        return !is_unpacked && !found.ok() && found.error().code == Code::corrupt;
    };
    CHECK(checked(home_of(file_entry("good", "x"))).ok());
    const std::vector<std::string> outside{
        "..", ".", "", "a/b", "../outside", "/outside", std::string("a\0b", 3), std::string(256, 'a')};
    for (const std::string& name : outside) {
        CAPTURE(name);
        CHECK(is_rejected(file_entry(name, "x")));
        CHECK(is_rejected("D" + with_size(name) + numbers_with(0755) + "U"));
        CHECK(is_rejected(link_entry('L', name, "x")));
        CHECK(is_rejected(file_entry("a", "x") + link_entry('H', name, "a")));
    }
    // Through a link that it makes itself: no name comes twice.
    const std::string out = link_entry('L', "out", "..");
    CHECK(is_rejected(out + file_entry("out", "x")));
    CHECK(is_rejected(out + folder_entry("out", file_entry("outside", "x"))));
    CHECK(is_rejected(out + link_entry('H', "z", "out/outside")));
    CHECK_FALSE(checked(home_of(out + link_entry('H', "z", "out"))).ok()); // one more name of the link itself
    CHECK(is_rejected(link_entry('H', "z", "../outside")));
    CHECK(is_rejected(link_entry('H', "z", "/etc/passwd")));
    CHECK(is_rejected(link_entry('H', "z", "absent")));
    CHECK(is_rejected(file_entry("b", "") + file_entry("a", "")));
    CHECK(is_rejected("W" + with_size("removed")));
    CHECK(is_rejected("X" + with_size("unknown")));
    CHECK(is_rejected("F" + with_size("a") + numbers_with(0644, 1) + with_size("user.note") + with_size("x") +
                      with_size("content")));
    CHECK(is_rejected("F" + with_size("a") + numbers_with(0644, 1) + with_size("security.capability") + with_size("x") +
                      with_size("content")));
    CHECK(is_rejected("U"));
    CHECK(is_rejected("D" + with_size("open") + numbers_with(0755)));
    CHECK(is_rejected(link_entry('L', "empty", "")));
    for (const size_t length : {5'000, 100'000}) CHECK(is_rejected(link_entry('L', "long", std::string(length, 'x'))));
    CHECK(read_file(folder.path + "/outside").value() == "unchanged");
    // The mark of a home, which another archive would make look complete. A pod ignores who wrote it.
    CHECK(checked(home_of(file_entry(home_mark, "made\n"))).error().code == Code::corrupt);
    CHECK(checked(home_of(folder_entry("below", file_entry(home_mark, "")))).ok());
    REQUIRE(unpacked_home(folder.path + "/set", home_of(file_entry("tool", "x", 07755))).ok());
    CHECK(mode_of(folder.path + "/set/tool") == (S_IFREG | 01755));
}

TEST_CASE("an archive of a home has limits of entries, bytes and depth") {
    const LayerLimits small{3, 10, 2};
    CHECK(checked(home_of(file_entry("a", "12345") + file_entry("b", "12345") + file_entry("c", "")), small).ok());
    CHECK_FALSE(
        checked(home_of(file_entry("a", "") + file_entry("b", "") + file_entry("c", "") + file_entry("d", "")), small)
            .ok());
    CHECK_FALSE(checked(home_of(file_entry("a", "12345") + file_entry("b", "123456")), small).ok());
    CHECK_FALSE(checked(home_of("F" + with_size("a") + numbers_with(0644) + little_endian(~0ull)), small).ok());
    CHECK(checked(home_of(folder_entry("a", folder_entry("b", ""))), small).ok());
    CHECK_FALSE(checked(home_of(folder_entry("a", folder_entry("b", folder_entry("c", "")))), small).ok());
    // The longest stream that a home within these limits has.
    const std::string longest = std::string(255, 'n');
    CHECK(static_cast<int64_t>(home_of(file_entry(longest, "1234567890")).size()) < most_archive_bytes({1, 10, 1}));
}

TEST_CASE("what is in a home hides what a layer has, except what an attempt left that was cut") {
    Folder folder;
    const std::string bytes = home_of(folder_entry("bin", file_entry("tool", "new")) + folder_entry("dir", "") +
                                      file_entry("file", "new") + link_entry('L', "link", "new"));
    const auto prepare = [&](const std::string& path) {
        for (const char* name : {"", "/bin"}) REQUIRE(::mkdir((path + name).c_str(), 0755) == 0);
        for (const char* name : {"/bin/tool", "/file", "/dir"}) REQUIRE(write_file(path + name, "old").ok());
        REQUIRE(::symlink("/etc/passwd", (path + "/link").c_str()) == 0);
        REQUIRE(::chmod((path + "/bin").c_str(), 0555) == 0);
    };
    prepare(folder.path + "/kept");
    REQUIRE(unpacked_home(folder.path + "/kept", bytes).ok());
    for (const char* name : {"/bin/tool", "/file", "/dir"})
        CHECK(read_file(folder.path + "/kept" + name).value() == "old");
    CHECK(std::filesystem::read_symlink(folder.path + "/kept/link") == "/etc/passwd");

    prepare(folder.path + "/cut");
    REQUIRE(unpacked_home(folder.path + "/cut", bytes, Existing::replaced).ok());
    CHECK(packed_home(folder.path + "/cut") == bytes);
    // A link in the place of a folder is replaced, never followed.
    REQUIRE(::mkdir((folder.path + "/elsewhere").c_str(), 0755) == 0);
    for (const Existing existing : {Existing::stays, Existing::replaced}) {
        const std::string path = folder.path + (existing == Existing::stays ? "/one" : "/other");
        home_folder(path);
        REQUIRE(::symlink((folder.path + "/elsewhere").c_str(), (path + "/bin").c_str()) == 0);
        REQUIRE(unpacked_home(path, bytes, existing).ok());
        CHECK_FALSE(file_exists(folder.path + "/elsewhere/tool"));
        CHECK(file_exists(path + "/bin/tool") == (existing == Existing::replaced));
    }
}
