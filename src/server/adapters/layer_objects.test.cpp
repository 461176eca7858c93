#include "server/adapters/layer_objects.h"

#include "base/text.h"
#include "crypto/crypto.h"
#include "objects/file_store.h"

#include <cstdlib>
#include <doctest/doctest.h>
#include <filesystem>
#include <sys/stat.h>

namespace hone::server {

namespace {

struct TwoServers {
    std::string path = [] {
        char made[] = "/tmp/hone-layers-XXXXXX";
        return std::string(::mkdtemp(made));
    }();
    SystemClock clock;
    objects::FileStore objects{path + "/objects"};
    sandbox::Store first = sandbox::Store::open(path + "/a").value();
    sandbox::Store second = sandbox::Store::open(path + "/b").value();
    const std::string key = "v2-" + std::string(64, 'a');
    const std::string secret = std::string(32, 's');

    ~TwoServers() { std::filesystem::remove_all(path); }
    std::string fresh(const std::string& name) {
        const std::string directory = path + "/" + name;
        std::filesystem::create_directories(directory + "/upper");
        return directory;
    }
    std::string contents() {
        for (const auto& entry : std::filesystem::directory_iterator(path + "/objects/layers/" + key))
            if (entry.path().filename() != "manifest") return entry.path();
        return {};
    }
};

} // namespace

TEST_CASE("a layer that one server built is fetched by another one, and only as it was built") {
    crypto::start();
    TwoServers world;
    const std::string place = world.first.layers() + "/" + world.key;
    std::filesystem::create_directories(place + "/upper/opt");
    REQUIRE(write_file(place + "/upper/opt/tool", std::string(1 << 20, 't'), 0755).ok());
    LayerObjects first(world.objects, world.first, world.secret), second(world.objects, world.second, world.secret);
    CHECK(second.fetch(world.key, world.fresh("none")).value() == false);
    first.offer(world.key);
    REQUIRE(first.step().ok());
    CHECK(first.step().value() > Duration::zero()); // nothing is left to send
    const std::string fetched = world.fresh("one");
    auto got = second.fetch(world.key, fetched);
    REQUIRE_MESSAGE(got.ok(), (got.ok() ? "" : got.error().message));
    CHECK(got.value());
    CHECK(read_file(fetched + "/upper/opt/tool").value() == std::string(1 << 20, 't'));
    CHECK_FALSE(file_exists(fetched + "/packed"));

    // Another installation, another layer, changed contents, no contents.
    LayerObjects stranger(world.objects, world.second, std::string(32, 'x'));
    CHECK(stranger.fetch(world.key, world.fresh("two")).error().message.find("not signed") != std::string::npos);
    const std::string other = "v2-" + std::string(64, 'b');
    std::filesystem::copy(world.path + "/objects/layers/" + world.key, world.path + "/objects/layers/" + other,
                          std::filesystem::copy_options::recursive);
    CHECK(second.fetch(other, world.fresh("three")).error().message.find("not signed") != std::string::npos);
    const std::string contents = world.contents();
    std::string bytes = read_file(contents).value();
    bytes[bytes.size() / 2] ^= 1;
    REQUIRE(write_file(contents, bytes).ok());
    CHECK(second.fetch(world.key, world.fresh("four")).error().message.find("another SHA-256") != std::string::npos);
    REQUIRE(write_file(contents, bytes + bytes).ok());
    CHECK(second.fetch(world.key, world.fresh("five")).error().message.find("longer than") != std::string::npos);
    std::filesystem::remove(contents);
    CHECK(second.fetch(world.key, world.fresh("six")).value() == false);
    first.offer(world.key);
    REQUIRE(first.step().ok());
    CHECK(second.fetch(world.key, world.fresh("seven")).value());
    first.offer("v2-gone"); // was removed before it was sent
    CHECK(first.step().ok());
}

} // namespace hone::server
