// A layer is the same after a journey as bytes, and bytes that are no layer do no harm.
#include "sandbox/archive/layer_archive.h"

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

Fd opened_folder(const std::string& path) {
    Fd folder(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    REQUIRE(folder.is_open());
    return folder;
}

std::string packed_layer(const std::string& path) {
    std::string all;
    const Fd folder = opened_folder(path);
    const auto done = pack_layer(folder.get(), {}, [&](std::string_view bytes) -> Result<> {
        all += bytes;
        return {};
    });
    REQUIRE_MESSAGE(done.ok(), (done.ok() ? "" : done.error().message));
    return all;
}

Result<> unpacked_layer(const std::string& path, std::string bytes, const LayerLimits& limits = {}) {
    REQUIRE(::mkdir(path.c_str(), 0755) == 0);
    const Fd folder = opened_folder(path);
    size_t at = 0;
    return unpack_layer(folder.get(), std::nullopt, limits, [&]() -> Result<std::string> {
        const std::string piece = bytes.substr(at, 7); // borders of pieces fall everywhere
        at += piece.size();
        return piece;
    });
}

std::string number_text(uint64_t number) {
    std::string out;
    for (int i = 0; i < 8; ++i) out.push_back(static_cast<char>(number >> (8 * i)));
    return out;
}
std::string counted_text(std::string_view text) {
    return number_text(text.size()) + std::string(text);
}

} // namespace

TEST_CASE("a layer that was packed and unpacked has equal files, links, modes, times and removals") {
    Folder folder;
    const std::string from = folder.path + "/from", to = folder.path + "/to";
    for (const char* name : {"", "/empty", "/home", "/home/deep", "/opaque"})
        REQUIRE(::mkdir((from + name).c_str(), 0755) == 0);
    REQUIRE(write_file(from + "/home/file", std::string(600'000, 'x') + "end", 0640).ok());
    REQUIRE(write_file(from + "/home/deep/tool", "#!/bin/sh\n", 0755).ok());
    REQUIRE(write_file(from + "/nothing", "").ok());
    REQUIRE(::link((from + "/home/file").c_str(), (from + "/zlink").c_str()) == 0);
    REQUIRE(::symlink("/etc/passwd", (from + "/outside").c_str()) == 0);
    REQUIRE(::chmod((from + "/home/deep").c_str(), 01777) == 0);
    REQUIRE(::chmod((from + "/nothing").c_str(), 04711) == 0);
    REQUIRE(::mknod((from + "/removed").c_str(), S_IFCHR, makedev(0, 0)) == 0);
    REQUIRE(::mkfifo((from + "/pipe").c_str(), 0600) == 0);
    REQUIRE(::setxattr((from + "/opaque").c_str(), "user.overlay.opaque", "y", 1, 0) == 0);
    REQUIRE(::setxattr((from + "/opaque").c_str(), "user.overlay.origin", "here", 4, 0) == 0);
    REQUIRE(::setxattr((from + "/home/file").c_str(), "user.note", "kept", 4, 0) == 0);
    const timespec times[2] = {{1'000'000, 5}, {1'000'000, 5}};
    REQUIRE(::utimensat(AT_FDCWD, (from + "/home/deep").c_str(), times, 0) == 0);

    const std::string bytes = packed_layer(from);
    REQUIRE(unpacked_layer(to, bytes).ok());
    ::unlink((from + "/pipe").c_str()); // no process is behind it: left out
    CHECK(packed_layer(to) == packed_layer(from));
    CHECK(read_file(to + "/zlink").value() == read_file(from + "/home/file").value());
    struct stat status {};
    REQUIRE(::stat((to + "/zlink").c_str(), &status) == 0);
    CHECK(status.st_nlink == 2);
    REQUIRE(::lstat((to + "/removed").c_str(), &status) == 0);
    CHECK((S_ISCHR(status.st_mode) && status.st_rdev == 0));
    REQUIRE(::stat((to + "/home/deep").c_str(), &status) == 0);
    CHECK((status.st_mode & 07777) == 01777);
    CHECK(status.st_mtim.tv_nsec == 5);
    REQUIRE(::stat((to + "/nothing").c_str(), &status) == 0);
    CHECK((status.st_mode & 07777) == 0711); // never as another user
    char value[8];
    CHECK(::getxattr((to + "/opaque").c_str(), "user.overlay.opaque", value, sizeof value) == 1);
    CHECK(::getxattr((to + "/opaque").c_str(), "user.overlay.origin", value, sizeof value) == -1);
}

TEST_CASE("a layer that is cut anywhere, or has more behind its end, is rejected") {
    Folder folder;
    const std::string from = folder.path + "/from";
    for (const char* name : {"", "/a"}) REQUIRE(::mkdir((from + name).c_str(), 0755) == 0);
    REQUIRE(write_file(from + "/a/file", "content").ok());
    const std::string bytes = packed_layer(from);
    for (size_t length = 0; length < bytes.size(); ++length) {
        CAPTURE(length);
        CHECK(unpacked_layer(folder.path + "/cut" + std::to_string(length), bytes.substr(0, length)).error().code ==
              Code::corrupt);
    }
    CHECK(unpacked_layer(folder.path + "/more", bytes + "x").error().code == Code::corrupt);
    CHECK(unpacked_layer(folder.path + "/whole", bytes).ok());
}

TEST_CASE("a hostile layer stays in its directory and within its limits") {
    Folder folder;
    const std::string begin = "HONELAYER1", end = "E";
    const std::string plain = number_text(0644) + number_text(0) + number_text(0) + number_text(0);
    const auto file = [&](std::string_view name, std::string_view content) {
        return "F" + counted_text(name) + plain + counted_text(content);
    };
    int number = 0;
    const auto result = [&](const std::string& body, const LayerLimits& limits = {}) {
        return unpacked_layer(folder.path + "/" + std::to_string(++number), begin + body + end, limits);
    };
    REQUIRE(result(file("good", "x")).ok());
    const std::vector<std::string> outside{"..", ".", "", "a/b", "../../x", std::string("a\0b", 3)};
    for (const std::string& name : outside) {
        CAPTURE(name);
        CHECK_FALSE(result(file(name, "x")).ok());
    }
    // Through a link that the layer made itself.
    const std::string link = "L" + counted_text("out") + counted_text("..");
    CHECK_FALSE(result(link + file("out", "x")).ok());
    CHECK_FALSE(result(link + "D" + counted_text("out") + plain + file("x", "y") + "U").ok());
    CHECK_FALSE(result(link + "H" + counted_text("h") + counted_text("out/1/good")).ok());
    CHECK_FALSE(result("H" + counted_text("h") + counted_text("../1/good")).ok());
    CHECK_FALSE(result("U").ok());
    CHECK_FALSE(result("D" + counted_text("open") + plain).ok());
    CHECK_FALSE(result("F" + counted_text("a") + number_text(0644) + number_text(0) + number_text(0) + number_text(1) +
                       counted_text("security.capability") + counted_text("x") + counted_text("y"))
                    .ok());
    LayerLimits small;
    small.most_entries = 2;
    small.most_bytes = 4;
    small.most_depth = 2;
    CHECK_FALSE(result(file("a", "") + file("b", "") + file("c", ""), small).ok());
    CHECK_FALSE(result(file("a", "12345"), small).ok());
    std::string deep;
    for (int i = 0; i < 3; ++i) deep += "D" + counted_text("d") + plain;
    small.most_entries = 100;
    CHECK_FALSE(result(deep + "UUU", small).ok());
    CHECK(::access((folder.path + "/x").c_str(), F_OK) != 0);
}
