#include "kubernetes/link/calls.h"

#include "base/file.h"
#include "kubernetes/link/bundle.h"
#include "kubernetes/link/mount_table.h"

#include <doctest/doctest.h>
#include <fcntl.h>
#include <filesystem>
#include <sys/stat.h>
#include <thread>
#include <unistd.h>

using namespace hone;
using namespace hone::kubernetes;

namespace {

template <class T>
T value_or_fail(Result<T> result) {
    REQUIRE_MESSAGE(result.ok(), (result.ok() ? "" : result.error().message));
    if constexpr (!std::is_void_v<T>) return std::move(result).value();
}

} // namespace

TEST_CASE("calls are cut into messages however their bytes arrive") {
    std::string sent;
    append_call(sent, "{\"id\":1}", "");
    append_call(sent, "", std::string("a\0b", 3));
    append_call(sent, "last", "bytes");
    for (size_t piece = 1; piece <= sent.size(); ++piece) {
        CallReader reader;
        std::vector<CallMessage> messages;
        for (size_t at = 0; at < sent.size(); at += piece) {
            reader.feed(std::string_view(sent).substr(at, piece));
            while (auto message = value_or_fail(reader.next())) messages.push_back(std::move(*message));
        }
        REQUIRE(messages.size() == 3);
        CHECK(messages[0].text == "{\"id\":1}");
        CHECK(messages[1].bytes == std::string("a\0b", 3));
        CHECK(messages[2].text + messages[2].bytes == "lastbytes");
    }
}

TEST_CASE("a message of a hostile pod is bounded") {
    CallReader reader;
    reader.feed(std::string_view("\xff\xff\xff\xff\0\0\0\0", 8));
    CHECK(reader.next().error().code == Code::corrupt);
    CallReader other;
    other.feed(std::string_view("\0\0\0\0\x01\0\x10\0", 8)); // one byte more than a message may have
    CHECK(other.next().error().code == Code::corrupt);
}

TEST_CASE("files arrive in a pod as they were: content, modes, links, nothing outside") {
    char pattern[] = "/tmp/hone-bundle-XXXXXX";
    const std::string folder = ::mkdtemp(pattern);
    value_or_fail(make_directories(folder + "/from/below", 0755));
    std::string large(200'000, 'x');
    large[150'000] = 'y';
    value_or_fail(write_file(folder + "/from/below/large", large, 0755));
    value_or_fail(write_file(folder + "/from/empty", "", 0600));
    ::symlink("below/large", (folder + "/from/link").c_str());
    ::mkfifo((folder + "/from/pipe").c_str(), 0600); // left out
    value_or_fail(make_directories(folder + "/to", 0755));
    int ends[2];
    REQUIRE(::pipe2(ends, O_CLOEXEC) == 0);
    const Fd in(ends[0]);
    Fd out(ends[1]);
    std::jthread writer([&] {
        const BundleSink sink = [&](std::string_view bytes) { return write_all(out.get(), bytes); };
        value_or_fail(write_bundle(folder + "/from", "/target", sink));
        value_or_fail(end_bundle(sink));
    });
    const std::vector<TargetMount> mounts{{true, "/target"}};
    value_or_fail(read_bundle(in.get(), [&](const std::string& target) -> Result<std::string> {
        TRY(place_of(mounts, target));
        return folder + "/to" + target.substr(std::string("/target").size());
    }));
    CHECK(value_or_fail(read_file(folder + "/to/below/large")) == large);
    CHECK(value_or_fail(read_file(folder + "/to/empty")).empty());
    CHECK(std::filesystem::read_symlink(folder + "/to/link") == "below/large");
    CHECK_FALSE(std::filesystem::exists(folder + "/to/pipe"));
    struct stat status {};
    REQUIRE(::stat((folder + "/to/below/large").c_str(), &status) == 0);
    CHECK((status.st_mode & 0777) == 0755);
    std::filesystem::remove_all(folder);
}

TEST_CASE("a path has its place in the nearest mount, and none outside of them") {
    const auto mounts = value_or_fail(parse_targets({"d:/hone", "f:/etc/single", "d:/hone-other/deep"}));
    CHECK(value_or_fail(place_of(mounts, "/hone")) == "/hone-files/m0");
    CHECK(value_or_fail(place_of(mounts, "/hone/bin/hone")) == "/hone-files/m0/bin/hone");
    CHECK(value_or_fail(place_of(mounts, "/etc/single")) == "/hone-files/m1");
    CHECK(value_or_fail(place_of(mounts, "/hone-other/deep/x")) == "/hone-files/m2/x");
    for (const char* path : {"/hone/../etc", "/etc/single/below", "/hone-other", "/honest", "hone", "/etc", "/"})
        CHECK_FALSE(place_of(mounts, path).ok());
    CHECK_FALSE(parse_targets({"x:/hone"}).ok());
    CHECK_FALSE(parse_targets({"d:hone"}).ok());
}
